// The page of a reasoner: variables on one side, a question, its answer and the reasons on the other.

import { call, debounced, make, trouble } from "./common.js";
import { Reasons } from "./reasons.js";
import { State } from "./state.js";
import { statement } from "./typing.js";
import { Variables } from "./variables.js";

export function reasoner(model, main) {
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
  const reasons = new Reasons(model, state, off, (name) => variables.point(name));
  const variables = new Variables(model, state, () => update(), (variable) => {
    const asked = variable.kind === "real" ? `${variable.written}>=${variable.middle}` : variable.written;
    commit("question")(asked);
    question.show(asked);
  });
  const hint = make("p", { class: "quiet" }, "Set what is the case; ask by clicking a name, or in your own words.");
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
  main.append(make("div", { class: "column" }, panel, reasons.element), make("div", { class: "column" }, variables.element));

  function faults(error) {
    const mine = error && (error.field === "question" || error.field === "given") ? error.field : null;
    question.fault(mine === "question" ? error : null);
    // The place in the condition counts from the start of all that is set; the field shows only the last part.
    const before = (state.given ?? "").length - state.extra.length - (state.set.size ? 1 : 0);
    const at = mine === "given" && error.at > before ? error.at - before : null;
    const inside = mine === "given" && at !== null && state.extra;
    extra.fault(inside ? { message: error.message.replace(/ \(at character \d+\)/, ""), at } : null);
    trouble(error && !(mine === "question") && !inside ? error.message : "");
  }

  // What is shown belongs to what is asked, from the moment at which that changes.
  function settle() {
    running.abort();
    running = new AbortController();
    main.setAttribute("aria-busy", "true");
    hint.hidden = Boolean(state.question);
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
      asked.catch(() => null).then(() => variables.refresh(signal, (conflict) => reasons.gauge.show(conflict))),
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
    else if (found.values) reasons.explain(null);
    else reasons.explain(await call("explain", { question: state.question, ...state.about }, signal));
  }

  addEventListener("popstate", () => {
    state.read();
    update();
  });
  update();
}
