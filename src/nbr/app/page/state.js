// What was set, asked, switched off and rewritten; kept in the address, so that it can be sent as a link.

export class State {
  constructor(variables) {
    this.variables = new Map(variables.map((variable) => [variable.name, variable]));
    this.see = {}; // pictures, files in base64, of variables; an address is too short for them
    this.read();
  }

  read() {
    const words = new URLSearchParams(location.hash.slice(1));
    this.question = words.get("q") ?? "";
    this.extra = words.get("given") ?? "";
    this.view = words.get("view") ?? "";
    this.off = new Set((words.get("off") ?? "").split(",").map(Number).filter((number) => number > 0));
    this.rules = written(words.get("rules"));
    this.set = new Map();
    for (const [key, value] of words) {
      if (key.startsWith("set.") && this.variables.has(key.slice(4))) this.set.set(key.slice(4), value);
    }
  }

  // Every change is a step of the browser's history; what is being typed is not.
  write(step = true) {
    const words = new URLSearchParams();
    if (this.question) words.set("q", this.question);
    for (const [name, value] of this.set) words.set(`set.${name}`, value);
    if (this.extra) words.set("given", this.extra);
    if (this.off.size) words.set("off", [...this.off].sort((a, b) => a - b).join(","));
    if (this.rules.length) words.set("rules", JSON.stringify(this.rules));
    if (this.view) words.set("view", this.view);
    const hash = `#${words}`;
    if (hash === (location.hash || "#")) return;
    if (step) history.pushState(null, "", hash);
    else history.replaceState(null, "", hash);
  }

  get parts() {
    return [...this.set].map(([name, value]) => condition(this.variables.get(name), value));
  }

  get given() {
    const parts = this.parts;
    if (this.extra.trim()) parts.push(parts.length ? `(${this.extra})` : this.extra);
    return parts.join(", ") || null;
  }

  get about() {
    const rules = this.rules.length ? { rules: this.rules } : {};
    const see = Object.keys(this.see).length ? { see: { ...this.see } } : {};
    return { given: this.given, off: [...this.off], ...rules, ...see };
  }
}

// A value, a comparison such as >=20, or a piece such as 20..30, which has its first end and not its last.
export function condition(variable, value) {
  if (variable.kind === "bit") return `${variable.written}=${value}`;
  if (variable.kind === "choice") {
    const label = variable.values.find((each) => each.value === value);
    return `${variable.written}=${label ? label.written : value}`;
  }
  const [low, high] = value.split("..");
  if (high) return `${variable.written}>=${low} & ${variable.written}<${high}`;
  return /^[<>=!]/.test(value) ? `${variable.written}${value}` : `${variable.written}=${value}`;
}

function written(text) {
  try {
    const found = JSON.parse(text ?? "[]");
    return Array.isArray(found) ? found : [];
  } catch {
    return [];
  }
}
