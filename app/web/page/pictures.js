// SPDX-License-Identifier: Apache-2.0
// Views that are pictures: left with obstacles, depth in colours, both cameras with a loupe.

const INVALID = 0xffff;
const STEPS = 1024; // of colours

// 0 (far, blue) to 1 (near, red).
export function colour(share) {
  const hue = (1 - Math.min(Math.max(share, 0), 1)) * 4; // 4 sixths of the circle
  const part = hue - Math.floor(hue);
  const [r, g, b] = [[1, part, 0], [1 - part, 1, 0], [0, 1, part], [0, 1 - part, 1], [0, 0, 1]][Math.floor(hue)];
  return [r, g, b].map(each => Math.round(40 + 215 * each));
}

const COLOURS = Uint32Array.from({ length: STEPS }, (_, i) => {
  const [r, g, b] = colour(i / (STEPS - 1));
  return (255 << 24 | b << 16 | g << 8 | r) >>> 0;
});

function resize(canvas, width, height) {
  if (canvas.width === width && canvas.height === height) return;
  canvas.width = width;
  canvas.height = height;
}

// Draws a picture, grey or in colour, into CANVAS.
export function drawPicture(canvas, plane) {
  resize(canvas, plane.width, plane.height);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (plane.bitmap) {
    context.drawImage(plane.bitmap, 0, 0);
    return;
  }
  canvas.image ??= context.createImageData(plane.width, plane.height);
  if (canvas.image.width !== plane.width || canvas.image.height !== plane.height)
    canvas.image = context.createImageData(plane.width, plane.height);
  const out = new Uint32Array(canvas.image.data.buffer), { data } = plane;
  if (plane.isColour)
    for (let i = 0, k = 0; i < out.length; i++, k += 3) out[i] = 0xff000000 | data[k + 2] << 16 | data[k + 1] << 8 | data[k];
  else
    for (let i = 0; i < data.length; i++) out[i] = 0xff000000 | data[i] * 0x010101;
  context.putImageData(canvas.image, 0, 0);
}

// Text size and line width that look the same however the canvas is scaled.
export function unit(canvas) { return canvas.width / (canvas.clientWidth || canvas.width); }

export function obstacleText(obstacle) {
  const words = [`${obstacle.nearest_m.toFixed(1)} m`];
  const velocity = obstacle.world_velocity_mps ?? obstacle.velocity_mps;
  const speed = Math.hypot(velocity[0], velocity[2]);
  if (obstacle.moving !== false && speed >= 0.2) words.push(`${speed.toFixed(1)} m/s`);
  return words.join(" ");
}

// The parts of the obstacle's outline in which something stands, from left to right: their sides in columns, and their distance.
export function outlineParts(obstacle) {
  const [x, , width] = obstacle.box_px, parts = obstacle.outline_m, column = i => x + width * i / parts.length;
  return parts.map((each, i) => ({ index: i, left: column(i), right: column(i + 1), distance_m: each })).filter(each => each.distance_m !== null);
}

// The point on the ground that column x of the picture shows at depth z, in axes of the camera.
export function onGround(ground, calibration, x, z) {
  const across = (x - calibration.cx) / calibration.fx * z;
  if (!ground) return [across, 0, z];
  const { pitch_rad: pitch, roll_rad: roll, camera_height_m: height } = ground;
  return [across, (height - Math.cos(pitch) * Math.sin(roll) * across - Math.sin(pitch) * z) / (Math.cos(pitch) * Math.cos(roll)), z];
}

// Runs of columns, side by side, whose ground falls away: the sides of each, columns of the picture, and the distance of its edge.
export function dropEdges({ scan, status }) {
  const { calibration: c, ground } = status, runs = [];
  if (!scan || !c || !ground) return runs;
  for (let i = 0, last = -2; i < scan.data.length / 4; i++) {
    const free = scan.data[4 * i + 1];
    if (!(scan.data[4 * i + 2] & DROP) || free === 0 || free === NOTHING_FREE) continue;
    if (last !== i - 1) runs.push([]);
    runs.at(-1).push({ left: COLUMN_WIDTH * i, right: COLUMN_WIDTH * (i + 1), distance_m: 16 * c.fx * c.baseline_m / free });
    last = i;
  }
  return runs;
}

export const COLUMN_WIDTH = 4; // pixels of a column of the scan
export const NOTHING_FREE = 0xffff;
const DROP = 2; // of a column's flags

// The points [x, y] as the edge of a drop: white with a black seam, which no distance has, on any background.
export function strokeEdge(context, points, scale) {
  for (const [style, width] of [["#000", 5], [DROP_STYLE, 3]]) {
    context.strokeStyle = style;
    context.lineWidth = width * scale;
    context.beginPath();
    for (const point of points) context.lineTo(...point);
    context.stroke();
  }
}

const DROP_STYLE = "#fff";

export function dropText(drop) { return !drop ? "drops: unknown" : drop.width_px > 0 ? `drop ${drop.ahead_m.toFixed(1)} m ahead` : "no drop is seen"; }

// --- left ---------------------------------------------------------------------------------------------------------------

export class Picture {
  // LOCATE gets each box that a person draws, [x, y, width, height], and null where a click takes it away.
  constructor(figure, measure, locate) {
    [this.image, this.overlay] = figure.querySelectorAll("canvas");
    this.caption = figure.querySelector("figcaption");
    this.point = this.box = null;
    this.drag = null; // where a press began
    this.showsRows = false; // arrows for the drift of the rows
    this.listenToDrags(locate);
    figure.addEventListener("keydown", event => {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (!step || !this.image.width) return;
      const many = event.shiftKey ? 10 : 1, [x, y] = this.point ?? [this.image.width >> 1, this.image.height >> 1];
      this.measure(x + many * step[0], y + many * step[1]);
      event.preventDefault();
    });
    this.onMeasure = measure;
  }

  listenToDrags(locate) {
    const { overlay } = this, at = event => [event.offsetX * unit(overlay), event.offsetY * unit(overlay)];
    const boxTo = event => boxBetween(this.drag, at(event), overlay), redraw = () => { if (this.frame) this.drawOverlay(this.frame); };
    overlay.addEventListener("pointerdown", event => {
      if (event.button !== 0) return;
      this.drag = at(event);
      overlay.setPointerCapture(event.pointerId);
    });
    overlay.addEventListener("pointermove", event => {
      if (!this.drag) return;
      this.box = boxTo(event) ?? this.box;
      redraw();
    });
    overlay.addEventListener("pointerup", event => {
      if (!this.drag) return;
      this.box = boxTo(event);
      if (!this.box) this.measure(...at(event));
      locate(this.box);
      this.drag = null;
      redraw();
    });
    overlay.addEventListener("pointercancel", () => {
      this.drag = null;
      locate(this.box);
    });
  }

  measure(x, y) {
    const clamp = (value, size) => Math.min(Math.max(Math.floor(value), 0), size - 1);
    this.point = [clamp(x, this.image.width), clamp(y, this.image.height)];
    this.onMeasure(this.point);
  }

  draw(frame) {
    drawPicture(this.image, frame.colour);
    resize(this.overlay, frame.colour.width, frame.colour.height);
    this.frame = frame;
    this.drawOverlay(frame);
    this.showCaption(frame);
  }

  drawOverlay(frame) {
    const context = this.overlay.getContext("2d"), scale = unit(this.overlay), obstacles = frame.status.obstacles ?? [];
    context.clearRect(0, 0, this.overlay.width, this.overlay.height);
    context.font = `${12 * scale}px system-ui, sans-serif`;
    const labels = this.showsRows ? [rowsLegend(context, scale)] : []; // then nearest first, so that its label stands at its box
    if (this.box) labels.push(placeLabel(context, { box_px: this.box, text: placeText(placeOf(frame, this.box)), style: BOX_STYLE }, scale, labels));
    const edges = dropEdges(frame).map(edge => edgeInPicture(edge, frame.status));
    if (edges.length > 0 && frame.status.drop?.width_px > 0) labels.push(dropLabel(context, edges, frame.status.drop, scale));
    for (const obstacle of obstacles) labels.push(placeLabel(context, obstacleLabel(obstacle), scale, labels));
    for (const obstacle of [...obstacles].reverse()) {
      drawBox(context, obstacle.box_px, distanceColour(obstacle.nearest_m), scale);
      drawFoot(context, frame.status, obstacle, scale);
    }
    for (const edge of edges) strokeEdge(context, edge, scale);
    if (this.showsRows) drawRows(context, frame.status, scale);
    if (this.box) {
      context.setLineDash([5 * scale, 3 * scale]);
      drawBox(context, this.box, BOX_STYLE, scale);
      context.setLineDash([]);
    }
    for (const label of labels) drawLabel(context, label, scale);
    if (this.point) {
      context.strokeStyle = "#fff";
      context.lineWidth = scale;
      context.strokeRect(this.point[0] - 4 * scale, this.point[1] - 4 * scale, 8 * scale, 8 * scale);
    }
  }

  showCaption(frame) {
    const { obstacles, free_ahead_m: free } = frame.status;
    this.caption.textContent = obstacles ? `${obstacles.length} obstacles; free ahead ` + (free === null ? "unknown" : `${free.toFixed(1)} m`)
      : `obstacles unknown: ${(frame.status.blind ?? ["old picture"]).join(", ").replaceAll("_", " ")}`;
    if (dropEdges(frame).length > 0) this.caption.textContent += `; white line: ${dropText(frame.status.drop)}`;
    if (this.showsRows)
      this.caption.textContent += frame.status.drift?.matches ? `; arrows: how much lower the right picture shows it, ${ROWS_LARGER} times as long`
        : "; no arrows: drift of the rows is not measured";
  }
}

// --- a box that a person draws ------------------------------------------------------------------------------------------

const BOX_STYLE = "#fff"; // no colour of a distance
const MIN_DRAG = 4; // pixels of the page, both ways; what is less is a click

// The whole pixels of CANVAS between two corners; null: they are too near each other.
function boxBetween(from, to, canvas) {
  const least = MIN_DRAG * unit(canvas), sizes = [canvas.width, canvas.height];
  if (from.some((each, axis) => Math.abs(each - to[axis]) < least)) return null;
  const clamp = (value, axis) => Math.min(Math.max(value, 0), sizes[axis]);
  const low = [0, 1].map(axis => Math.floor(clamp(Math.min(from[axis], to[axis]), axis)));
  const high = [0, 1].map(axis => Math.ceil(clamp(Math.max(from[axis], to[axis]), axis)));
  return high[0] > low[0] && high[1] > low[1] ? [...low, high[0] - low[0], high[1] - low[1]] : null;
}

// What FRAME tells of BOX; undefined: nothing yet.
export function placeOf(frame, box) { return frame?.located?.boxes.find(place => place.box_px.every((each, i) => each === box[i])); }

// The distance, or why it is unknown.
export function placeText(place) {
  if (!place) return "unknown: not measured yet";
  return place.state === "known" ? `${place.distance_m.toFixed(2)} m ± ${place.sigma_m.toFixed(2)} m` : `unknown: ${place.reason}`;
}

// The points of an edge in the picture: where the ground is at the distance of each column.
function edgeInPicture(edge, { ground, calibration: c }) {
  const row = (x, z) => c.cy + c.fy * onGround(ground, c, x, z)[1] / z;
  return edge.flatMap(({ left, right, distance_m: z }) => [left, right].map(x => [x, row(x, z)]));
}

// Above the nearest part of the edge that DROP tells of.
function dropLabel(context, edges, drop, scale) {
  const { canvas } = context, text = dropText(drop), width = context.measureText(text).width + 6 * scale, height = LABEL_HEIGHT * scale;
  const edge = edges.find(([[x]]) => x === drop.x_px) ?? edges[0], [nearX, nearY] = edge.reduce((low, point) => point[1] > low[1] ? point : low);
  return { text, x: Math.max(Math.min(nearX - width / 2, canvas.width - width), 0), width,
           top: Math.max(Math.min(nearY - height - 4 * scale, canvas.height - height), 0), style: DROP_STYLE };
}

const ROWS_LARGER = 20; // arrows are so much longer than the difference
const ARROWS = [8, 6]; // across and down
const ARROW_STYLE = "#f4f"; // no colour of a distance

// By how many rows the match of pixel x, y lies lower in the right picture (core/drift/rows.h); of a far point, whose pixel there is the same.
export function driftRows({ drift, calibration: c }, x, y) {
  const across = (x - c.cx) / c.fx, down = (y - c.cy) / c.fy;
  return c.fy * (drift.pitch_rad * (1 + down * down) - drift.roll_rad * across - drift.bend_rad * across * down + drift.scale * down);
}

// In the lower left corner, as the first label, so that no other one covers it.
function rowsLegend(context, scale) {
  const text = `arrows: rows × ${ROWS_LARGER}`;
  return { text, x: 0, width: context.measureText(text).width + 6 * scale, top: context.canvas.height - LABEL_HEIGHT * scale, style: ARROW_STYLE };
}

function drawRows(context, status, scale) {
  if (!status.drift?.matches || !status.calibration) return;
  const { width, height } = context.canvas, [columns, rows] = ARROWS;
  context.strokeStyle = context.fillStyle = ARROW_STYLE;
  context.lineWidth = 2 * scale;
  for (let i = 0; i < columns * rows; i++) {
    const x = (i % columns + 0.5) * width / columns, y = (Math.floor(i / columns) + 0.5) * height / rows;
    drawArrow(context, x, y, y + ROWS_LARGER * driftRows(status, x, y), scale);
  }
}

// From row FROM to row TO; the dot at its begin is all of it where there is no difference.
function drawArrow(context, x, from, to, scale) {
  const head = Math.sign(to - from) * Math.min(5 * scale, Math.abs(to - from) / 2);
  context.fillRect(x - 2 * scale, from - 2 * scale, 4 * scale, 4 * scale);
  context.beginPath();
  context.moveTo(x, from);
  context.lineTo(x, to - head);
  context.stroke();
  context.beginPath();
  context.moveTo(x, to);
  context.lineTo(x - head * 0.8, to - head);
  context.lineTo(x + head * 0.8, to - head);
  context.fill();
}

function drawBox(context, box, style, scale) {
  context.lineWidth = 2 * scale;
  context.strokeStyle = style;
  context.strokeRect(...box);
}

// A bar at the foot of the obstacle, in each part of its outline in the colour of that part's distance: on the ground, but inside the
// box; at the box's lower edge if there is no ground.
function drawFoot(context, { ground, calibration }, obstacle, scale) {
  const [, top, , boxHeight] = obstacle.box_px, height = FOOT_HEIGHT * scale, lower = top + boxHeight - height;
  for (const { left, right, distance_m: z } of outlineParts(obstacle)) {
    const row = ground ? calibration.cy + calibration.fy * onGround(ground, calibration, (left + right) / 2, z)[1] / z - height : lower;
    context.fillStyle = distanceColour(z);
    context.fillRect(left, Math.max(Math.min(row, lower), top), right - left, height);
  }
}

const FOOT_HEIGHT = 4;
const LABEL_HEIGHT = 16;

export function distanceColour(metres) { return `rgb(${colour(1.2 / Math.max(metres, 0.3)).join(" ")})`; }

function obstacleLabel(obstacle) {
  return { box_px: obstacle.box_px, text: `#${obstacle.track} ${obstacleText(obstacle)}`, style: distanceColour(obstacle.nearest_m) };
}

// Above its box, else below, else higher and higher: where it is whole and covers no label in LABELS.
function placeLabel(context, { box_px: [boxX, y, , boxHeight], text, style }, scale, labels) {
  const width = context.measureText(text).width + 6 * scale, height = LABEL_HEIGHT * scale, { canvas } = context;
  const x = Math.max(Math.min(boxX, canvas.width - width), 0);
  const isFree = top => top >= 0 && top + height <= canvas.height &&
    labels.every(each => x >= each.x + each.width || each.x >= x + width || Math.abs(each.top - top) >= height);
  const tops = [y - height, y + boxHeight, ...Array.from({ length: 8 }, (_, i) => y - (i + 2) * height)];
  return { text, x, width, top: tops.find(isFree) ?? Math.max(y - height, 0), style };
}

function drawLabel(context, label, scale) {
  context.fillStyle = "rgb(0 0 0 / 70%)";
  context.fillRect(label.x, label.top, label.width, LABEL_HEIGHT * scale);
  context.fillStyle = label.style;
  context.fillText(label.text, label.x + 3 * scale, label.top + 12 * scale);
}

// --- depth --------------------------------------------------------------------------------------------------------------

export class Depth {
  constructor(figure, measure) {
    this.canvas = figure.querySelector(".image");
    this.scale = figure.querySelector(".scale");
    this.marks = figure.querySelector(".marks");
    this.lut = new Uint32Array(65536);
    this.range = 0; // disparity that is red, 1/16 px
    this.canvas.addEventListener("click", event => {
      const share = this.step / (this.canvas.clientWidth / this.canvas.width);
      measure([Math.floor(event.offsetX * share), Math.floor(event.offsetY * share)]);
    });
    const context = this.scale.getContext("2d");
    for (let x = 0; x < this.scale.width; x++) {
      context.fillStyle = `rgb(${colour(x / this.scale.width).join(" ")})`;
      context.fillRect(x, 0, 1, this.scale.height);
    }
  }

  // The 99th percentile is red; it moves slowly, so that colours do not flicker.
  choose(plane) {
    const counts = new Uint32Array(4096);
    let known = 0;
    for (let i = 0; i < plane.data.length; i += 16) {
      if (plane.data[i] === INVALID) continue;
      counts[Math.min(plane.data[i] >> 3, 4095)]++;
      known++;
    }
    let top = 4095, above = 0;
    while (top > 1 && above < known / 100) above += counts[top--];
    const wanted = (top + 2) * 8;
    if (this.range > 0 && Math.abs(wanted - this.range) < 0.1 * this.range) return;
    this.range = wanted;
    for (let d = 0; d < INVALID; d++) this.lut[d] = COLOURS[Math.min(STEPS - 1, Math.floor(d * STEPS / this.range))];
    this.lut[INVALID] = 0xff000000;
  }

  draw(frame) {
    const plane = frame.disparity;
    this.step = plane.step;
    this.choose(plane);
    resize(this.canvas, plane.width, plane.height);
    const context = this.canvas.getContext("2d", { willReadFrequently: true });
    if (this.image?.width !== plane.width || this.image.height !== plane.height)
      this.image = context.createImageData(plane.width, plane.height);
    const out = new Uint32Array(this.image.data.buffer);
    for (let i = 0; i < plane.data.length; i++) out[i] = this.lut[plane.data[i]];
    context.putImageData(this.image, 0, 0);
    this.showMarks(frame.status);
  }

  // Round distances below their colours, nearest first, as many as there is room for.
  showMarks(status) {
    const gap = MARK_WIDTH / (this.scale.clientWidth || this.scale.width), at = [];
    for (const metres of MARKS_M) {
      const share = disparityAt(status, metres) / this.range;
      if (share < gap / 2 || share > 1 - gap / 2 || at.some(mark => Math.abs(mark.share - share) < gap)) continue;
      at.push({ metres, share });
    }
    const text = JSON.stringify(at);
    if (text === this.shownMarks) return;
    this.shownMarks = text;
    this.marks.replaceChildren(...at.map(({ metres, share }) => {
      const mark = document.createElement("span");
      mark.textContent = `${metres} m`;
      mark.style.left = `${100 * share}%`;
      return mark;
    }));
  }
}

const MARK_WIDTH = 44; // of a label and the space beside it, pixels of the page
const MARKS_M = [...[0.01, 0.1, 1, 10].flatMap(decade => [1, 1.5, 2, 3, 4, 5, 7].map(step => Number((step * decade).toPrecision(2)))), 100];

// Disparity at a distance, 1/16 px above min_disparity.
function disparityAt(status, metres) {
  const c = status.calibration;
  return 16 * (c.fx * c.baseline_m / metres - status.min_disparity + (c.cx - c.cx_right));
}

// --- both cameras -------------------------------------------------------------------------------------------------------

const LOUPE = 8; // times enlarged
const LINES = 12;

// Variance of the Laplacian (Pech-Pacheco 2000) over that of the picture, which lamps and gain do not change.
function sharpness(data, width, height) {
  let sum = 0, squares = 0, grey = 0, greySquares = 0, count = 0;
  for (let y = 1; y < height - 1; y++)
    for (let x = 1; x < width - 1; x++) {
      const at = i => data[4 * i], i = y * width + x;
      const laplacian = at(i - 1) + at(i + 1) + at(i - width) + at(i + width) - 4 * at(i);
      sum += laplacian;
      squares += laplacian * laplacian;
      grey += at(i);
      greySquares += at(i) * at(i);
      count++;
    }
  const variance = greySquares / count - (grey / count) ** 2;
  return variance > 1 ? (squares / count - (sum / count) ** 2) / variance : 0;
}

export class Cameras {
  constructor(figure) {
    this.eyes = [figure.querySelector(".left"), figure.querySelector(".right")];
    this.loupes = figure.querySelectorAll(".loupe");
    this.caption = figure.querySelector("figcaption");
    this.at = null; // the middle of the loupe
    for (const canvas of this.eyes)
      canvas.addEventListener("pointermove", event => { this.at = [event.offsetX * unit(canvas), event.offsetY * unit(canvas)]; });
    figure.addEventListener("keydown", event => {
      const step = { ArrowLeft: [-4, 0], ArrowRight: [4, 0], ArrowUp: [0, -4], ArrowDown: [0, 4] }[event.key];
      if (!step || !this.at) return;
      this.at = [this.at[0] + step[0], this.at[1] + step[1]];
      event.preventDefault();
    });
  }

  draw(frame) {
    const planes = [frame.left, frame.right];
    this.at ??= [frame.left.width / 2, frame.left.height / 2];
    const sharp = planes.map((plane, eye) => plane ? this.drawEye(eye, plane) : null);
    this.caption.textContent = frame.right
      ? `sharpness left ${sharp[0].toFixed(2)}, right ${sharp[1].toFixed(2)} (around the cross; turn the lens to the maximum). ` +
        (frame.status.calibration ? "A line must meet the same things in both pictures." : "Raw pictures: the lines need not match.")
      : "there is no right picture: set publish.right: true";
  }

  // Returns the sharpness around the cross.
  drawEye(eye, plane) {
    const canvas = this.eyes[eye], loupe = this.loupes[eye];
    drawPicture(canvas, plane);
    const context = canvas.getContext("2d", { willReadFrequently: true });
    const width = loupe.width / LOUPE * 2, height = loupe.height / LOUPE * 2;
    const x = Math.round(Math.min(Math.max(this.at[0] - width / 2, 0), plane.width - width));
    const y = Math.round(Math.min(Math.max(this.at[1] - height / 2, 0), plane.height - height));
    const patch = context.getImageData(x, y, width, height);
    loupe.getContext("2d").imageSmoothingEnabled = false;
    loupe.getContext("2d").drawImage(canvas, x, y, width, height, 0, 0, loupe.width, loupe.height);
    context.strokeStyle = "rgb(0 220 90 / 45%)";
    context.lineWidth = unit(canvas);
    context.beginPath();
    for (let line = 1; line < LINES; line++) {
      context.moveTo(0, line * plane.height / LINES);
      context.lineTo(plane.width, line * plane.height / LINES);
    }
    context.stroke();
    context.strokeStyle = "#ff0";
    context.beginPath();
    context.moveTo(0, this.at[1]);
    context.lineTo(plane.width, this.at[1]);
    context.stroke();
    context.strokeRect(x, y, width, height);
    return sharpness(patch.data, patch.width, patch.height);
  }
}
