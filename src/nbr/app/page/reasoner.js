// The page of a reasoner: variables on one side, a question, its answer and the reasons on the other.

import { chips } from "./chips.js";
import { call, debounced, make, trouble } from "./common.js";
import { Rules } from "./editing.js";
import { Reasons } from "./reasons.js";
import { Pictures } from "./seeing.js";
import { State } from "./state.js";
import { statement } from "./typing.js";
import { Variables } from "./variables.js";
import { Wall } from "./wall.js";

const LOOK = 2000; // milliseconds after which the page asks whether the file has changed

export function reasoner(model, main, again, signal) {
  for (const variable of model.variables) if (variable.kind === "ordered") variable.kind = "choice"; // it is set alike
  const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;
  document.getElementById("about").textContent =
    `${count(model.variables.length, "variable")}, ${count(model.rules.length, "rule")}`;
  document.getElementById("link").hidden = false;
  const state = new State(model.variables);
  let running = new AbortController();
  let shown = null; // the question, and all that it was asked about, to which what is shown belongs

  const commit = (name) => (text) => {
    if (state[name] !== text.trim()) {
      state[name] = text.trim();
      state.write();
      update();
    } else state.write();
  };
  const typing = debounced(350, () => update());
  const type = (name) => (text) => {
    state[name] = text.trim();
    settle();
    typing();
  };
  const said = model.variables.slice(0, 2).map((variable) => {
    if (variable.kind === "bit") return variable.written;
    return variable.kind === "choice" ? `${variable.written}=${variable.values[0].written}` : `${variable.written}>=${variable.middle}`;
  });
  const question = statement("question", "Question", `for example ${said[0]}`, model, commit("question"), type("question"));
  const extra = statement("given", "Given also", `any condition, such as ${said.join(" | ")}`, model, commit("extra"), type("extra"));
  const off = () => update();
  const rules = new Rules(model, state);
  const reasons = new Reasons(model, state, off, (name) => variables.point(name), rules, save);
  const given = chips(state, () => update());
  const pictures = Object.keys(model.sensors ?? {}).length ? new Pictures(model, state, () => update()) : null;
  const about = (variable) => {
    const asked = variable.kind === "real" ? `${variable.written}>=${variable.middle}` : variable.written;
    commit("question")(asked);
    question.show(asked);
  };
  let variables = side();
  const views = make("div", { class: "choice views", role: "group", "aria-label": "View", hidden: !model.learned });
  for (const [name, words] of [["", "Wall"], ["list", "List"]]) {
    const press = () => {
      state.view = name;
      state.write();
      look();
      update();
    };
    views.append(make("button", { type: "button", onclick: press, "data-view": name }, words));
  }

  function side() {
    const kind = model.learned && state.view !== "list" ? Wall : Variables;
    return new kind(model, state, () => update(), about);
  }

  // The wall or the list, whichever is asked for.
  function look() {
    for (const button of views.children) button.setAttribute("aria-pressed", String(button.dataset.view === state.view));
    const walled = model.learned && state.view !== "list";
    main.classList.toggle("walled", walled);
    if (variables instanceof Wall === walled) return;
    const before = variables.element;
    variables = side();
    before.replaceWith(variables.element);
  }

  async function save() {
    try {
      await call("save", { rules: state.rules, off: [...state.off] });
    } catch (error) {
      if (!("status" in error)) throw error;
      return trouble(error.message);
    }
    state.rules = [];
    state.off.clear();
    state.write(false);
    again();
  }
  const hint = make("p", { class: "quiet" }, "Set conditions in the list. Ask by clicking a name, or type a question.");
  const panel = make(
    "section",
    { class: "panel ask", "aria-label": "Question" },
    question,
    extra,
    hint,
    reasons.answer,
    reasons.gauge,
  );
  main.className = "two";
  main.append(given, make("div", { class: "column" }, pictures?.element, panel, reasons.element), make("div", { class: "column right" }, views, variables.element));
  look();

  function faults(error) {
    const mine = error && (error.field === "question" || error.field === "given") ? error.field : null;
    question.fault(mine === "question" ? error : null);
    // The place in the condition counts from the start of all that is set; the field shows only the last part.
    const before = (state.given ?? "").length - state.extra.length - (state.set.size ? 1 : 0);
    const at = mine === "given" && error.at > before ? error.at - before : null;
    const inside = mine === "given" && at !== null && state.extra;
    extra.fault(inside ? { message: error.message.replace(/ \(at character \d+\)/, ""), at } : null);
    trouble(error && !(mine === "question") && !inside ? error.message : (model.trouble ?? ""));
  }

  // What is shown belongs to what is asked, from the moment at which that changes.
  function settle() {
    running.abort();
    running = new AbortController();
    main.setAttribute("aria-busy", "true");
    hint.hidden = Boolean(state.question);
    given.show();
    pictures?.settle();
    const asked = JSON.stringify([state.question, state.about]);
    if (asked !== shown) {
      shown = asked;
      reasons.wait(Boolean(state.question));
      faults(null);
    } else reasons.draw();
    variables.settle();
  }

  async function update() {
    settle();
    const { signal } = running;
    question.show(state.question);
    extra.show(state.extra);
    const asked = ask(signal); // what was asked comes before all else that could be
    const outcomes = await Promise.allSettled([
      asked.then((found) => why(found, signal)),
      pictures?.refresh(signal),
      asked.catch(() => null).then(() => variables.refresh(signal, (answer) => reasons.gauge.show(answer.conflict, answer.bounds?.conflict))),
    ]);
    if (signal.aborted) return;
    main.removeAttribute("aria-busy");
    const failed = outcomes.map((each) => each.reason).filter(Boolean);
    faults(failed.find((error) => error.field === "question") ?? failed[0] ?? null);
    if (outcomes[0].reason) {
      reasons.forget();
      shown = null;
    }
    if (failed.some((error) => error.field === null || error.field === "given")) reasons.gauge.show(null);
    const fault = failed.find((error) => !("status" in error));
    if (fault) throw fault;
  }

  async function ask(signal) {
    if (!state.question) return null;
    const found = await call("ask", { question: state.question, ...state.about }, signal);
    reasons.show(found);
    return found;
  }

  // A ranking of values has no reasons of its own.
  async function why(found, signal) {
    if (!found) reasons.forget();
    else if (found.values) await ranked(found, signal);
    else reasons.explain(await call("explain", { question: state.question, ...state.about }, signal));
  }

  // A choice is explained as it is ranked: why its first value comes first.
  async function ranked(found, signal) {
    const variable = model.variables.find((each) => each.name === found.variable);
    const first = variable?.values?.find((each) => each.value === found.values[0].value);
    if (!first) return reasons.explain(null);
    const why = await call("explain", { question: `${variable.written}=${first.written}`, ...state.about }, signal);
    reasons.explain(why, `Why ${first.value} comes first`);
  }

  // What was rewritten on the page and no longer fits the model is left out.
  async function begin() {
    try {
      await rules.read();
    } catch (error) {
      if (!("status" in error)) throw error;
      state.rules = [];
      state.write(false);
      trouble(`changes in the address do not go with the model: ${error.message}`);
      return update();
    }
    return update();
  }

  async function watch() {
    if (document.visibilityState !== "visible") return;
    const now = await call("version", undefined, signal).catch(() => null);
    if (!now || signal.aborted) return;
    if (now.version !== model.version || now.trouble !== model.trouble) again();
  }

  if (model.trouble) trouble(model.trouble);
  if (model.version) {
    const timer = setInterval(watch, LOOK);
    signal.addEventListener("abort", () => clearInterval(timer));
  }
  signal.addEventListener("abort", () => running.abort());
  addEventListener("popstate", () => {
    state.read();
    look();
    begin();
  }, { signal });
  begin();
}
