// SPDX-License-Identifier: Apache-2.0
// Everything beside the views: health in words, figures, charts of the last minutes, files.
import { dropText, obstacleText, placeOf, placeText } from "./pictures.js";

let advice = {}; // what to do, by the name of a fault
fetch("faults.json").then(answer => answer.ok ? answer.json() : {}).then(found => { advice = found; });

export const element = id => document.getElementById(id);

function number(value, digits, unit = "") { return value === null || value === undefined ? "unknown" : value.toFixed(digits) + unit; }

const FIGURES = {
  times: ["service", "this page", "engine restarts", "pairs skipped"],
  eyes: ["left", "right", "skew"],
  geometry: ["rows", "drift", "correction", "offset", "turned", "ground", "motion"],
};

function fill(list, values) {
  element(list).replaceChildren(...FIGURES[list].flatMap((name, index) => {
    const term = document.createElement("dt"), text = document.createElement("dd");
    term.textContent = name;
    text.textContent = values?.[index] ?? "unknown";
    return [term, text];
  }));
}

// --- health -------------------------------------------------------------------------------------------------------------

export function showState(status, connected) {
  const state = element("state"), word = connected ? status.state : "no connection";
  state.dataset.state = connected ? status.state : "stopped";
  state.textContent = word;
  element("sentence").textContent = !connected ? "parallax-web does not answer; trying again every second"
    : status.state === "stopped" ? "the service is not running; this page waits for it"
      : [status.reason, status.simulated ? "simulated pictures, not the world" : status.source === "replay" ? "a recording, not the world" : ""]
        .filter(Boolean).join("; ");
}

let hasZones = false; // as the newest frame has it

// What the robot may do, once a frame has had zones. It stays when frames or the connection (null) go away: then it is not "go".
export function showVerdict(status) {
  const shown = element("verdict"), verdict = status?.verdict;
  if (status?.zones) hasZones = status.zones.length > 0;
  const words = verdict ? [...verdict.reasons.filter(name => name !== "fault"), ...verdict.faults].map(name => name.replaceAll("_", " ")) : ["no connection"];
  if (verdict?.zone) words.push(`zone ${verdict.zone}`);
  if (Number.isFinite(verdict?.distance_m)) words.push(`nearest ${verdict.distance_m.toFixed(2)} m`);
  shown.hidden = !hasZones;
  shown.dataset.verdict = shown.querySelector("b").textContent = verdict?.verdict ?? "unknown";
  shown.querySelector("span").textContent = words.join(", ");
}

// HEALTH null: nobody knows.
export function showFaults(health) {
  const items = (health ?? ["unknown"]).map(name => {
    const item = document.createElement("li"), word = document.createElement("b"), todo = document.createElement("small");
    word.textContent = name.replaceAll("_", " ");
    todo.textContent = ` ${advice[name] ?? ""}`;
    item.append(word, todo);
    return item;
  });
  if (items.length === 0) {
    const item = document.createElement("li");
    item.className = "good";
    item.textContent = "no faults";
    items.push(item);
  }
  element("faults").replaceChildren(...items);
}

// OBSTACLES null: nobody knows, which is not the same as none.
export function showObstacles(obstacles) {
  const rows = (obstacles ?? []).slice(0, 8).map(obstacle => {
    const row = document.createElement("tr");
    for (const text of [`#${obstacle.track} ${obstacle.size_class}`, obstacleText(obstacle), obstacle.moving === null ? "" : obstacle.moving ? "moves" : "stands"])
      row.insertCell().textContent = text;
    return row;
  });
  const body = element("obstacles").tBodies[0];
  body.replaceChildren(...rows);
  if (!obstacles) body.insertRow().insertCell().textContent = "unknown";
}

// Where the thing in BOX, which a person has drawn (null: none), is in FRAME; null: an old one, which tells nothing of now.
export function showPlace(box, frame) {
  element("place").textContent = !box ? "draw a box into the picture" : `box ${box.join(", ")}: ` + (frame ? placeWords(placeOf(frame, box)) : "unknown: the picture is old");
}

function placeWords(place) {
  if (place?.state !== "known") return placeText(place);
  const [x, y] = place.position_m;
  return `${placeText(place)} ahead, ${sideWords(x, y)}; ` + (place.track === null ? "no obstacle" : `obstacle #${place.track}`);
}

// A point beside the camera's axis, metres.
export function sideWords(x, y) {
  return `${Math.abs(x).toFixed(2)} m ${x < 0 ? "left" : "right"}, ${Math.abs(y).toFixed(2)} m ${y < 0 ? "above" : "below"} the camera`;
}

export function showDrop(drop) { element("drop").textContent = dropText(drop); }

// --- figures ------------------------------------------------------------------------------------------------------------

export function showFigures(status, shown) {
  element("figures").textContent = `${number(status.rate_hz, 1)} pairs/s · shown ${number(shown.rate, 1)}/s, ${number(shown.ageMs, 0)} ms old`;
  fill("times", [`${number(status.rate_hz, 1)} pairs/s, ${number(status.latency_ms, 1)} ms`,
    `${number(shown.rate, 1)} pairs/s, ${number(shown.ageMs, 0)} ms old`, status.engine_restarts, status.pairs_skipped ?? 0]);
  const eye = capture => capture ? `${(capture.exposure_us / 1000).toFixed(2)} ms, gain ${number(capture.gain, 2)}, ${capture.dropped} dropped` : "unknown";
  fill("eyes", [eye(status.left), eye(status.right), number(status.skew_ms, 3, " ms")]);
  fill("geometry", geometry(status));
}

// Nothing is known yet, or not any more.
export function forgetFigures() {
  element("figures").textContent = "unknown";
  for (const list in FIGURES) fill(list, null);
}

function geometry(status) {
  const degrees = radians => number(radians * 180 / Math.PI, 2, "°"), { alignment, drift, ground, motion } = status;
  return [alignment ? `${number(alignment.epipolar_error_px, 2)} px, at worst ${number(alignment.max_epipolar_error_px, 2)}` : "not measured",
    drift?.matches ? `${number(drift.epipolar_error_px, 2)} px of rows, ${number(drift.residual_px, 2)} without` : "not measured",
    correctionWords(status.correction),
    drift?.disparity_offset_deviation_px > 0
      ? `${number(drift.disparity_offset_px, 2)} ± ${number(drift.disparity_offset_deviation_px, 2)} px, at the sides `
      + `${number(drift.side_px, 2)} ± ${number(drift.side_deviation_px, 2)}` : "not measured",
    alignment ? `pitch ${degrees(alignment.pitch_rad)}, roll ${degrees(alignment.roll_rad)}` : "not measured",
    ground ? `${number(ground.camera_height_m, 2)} m below, pitch ${degrees(ground.pitch_rad)}` : "not found",
    motion?.valid ? `${number(motion.speed_mps, 2)} m/s, ${degrees(motion.turn_radps)}/s` : "unknown"];
}

// --- charts -------------------------------------------------------------------------------------------------------------

const SVG = "http://www.w3.org/2000/svg";
const WINDOW_S = 180;
const GAP_S = 3.5; // without samples for longer than this, a line is broken
const STAGE_COLOURS = 13;
const LEGEND_STAGES = 4;
// Of a chart, in its own units: the page's pixels where it is 300 wide.
const WIDTH = 300, PLOT = { left: 46, right: 294, top: 16 };

function shape(name, attributes, text = "") {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

// 1, 2, 5, 10 and so on, from VALUE up.
function roundUp(value) {
  const decade = 10 ** Math.floor(Math.log10(Math.max(value, 1e-3)));
  return decade * [1, 2, 5, 10].find(step => step * decade >= value);
}

// Title and legend, axes with labels at their beginning, middle and end, and between them DRAWN.
function showChart(id, height, { title, legend, xLabels, yLabels, drawn }) {
  const chart = element(id), bottom = PLOT.top + height, { left, right } = PLOT, middle = (left + right) / 2;
  chart.setAttribute("viewBox", `0 0 ${WIDTH} ${bottom + 16}`);
  const head = shape("text", { x: 0, y: 10 }, title);
  for (const [name, colour] of legend) head.append(shape("tspan", { dx: 8, fill: colour }, "■"), shape("tspan", { dx: 2 }, name));
  const label = (x, y, anchor, text) => shape("text", { class: "label", x, y, "text-anchor": anchor }, text);
  const y = yLabels.map((text, i) => label(left - 4, bottom - i * height / 2 + 4, "end", text));
  const x = [[left, "start"], [middle, "middle"], [right, "end"]].map(([at, anchor], i) => label(at, bottom + 12, anchor, xLabels[i]));
  const half = bottom - height / 2;
  const axes = shape("path", { class: "axis", d: `M${left} ${PLOT.top}V${bottom}H${right}M${left} ${half}H${right}M${left} ${PLOT.top}H${right}` });
  chart.replaceChildren(head, axes, ...drawn, ...x, ...y);
}

const DRIFT_CURVES = [{ key: "rows", name: "rows", colour: "var(--accent)" }, { key: "residual", name: "residual", colour: "var(--warn)" },
  { key: "offset", deviation: "offsetDeviation", name: "offset ± deviation", colour: "var(--good)" }];

// Which correction of the calibration is in force, and whether one waits.
function correctionWords(correction) {
  const inForce = correction?.number ? `${correction.number} in force` : "none";
  return correction?.proposed_number ? `${inForce}; ${correction.proposed_number} is proposed` : inForce;
}

// Rows and offset are measured independently of each other.
function driftSample(drift) {
  return { ...(drift?.matches ? { rows: drift.epipolar_error_px, residual: drift.residual_px } : {}),
    ...(drift?.disparity_offset_deviation_px > 0
      ? { offset: drift.disparity_offset_px, offsetDeviation: drift.disparity_offset_deviation_px } : {}) };
}

export class Charts {
  constructor() { this.samples = []; }

  // Once a second. The charts begin with the first frame.
  add(status, page) {
    if (this.samples.length === 0 && !Number.isFinite(status.latency_ms)) return;
    const time = performance.now() / 1000;
    this.samples.push({ time, rate: status.rate_hz, latency: status.latency_ms, pageRate: page.rate, age: page.ageMs, stages: status.stage_us ?? {},
      ...driftSample(status.fresh ? status.drift : null) });
    while (time - this.samples[0].time > WINDOW_S) this.samples.shift();
    // The window is as long as there are samples, so a chart is full from its second sample on.
    this.span = Math.max(time - this.samples[0].time, 1);
    const pair = (service, mine) => [{ key: service, name: "service", colour: "var(--accent)" }, { key: mine, name: "this page", colour: "var(--warn)" }];
    this.lines("chart-rate", 40, { title: "pairs/s", unit: "/s", least: 1, curves: pair("rate", "pageRate") });
    this.lines("chart-latency", 40, { title: "latency", unit: " ms", least: 1, curves: pair("latency", "age") });
    this.lines("chart-drift", 64, { title: "drift", unit: " px", least: 0.1, isSigned: true, curves: DRIFT_CURVES });
    this.stack();
  }

  x(sample) { return PLOT.right - (this.samples.at(-1).time - sample.time) / this.span * (PLOT.right - PLOT.left); }

  // Labels of values from LOW to TOP.
  show(id, height, title, legend, [low, top], unit, drawn) {
    const ago = share => `−${Math.round(share * this.span)} s`;
    showChart(id, height, { title, legend, drawn, xLabels: [ago(1), ago(0.5), "now"],
      yLabels: [0, 0.5, 1].map(share => `${Number((low + share * (top - low)).toPrecision(2))}${unit}`.replace("-", "−")) });
  }

  // The samples that have a number KEY, in runs without a gap.
  runs(key) {
    const runs = [];
    for (const sample of this.samples.filter(each => Number.isFinite(each[key]))) {
      if (!(sample.time - runs.at(-1)?.at(-1).time <= GAP_S)) runs.push([]);
      runs.at(-1).push(sample);
    }
    return runs;
  }

  // A line for each of the curves; one with a DEVIATION has a band so wide on both sides. From 0 on, or as far below it as above.
  lines(id, height, { title, unit, least, isSigned, curves }) {
    const known = curves.flatMap(({ key, deviation }) => this.samples.map(each => Math.abs(each[key]) + (each[deviation] ?? 0))).filter(Number.isFinite);
    const top = roundUp(Math.max(...known, least)), low = isSigned ? -top : 0;
    const point = (sample, value) => `${this.x(sample).toFixed(1)} ${(PLOT.top + height * (top - value) / (top - low)).toFixed(1)}`;
    const drawn = curves.flatMap(({ key, deviation, colour }) => {
      const runs = this.runs(key), edge = (run, side) => run.map(each => point(each, each[key] + side * each[deviation]));
      const band = deviation ? runs.map(run => `M${[...edge(run, 1), ...edge(run, -1).reverse()].join("L")}Z`).join("") : "";
      const line = runs.map(run => `M${run.map(each => point(each, each[key])).join("L")}`).join("");
      return [...(band ? [shape("path", { class: "data", d: band, fill: colour, opacity: 0.25 })] : []),
        shape("path", { class: "data", d: line, fill: "none", stroke: colour, "stroke-width": 1.5 })];
    });
    this.show(id, height, title, curves.map(({ name, colour }) => [name, colour]), [low, top], unit, drawn);
  }

  // The stages above each other, in their order; the legend names the longest ones.
  stack() {
    const height = 64, newest = this.samples.findLast(sample => Object.keys(sample.stages).length > 0)?.stages ?? {}, names = Object.keys(newest);
    const total = sample => names.reduce((sum, name) => sum + (sample.stages[name] ?? 0) / 1000, 0);
    const top = roundUp(Math.max(...this.samples.map(total), 1)), base = this.samples.map(() => 0);
    const colour = name => `hsl(${names.indexOf(name) * 360 / STAGE_COLOURS} 60% 55%)`;
    const edge = () => this.samples.map((sample, i) => `${this.x(sample).toFixed(1)} ${(PLOT.top + height * (1 - base[i] / top)).toFixed(1)}`);
    const drawn = names.map(name => {
      const below = edge().reverse();
      this.samples.forEach((sample, i) => { base[i] += (sample.stages[name] ?? 0) / 1000; });
      return shape("path", { class: "data", d: `M${[...edge(), ...below].join("L")}Z`, fill: colour(name) });
    });
    const longest = names.toSorted((a, b) => newest[b] - newest[a]).slice(0, LEGEND_STAGES);
    this.show("chart-stages", height, "stages", longest.map(name => [name, colour(name)]), [0, top], " ms", drawn);
  }
}

// Shares of the pixels of both eyes. Their square root is drawn, which keeps small peaks visible: half the height is a quarter of the top.
export function showHistogram(histogram) {
  const bins = 256, height = 56, legend = [["left", "rgb(80 160 255)"], ["right", "rgb(255 130 60)"]];
  const percents = [0, 1].map(eye => {
    const counts = histogram.data.subarray(eye * bins, (eye + 1) * bins), pixels = counts.reduce((sum, each) => sum + each, 0);
    return Array.from(counts, count => pixels ? 100 * count / pixels : 0);
  });
  const top = roundUp(Math.max(...percents.flat()));
  const drawn = percents.map((percent, eye) => {
    const points = percent.map((each, bin) =>
      `${(PLOT.left + (bin + 0.5) * (PLOT.right - PLOT.left) / bins).toFixed(1)} ${(PLOT.top + height * (1 - Math.sqrt(each / top))).toFixed(1)}`);
    const d = `M${PLOT.left} ${PLOT.top + height}L${points.join("L")}L${PLOT.right} ${PLOT.top + height}Z`;
    return shape("path", { class: "data", d, fill: legend[eye][1], opacity: 0.6 });
  });
  showChart("histogram", height, { title: "pixels", legend, drawn, xLabels: ["0", "grey level", "255"],
    yLabels: [0, 0.25, 1].map(share => `${Number((share * top).toPrecision(2))} %`) });
}

// --- files --------------------------------------------------------------------------------------------------------------

export async function showFiles() {
  const list = element("files"), answer = await fetch("files.json");
  if (!answer.ok) return;
  const files = await answer.json(), items = [];
  for (const [folder, entries] of [["recordings", files.recordings], ["blackbox", files.blackbox]])
    for (const entry of entries.slice(0, 6)) {
      const item = document.createElement("li"), link = document.createElement("a"), size = document.createElement("small");
      link.href = `${folder}/${encodeURIComponent(entry.name)}`;
      link.download = entry.name;
      link.textContent = entry.name;
      size.textContent = ` ${(entry.bytes / 1e6).toFixed(1)} MB`;
      item.append(link, size);
      items.push(item);
    }
  list.replaceChildren(...items);
}
