// A square to draw a digit in, or to drop a picture on; light on dark, as MNIST has it.

import { make } from "./common.js";

const SIDE = 280;
const PEN = 20;

export function drawing(changed) {
  const canvas = make("canvas", {
    id: "drawing",
    width: SIDE,
    height: SIDE,
    role: "img",
    "aria-label": "Draw a digit here, or drop a picture",
  });
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  const file = make("input", { type: "file", accept: "image/*", "aria-label": "Choose a picture" });
  const wipe = make("button", { type: "button", onclick: () => clear() }, "Clear");
  const element = make("div", { class: "drawing" }, canvas, make("div", { class: "line" }, wipe, file));
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
      changed(canvas.toDataURL("image/png").split(",")[1]);
    });
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
      const [width, height] = [picture.width * scale, picture.height * scale];
      pen.fillStyle = "#000";
      pen.fillRect(0, 0, SIDE, SIDE);
      pen.imageSmoothingEnabled = false;
      pen.drawImage(picture, (SIDE - width) / 2, (SIDE - height) / 2, width, height);
    } catch {
      // The browser cannot show it; the server says what it makes of it.
    }
    changed(content.split(",")[1]); // the file itself, not what the browser made of it
  }

  file.addEventListener("change", () => take(file.files[0]));
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
    take(event.dataTransfer.files[0]);
  });
  clear();
  return element;
}

// Pixels from 0 to 255 as a picture.
export function picture(shades, [height, width], words) {
  const canvas = make("canvas", { class: "picture", width, height, role: "img", "aria-label": words });
  const data = new ImageData(width, height);
  shades.forEach((shade, place) => data.data.set([shade, shade, shade, 255], 4 * place));
  canvas.getContext("2d").putImageData(data, 0, 0);
  return make("figure", {}, canvas, make("figcaption", {}, words));
}
