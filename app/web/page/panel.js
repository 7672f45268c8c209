// SPDX-License-Identifier: Apache-2.0
// Everything beside the views: health in words, figures, charts of the last minutes, files.
import { obstacleText } from "./pictures.js";

const MINUTES = 3;
const WHAT_TO_DO = {
  camera_lost_left: "The left camera is gone. Check its cable; the service tries again by itself.",
  camera_lost_right: "The right camera is gone. Check its cable; the service tries again by itself.",
  no_frames: "No frames come. See the other faults, and the service's log.",
  dropped: "A camera loses frames: its cable, its bus, or a rate that is too high.",
  desync: "Left and right are not taken at the same time. Check the trigger.",
  timestamp: "A camera's clock jumps. See the service's log.",
  frozen: "A picture does not change at all. Restart that camera.",
  dark: "Covered, or too dark to see.",
  overexposed: "Too bright. Is exposure control on?",
  brightness_mismatch: "One eye is brighter than the other. Clean the lenses; are the apertures equal?",
  misaligned: "Rows of left and right no longer match: calibrate again.",
  late: "A stage takes longer than its budget. Use a smaller picture, fewer disparities, or a freer machine.",
  overload: "Pairs come faster than they are processed. Lower the rate, the size or the disparities.",
  gpu_fallback: "The GPU failed; the CPU works in its place. Restart the service when you can.",
  ground_lost: "No ground is seen, so heights are unknown.",
  buffer_error: "A camera delivers broken buffers. Check its cable and its driver.",
  not_calibrated: "There is no calibration: pictures only. Run `parallax calibrate`.",
  memory_pressure: "The machine is short of memory.",
  hot: "The machine is too hot, or throttled. Check its cooling.",
};

export const element = id => document.getElementById(id);

function number(value, digits, unit = "") { return value === null || value === undefined ? "unknown" : value.toFixed(digits) + unit; }

function fill(list, pairs) {
  list.replaceChildren(...pairs.flatMap(([name, value]) => {
    const term = document.createElement("dt"), text = document.createElement("dd");
    term.textContent = name;
    text.textContent = value;
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

export function showFaults(health) {
  const items = health.map(name => {
    const item = document.createElement("li"), word = document.createElement("b"), todo = document.createElement("small");
    word.textContent = name.replaceAll("_", " ");
    todo.textContent = ` ${WHAT_TO_DO[name] ?? ""}`;
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

export function showObstacles(obstacles) {
  const rows = (obstacles ?? []).slice(0, 8).map(obstacle => {
    const row = document.createElement("tr");
    for (const text of [`#${obstacle.track} ${obstacle.size_class}`, obstacleText(obstacle), obstacle.moving === null ? "" : obstacle.moving ? "moves" : "stands"])
      row.insertCell().textContent = text;
    return row;
  });
  element("obstacles").tBodies[0].replaceChildren(...rows);
}

// --- figures ------------------------------------------------------------------------------------------------------------

export function showFigures(status, shown) {
  element("figures").textContent = `${number(status.rate_hz, 1)} pairs/s · shown ${number(shown.rate, 1)}/s, ${number(shown.ageMs, 0)} ms old`;
  fill(element("times"), [["service", `${number(status.rate_hz, 1)} pairs/s, ${number(status.latency_ms, 1)} ms`],
    ["this page", `${number(shown.rate, 1)} pairs/s, ${number(shown.ageMs, 1)} ms old when shown`],
    ["engine restarts", String(status.engine_restarts)], ["pairs skipped", String(status.pairs_skipped ?? 0)]]);
  const eye = capture => capture ? `${(capture.exposure_us / 1000).toFixed(2)} ms, gain ${number(capture.gain, 2)}, ${capture.dropped} dropped` : "unknown";
  fill(element("eyes"), [["left", eye(status.left)], ["right", eye(status.right)], ["skew", number(status.skew_ms, 3, " ms")]]);
  fill(element("geometry"), geometry(status));
}

function geometry(status) {
  const degrees = radians => number(radians * 180 / Math.PI, 2, "°"), rows = status.alignment, { ground, motion } = status;
  return [["rows", rows ? `${number(rows.rows_px, 2)} px, at worst ${number(rows.worst_rows_px, 2)}` : "not measured"],
    ["turned", rows ? `pitch ${degrees(rows.pitch_rad)}, roll ${degrees(rows.roll_rad)}` : "not measured"],
    ["ground", ground ? `${number(ground.camera_height_m, 2)} m below, pitch ${degrees(ground.pitch_rad)}` : "not found"],
    ["motion", motion?.valid ? `${number(motion.speed_mps, 2)} m/s, ${degrees(motion.turn_radps)}/s` : "unknown"]];
}

export function showHistogram(histogram) {
  const canvas = element("histogram"), context = canvas.getContext("2d"), bins = 256;
  context.clearRect(0, 0, canvas.width, canvas.height);
  const top = Math.max(...histogram.data.subarray(0, 2 * bins), 1);
  ["rgb(80 160 255 / 60%)", "rgb(255 130 60 / 60%)"].forEach((style, eye) => {
    context.fillStyle = style;
    for (let bin = 0; bin < bins; bin++) {
      const height = Math.sqrt(histogram.data[eye * bins + bin] / top) * canvas.height;
      context.fillRect(bin * canvas.width / bins, canvas.height - height, canvas.width / bins, height);
    }
  });
}

// --- charts -------------------------------------------------------------------------------------------------------------

const STAGE_COLOURS = 13;

export class Charts {
  constructor() { this.samples = []; }

  // Once a second.
  add(status, ageMs) {
    this.samples.push({ rate: status.rate_hz, latency: status.latency_ms, age: ageMs, stages: status.stage_us ?? {} });
    if (this.samples.length > MINUTES * 60) this.samples.shift();
    this.line("chart-rate", "pairs/s", [sample => sample.rate]);
    this.line("chart-latency", "ms: service, page", [sample => sample.latency, sample => sample.age]);
    this.stack();
  }

  begin(id, title, top) {
    const canvas = element(id), context = canvas.getContext("2d"), style = getComputedStyle(canvas);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.fillStyle = style.getPropertyValue("--soft");
    context.font = "11px system-ui, sans-serif";
    context.fillText(`${title}, up to ${top.toFixed(0)}`, 2, 10);
    return { context, style, x: i => (i + 1 + MINUTES * 60 - this.samples.length) * canvas.width / (MINUTES * 60), height: canvas.height };
  }

  line(id, title, values) {
    const known = this.samples.flatMap(sample => values.map(value => value(sample))).filter(Number.isFinite);
    const top = Math.max(...known, 1), { context, style, x, height } = this.begin(id, title, top);
    values.forEach((value, k) => {
      context.strokeStyle = style.getPropertyValue(k === 0 ? "--accent" : "--warn");
      context.beginPath();
      let drawn = false;
      this.samples.forEach((sample, i) => {
        const y = height - 1 - value(sample) / top * (height - 14);
        const isKnown = Number.isFinite(value(sample));
        if (isKnown && drawn) context.lineTo(x(i), y);
        else if (isKnown) context.moveTo(x(i), y);
        drawn = isKnown;
      });
      context.stroke();
    });
  }

  stack() {
    const total = sample => Object.values(sample.stages).reduce((sum, us) => sum + us / 1000, 0);
    const top = Math.max(...this.samples.map(total), 1), { context, x, height } = this.begin("chart-stages", "ms: stages", top);
    const width = Math.max(x(1) - x(0), 1);
    this.samples.forEach((sample, i) => {
      let y = height;
      Object.values(sample.stages).forEach((us, stage) => {
        const bar = us / 1000 / top * (height - 14);
        context.fillStyle = `hsl(${stage * 360 / STAGE_COLOURS} 60% 55%)`;
        context.fillRect(x(i) - width, y - bar, width, bar);
        y -= bar;
      });
    });
  }
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
