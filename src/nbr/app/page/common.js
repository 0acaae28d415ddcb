// What both pages use: asking the server, making elements, drawing intervals.

const KEY = "nbr-token";

export class Told extends Error {
  constructor(status, body) {
    super(body.error || `the server said ${status}`);
    this.status = status;
    this.field = body.field ?? null;
    this.at = body.at ?? null;
  }
}

export function takeToken() {
  // A token comes behind the # of the address, which is never sent, and does not stay there.
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given !== null) {
    keepToken(given);
    history.replaceState(null, "", location.pathname);
  }
}

export function keepToken(token) {
  sessionStorage.setItem(KEY, token);
}

export async function call(path, body, signal) {
  const token = sessionStorage.getItem(KEY);
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const options = { headers, signal, cache: "no-store" };
  if (body !== undefined) {
    options.method = "POST";
    options.body = JSON.stringify(body);
    headers["Content-Type"] = "application/json";
  }
  let answer;
  try {
    answer = await fetch(`/api/${path}`, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Told(0, { error: "the server does not answer; is nbr serve still running?" });
  }
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Told(answer.status, told);
  return told;
}

export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export const two = (number) => number.toFixed(2);

// What is proved is never rounded up.
export const down = (number) => (Math.floor(100 * number) / 100).toFixed(2);

export function interval(answer) {
  return `[${two(answer.belief)}, ${two(answer.plausibility)}]`;
}

// A bar from 0 to 1: solid up to belief, hatched up to plausibility (not known), dotted where it was not computed.
export function bar(extra = "") {
  const parts = ["for", "soon", "gap", "late"].map((name) => make("span", { class: name }));
  const tick = make("span", { class: "tick", hidden: true });
  const track = make("span", { class: `bar ${extra}`, role: "img" }, ...parts, tick);
  track.show = (answer, about = "") => {
    const [low, high] = answer.bounds ? answer.bounds.belief : [answer.belief, answer.belief];
    let [least, most] = answer.bounds ? answer.bounds.plausibility : [answer.plausibility, answer.plausibility];
    let middle = high;
    if (high > least) [middle, least] = [most, most];
    const ends = [0, low, middle, least, most];
    parts.forEach((part, place) => {
      part.style.left = `${100 * ends[place]}%`;
      part.style.width = `${100 * Math.max(0, ends[place + 1] - ends[place])}%`;
    });
    const often = (answer.probability?.value ?? null) === null ? null : answer.probability;  // not computed: no tick
    tick.hidden = often === null;
    if (often !== null) tick.style.left = `${100 * often.value}%`;
    const how = answer.exact === false ? ", not exact" : "";
    const share = often === null ? "" : `, probability ${two(often.value)}`;
    track.setAttribute(
      "aria-label",
      `${about ? `${about}: ` : ""}belief ${two(answer.belief)}, plausibility ${two(answer.plausibility)}${share}${how}`,
    );
    track.title = track.getAttribute("aria-label");
  };
  // What it showed belongs to another question.
  track.clear = () => {
    for (const part of parts) part.style.width = "0";
    tick.hidden = true;
    track.removeAttribute("aria-label");
    track.removeAttribute("title");
  };
  return track;
}

export function legend(prior) {
  const item = (name, words) => make("li", {}, make("span", { class: `key ${name}` }), words);
  const items = [item("for", "evidence for"), item("gap", "not known"), item("against", "evidence against")];
  const late = make("li", { hidden: true }, make("span", { class: "key late" }), "not computed");
  items.push(late);
  if (prior) items.push(item("tick", "probability"));
  const list = make("ul", { class: "legend", "aria-label": "How to read the bars" }, ...items);
  list.show = (exact) => (late.hidden = exact);
  return list;
}

export function gauge() {
  const fill = make("span", { class: "fill" });
  const track = make(
    "span",
    { class: "gauge", role: "meter", "aria-label": "conflict", "aria-valuemin": "0", "aria-valuemax": "1" },
    fill,
  );
  const words = make("span", { class: "number" });
  const whole = make("p", { class: "conflict" }, make("span", {}, "conflict"), track, words);
  // A conflict that is not computed is shown as its bounds.
  whole.show = (value, [low, high] = [value, value]) => {
    const known = value !== null && value !== undefined;
    whole.hidden = !known;
    if (!known) return;
    fill.style.width = `${100 * low}%`;
    track.setAttribute("aria-valuenow", two(low));
    words.textContent = high - low < 0.005 ? two(value) : `${two(low)} to ${two(high)}, not computed`;
    whole.classList.toggle("high", low > 0.5);
  };
  whole.show(null);
  return whole;
}

export function debounced(wait, work) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(work, wait);
  };
}

export function trouble(words) {
  const place = document.getElementById("trouble");
  place.hidden = !words;
  place.textContent = words || "";
}
