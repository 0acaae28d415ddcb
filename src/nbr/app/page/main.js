// Fetches the model and opens the page for its kind.

import { call, keepToken, make, takeToken, trouble } from "./common.js";
import { reasoner } from "./reasoner.js";
import { classifier } from "./classifier.js";

let before = new AbortController();

// Also when the file of the model has changed: the page begins anew, with what the address says.
async function start() {
  before.abort();
  before = new AbortController();
  const main = document.getElementById("main");
  const door = document.getElementById("door");
  door.hidden = true;
  let model;
  try {
    model = await call("model");
  } catch (error) {
    main.replaceChildren();
    if (error.status === 401) {
      door.hidden = false;
      document.getElementById("token").focus();
    } else trouble(error.message);
    return;
  }
  trouble("");
  document.title = `${model.name} · nbr`;
  document.getElementById("name").textContent = model.name;
  main.replaceChildren();
  main.removeAttribute("aria-busy");
  main.className = "two";
  if (model.kind === "reasoner") reasoner(model, main, start, before.signal);
  else classifier(model, main);
}

document.getElementById("door").addEventListener("submit", (event) => {
  event.preventDefault();
  keepToken(document.getElementById("token").value.trim());
  start();
});

document.getElementById("link").addEventListener("click", async (event) => {
  const said = event.currentTarget;
  await navigator.clipboard?.writeText(location.href).then(
    () => (said.textContent = "Copied"),
    () => (said.textContent = "Copy the address above"),
  );
  setTimeout(() => (said.textContent = "Copy link"), 1500);
});

takeToken();
start();
