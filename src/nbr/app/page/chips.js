// What is set, on top of the page: every condition as a chip that takes it away.

import { make } from "./common.js";
import { condition } from "./state.js";

export function chips(state, changed) {
  const list = make("ul", { class: "chips" });
  const clear = make("button", { type: "button", class: "plain", onclick: () => drop([...state.set.keys()]) }, "Unset all");
  const element = make("section", { class: "given", "aria-label": "Conditions" }, make("h2", {}, "Given"), list, clear);

  function drop(names) {
    for (const name of names) state.set.delete(name);
    state.write();
    changed();
  }

  const chip = (words, press) =>
    make("li", {}, make("button", { type: "button", class: "chip", "aria-label": `${words}, take it away`, title: "Take it away", onclick: press }, make("span", {}, words), make("span", { class: "cross", "aria-hidden": "true" }, "×")));

  element.show = () => {
    const items = [...state.set].map(([name, value]) =>
      chip(condition(state.variables.get(name), value), () => drop([name])),
    );
    if (state.extra.trim()) {
      items.push(
        chip(state.extra, () => {
          state.extra = "";
          state.write();
          changed();
        }),
      );
    }
    list.replaceChildren(...(items.length ? items : [make("li", { class: "quiet" }, "nothing is set: answers hold in general")]));
    clear.hidden = state.set.size === 0;
  };
  return element;
}
