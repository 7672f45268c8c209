// SPDX-License-Identifier: Apache-2.0
// The page: which view is open, what it needs from the service, keys and buttons.
import { Link } from "./link.js";
import { Picture, Depth, Cameras } from "./pictures.js";
import { Top } from "./top.js";
import { Calibrating } from "./calibrating.js";
import { Cloud } from "./cloud.js";
import { Wall } from "./wall.js";
import { Confirmed } from "./confirmed.js";
import { Charts, element, forgetFigures, showDrop, showFaults, showFigures, showFiles, showHistogram, showObstacles, showPlace, showState, showVerdict, sideWords } from "./panel.js";

// What each view draws, and the planes that it needs.
const measure = point => link.send({ pixel: point });
function locate(box) {
  link.locate(box ? [box] : []);
  showPlace(box, page.isOld ? null : page.drawn);
}
const drawers = {
  picture: { view: new Picture(element("picture"), measure, locate), planes: ["colour", "scan"] },
  depth: { view: new Depth(element("depth"), measure), planes: ["disparity"] },
  top: { view: new Top(element("top")), planes: ["scan", "map"] },
  cloud: { view: new Cloud(element("cloud")), planes: ["colour", "disparity"] },
  cameras: { view: new Cameras(element("cameras")), planes: ["left", "right"] },
  calibrate: { view: new Calibrating(element("calibrate"), () => show("calibrate")), planes: ["left", "right"] },
  wall: { view: new Wall(element("wall")), planes: ["left"] },
};
const OPTIONAL = ["right", "scan", "map"]; // planes without which a view is drawn too
const IN_ALL = ["picture", "depth", "top", "cloud"], RAW = ["picture", "cameras", "calibrate", "wall"]; // views without a calibration

const CURRENT_MS = 1000; // without news for so long, nothing on the page is known

const charts = new Charts(), confirmed = new Confirmed();
const page = { // what is shown now; tests read it
  view: "all", compact: !["localhost", "127.0.0.1", "[::1]"].includes(location.hostname),
  frame: null, drawn: null, shown: null, pending: false, connected: false, frames: 0, rate: 0, ageMs: null, ages: [], recordingSince: null,
  status: null, seen: null, isCurrent: null, isOld: null, // the newest state, whether it is that of now, whether the views are not
};
window.parallax = page;

function open() { return page.view === "all" ? IN_ALL : [page.view]; }

function want() {
  const planes = new Set(open().flatMap(name => drawers[name].planes));
  link.want([...planes, "histogram"], page.compact);
}

function show(view) {
  page.view = view;
  element("views").dataset.view = view;
  for (const button of document.querySelectorAll("[data-view]"))
    if (button.tagName === "BUTTON") button.setAttribute("aria-pressed", String(button.dataset.view === view));
  want();
}

// --- frames -------------------------------------------------------------------------------------------------------------

function takeFrame(frame) {
  for (const name of ["left", "right", "colour"]) page.frame?.[name]?.bitmap?.close();
  page.frame = frame;
  if (page.pending) return;
  page.pending = true;
  requestAnimationFrame(drawFrame);
}

function drawFrame() {
  const { frame } = page;
  page.pending = false;
  page.shown = frame.status.sequence;
  link.ack(frame.status.sequence);
  frame.status.obstacles = confirmed.next(frame.status.obstacles);
  for (const name of open()) {
    const { view, planes } = drawers[name];
    const isThere = planes.every(plane => frame[plane] || OPTIONAL.includes(plane));
    if (isThere && (frame.status.calibration || RAW.includes(name))) view.draw(frame);
  }
  if (frame.histogram) showHistogram(frame.histogram);
  page.drawn = frame;
  takeStatus(frame.status, frame.seen);
  judge();
  if (!page.isOld) showFound(frame);
  if (page.unmeasured) measure(page.unmeasured);
  page.unmeasured = null;
  page.frames++;
  page.ageMs = link.ageMs(frame.stampMs);
  page.ages.push(page.ageMs - frame.delayMs); // since its publication
  if (page.ages.length > 3000) page.ages.shift();
}

// --- what is known now --------------------------------------------------------------------------------------------------

function showFound(frame) {
  showObstacles(frame?.status.obstacles);
  showDrop(frame?.status.drop);
  showPlace(drawers.picture.view.box, frame);
}

// An old picture must not look like the present.
function setOld(isOld) {
  page.isOld = isOld;
  for (const part of document.querySelectorAll("figure, .live")) part.classList.toggle("old", isOld);
  showFound(isOld ? null : page.drawn);
}

function setCurrent(isCurrent) {
  page.isCurrent = isCurrent;
  if (isCurrent) return;
  showState({}, false);
  showVerdict(null);
  showFaults(null);
  forgetFigures();
}

function isDrawnOld() {
  const { drawn, status } = page;
  return !drawn || !status.fresh || (drawn.status.sequence !== status.sequence && link.sinceMs(drawn.seen.heard) >= CURRENT_MS);
}

// Whatever was good is unknown without news. A hidden tab shows nothing: it may be put to sleep, and must not wake up with old news.
function judge() {
  const isCurrent = page.connected && !document.hidden && page.status !== null && link.sinceMs(page.seen.heard) < CURRENT_MS;
  if (isCurrent !== page.isCurrent) setCurrent(isCurrent);
  const isOld = !isCurrent || isDrawnOld();
  if (isOld !== page.isOld) setOld(isOld);
  if (!isCurrent) return;
  showState(page.status, true);
  showVerdict(page.status);
}

function takeStatus(status, seen) {
  if (page.seen?.order > seen.order) return;
  page.status = status;
  page.seen = seen;
}

function takeService(status, seen, hasRates) {
  takeStatus(status, seen);
  judge();
  if (page.isCurrent) showFaults(status.health);
  if (hasRates) takeRates(status);
}

function takeRates(status) {
  const now = performance.now() / 1000;
  page.rate = page.counted ? (page.frames - page.counted.frames) / (now - page.counted.time) : null;
  page.counted = { frames: page.frames, time: now };
  if (page.isCurrent) showFigures(status, { rate: page.rate, ageMs: page.ageMs });
  charts.add(status, { rate: page.rate, ageMs: page.rate > 0 ? page.ageMs : null });
}

const link = new Link({
  frame: takeFrame,
  service: takeService,
  connected(isConnected) {
    page.connected = isConnected;
    judge();
    if (!isConnected) return;
    want();
    showFiles();
  },
  wall: progress => drawers.wall.view.takeProgress(progress),
  pixel(answer) {
    const [x, y] = answer.pixel, [px, py, pz] = answer.point_m;
    element("pixel").textContent = page.isOld ? "the picture is old: nothing is measured in it" : pz === null ? `${x}, ${y}: nothing is known there`
      : `${x}, ${y}: ${pz.toFixed(2)} m ahead, ${sideWords(px, py)} (${answer.disparity_px.toFixed(2)} px)`;
    drawers.picture.view.point = answer.pixel;
    page.unmeasured = page.isOld ? answer.pixel : null; // until the next frame
  },
  kept(kept) {
    element("kept").textContent = kept.error ?? `${kept.pairs} pairs are in ${kept.name}`;
    showFiles();
  },
});

page.link = link;

// --- buttons and keys ---------------------------------------------------------------------------------------------------

function setCompact(isCompact) {
  page.compact = isCompact;
  element("compact").setAttribute("aria-pressed", String(isCompact));
  want();
}

function rows() {
  const { view } = drawers.picture;
  view.showsRows = !view.showsRows;
  element("rows").setAttribute("aria-pressed", String(view.showsRows));
}

function keep(seconds) {
  element("kept").textContent = "the flight recorder is writing";
  link.send({ keep: seconds });
}

function record() {
  const now = performance.now() / 1000;
  if (page.recordingSince === null) {
    page.recordingSince = now;
    element("kept").textContent = "recording; as far back as the flight recorder's memory reaches";
  } else {
    keep(Math.max(now - page.recordingSince, 0.1));
    page.recordingSince = null;
  }
  element("record").setAttribute("aria-pressed", String(page.recordingSince !== null));
}

function save(canvas, name) {
  canvas.toBlob(blob => {
    const anchor = document.createElement("a");
    anchor.href = URL.createObjectURL(blob);
    anchor.download = name;
    anchor.click();
    URL.revokeObjectURL(anchor.href);
  });
}

// The open views side by side, boxes included.
function snapshot() {
  if (!page.frame) return;
  const layers = open().map(name => [...element(name).querySelectorAll("canvas:not(.scale):not(.loupe)")]);
  const height = 480, widths = layers.map(([first]) => Math.round(first.width * height / first.height));
  const sheet = Object.assign(document.createElement("canvas"), { height, width: widths.reduce((sum, each) => sum + each, 0) });
  let x = 0;
  layers.forEach((canvases, i) => {
    if (page.isOld) sheet.getContext("2d").filter = "grayscale(1) opacity(0.35)"; // as on the page
    for (const canvas of canvases) sheet.getContext("2d").drawImage(canvas, x, 0, widths[i], height);
    x += widths[i];
  });
  save(sheet, `parallax-${page.frame.status.sequence}.png`);
}

function theme() {
  const root = document.documentElement, isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
}

const buttons = { rows, compact: () => setCompact(!page.compact), snapshot, record, keep: () => keep(10), theme };
const keys = { a: rows, w: buttons.compact, s: snapshot, r: record, k: buttons.keep, d: theme };

for (const button of document.querySelectorAll("nav [data-view]")) button.addEventListener("click", () => show(button.dataset.view));
for (const [id, press] of Object.entries(buttons)) element(id).addEventListener("click", press);
document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.tagName === "INPUT") return; // somebody types
  const views = ["all", ...Object.keys(drawers)], view = views[Number(event.key) - 1];
  if (view) show(view);
  else keys[event.key]?.();
});
document.addEventListener("visibilitychange", judge);
setInterval(judge, CURRENT_MS / 10);
element("compact").setAttribute("aria-pressed", String(page.compact));
