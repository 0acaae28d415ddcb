// Pictures of variables that have a sensor: drawn, dropped or chosen; what they show together, and what the rules corrected.

import { askAll } from "./asking.js";
import { bar, call, debounced, down, gauge, interval, make, two } from "./common.js";
import { drawing } from "./drawing.js";

const TOGETHER = 100; // milliseconds in which pictures that come together are one change

export class Pictures {
  constructor(model, state, changed) {
    this.state = state;
    this.names = Object.keys(model.sensors);
    const later = debounced(TOGETHER, changed);
    this.tiles = new Map(this.names.map((name) => [name, this.tile(model, name, later)]));
    this.reading = make("p", { class: "words", id: "reading", role: "status" });
    this.corrected = make("ul", {});
    this.gauge = gauge();
    this.broken = make("details", {});
    this.proof = make("p", { id: "proof" });
    this.told = make("div", { class: "told", hidden: true }, this.reading, this.corrected, this.gauge, this.broken, this.proof);
    const hint = "Draw, drop picture files here, or choose them: several fill the next empty places.";
    this.element = make(
      "section",
      { class: "panel looking", "aria-label": "Pictures" },
      make("h2", {}, "Pictures"),
      make("p", { class: "quiet" }, hint),
      make("div", { class: "shown" }, ...[...this.tiles.values()].map((tile) => tile.element)),
      this.told,
    );
    this.shown = null;
  }

  tile(model, name, changed) {
    const put = (content) => {
      const before = this.state.see[name];
      if (content === null) delete this.state.see[name];
      else this.state.see[name] = content;
      if (before !== this.state.see[name]) changed();
    };
    const canvas = drawing(model.sensors[name], put, name, (files) => this.spread(name, files));
    const value = make("b", {});
    const number = make("span", { class: "number" });
    const drawn = bar();
    const alone = make("p", { class: "quiet" });
    const said = make("div", {}, make("p", { class: "read" }, value, number), drawn, alone);
    const element = make("div", { class: "tile" }, make("h3", {}, name), canvas, said);
    element.dataset.name = name;
    const show = (found, corrected) => {
      said.hidden = !found;
      element.classList.toggle("corrected", Boolean(found && corrected));
      if (!found) return;
      value.textContent = found.value;
      number.textContent = "…";
      drawn.clear();
      alone.textContent = corrected ? `alone it shows ${found.alone}` : "";
      element.title = found.notes.join("; ");
    };
    const measure = (answer) => {
      number.textContent = interval(answer);
      drawn.show(answer, answer.question);
    };
    show(null);
    return { element, canvas, show, measure };
  }

  // Files beyond the first go to the places behind it that are empty.
  spread(name, files) {
    const behind = this.names.slice(this.names.indexOf(name) + 1).filter((other) => !(other in this.state.see));
    behind.slice(0, files.length).forEach((other, place) => this.tiles.get(other).canvas.take(files[place]));
  }

  // What was said of other pictures, or under another condition, does not stay.
  settle() {
    if (this.shown === JSON.stringify(this.state.about)) return;
    this.shown = null;
    this.told.hidden = true;
    for (const tile of this.tiles.values()) tile.show(null);
  }

  async refresh(signal) {
    const { about } = this.state;
    if (!about.see || this.shown !== null) return;
    this.element.setAttribute("aria-busy", "true");
    try {
      const found = await call("read", about, signal);
      this.shown = JSON.stringify(about);
      this.show(found);
      const lines = [...this.tiles].filter(([name]) => name in found.pictures).map(([name, tile]) => ({ ...tile, question: found.pictures[name].question }));
      await askAll(lines, about, signal, (line, answer) => {
        line.measure(answer);
        this.gauge.show(answer.conflict, answer.bounds?.conflict);
      }, () => 0);
    } finally {
      if (!signal.aborted) this.element.removeAttribute("aria-busy");
    }
  }

  show(found) {
    for (const [name, tile] of this.tiles) tile.show(found.pictures[name], found.corrected.includes(name));
    this.told.hidden = false;
    const read = Object.entries(found.point).map(([name, value]) => `${name}=${value}`).join(", ");
    this.reading.replaceChildren("Read together: ", make("b", {}, read), found.exact ? "" : " (perhaps not the best)");
    const corrected = found.corrected.map((name) => make("li", {}, `The rules corrected ${name}: its picture alone shows ${found.pictures[name].alone}, with the others it is ${found.pictures[name].value}.`));
    this.corrected.replaceChildren(...corrected);
    this.gauge.show(null);
    this.broken.hidden = !found.broken.length;
    const lines = found.broken.map((rule) => make("li", {}, make("code", {}, rule.text), ` belief ${two(rule.belief)}`));
    const count = `${found.broken.length} rule${found.broken.length === 1 ? "" : "s"}`;
    this.broken.replaceChildren(make("summary", {}, `This reading goes against ${count}; ${share(found.degree)} of its plausibility is left`), make("ul", {}, ...lines));
    this.proof.textContent = proved(found);
  }
}

const share = (degree) => (degree < 0.005 ? degree.toExponential(0) : two(degree));

function proved(found) {
  if (found.proved_of === null) return `Nothing is proved: ${found.unproved}.`;
  const of = found.proved_of === "file" ? "Proved of the files, pixels from 0 to 1" : "Proved of the pictures as they are prepared, not of the files";
  if (found.radius === null) return `${of}: no change of them gives another reading.`;
  if (found.radius === 0) return "Nothing is proved: another reading is as good, or nearly.";
  return `${of}: no change of all of them together of L2 length ${down(found.radius)} or less gives another reading.`;
}
