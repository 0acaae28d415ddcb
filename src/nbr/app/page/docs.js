// What the API offers, drawn from its own description.

import { make } from "./common.js";

const told = await (await fetch("/openapi.json")).json();
const shapes = told.components.schemas;
const main = document.getElementById("main");
document.getElementById("about").textContent = `${told.info.title} ${told.info.version}`;

function words(schema) {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.anyOf) return schema.anyOf.map(words).join(" or ");
  if (schema.type === "array" && schema.prefixItems) return `[${schema.prefixItems.map(words).join(", ")}]`;
  if (schema.type === "array") return `list of ${words(schema.items)}`;
  if (schema.type === "object" && schema.additionalProperties?.type) return `object of ${words(schema.additionalProperties)}`;
  return schema.type ?? "anything";
}

function shape(name) {
  const { properties = {}, required = [], description } = shapes[name];
  const rows = Object.entries(properties).map(([key, each]) =>
    make("tr", {}, make("th", { scope: "row" }, make("code", {}, key), required.includes(key) ? "" : make("span", { class: "quiet" }, " optional")), make("td", {}, words(each)), make("td", {}, each.description ?? "")),
  );
  const head = make("tr", {}, ...["entry", "type", "meaning"].map((each) => make("th", { scope: "col" }, each)));
  return make("details", {}, make("summary", {}, `${name}${description ? `: ${description}` : ""}`), make("div", { class: "table", tabindex: "0" }, make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows))));
}

const parts = Object.entries(told.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, each]) => {
    const sent = each.requestBody?.content["application/json"].schema;
    const back = each.responses["200"]?.content?.["application/json"]?.schema;
    const named = [sent, back].filter((one) => one?.$ref).map((one) => one.$ref.split("/").pop());
    return make("section", { class: "panel" }, make("h2", {}, make("code", {}, `${method.toUpperCase()} ${path}`)), make("p", {}, each.description ?? each.summary ?? ""), ...named.map(shape));
  }),
);
const others = Object.keys(shapes).sort();
parts.push(make("section", { class: "panel" }, make("h2", {}, "All shapes"), ...others.map(shape)));
main.replaceChildren(...parts);
main.removeAttribute("aria-busy");
