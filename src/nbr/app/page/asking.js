// Asks for many intervals, a few at a time: what can be seen first, all of them quickly, then again what that did not settle.

import { call } from "./common.js";

const FIRST = 4; // questions in the first request; twice as many in the next as long as that is quick
const MOST = 128;
const QUICK = 300; // milliseconds
const SLOW = 900;
const GLANCE = 0.25; // seconds of thinking for a request: the server counts that as quick
const LOOK = 2; // seconds for each question that a glance did not settle
const NARROW = 0.005; // bounds that no eye tells apart
const KEPT = 20_000;

const kept = new Map(); // answers, by all that decides them

// Tells an answer to every line as it comes; rank says which line is wanted first at the moment.
export async function askAll(lines, about, signal, told, rank) {
  const under = brief(about);
  const key = (line) => JSON.stringify([line.question, under]);
  const tell = (line, answer) => {
    if (kept.size > KEPT) kept.clear();
    kept.set(key(line), answer);
    told(line, answer);
  };
  const known = (line) => kept.get(key(line));
  for (const line of lines) if (known(line)) told(line, known(line));
  await inParts(lines.filter((line) => !known(line)), () => GLANCE, about, signal, tell, rank);
  const open = lines.filter((line) => !settled(known(line)) && !known(line).looked);
  const again = (line, answer) => tell(line, { ...answer, looked: true });
  await inParts(open, (count) => LOOK * count, about, signal, again, rank);
}

// The same for as long as nothing differs, and short: pictures are long.
function brief({ see, ...rest }) {
  let [one, two] = [0x811c9dc5, 0x9e3779b9];
  for (const letter of JSON.stringify(see ?? null)) {
    one = Math.imul(one ^ letter.charCodeAt(0), 0x01000193);
    two = Math.imul(two ^ letter.charCodeAt(0), 0x85ebca6b) ^ (two >>> 13);
  }
  return { ...rest, see: see ? `${one},${two}` : null };
}

async function inParts(lines, budget, about, signal, told, rank) {
  let left = [...lines];
  let size = FIRST;
  while (left.length) {
    left = left.map((line) => [rank(line), line]).sort((a, b) => a[0] - b[0]).map(([, line]) => line);
    const part = left.splice(0, size);
    const from = performance.now();
    const body = { questions: part.map((line) => line.question), ...about, budget: budget(part.length) };
    const { answers } = await call("ask-many", body, signal);
    part.forEach((line, place) => told(line, answers[place]));
    const took = performance.now() - from;
    if (took < QUICK && answers.every(settled)) size = Math.min(2 * size, MOST);
    if (took > SLOW) size = Math.max(1, size >> 1);
  }
}

function settled(answer) {
  if (answer.exact) return true;
  const { belief, plausibility } = answer.bounds;
  return belief[1] - belief[0] < NARROW && plausibility[1] - plausibility[0] < NARROW;
}
