// The list of variables: set them, and see the interval of every one that is not set.

import { askAll } from "./asking.js";
import { bar, debounced, interval, make } from "./common.js";

const LABELS = 8; // of a choice that are shown at first
const MANY = 24; // variables from which on those with names alike are grouped
const FEW = 3; // that make a group

export class Variables {
  constructor(model, state, changed, asked) {
    this.model = model;
    this.state = state;
    this.changed = changed;
    this.asked = asked;
    this.rows = model.variables.map((variable) => this.row(variable));
    this.before = new Map(); // the interval of each question when nothing is set
    this.search = make("input", { type: "search", placeholder: "Find a variable", "aria-label": "Find a variable" });
    this.only = make("input", { type: "checkbox" });
    const filter = debounced(80, () => this.filter());
    this.search.addEventListener("input", filter);
    this.only.addEventListener("change", () => this.filter());
    this.order = order(model, () => this.sort());
    this.grouped = make("input", { type: "checkbox" });
    this.grouped.checked = true;
    this.grouped.addEventListener("change", () => this.arrange());
    this.count = make("p", { class: "quiet", role: "status" });
    this.list = make("ul", { class: "variables" });
    this.under = make("p", { class: "under" });
    const tools = model.variables.length > 6 ? [this.search, this.order] : [];
    this.grouping = make("label", { class: "check" }, this.grouped, "grouped");
    this.element = make(
      "section",
      { class: "panel set-here", "aria-label": "Variables" },
      make("h2", {}, "Conditions"),
      make(
        "div",
        { class: "line tools" },
        ...tools,
        make("label", { class: "check" }, this.only, "only what changed"),
        this.grouping,
      ),
      this.under,
      this.count,
      this.list,
    );
    this.arrange();
  }

  arrange() {
    const alike = new Map();
    for (const row of this.rows) {
      const name = head(row.variable.name);
      alike.set(name, [...(alike.get(name) ?? []), row]);
    }
    const groups = [...alike].filter(([, rows]) => rows.length >= FEW);
    const others = [...alike.values()].filter((rows) => rows.length < FEW).flat();
    if (others.length) groups.push(["others", others]);
    const several = this.rows.length >= MANY && groups.length > 1;
    this.grouping.hidden = !several;
    this.groups = (several && this.grouped.checked ? groups : [["", this.rows]]).map(([name, rows]) => this.group(name, rows));
    this.sort();
  }

  // Rows under a title that folds them away; without a name they have none.
  group(name, rows) {
    const group = { rows, title: null, folded: false };
    if (!name) return group;
    const fold = make("button", { type: "button", class: "plain fold", "aria-expanded": "true" }, `${name} (${rows.length})`);
    fold.addEventListener("click", () => {
      group.folded = !group.folded;
      fold.setAttribute("aria-expanded", String(!group.folded));
      this.filter();
    });
    group.title = make("li", { class: "group" }, make("h3", {}, fold));
    return group;
  }

  // Rows in the order that is asked for, each within its group; those that are set come last.
  sort() {
    const value = this.order.value;
    const measure = (row) => Math.max(...row.bars.map(({ answer }) => (answer ? (KEYS[value](answer) ?? -1) : -1)));
    const items = this.groups.flatMap((group) => {
      const rows = [...group.rows];
      if (value !== "model") {
        const keys = new Map(rows.map((row) => [row, this.state.set.has(row.variable.name) ? -2 : measure(row)]));
        rows.sort((a, b) => keys.get(b) - keys.get(a));
      }
      return [...(group.title ? [group.title] : []), ...rows.map((row) => row.element)];
    });
    if (items.some((item, place) => this.list.children[place] !== item)) {
      const focused = document.activeElement;
      this.list.replaceChildren(...items);
      if (this.list.contains(focused)) focused.focus({ preventScroll: true });
    }
    this.filter();
  }

  row(variable) {
    const row = { variable, bars: [] };
    const name = make(
      "button",
      { type: "button", class: "name", title: `Ask about ${variable.name}`, onclick: () => this.asked(variable) },
      variable.name,
    );
    row.control = { bit, choice, real }[variable.kind](variable, (value) => this.put(variable, value));
    row.body = make("div", { class: "bars" });
    row.element = make("li", { class: "variable" }, name, row.control, row.body);
    row.element.dataset.name = variable.name;
    this.fill(row, variable.kind === "choice" ? Math.min(LABELS, variable.values.length) : 1);
    return row;
  }

  // The questions of a row, each with its bar.
  fill(row, count) {
    const { variable } = row;
    row.bars = [];
    row.body.replaceChildren();
    const add = (label, question) => {
      const line = { name: variable.name, question, bar: bar(), number: make("span", { class: "number" }, "…") };
      line.element = make("div", { class: "interval" }, ...(label ? [label] : []), line.bar, line.number);
      row.bars.push(line);
      row.body.append(line.element);
      return line;
    };
    if (variable.kind === "bit") add(null, variable.written);
    if (variable.kind === "choice") {
      for (const each of variable.values.slice(0, count)) {
        add(make("span", { class: "label", title: each.value }, each.value), `${variable.written}=${each.written}`);
      }
      const left = variable.values.length - count;
      if (left > 0) {
        const more = () => {
          this.fill(row, variable.values.length);
          this.changed();
        };
        row.body.append(make("button", { type: "button", onclick: more }, `${left} more`));
      }
    }
    if (variable.kind === "real") {
      const field = make("input", {
        class: "threshold",
        value: variable.middle,
        "aria-label": `${variable.name} at least`,
        title: `from ${variable.from} to ${variable.to}${unit(variable)}`,
      });
      const line = add(make("label", { class: "label" }, "≥ ", field), `${variable.written}>=${variable.middle}`);
      field.addEventListener("change", () => {
        line.question = `${variable.written}>=${field.value.trim() || variable.middle}`;
        this.changed();
      });
    }
  }

  put(variable, value) {
    if (value === null || value === "") this.state.set.delete(variable.name);
    else this.state.set.set(variable.name, value);
    this.state.write();
    this.changed();
  }

  // Shows what is set; no interval stays that was found under another condition.
  settle() {
    const about = JSON.stringify(this.state.about);
    this.under.textContent = this.state.given ? `intervals given ${this.state.given}` : "";
    for (const row of this.rows) {
      const value = this.state.set.get(row.variable.name) ?? null;
      row.control.show(value);
      row.element.classList.toggle("set", value !== null);
      row.body.hidden = value !== null;
      for (const line of row.bars) {
        if (line.shown === line.question + about) continue;
        line.shown = line.answer = null;
        line.bar.clear();
        line.number.textContent = "…";
        line.element.classList.add("waiting");
        row.element.classList.remove("moved");
      }
    }
  }

  // The intervals, some at a time.
  async refresh(signal, conflict) {
    this.list.setAttribute("aria-busy", "true");
    try {
      await this.look(signal, conflict);
    } finally {
      if (!signal.aborted) this.list.removeAttribute("aria-busy");
    }
  }

  async look(signal, conflict) {
    const about = JSON.stringify(this.state.about);
    const lines = this.rows.filter((row) => !this.state.set.has(row.variable.name)).flatMap((row) => row.bars);
    const nothing = this.state.given === null && this.state.off.size === 0 && !Object.keys(this.state.see).length;
    const near = this.near();
    const rank = (line) => (near.has(line.name) ? 0 : 1) + (inSight(line.element) ? 0 : 2);
    await askAll(lines, { ...this.state.about, probability: this.model.prior }, signal, (line, answer) => {
      line.answer = answer;
      line.shown = line.question + about;
      line.bar.show(answer, line.question);
      line.number.textContent = interval(answer);
      line.element.classList.remove("waiting");
      if (nothing) this.before.set(line.question, answer);
      conflict(answer);
    }, rank);
    this.sort();
    if (!nothing) await this.compare(lines, signal, rank);
  }

  // What the intervals were before anything was set.
  async compare(lines, signal, rank) {
    const about = { given: null, off: [], probability: this.model.prior };
    await askAll(lines, about, signal, (line, answer) => this.before.set(line.question, answer), rank);
    this.filter();
  }

  // Variables that share a rule with one that is set.
  near() {
    const near = new Set();
    for (const rule of this.model.rules) {
      if (rule.inputs.some((name) => this.state.set.has(name))) rule.inputs.forEach((name) => near.add(name));
    }
    return near;
  }

  filter() {
    const wanted = this.search.value.trim().toLowerCase();
    let shown = 0;
    for (const row of this.rows) {
      const moved = row.bars.some((line) => differs(line.answer, this.before.get(line.question)));
      const set = this.state.set.has(row.variable.name);
      row.element.classList.toggle("moved", moved && !set);
      const fits = row.variable.name.toLowerCase().includes(wanted);
      row.element.hidden = !fits || (this.only.checked && !moved && !set);
      shown += row.element.hidden ? 0 : 1;
    }
    for (const group of this.groups) {
      if (group.title) group.title.hidden = group.rows.every((row) => row.element.hidden);
      if (group.folded && !wanted) for (const row of group.rows) row.element.hidden = true;
    }
    const all = this.rows.length;
    this.count.textContent = shown === all ? "" : `${shown} of ${all} variables`;
    this.count.hidden = shown === all;
  }

  point(name) {
    const row = this.rows.find((each) => each.variable.name === name);
    if (!row) return;
    this.search.value = "";
    this.only.checked = false;
    this.filter();
    row.element.scrollIntoView({ block: "center" });
    row.control.querySelector("button, select, input").focus();
  }
}

const KEYS = {
  model: () => 0,
  plausibility: (answer) => answer.plausibility + answer.belief / 1000, // of equally plausible ones the more believed
  belief: (answer) => answer.belief + answer.plausibility / 1000,
  probability: (answer) => answer.probability?.value ?? -1,
};

function order(model, changed) {
  const words = { model: "in the model's order", plausibility: "most plausible first", belief: "most believed first" };
  if (model.prior) words.probability = "most probable first";
  const options = Object.entries(words).map(([value, label]) => make("option", { value }, label));
  return make("select", { "aria-label": "Order of the variables", onchange: changed }, ...options);
}

// Bounds that overlap may be the same number.
function differs(now, before) {
  if (!now || !before) return false;
  const apart = ([low, high], [least, most]) => low > most + 1e-6 || high < least - 1e-6;
  return apart(now.bounds.belief, before.bounds.belief) || apart(now.bounds.plausibility, before.bounds.plausibility);
}

function inSight(element) {
  const box = element.getBoundingClientRect();
  return element.offsetParent !== null && box.bottom > 0 && box.top < innerHeight;
}

function head(name) {
  return name.replace(/\[.*$/, "").replace(/[\d_]+$/, "") || name;
}

function bit(variable, put) {
  const buttons = ["1", "0"].map((value) => {
    const press = (event) => put(event.currentTarget.getAttribute("aria-pressed") === "true" ? null : value);
    const words = `${variable.name} is ${value}`;
    return make("button", { type: "button", "aria-pressed": "false", "aria-label": words, onclick: press }, value);
  });
  const element = make("span", { class: "choice", role: "group", "aria-label": `Set ${variable.name}` }, ...buttons);
  element.show = (value) =>
    buttons.forEach((button) => button.setAttribute("aria-pressed", String(button.textContent === value)));
  return element;
}

function choice(variable, put) {
  const options = variable.values.map((each) => make("option", { value: each.value }, each.value));
  const field = make(
    "select",
    { "aria-label": `Set ${variable.name}`, onchange: () => put(field.value || null) },
    make("option", { value: "" }, "not set"),
    ...options,
  );
  const element = make("span", { class: "choice" }, field);
  element.show = (value) => (field.value = value ?? "");
  return element;
}

const unit = (variable) => (variable.unit && !["date", "time", "clock"].includes(variable.unit) ? ` ${variable.unit}` : "");

function real(variable, put) {
  const words = `${variable.from} to ${variable.to}${unit(variable)}`;
  const field = make("input", {
    "aria-label": `Set ${variable.name}, as 20 or >=20`,
    placeholder: words,
    title: `A value, or a comparison such as >=${variable.middle}`,
    onchange: () => put(field.value.trim() || null),
  });
  const element = make("span", { class: "choice" }, field);
  element.show = (value) => (field.value = value ?? "");
  return element;
}
