// SPDX-License-Identifier: Apache-2.0
// A measurement before a wall, as `parallax wall`: the server measures, the page asks once and shows what it answers.
import { drawPicture } from "./pictures.js";

const FRAMES = 30;

function text(value, digits, unit = "") { return value === null ? "–" : value.toFixed(digits) + unit; }
const percent = share => text(share === null ? null : 100 * share, 1, " %");

// Title, and what stands there for one of the parts: as the command prints them.
const COLUMNS = [["", part => part.name], ["fill", part => percent(part.fill)], ["outliers", part => percent(part.outliers)],
  ["offset px", part => text(part.offset_px, 2)], ["bias px", part => text(part.bias_px, 2)], ["bias %", part => text(part.bias_percent, 2)],
  ["noise px", part => text(part.noise_px, 3)], ["in time px", part => text(part.temporal_px, 3)], ["sometimes", part => percent(part.sometimes)],
  ["sigma", part => percent(part.covered)]];

function lines(result) {
  const { realsense } = result, [x, y, width, height] = result.roi_px;
  const known = [["fill", realsense.fill_percent, 1, " %"], ["Z accuracy", realsense.z_accuracy_percent, 2, " %"],
    ["plane fit RMS", realsense.plane_rms_percent, 2, " %"], ["subpixel RMS", realsense.subpixel_rms_px, 3, " px"],
    ["temporal noise", realsense.temporal_percent, 2, " %"]].map(([name, ...figure]) => `${name} ${text(...figure)}`);
  return [(result.disparity_px === null ? "no plane" : `wall ${text(result.distance_m, 2)} m away, turned by ${text(result.angle_deg, 1, "°")}, ` +
      `${text(result.disparity_px, 2)} px of disparity`) + `; ${result.frames} frames, x ${x} y ${y}, ${width} × ${height}`,
    result.tape_m === null ? "bias not measured: type the distance by tape"
      : `${text(result.disparity_px, 2)} px instead of ${text(result.expected_px, 2)} px; 5 mm of the tape are ${text(result.tape_error_px, 2)} px`,
    ...(result.span_px !== null && result.span_px < 1
      ? ["the wall faces the cameras, and disparities are drawn towards whole pixels: turn the robot by some degrees"] : []),
    result.rows_px === null ? "rows not measured" : `rows ${text(result.rows_px, 2)} px apart (median)`, `RealSense: ${known.join(", ")}`];
}

export class Wall {
  constructor(figure) {
    const find = selector => figure.querySelector(selector);
    this.left = find(".left");
    this.parts = { form: find("form"), button: find("button"), progress: find(".progress"), words: find(".words"), advice: find(".advice"),
      residual: find(".residual"), table: find("table"), lines: find(".lines") };
    this.measures = false;
    const head = this.parts.table.tHead.insertRow();
    for (const [title] of COLUMNS) head.append(Object.assign(document.createElement("th"), { textContent: title }));
    this.parts.form.addEventListener("submit", event => {
      event.preventDefault();
      if (!this.measures) this.measure();
    });
  }

  draw(frame) { drawPicture(this.left, frame.left); }

  // Other pages may measure too: then this one is told and does not care.
  takeProgress({ measured, frames }) {
    if (this.measures) this.parts.progress.textContent = `${measured} of ${frames} frames`;
  }

  async measure() {
    const { form, button, progress } = this.parts, distance = form.elements.distance.value.trim().replace(",", ".");
    this.measures = button.disabled = true;
    progress.textContent = "measuring";
    this.show(null);
    try {
      const answer = await fetch(`wall.json?frames=${FRAMES}${distance ? `&distance=${encodeURIComponent(distance)}` : ""}`);
      if (answer.ok) this.show(await answer.json());
      else progress.textContent = await answer.text();
    } catch {
      progress.textContent = "no connection";
    }
    this.measures = button.disabled = false;
  }

  // RESULT null: none.
  show(result) {
    const { words, advice, residual, table } = this.parts;
    words.hidden = residual.hidden = table.hidden = result === null;
    advice.hidden = !result?.advice;
    words.textContent = (result?.verdict.replaceAll("_", " ") ?? "") +
      (result?.verdict === "unproven" ? `: good as far as measured; not measured: ${result.not_measured.join(", ")}` : "");
    advice.textContent = result?.advice ?? "";
    if (result) this.takeProgress({ measured: result.frames, frames: result.frames });
    if (result) residual.src = `wall.png?${Date.now()}`; // a new address, or the browser keeps the old picture
    table.tBodies[0].replaceChildren(...(result?.parts ?? []).map(part => {
      const row = document.createElement("tr");
      for (const [, cell] of COLUMNS) row.insertCell().textContent = cell(part);
      return row;
    }));
    this.parts.lines.replaceChildren(...(result ? lines(result) : []).map(line => Object.assign(document.createElement("li"), { textContent: line })));
  }
}
