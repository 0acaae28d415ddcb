// A field for a statement of the query language: completion while typing, and errors under their character.

import { make } from "./common.js";

const FUNCTIONS = ["majority(", "count(", "any(", "all(", "one(", "at_most_one("];
const SHOWN = 8;

export function statement(id, label, hint, model, committed, typed) {
  const field = make("input", {
    id,
    class: "statement",
    type: "text",
    placeholder: hint,
    maxlength: "4000",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    role: "combobox",
    "aria-autocomplete": "list",
    "aria-expanded": "false",
    "aria-controls": `${id}-list`,
    "aria-describedby": `${id}-error`,
  });
  const list = make("ul", { id: `${id}-list`, class: "completions", role: "listbox", "aria-label": "Completions", hidden: true });
  const caret = make("pre", { class: "caret", "aria-hidden": "true" });
  const words = make("p", { id: `${id}-error`, class: "error", role: "alert" });
  const element = make(
    "div",
    { class: "field" },
    make("label", { for: id }, label),
    make("div", { class: "combo" }, field, list),
    caret,
    words,
  );
  let found = [];
  let chosen = -1;

  const close = () => {
    found = [];
    chosen = -1;
    list.hidden = true;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  };
  const mark = (place) => {
    chosen = place;
    [...list.children].forEach((item, at) => item.setAttribute("aria-selected", String(at === chosen)));
    if (chosen >= 0) field.setAttribute("aria-activedescendant", list.children[chosen].id);
  };
  const take = (place) => {
    const { start, text } = found[place];
    const end = field.selectionStart;
    field.value = field.value.slice(0, start) + text + field.value.slice(end);
    const at = start + text.length;
    field.setSelectionRange(at, at);
    close();
    field.focus();
    typed(field.value);
  };
  const open = () => {
    found = completions(model, field.value.slice(0, field.selectionStart));
    list.replaceChildren(
      ...found.map(({ text }, place) =>
        make(
          "li",
          {
            id: `${id}-${place}`,
            role: "option",
            "aria-selected": "false",
            onmousedown: (event) => {
              event.preventDefault();
              take(place);
            },
          },
          text,
        ),
      ),
    );
    if (!found.length) return close();
    list.hidden = false;
    field.setAttribute("aria-expanded", "true");
    mark(-1);
  };

  field.addEventListener("input", () => {
    open();
    element.fault(null);
    typed(field.value);
  });
  field.addEventListener("blur", close);
  field.addEventListener("change", () => committed(field.value));
  field.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (list.hidden) open();
      if (!found.length) return;
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      mark((chosen + step + found.length) % found.length);
    } else if ((event.key === "Enter" || event.key === "Tab") && chosen >= 0) {
      event.preventDefault();
      take(chosen);
    } else if (event.key === "Enter") {
      close();
      committed(field.value);
    } else if (event.key === "Escape") close();
  });

  element.show = (text) => {
    if (field.value !== text) field.value = text;
  };
  element.fault = (error) => {
    caret.textContent = error && error.at ? `${" ".repeat(error.at - 1)}▲` : "";
    caret.hidden = !caret.textContent;
    caret.scrollLeft = field.scrollLeft;
    words.textContent = error ? error.message.replace(/^(question|given): /, "") : "";
    field.setAttribute("aria-invalid", String(Boolean(error)));
  };
  element.fault(null);
  return element;
}

// What the text before the cursor may go on with: values after a name and a sign, else names and functions.
export function completions(model, before) {
  const value = /("[^"]*"|[\p{L}_][\p{L}\d_.]*(?:\[[^\]]*\])?)\s*(?:=|!=|in\s*\{(?:[^}]*,)?)\s*("?[\p{L}\d_.-]*)$/u.exec(before);
  if (value) {
    const variable = model.variables.find((each) => each.written === value[1] || each.name === value[1]);
    if (variable && variable.kind === "choice") {
      return matching(variable.values.map((each) => each.written), value[2], before);
    }
    return [];
  }
  const word = /("[^"]*|[\p{L}_][\p{L}\d_.[\],]*)$/u.exec(before);
  if (!word) return [];
  return matching([...model.variables.map((each) => each.written), ...FUNCTIONS], word[1], before);
}

function matching(names, part, before) {
  const plain = part.replace(/^"/, "").toLowerCase();
  const fits = names.filter((name) => name.replace(/^"/, "").toLowerCase().startsWith(plain) && name !== part);
  return fits.slice(0, SHOWN).map((text) => ({ text, start: before.length - part.length }));
}
