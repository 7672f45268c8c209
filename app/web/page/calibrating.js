// SPDX-License-Identifier: Apache-2.0
// A live calibration (`parallax calibrate --live`): both pictures with the board, the pairs that were kept, and what is missing.
import { drawPicture, unit } from "./pictures.js";

const RUNNING_MS = 300, WAITING_MS = 2000; // from one question to the next
const ENDED = 10; // answers without news: the command was killed
const COLOURS = { kept: "#2ecc71", familiar: "#66aaff", moving: "#f0a030", blurred: "#ff5050" };

export class Calibrating {
  constructor(figure, began) {
    this.eyes = [figure.querySelector(".left"), figure.querySelector(".right")];
    this.words = figure.querySelector(".words");
    this.caption = figure.querySelector("figcaption");
    this.began = began;
    this.state = null; // of the command; null: none runs
    this.same = 0;
    this.ask();
  }

  async ask() {
    const answer = await fetch("calibrating.json", { signal: AbortSignal.timeout(WAITING_MS) }).catch(() => null);
    const state = answer?.ok ? await answer.json().catch(() => null) : null;
    this.same = state && state.looked === this.looked ? this.same + 1 : 0;
    this.looked = state?.looked;
    const runs = state !== null && this.same < ENDED, begins = runs && this.state === null;
    this.state = runs ? state : null;
    this.tell(answer !== null);
    if (begins) this.began();
    setTimeout(() => this.ask(), runs ? RUNNING_MS : WAITING_MS);
  }

  tell(isAnswered) {
    const { state } = this;
    this.words.textContent = !isAnswered ? "no connection" : state ? state.words : "no calibration runs: parallax calibrate --live";
    if (!state) {
      this.caption.textContent = "";
      return;
    }
    const tilts = Object.entries(state.tilts).map(([side, pairs]) => `${side} ${pairs}`).join(", ");
    const edges = ["left", "right"].map(eye => (state[eye].edge_px > 0 ? state[eye].edge_px.toFixed(1) : "?")).join(" and ");
    this.caption.textContent = `${state.pairs} pair${state.pairs === 1 ? "" : "s"} of ${state.expected_pairs} or more; nearer side: ${tilts}; edges ${edges} px wide` +
      (state.speed === null ? "" : `; moves ${(100 * state.speed).toFixed(1)} % of the width a second`) + (state.verdict ? `; so far ${state.verdict}` : "");
  }

  draw(frame) {
    ["left", "right"].forEach((name, eye) => {
      if (!frame[name]) return;
      drawPicture(this.eyes[eye], frame[name]);
      if (this.state) this.drawEye(this.eyes[eye], this.state[name]);
    });
  }

  drawEye(canvas, { parts, kept, corners }) {
    const context = canvas.getContext("2d"), rows = parts.length, columns = parts[0].length;
    const width = canvas.width / columns, height = canvas.height / rows;
    context.lineWidth = unit(canvas);
    context.fillStyle = "rgb(240 160 48 / 35%)";
    parts.forEach((line, row) => line.forEach((pairs, column) => {
      if (pairs === 0) context.fillRect(column * width, row * height, width - context.lineWidth, height - context.lineWidth);
    }));
    context.strokeStyle = COLOURS.kept;
    for (const outline of kept) {
      context.beginPath();
      outline.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
      context.closePath();
      context.stroke();
    }
    context.fillStyle = COLOURS[this.state.state] ?? "#fff";
    for (const [x, y] of corners) {
      context.beginPath();
      context.arc(x, y, 3 * context.lineWidth, 0, 2 * Math.PI);
      context.fill();
    }
  }
}
