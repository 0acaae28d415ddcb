// A square to draw in, or to drop a picture on; light on dark. A drawing is sent in the size that the classifier takes,
// unless that cuts it out or scales it itself.

import { make } from "./common.js";

const SIDE = 280;
const PEN = 20;

// `of` names what it is a picture of, where there are several; `several` takes files beyond the first.
export function drawing(model, changed, of = "", several = null) {
  const [height, width] = model.shape;
  const fixed = model.preparation.kind === "none";
  const canvas = make("canvas", {
    id: of ? null : "drawing",
    width: SIDE,
    height: SIDE,
    role: "img",
    "aria-label": `Draw ${model.preparation.kind === "digits" ? "a digit " : ""}here, or drop a picture${of && ` of ${of}`}`,
  });
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  const file = make("input", { type: "file", accept: "image/*", "aria-label": `Choose a picture${of && ` of ${of}`}`, multiple: several !== null, hidden: of !== "" });
  const wipe = make("button", { type: "button", class: of ? "plain" : null, "aria-label": of ? `Clear the picture of ${of}` : null, onclick: () => clear() }, "Clear");
  const choose = of ? make("button", { type: "button", class: "plain", "aria-label": `Choose a picture file of ${of}`, onclick: () => file.click() }, "Choose") : null;
  const element = make("div", { class: "drawing" }, canvas, make("div", { class: "line" }, wipe, choose, file));
  let last = null;

  function clear() {
    pen.fillStyle = "#000";
    pen.fillRect(0, 0, SIDE, SIDE);
    file.value = "";
    changed(null);
  }

  function place(event) {
    const box = canvas.getBoundingClientRect();
    return [((event.clientX - box.left) / box.width) * SIDE, ((event.clientY - box.top) / box.height) * SIDE];
  }

  function line(from, to) {
    pen.strokeStyle = "#fff";
    pen.lineWidth = PEN;
    pen.lineCap = pen.lineJoin = "round";
    pen.beginPath();
    pen.moveTo(...from);
    pen.lineTo(...to);
    pen.stroke();
  }

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    changed(null); // what was said is of another picture
    last = place(event);
    line(last, last);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!last) return;
    const now = place(event);
    line(last, now);
    last = now;
  });
  for (const name of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(name, () => {
      if (!last) return;
      last = null;
      changed(drawn().toDataURL("image/png").split(",")[1]);
    });
  }

  function drawn() {
    if (!fixed) return canvas;
    const small = make("canvas", { width, height });
    small.getContext("2d").drawImage(canvas, 0, 0, width, height);
    return small;
  }

  async function take(chosen) {
    if (!chosen) return;
    const content = await new Promise((done) => {
      const reader = new FileReader();
      reader.onload = () => done(String(reader.result));
      reader.readAsDataURL(chosen);
    });
    try {
      const picture = await createImageBitmap(chosen);
      const scale = Math.min(SIDE / picture.width, SIDE / picture.height);
      const [wide, high] = [picture.width * scale, picture.height * scale];
      pen.fillStyle = "#000";
      pen.fillRect(0, 0, SIDE, SIDE);
      pen.imageSmoothingEnabled = false;
      pen.drawImage(picture, (SIDE - wide) / 2, (SIDE - high) / 2, wide, high);
    } catch {
      // The browser cannot show it; the server says what it makes of it.
    }
    changed(content.split(",")[1]); // the file itself, not what the browser made of it
  }

  // The first of some files; the others are for others.
  function first(files) {
    take(files[0]);
    if (files.length > 1) several?.([...files].slice(1));
  }

  file.addEventListener("change", () => first(file.files));
  for (const name of ["dragover", "dragenter"]) {
    canvas.addEventListener(name, (event) => {
      event.preventDefault();
      canvas.classList.add("over");
    });
  }
  canvas.addEventListener("dragleave", () => canvas.classList.remove("over"));
  canvas.addEventListener("drop", (event) => {
    event.preventDefault();
    canvas.classList.remove("over");
    first(event.dataTransfer.files);
  });
  element.take = take;
  clear();
  return element;
}

// Pixels from 0 to 255 as a picture: one number for each, or three if it has colour.
export function picture(shades, [height, width], words) {
  const canvas = make("canvas", { class: "picture", width, height, role: "img", "aria-label": words });
  const data = new ImageData(width, height);
  const channels = shades.length / (height * width);
  for (let place = 0; place < height * width; place++) {
    const [red, green, blue] = [0, 1, 2].map((channel) => shades[channels * place + (channel % channels)]);
    data.data.set([red, green, blue, 255], 4 * place);
  }
  canvas.getContext("2d").putImageData(data, 0, 0);
  return make("figure", {}, canvas, make("figcaption", {}, words));
}
