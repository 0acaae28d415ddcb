// The page of a classifier: draw or drop a picture; intervals, conflict, what is proved, what an attack finds, the rules.

import { bar, call, down, gauge, interval, legend, make, trouble, two } from "./common.js";
import { drawing, picture } from "./drawing.js";

const SCALE = "pixels from 0 to 1";
const SVG = "http://www.w3.org/2000/svg";

const apart = (labels) => (labels.length === 2 ? `tells ${labels.join(" from ")}` : `tells ${labels.slice(0, -1).join(", ")} and ${labels.at(-1)} apart`);
const SEEN = 0.005; // a weight that rounds to 0 is not shown

export function classifier(model, main) {
  const contents = Object.entries(model.contents).filter(([, count]) => count > 0).map(([name, count]) => `${count.toLocaleString("en")} ${name}`);
  document.getElementById("about").textContent = `${apart(model.labels)}; ${contents.join(", ")}`;
  const digits = model.preparation.kind === "digits";
  let running = new AbortController();
  const tried = model.samples?.length ? samples(model, (number) => update({ sample: number })) : null;

  const label = make("p", { id: "label", class: "verdict", role: "status" });
  const bars = make("div", { class: "bars", id: "intervals" });
  const conflict = gauge();
  const notes = make("ul", { class: "quiet" });
  const proof = make("p", { id: "proof" });
  const circle = make("div", { class: "circle" });
  const shown = make("div", { class: "pictures" });
  const found = make("p", { id: "attack", role: "status" });
  const rules = make("ul", { class: "rules" });
  const said = make("div", { hidden: true }, label, bars, legend(false), conflict, notes);
  const safe = make("section", { class: "panel", "aria-label": "Proof and attack", hidden: true }, make("h2", {}, "How far it holds"), proof, circle, found, shown);
  const why = make("section", { class: "panel", "aria-label": "Rules", hidden: true }, make("h2", {}, "Rules that counted most"), rules);
  const input = model.pictures ? drawing(model, (content) => update(content && { picture: content })) : numbers(model, update);
  const title = model.pictures ? `Draw ${digits ? "a digit" : "here"}, drop a picture${digits ? " here" : ""}, or choose one` : `Give ${model.inputs} numbers`;
  const taken = model.pictures && !digits ? make("p", { class: "quiet" }, `Pictures: ${model.preparation.words}`) : null;
  main.append(
    make("div", { class: "column" }, make("section", { class: "panel", "aria-label": "Input" }, make("h2", {}, title), input, tried, taken, said)),
    make("div", { class: "column" }, safe, why),
  );

  async function update(body) {
    running.abort();
    running = new AbortController();
    const { signal } = running;
    trouble("");
    for (const part of [said, safe, why]) part.hidden = true;
    tried?.mark(body?.sample ?? null);
    main.removeAttribute("aria-busy");
    if (!body) return;
    main.setAttribute("aria-busy", "true");
    try {
      const verdict = await call("classify", body, signal);
      show(verdict);
      if (model.attack) attacked(verdict, await call("attack", body, signal));
    } catch (error) {
      if (signal.aborted) return;
      if (!("status" in error)) throw error;
      trouble(error.message);
    }
    if (!signal.aborted) main.removeAttribute("aria-busy");
  }

  function show(verdict) {
    for (const part of [said, safe, why]) part.hidden = false;
    label.textContent = String(verdict.label);
    const lines = Object.entries(verdict.intervals ?? {}).map(([name, [belief, plausibility]]) => {
      const drawn = bar();
      drawn.show({ belief, plausibility }, name);
      const words = make("span", { class: "number" }, interval({ belief, plausibility }));
      return make("div", { class: "interval" }, make("span", { class: "label" }, name), drawn, words);
    });
    bars.replaceChildren(...lines);
    conflict.show(verdict.conflict);
    notes.replaceChildren(...verdict.warnings.map((words) => make("li", {}, words)));
    const radius = verdict.proved_radius;
    proof.textContent = !radius
      ? "Nothing is proved here."
      : `${proved(verdict)}: no change of L2 length ${down(radius)} or less gives another label${verdict.proved_of === "file" ? "" : ` (${SCALE})`}.`;
    circle.replaceChildren(...(radius ? [circles(verdict.prepared_radius, null)] : []));
    found.textContent = model.attack ? "An attack is looking for the smallest change …" : "";
    shown.replaceChildren(...(verdict.image ? [picture(verdict.image, model.shape, `${verdict.label}: as it was seen`)] : []));
    rules.replaceChildren(...verdict.rules.filter((rule, place) => place === 0 || rule.weight >= SEEN).map((rule) => reason(rule, verdict.rules[0].weight)));
  }

  function reason(rule, most) {
    const width = make("span", { class: "for" });
    width.style.width = `${most > 0 ? (100 * rule.weight) / most : 0}%`;
    const own = rule.proved_radius === null ? "" : `, holds within L2 ${down(rule.proved_radius)}`;
    const words = make("span", { class: "says" }, make("b", {}, `${rule.kind} ${rule.rule}`), ` speaks for ${rule.speaks_for}${own}`);
    const weight = make("span", { class: "bar", role: "img", "aria-label": `weight ${two(rule.weight)}` }, width);
    const remembered = rule.image ? picture(rule.image, model.shape, "what it remembers") : null;
    return make("li", { class: "reason" }, words, make("span", { class: "interval" }, weight, make("span", { class: "number" }, `weight ${two(rule.weight)}`)), remembered);
  }

  function attacked(verdict, attack) {
    if (attack.distance === null) {
      found.textContent = "A short attack found no change that gives another label.";
      return;
    }
    found.textContent = `A short attack needs a change of ${two(attack.distance)} to make it ${attack.label} (L2, ${SCALE}).${elsewhere(verdict)}`;
    circle.replaceChildren(circles(verdict.prepared_radius ?? 0, attack.distance));
    if (attack.image) {
      const change = attack.image.map((shade, place) => Math.min(255, Math.max(0, 128 + shade - verdict.image[place])));
      shown.append(picture(attack.image, model.shape, `${attack.label}: after the attack`), picture(change, model.shape, "the change"));
    }
  }
}

// What is proved: of the file where its preparation is a fixed map, else of what was made of it.
function proved(verdict) {
  if (verdict.proved_of === "file") return "Proved of the file, pixels from 0 to 1";
  if (verdict.proved_of === "numbers") return "Proved";
  return `Proved of the prepared ${verdict.prepared_shape[1]} x ${verdict.prepared_shape[0]} picture, not of the file`;
}

// Where a length in the file is another one in what the classifier sees, the circle and the attack are of the latter.
function elsewhere(verdict) {
  const alike = !verdict.proved_radius || Math.abs(verdict.proved_radius / verdict.prepared_radius - 1) < 1e-6;
  return alike ? "" : " The circle and this change are of the picture as it was seen.";
}

// The ball around the input as the classifier sees it, in which the label is proved to stay, and the distance at which
// an attack has changed it.
function circles(radius, distance) {
  const scale = 90 / Math.max(radius, distance ?? 0);
  const drawn = (name, attributes, text) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text) element.textContent = text;
    return element;
  };
  const words = `proved within ${down(radius)}` + (distance === null ? "" : `, attacked at ${two(distance)}`);
  const picture = drawn("svg", { viewBox: "-100 -100 200 200", role: "img", "aria-label": words });
  if (distance !== null) picture.append(drawn("circle", { r: scale * distance, class: "attacked" }));
  picture.append(drawn("circle", { r: scale * radius, class: "proved" }), drawn("circle", { r: 3, class: "here" }));
  picture.append(drawn("text", { y: 22, "text-anchor": "middle" }, `proved ${down(radius)}`));
  if (distance !== null) {
    const at = (scale * distance) / Math.SQRT2;
    picture.append(drawn("circle", { cx: at, cy: -at, r: 5, class: "found" }));
  }
  return picture;
}

// Examples that the classifier remembers, to start from.
function samples(model, chosen) {
  const buttons = model.samples.map((each, number) =>
    make("button", { type: "button", class: "sample", "aria-pressed": "false", "aria-label": `Example of ${each.label}, number ${number + 1}`, onclick: () => chosen(number) }, picture(each.image, model.shape, each.label).firstChild),
  );
  const element = make("div", {}, make("p", { class: "quiet" }, "or start from an example that it remembers"), make("div", { class: "samples" }, ...buttons));
  element.mark = (number) => buttons.forEach((button, place) => button.setAttribute("aria-pressed", String(place === number)));
  return element;
}

function numbers(model, changed) {
  const field = make("textarea", { rows: 4, oninput: () => changed(null), "aria-label": `${model.inputs} numbers, separated by blanks or commas` });
  const ask = () => changed({ numbers: field.value.split(/[\s,;]+/).filter(Boolean).map(Number) });
  return make("div", {}, field, make("button", { type: "button", onclick: ask }, "Classify"));
}
