// One column of a learned model: how often each value is, beside how often it is without a condition.

import { make } from "./common.js";

const ABOVE = 1.6; // how far ranges may rise above the tallest bar, in bars: those of few rows would dwarf it
const percent = (share) => (share === null ? "…" : share > 0 && share < 0.005 ? "<1%" : `${Math.round(100 * share)}%`);

export function histogram(variable, pressed, asked) {
  const number = variable.kind === "real";
  const name = make("button", { type: "button", class: "name", title: `Ask about ${variable.name}`, onclick: () => asked(variable) }, variable.name);
  const rows = make("span", { class: "quiet rows" });
  const body = make("div", { class: number ? "columns" : "lines", role: "group", "aria-label": `Values of ${variable.name}` });
  const ends = make("p", { class: "ends quiet", hidden: !number });
  const element = make("li", { class: "card" }, make("div", { class: "head" }, name, rows), body, ends);
  element.dataset.name = variable.name;
  let parts = [];

  element.clear = () => {
    for (const part of parts) part.clear();
    rows.textContent = "";
  };

  element.show = (now, base, chosen) => {
    if (parts.length !== now.bars.length) {
      parts = now.bars.map((bar) => (number ? column : line)(variable, bar, pressed));
      body.replaceChildren(...parts);
      if (number) ends.replaceChildren(make("span", {}, now.bars[0].value), make("span", {}, now.bars.at(-1).value));
    }
    const tallest = Math.max(1e-9, ...[...now.bars, ...(base?.bars ?? [])].map((bar) => bar.probability ?? 0));
    const ranges = Math.max(...now.bars.map((bar) => bar.range?.[1] ?? 0));
    const most = Math.min(1, Math.max(tallest, Math.min(ranges, ABOVE * tallest)));
    if (number) body.dataset.most = percent(most);
    now.bars.forEach((bar, place) => parts[place].show(bar, base?.bars[place] ?? null, number ? most : 1));
    rows.textContent = now.rows === null ? "" : `${now.rows < 10 ? now.rows.toFixed(1) : Math.round(now.rows).toLocaleString("en")} rows`;
    element.mark(chosen);
  };

  element.mark = (chosen) => {
    element.classList.toggle("set", chosen !== null);
    for (const part of parts) part.setAttribute("aria-pressed", String(part.dataset.set === chosen));
  };

  element.told = (value, words) => {
    const part = parts.find((each) => each.dataset.value === value);
    if (part?.rules) part.rules.textContent = words;
  };
  return element;
}

function bar(variable, { value, set }, pressed, kind, ...inside) {
  const element = make("button", { type: "button", class: kind, "aria-pressed": "false", onclick: () => pressed(variable, element.getAttribute("aria-pressed") === "true" ? null : set) }, ...inside);
  element.dataset.set = set;
  element.dataset.value = value;
  element.say = (now, base) => {
    const unit = variable.unit && !["date", "time", "clock"].includes(variable.unit) ? ` ${variable.unit}` : "";
    const range = now.range ? `, 95% range ${percent(now.range[0])} to ${percent(now.range[1])}` : "";
    const before = base?.probability != null && Math.abs(base.probability - (now.probability ?? 0)) > 0.004 ? `, without a condition ${percent(base.probability)}` : "";
    const words = now.probability === null ? `${variable.name} ${value}${unit}: not computed` : `${variable.name} ${value}${unit}: ${percent(now.probability)}${range}${before}`;
    if (kind === "piece") element.setAttribute("aria-label", words); // the others have their words inside
    element.title = words;
  };
  return element;
}

function pieces() {
  return ["ghost", "fill", "whisker"].map((name) => make("span", { class: name }));
}

// A label, a bar from left to right, and a share.
function line(variable, bars, pressed) {
  const [ghost, fill, whisker] = pieces();
  const share = make("span", { class: "number" }, "…");
  const rules = make("span", { class: "by-rules" });
  const element = bar(variable, bars, pressed, "value", make("span", { class: "label" }, bars.value), make("span", { class: "track" }, ghost, fill, whisker), share, rules);
  element.rules = rules;
  element.show = (now, base) => {
    ghost.style.width = `${100 * (base?.probability ?? 0)}%`;
    fill.style.width = `${100 * (now.probability ?? 0)}%`;
    whisker.hidden = !now.range;
    if (now.range) {
      whisker.style.left = `${100 * now.range[0]}%`;
      whisker.style.width = `${100 * (now.range[1] - now.range[0])}%`;
    }
    share.textContent = percent(now.probability);
    element.say(now, base);
  };
  element.clear = () => {
    fill.style.width = whisker.style.width = "0";
    share.textContent = "…";
    rules.textContent = "";
    element.removeAttribute("title");
  };
  return element;
}

// A bar from the ground up.
function column(variable, bars, pressed) {
  const [ghost, fill, whisker] = pieces();
  const element = bar(variable, bars, pressed, "piece", ghost, fill, whisker);
  element.show = (now, base, most) => {
    ghost.style.height = `${(100 * (base?.probability ?? 0)) / most}%`;
    fill.style.height = `${(100 * (now.probability ?? 0)) / most}%`;
    whisker.hidden = !now.range;
    if (now.range) {
      whisker.style.bottom = `${Math.min(100, (100 * now.range[0]) / most)}%`;
      whisker.style.height = `${Math.max(0, (100 * (Math.min(now.range[1], most) - now.range[0])) / most)}%`;
    }
    element.say(now, base);
  };
  element.clear = () => {
    fill.style.height = whisker.style.height = "0";
    element.removeAttribute("title");
    element.setAttribute("aria-label", `${variable.name} ${bars.value}`);
  };
  return element;
}
