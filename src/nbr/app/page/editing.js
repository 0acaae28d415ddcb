// Rules written on the page: a form for one rule, and what is to be saved.

import { call, make } from "./common.js";
import { statement } from "./typing.js";

// A form in the place of a rule. `apply` takes { says, belief, name } and answers with an error of the server or null.
export function form(model, rule, apply, cancel) {
  const id = `edit-${rule.rule ?? "new"}`;
  let says = rule.says ?? "";
  const first = model.variables[0].written;
  const hint = `for example ${first} -> ...`;
  const text = rule.clause === false ? null : statement(id, "Statement", hint, model, (words) => (says = words), (words) => (says = words));
  text?.show(says);
  const belief = make("input", { type: "number", min: "0", max: "1", step: "0.01", value: rule.belief ?? 0.8, "aria-label": "Belief, from 0 to 1" });
  const slide = make("input", { type: "range", min: "0", max: "1", step: "0.01", value: rule.belief ?? 0.8, "aria-label": "Belief" });
  slide.addEventListener("input", () => (belief.value = slide.value));
  belief.addEventListener("input", () => (slide.value = belief.value));
  const name = make("input", { type: "text", value: rule.name ?? "", placeholder: "a name, if you like", "aria-label": "Name of the rule" });
  const trouble = make("p", { class: "error", role: "alert" });
  const done = make("button", { class: "main" }, rule.rule ? "Apply" : "Add");
  const element = make(
    "form",
    { class: "editing", "aria-label": rule.rule ? `Rule ${rule.rule}` : "New rule" },
    text,
    make("div", { class: "line belief" }, make("span", {}, "Belief"), slide, belief),
    make("div", { class: "line" }, name, done, make("button", { type: "button", onclick: cancel }, "Cancel")),
    trouble,
  );
  element.addEventListener("submit", async (event) => {
    event.preventDefault();
    trouble.textContent = "";
    text?.fault(null);
    const number = Number(belief.value);
    if (belief.value === "" || !(number >= 0 && number <= 1)) {
      trouble.textContent = "a belief must be a number from 0 to 1";
      return;
    }
    const shown = text ? element.querySelector(".statement").value.trim() : null;
    const error = await apply({ says: shown, belief: number, name: name.value.trim() || null });
    if (!error) return;
    if (text && error.at) text.fault({ message: error.message.replace(/^rules\.\d+: /, ""), at: error.at });
    else trouble.textContent = error.message.replace(/^rules\.\d+: /, "");
  });
  return element;
}

// The rules of the page: those of the model, some rewritten, others added.
export class Rules {
  constructor(model, state) {
    this.model = model;
    this.state = state;
    this.own = model.rules;
  }

  // The model lists what the server makes of all that was written.
  async read(rules = this.state.rules) {
    const list = rules.length ? (await call("rules", { rules })).rules : this.own;
    this.model.rules = list;
    this.state.rules = rules;
  }

  edited(number) {
    return number > this.own.length || this.state.rules.some((each) => each.rule === number);
  }

  // Rules with one more change; a rule that was added on the page is rewritten where it stands.
  with(number, told) {
    const added = this.state.rules.filter((each) => each.rule === null);
    const others = this.state.rules.filter((each) => each.rule !== null && each.rule !== number);
    if (number === null) added.push({ rule: null, ...told });
    else if (number > this.own.length) added[number - this.own.length - 1] = { rule: null, ...told };
    else others.push({ rule: number, ...told });
    return [...others, ...added];
  }

  // Rules without a change; later ones that were added move up, with their switches.
  without(number) {
    if (number <= this.own.length) return this.state.rules.filter((each) => each.rule !== number);
    const gone = number - this.own.length - 1;
    const off = [...this.state.off].filter((each) => each !== number).map((each) => (each > number ? each - 1 : each));
    this.state.off = new Set(off);
    const others = this.state.rules.filter((each) => each.rule !== null);
    return [...others, ...this.state.rules.filter((each) => each.rule === null).filter((_, place) => place !== gone)];
  }

  get changes() {
    return this.state.rules.length + this.state.off.size;
  }
}
