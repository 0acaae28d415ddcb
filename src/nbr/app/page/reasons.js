// The answer to a question, and why: rules, what would be without each, points, what to observe next.

import { bar, gauge, interval, legend, make, two } from "./common.js";
import { form } from "./editing.js";

// A probability that was not computed is told so, not left out.
const share = (often) =>
  often.value === null
    ? [make("b", {}, "not computed"), ` (${often.note})`]
    : often.range
      ? [make("b", {}, `${two(often.range[0])} to ${two(often.range[1])}`), ` (95%), value ${two(often.value)}`]
      : [make("b", {}, two(often.value)), often.exact ? "" : ` ± ${two(often.error)}`];

const SHOWN = 12;

export class Reasons {
  constructor(model, state, switched, point, rules, saved) {
    this.model = model;
    this.written = rules;
    this.open = null; // the number of the rule that is being edited, 0 for a new one

    this.state = state;
    this.switched = switched;
    this.point = point;
    this.all = false;
    this.bar = bar("large");
    this.numbers = make("p", { class: "numbers", role: "status", id: "answer" });
    this.notes = make("p", { class: "quiet" });
    this.under = make("p", { class: "under" });
    this.gauge = gauge();
    this.legend = legend(model.prior);
    this.answer = make("div", { class: "answer", hidden: true }, this.under, this.numbers, this.bar, this.legend, this.notes);
    this.words = make("p", { class: "words" });
    this.rules = make("ul", { class: "rules" });
    this.rest = make("div", { class: "rest" });
    this.title = make("h2", {}, "Rules");
    this.add = make("button", { type: "button", class: "plain add", onclick: () => this.edit(0) }, "Add a rule");
    this.fresh = make("div", {});
    this.saving = make("div", { class: "saving line", role: "status", hidden: true });
    this.saved = saved;
    this.element = make(
      "section",
      { class: "panel why", "aria-label": "Why" },
      make("div", { class: "line" }, this.title, this.add),
      this.saving,
      this.fresh,
      this.words,
      this.rules,
      this.rest,
    );
    this.forget();
  }

  // Which rule is open as a form; none if it is the same again.
  edit(number) {
    this.open = this.open === number ? null : number;
    this.opened = null;
    this.draw();
    this.element.querySelector(".editing input")?.focus();
  }

  // What is being typed stays, whatever answers come meanwhile.
  form(rule) {
    this.opened ??= this.made(rule);
    return this.opened;
  }

  made(rule) {
    const apply = async (told) => {
      try {
        await this.written.read(this.written.with(rule.rule ?? null, told));
      } catch (error) {
        if ("status" in error) return error;
        throw error;
      }
      this.open = this.opened = null;
      this.state.write();
      this.switched();
      return null;
    };
    return form(this.model, rule, apply, () => this.edit(this.open));
  }

  // What is not in the file yet, and what may be done about it.
  unsaved() {
    const count = this.written.changes;
    this.saving.hidden = count === 0;
    if (!count) return;
    const words = `${count} change${count === 1 ? "" : "s"} not in ${this.model.name}`;
    const save = make("button", { type: "button", class: "main", onclick: () => this.saved() }, "Save");
    const undo = async () => {
      this.state.off.clear();
      await this.written.read([]);
      this.state.write();
      this.switched();
    };
    this.saving.replaceChildren(make("span", {}, words), ...(this.model.savable ? [save] : []), make("button", { type: "button", onclick: undo }, "Undo all"));
  }

  show(answer) {
    this.answer.hidden = false;
    this.gauge.show(answer.conflict, answer.bounds?.conflict);
    this.under.textContent = `${answer.question ?? answer.variable}, ${answer.given ? `given ${answer.given}` : "without a condition"}`;
    this.legend.show(answer.exact);
    if (answer.values) return this.ranked(answer);
    this.bar.hidden = false;
    this.bar.show(answer, answer.question);
    const often = answer.probability;
    this.numbers.replaceChildren(
      pair("belief", answer.bounds.belief),
      pair("plausibility", answer.bounds.plausibility),
      make("span", {}, "not known ", make("b", {}, two(answer.plausibility - answer.belief))),
      often ? make("span", {}, "probability ", ...share(often)) : "",
      often?.open && often.open[1] - often.open[0] > 0.005 ? make("span", {}, "open ", make("b", {}, `${two(often.open[0])} to ${two(often.open[1])}`)) : "",
    );
    const how = answer.exact ? "exact" : `not exact: ${answer.bounds.kind} bounds`;
    this.notes.textContent = [how, ...answer.notes].join("; ");
  }

  ranked(answer) {
    this.bar.hidden = true;
    this.notes.textContent = "";
    this.numbers.replaceChildren(
      ...answer.values.slice(0, SHOWN).map((each) => {
        const drawn = bar();
        drawn.show(each, each.value);
        return make("span", { class: "interval" }, make("span", { class: "label", title: each.value }, each.value), drawn, make("span", { class: "number" }, interval(each)));
      }),
    );
  }

  // Nothing of an answer to another question stays; the place where the new one will stand does.
  wait(asking) {
    this.answer.hidden = !asking;
    this.bar.hidden = false;
    this.bar.clear();
    this.legend.show(true);
    this.under.textContent = "";
    this.numbers.replaceChildren(make("span", { class: "quiet" }, "thinking …"));
    this.notes.textContent = "";
    this.gauge.show(null);
    this.explain(null);
  }

  forget() {
    this.answer.hidden = true;
    this.found = null;
    this.draw();
  }

  explain(found, title = "Rules") {
    this.found = found;
    this.title.textContent = title;
    this.draw();
  }

  draw() {
    const found = this.found;
    this.words.textContent = found ? found.words : "";
    this.words.hidden = !found;
    this.unsaved();
    if (this.open !== 0) this.fresh.replaceChildren();
    else if (!this.fresh.firstChild) this.fresh.append(this.form({ rule: null }));
    let rules = this.model.rules.map((rule, place) => ({ ...rule, without: found?.rules[place]?.without ?? null }));
    for (const rule of found?.rules.slice(rules.length) ?? []) rules.push({ ...rule, name: null, says: rule.text, seen: true });
    const total = rules.length;
    if (found) {
      for (const rule of rules) rule.change = rule.without ? change(found.answer, rule.without) : 0;
      rules.sort((a, b) => b.change - a.change || a.rule - b.rule);
    }
    const off = rules.filter((rule) => !rule.seen && (this.state.off.has(rule.rule) || this.written.edited(rule.rule) || this.open === rule.rule));
    if (!this.all && rules.length > SHOWN) {
      const counted = found ? rules.filter((rule) => rule.change > 1e-9) : rules;
      rules = [...new Set([...counted.slice(0, SHOWN), ...off])];
    }
    const more = total - rules.length;
    const items = rules.map((rule) => this.rule(rule));
    if (more > 0) {
      const press = () => {
        this.all = true;
        this.draw();
      };
      items.push(make("li", {}, make("button", { type: "button", onclick: press }, rules.length ? `${more} more rules` : `Show all ${more} rules`)));
    }
    const focused = document.activeElement?.id;
    const field = this.rules.contains(document.activeElement) && document.activeElement.closest(".editing") ? document.activeElement : null;
    this.rules.replaceChildren(...items);
    if (field) field.focus({ preventScroll: true });
    if (focused?.startsWith("rule-")) document.getElementById(focused)?.focus();
    this.rest.replaceChildren(...(found ? this.more(found) : []));
  }

  rule(rule) {
    const on = rule.seen || !this.state.off.has(rule.rule);
    const press = () => {
      if (on) this.state.off.add(rule.rule);
      else this.state.off.delete(rule.rule);
      this.state.write();
      this.switched();
    };
    const button = make(
      "button",
      {
        id: `rule-${rule.rule}`,
        type: "button",
        class: "switch",
        role: "switch",
        "aria-checked": String(on),
        "aria-label": `Rule ${rule.rule}`,
        title: on ? "Switch it off" : "Switch it on",
        onclick: press,
      },
      make("span", { class: "knob" }),
    );
    const says = make("span", { class: "says" }, make("b", {}, `${rule.rule}`), " ", rule.name ? `${rule.name}: ` : "", make("code", {}, rule.says));
    const belief = make("span", { class: "quiet" }, `${rule.source ? `${rule.source}, ` : ""}belief ${two(rule.belief)}`);
    const edit = make("button", { id: `edit-of-${rule.rule}`, type: "button", class: "plain", "aria-label": `Edit rule ${rule.rule}`, onclick: () => this.edit(rule.rule) }, "Edit");
    const parts = rule.seen ? [make("span", { class: "seen" }, "seen"), says, make("span", { class: "tail" }, belief)] : [button, says, make("span", { class: "tail" }, belief, edit)];
    if (!rule.seen && this.written.edited(rule.rule)) {
      const back = async () => {
        await this.written.read(this.written.without(rule.rule));
        this.state.write();
        this.switched();
      };
      const added = rule.rule > this.written.own.length;
      const undo = make("button", { type: "button", class: "plain", "aria-label": `${added ? "Remove" : "Undo"} rule ${rule.rule}`, onclick: back }, added ? "Remove" : "Undo");
      parts.push(make("span", { class: "quiet changed without" }, added ? "new" : "changed", " ", undo));
    }
    if (!rule.seen && this.open === rule.rule) {
      const item = make("li", { class: "rule open" }, this.form(rule));
      item.dataset.rule = String(rule.rule);
      return item;
    }
    if (on && rule.without && rule.change > 1e-9) {
      const drawn = bar();
      drawn.show(rule.without, `without rule ${rule.rule}`);
      parts.push(make("span", { class: "interval without" }, make("span", { class: "label" }, "without it"), drawn, make("span", { class: "number" }, interval(rule.without))));
    } else if (on && rule.without) {
      const conflicting = Math.abs(rule.without.conflict - this.found.answer.conflict) > 1e-9;
      const words = conflicting ? `without it a conflict of ${two(rule.without.conflict)}` : "changes nothing here";
      parts.push(make("span", { class: "quiet without" }, words));
    }
    const item = make("li", { class: on ? "rule" : "rule off" }, ...parts);
    item.dataset.rule = String(rule.rule);
    return item;
  }

  more(found) {
    const parts = [];
    const sets = (title, several, complete) => {
      if (!several.length) return;
      const items = several.slice(0, 5).map((each) => make("li", {}, listed(each)));
      parts.push(make("h3", {}, title + (complete ? "" : " (there may be more)")), make("ul", {}, ...items));
    };
    sets("Rules that together entail it", found.supports, found.supports_complete);
    sets(found.answer.given ? "Rules that cannot all hold then" : "Rules that cannot all hold", found.conflicts, found.conflicts_complete);
    if (found.next.length) {
      const gap = found.answer.plausibility - found.answer.belief;
      const useful = found.next.filter((each) => each.gap < gap - 1e-9).slice(0, 5);
      if (useful.length) {
        parts.push(make("h3", {}, "What to observe next"));
        const items = useful.map((each) => {
          const go = make("button", { type: "button", onclick: () => this.point(each.variable) }, each.variable);
          return make("li", {}, go, `the gap of ${two(gap)} would be ${two(each.gap)} on average`);
        });
        parts.push(make("ul", { class: "next" }, ...items));
      }
    }
    const world = (title, values, breaks) => {
      if (!values) return;
      const broken = breaks.length ? `breaks ${listed(breaks)}` : "breaks no rule";
      const chips = Object.entries(values).map(([name, value]) => make("span", { class: "chip" }, `${name}=${value}`));
      const details = make("details", {}, make("summary", {}, `${title} (${broken})`), make("p", { class: "chips" }, ...chips));
      details.open = chips.length <= 16;
      parts.push(details);
    };
    world("Possible, for example", found.witness, found.witness_breaks);
    world("Against, for example", found.counter, found.counter_breaks);
    return parts;
  }
}

function pair(name, [low, high]) {
  const value = low === high ? two(low) : `${two(low)} to ${two(high)}`;
  return make("span", { class: name }, `${name} `, make("b", {}, value));
}

function change(answer, without) {
  return Math.max(Math.abs(answer.belief - without.belief), Math.abs(answer.plausibility - without.plausibility));
}

function listed(rules) {
  if (!rules.length) return "no rule: the condition alone";
  const words = rules.map(String);
  const last = words.pop();
  return words.length ? `rules ${words.join(", ")} and ${last}` : `rule ${last}`;
}
