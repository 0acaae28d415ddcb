// A learned model: a wall of histograms that all move when one bar is clicked.

import { askAll } from "./asking.js";
import { call, debounced, make, two } from "./common.js";
import { histogram } from "./histogram.js";

const TELLING = 0.005; // an interval that leaves out less than that says nothing
const MANY = 12; // columns from which on one may be searched for

export class Wall {
  constructor(model, state, changed, asked) {
    this.model = model;
    this.state = state;
    this.base = null;
    this.shown = null;
    const put = (variable, value) => {
      if (value === null) state.set.delete(variable.name);
      else state.set.set(variable.name, value);
      state.write();
      changed();
    };
    this.cards = model.variables.map((variable) => ({ variable, element: histogram(variable, put, asked) }));
    this.search = make("input", { type: "search", placeholder: "Find a column", "aria-label": "Find a column" });
    this.search.addEventListener("input", debounced(80, () => this.filter()));
    this.note = make("p", { class: "quiet", role: "status" });
    this.list = make("ul", { class: "wall" }, ...this.cards.map((card) => card.element));
    const key = (name, words) => make("li", {}, make("span", { class: `key ${name}` }), words);
    this.element = make(
      "section",
      { class: "panel set-here", "aria-label": "Columns" },
      make("div", { class: "line tools" }, make("h2", {}, "Distributions"), ...(this.cards.length > MANY ? [this.search] : [])),
      make("p", { class: "quiet" }, "Click a bar to set it as a condition; all columns follow."),
      this.list,
      make("ul", { class: "legend", "aria-label": "How to read the columns" }, key("fill", "share of rows under the condition"), key("ghost", "without a condition"), key("whisker", "95% range"), key("by-rules", "[belief, plausibility] where a rule speaks")),
      this.note,
    );
  }

  settle() {
    const about = JSON.stringify(this.state.about);
    for (const card of this.cards) card.element.mark(this.state.set.get(card.variable.name) ?? null);
    if (about === this.shown) return;
    this.shown = null;
    this.note.textContent = "";
    for (const card of this.cards) card.element.clear();
  }

  async refresh(signal) {
    this.list.setAttribute("aria-busy", "true");
    try {
      const about = this.state.about;
      if (!this.base) this.base = await this.look({ given: null, off: [] }, signal);
      const found = about.given === null && !about.off.length && !about.rules ? this.base : await this.look(about, signal);
      this.shown = JSON.stringify(about);
      this.cards.forEach((card, place) => {
        const set = this.state.set.get(card.variable.name) ?? null;
        card.element.show(found.variables[place], this.base.variables[place], set);
      });
      this.note.textContent = [found.exact ? "exact" : found.note, this.model.counted ? `learned from ${this.model.counted.toLocaleString("en")} rows` : ""].filter(Boolean).join("; ");
      await this.say(about, signal);
    } finally {
      if (!signal.aborted) this.list.removeAttribute("aria-busy");
    }
  }

  look(about, signal) {
    return call("marginals", about, signal);
  }

  // What rules say of values, where they say anything.
  async say(about, signal) {
    const read = new Set(this.model.rules.filter((rule) => !this.state.off.has(rule.rule) && rule.clause).flatMap((rule) => rule.inputs));
    const lines = [];
    for (const { variable, element } of this.cards) {
      if (!read.has(variable.name) || variable.kind === "real" || this.state.set.has(variable.name)) continue;
      const values = variable.kind === "bit" ? [{ value: "1", written: "1" }, { value: "0", written: "0" }] : variable.values.slice(0, 12);
      for (const each of values) lines.push({ question: `${variable.written}=${each.written}`, value: each.value, element });
    }
    await askAll(lines, { ...about, probability: false }, signal, (line, answer) => {
      const says = answer.belief > TELLING || answer.plausibility < 1 - TELLING;
      line.element.told(line.value, says ? `[${two(answer.belief)}, ${two(answer.plausibility)}]` : "");
    }, () => 0);
  }

  filter() {
    const wanted = this.search.value.trim().toLowerCase();
    for (const { variable, element } of this.cards) element.hidden = !variable.name.toLowerCase().includes(wanted);
  }

  point(name) {
    const card = this.cards.find((each) => each.variable.name === name);
    if (!card) return;
    this.search.value = "";
    this.filter();
    card.element.scrollIntoView({ block: "center" });
    card.element.querySelector(".name").focus();
  }
}
