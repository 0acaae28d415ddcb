// The page of a classifier.

import { make } from "./common.js";

export function classifier(model, main) {
  document.getElementById("about").textContent = `tells ${model.labels.join(" from ")}`;
  main.append(make("p", {}, "Use nbr classify for this model; its page is not made yet."));
}
