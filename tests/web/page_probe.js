// SPDX-License-Identifier: Apache-2.0
// What the tests of the page run in it: page.py calls these functions by their names. A canvas that is empty elsewhere is drawn by the page's
// own modules, so that each wanted pixel has one cause.

const textOf = id => document.getElementById(id).innerText;

const rgbaAt = (canvas, points) => {
  const { data, width } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return points.map(([x, y]) => [...data.subarray(4 * (y * width + x), 4 * (y * width + x) + 4)]);
};

const emptyFigure = () => {
  const figure = document.createElement("figure");
  figure.innerHTML = "<canvas></canvas><canvas></canvas><figcaption></figcaption>";
  return figure;
};

const blackPicture = () => ({ width: 320, height: 240, data: new Uint8Array(320 * 240) });

// The shown frame's sequence, and the pixels of a canvas: width, height, base64 of RGBA.
function canvasPixels(selector) {
  const canvas = document.querySelector(selector);
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let text = "";
  for (let i = 0; i < data.length; i += 8192) text += String.fromCharCode(...data.subarray(i, i + 8192));
  return [parallax.shown, canvas.width, canvas.height, btoa(text)];
}

// How many colours a canvas of any kind has.
function countColours(selector) {
  const canvas = document.querySelector(selector), copy = document.createElement("canvas");
  Object.assign(copy, { width: canvas.width, height: canvas.height });
  copy.getContext("2d").drawImage(canvas, 0, 0);
  return new Set(new Uint32Array(copy.getContext("2d").getImageData(0, 0, copy.width, copy.height).data.buffer)).size;
}

// What a person reads in a picture of the page, and the frame that its views show.
function readPage() {
  return { shown: parallax.shown, frame: parallax.frame.status.sequence, age: parallax.ageMs, state: textOf("state"), sentence: textOf("sentence"),
           faults: textOf("faults"), figures: textOf("figures"), times: textOf("times"), listed: document.querySelectorAll("#obstacles tr").length,
           pale: document.querySelectorAll("figure.old").length, obstacles: parallax.frame.status.obstacles };
}

// What the page says of now: words, and how many of the parts that age are not pale.
function readNews() {
  return { verdict: textOf("verdict"), state: textOf("state"), figures: textOf("figures"), faults: textOf("faults"), obstacles: textOf("obstacles"),
           drop: textOf("drop"), values: [...new Set([...document.querySelectorAll("#times dd, #eyes dd, #geometry dd")].map(each => each.innerText))],
           vivid: document.querySelectorAll("figure:not(.old), .live:not(.old)").length };
}

// The tab as a browser hides and shows it; returns what the page says at once.
function hideTab(hidden) {
  Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
  return readNews();
}

const sinceNewsMs = () => performance.now() - parallax.link.newsAt;

// The page's time since a moment that was so long ago by its two clocks.
const sinceMs = (tickMs, wallMs) => parallax.link.sinceMs({ tick: performance.now() - tickMs, wall: Date.now() - wallMs });

function stopClock() {
  const tick = performance.now(), wall = Date.now();
  performance.now = () => tick;
  Date.now = () => wall;
}

function startClock() {
  delete performance.now;
  Date.now = () => new Date().getTime();
}

// The pixels of the depth view, and the marks of its colour scale with the colour at their middle.
function depthAndScale() {
  const scale = document.querySelector("#depth .scale"), bar = scale.getBoundingClientRect(), context = scale.getContext("2d");
  const marks = [...document.querySelectorAll("#depth .marks span")].map(mark => {
    const box = mark.getBoundingClientRect(), share = (box.left + box.width / 2 - bar.left) / bar.width;
    const colour = context.getImageData(Math.floor(share * scale.width), scale.height >> 1, 1, 1).data;
    return { text: mark.innerText, left: box.left, right: box.right, colour: [...colour].slice(0, 3) };
  });
  return [...canvasPixels("#depth .image"), marks];
}

// Where POINT of the left camera lies in the top view.
async function fromAbove(pitch_rad, roll_rad, point) {
  const top = await import("/top.js");
  return top.fromAbove({ pitch_rad, roll_rad, camera_height_m: 0.9 }, point);
}

// Draws a wall without its middle: 3 m ahead in columns 80..109 and 140..159, 6 m in 160..239; of the ground, row 100 + 300 / Z.
// Returns the colours of 3 and 6 m, and those of the wanted pixels of the picture, and of the top view.
async function drawWall(ground, inPicture, inTop) {
  const pictures = await import("/pictures.js"), top = await import("/top.js");
  const outline_m = Array.from({ length: 16 }, (_, part) => part < 3 ? 3 : part < 6 ? null : part < 8 ? 3 : 6);
  const wall = { track: 1, box_px: [80, 60, 160, 160], outline_m, nearest_m: 3, position_m: [-3, 0, 8], extent_m: [2.4, 1, 3],
                 velocity_mps: [0, 0, 0], world_velocity_mps: null, moving: null };
  const calibration = { fx: 300, fy: 300, cx: 160, cy: 100, cx_right: 160, baseline_m: 0.1 };
  const frame = { colour: blackPicture(), status: { obstacles: [wall], free_ahead_m: null, calibration, ground } };
  const figure = emptyFigure(), picture = new pictures.Picture(figure, () => {}), above = new top.Top(figure);
  picture.draw(frame);
  const seen = rgbaAt(picture.overlay, inPicture);
  above.draw(frame);
  return [[3, 6].map(metres => [...pictures.colour(1.2 / metres), 255]), seen, rgbaAt(above.canvas, inTop)];
}

// Draws points 3 m ahead whose picture is all PIXEL, grey or red, green and blue; returns the colour of most of them.
async function drawPoint(pixel) {
  const { Cloud } = await import("/cloud.js"), figure = emptyFigure(), width = 320, height = 240;
  const disparity = { width, height, step: 1, data: new Uint16Array(width * height).fill(160) };
  const colour = { width, height, isColour: pixel.length === 3, data: Uint8Array.from({ length: pixel.length * width * height }, (_, i) => pixel[i % pixel.length]) };
  const calibration = { fx: 300, fy: 300, cx: 160, cy: 100, cx_right: 160, baseline_m: 0.1 };
  const cloud = new Cloud(figure), { gl } = cloud, drawn = new Uint8Array(4 * width * height), counts = new Map();
  cloud.draw({ colour, disparity, status: { calibration, min_disparity: 0, obstacles: [], ground: null } });
  gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, drawn);
  for (let i = 0; i < drawn.length; i += 4) {
    const rgb = drawn.subarray(i, i + 3).join(" ");
    if (Math.max(...drawn.subarray(i, i + 3)) > 30) counts.set(rgb, (counts.get(rgb) ?? 0) + 1);
  }
  return [...counts.entries()].sort((a, b) => b[1] - a[1])[0][0].split(" ").map(Number);
}

// What a page shows of FRAMES, each a list of tracks and their status, or null: their tracks, in its order.
async function confirmedTracks(frames) {
  const { Confirmed } = await import("/confirmed.js"), confirmed = new Confirmed();
  return frames.map(frame => confirmed.next(frame && frame.map(([track, status]) => ({ track, status, nearest_m: track })))?.map(({ track }) => track) ?? null);
}

// Draws ground that falls away: 3 m ahead in columns 80..159 of the picture, 6 m in 160..239; free to 10 m beside it. Returns the
// wanted pixels of the picture and of the top view, the caption, and the words beside the views, with and without a drop.
async function drawDrop(inPicture, inTop) {
  const pictures = await import("/pictures.js"), top = await import("/top.js"), panel = await import("/panel.js");
  const scan = { data: new Uint16Array(4 * 80) };
  for (let i = 0; i < 80; i++) scan.data.set(i < 20 || i >= 60 ? [0, 48, 1, 0] : [0, i < 40 ? 160 : 80, 3, 0], 4 * i);
  const calibration = { fx: 300, fy: 300, cx: 160, cy: 100, cx_right: 160, baseline_m: 0.1 };
  const ground = { pitch_rad: 0, roll_rad: 0, camera_height_m: 1 }, drop = { ahead_m: 3, x_px: 80, width_px: 160 };
  const frame = { scan, colour: blackPicture(), status: { obstacles: [], free_ahead_m: 3, calibration, ground, drop } };
  const figure = emptyFigure(), picture = new pictures.Picture(figure, () => {}), above = new top.Top(figure);
  const words = document.getElementById("drop"), said = each => { panel.showDrop(each); return words.textContent; };
  picture.draw(frame);
  const seen = rgbaAt(picture.overlay, inPicture), caption = picture.caption.textContent;
  above.draw(frame);
  return [seen, rgbaAt(above.canvas, inTop), caption, [drop, { ahead_m: null, x_px: null, width_px: 0 }, null].map(said)];
}

// Draws the map and the zones of STATUS from above; CELLS: base64 of 200 x 200 cells. Returns the wanted pixels.
async function drawMap(status, cells, points) {
  const top = await import("/top.js"), data = Uint8Array.from(atob(cells), each => each.charCodeAt(0)), figure = emptyFigure();
  document.body.append(figure); // for the page's colours
  const above = new top.Top(figure);
  above.canvas.style.width = "320px";
  above.drawGrid = () => {}; // its circles would lie over the cells
  above.draw({ map: { width: 200, height: 200, data }, status });
  figure.remove();
  return rgbaAt(above.canvas, points);
}

// Draws the arrows of the rows' drift into an empty picture; returns its overlay as base64 of RGBA, and the caption.
async function drawArrows(drift) {
  const pictures = await import("/pictures.js");
  const calibration = { fx: 300, fy: 290, cx: 150, cy: 100, cx_right: 150, baseline_m: 0.1 };
  const picture = new pictures.Picture(emptyFigure(), () => {});
  picture.showsRows = true;
  picture.draw({ colour: blackPicture(), status: { obstacles: [], free_ahead_m: null, calibration, ground: null, drift } });
  const { data } = picture.overlay.getContext("2d").getImageData(0, 0, 320, 240);
  return [btoa(Array.from(data, each => String.fromCharCode(each)).join("")), picture.caption.textContent];
}

// Draws the chart of DRIFTS, one a second; returns the values of its labels, and the points of its curves and of the band.
async function drawDriftChart(drifts) {
  const panel = await import("/panel.js"), charts = new panel.Charts(), now = performance.now;
  drifts.forEach((drift, i) => {
    performance.now = () => 1000 * i;
    charts.add({ latency_ms: 1, fresh: true, drift }, { rate: 1, ageMs: 1 });
  });
  performance.now = now;
  const chart = document.getElementById("chart-drift"), points = path => [...path.getAttribute("d").matchAll(/([MLZ]) ?([\d.]*) ?([\d.]*)/g)].map(
    ([, step, x, y]) => step === "Z" ? ["Z"] : [step, Number(x), Number(y)]);
  return [[...chart.querySelectorAll(".label")].map(each => each.textContent), [...chart.querySelectorAll(".data")].map(points)];
}

// The charts with axes: their colours, labels, and the share of the axis that has data.
function readCharts() {
  return [...document.querySelectorAll("svg.chart:has(.axis)")].map(chart => {
    const boxes = [...chart.querySelectorAll(".data")].map(each => each.getBBox()), axis = chart.querySelector(".axis").getBBox();
    const left = Math.min(...boxes.map(box => box.x)), right = Math.max(...boxes.map(box => box.x + box.width));
    const colour = each => [each.getAttribute("fill"), each.getAttribute("stroke")].filter(name => name && name !== "none");
    return { id: chart.id, colours: [...chart.querySelectorAll(".data")].flatMap(colour), legend: [...chart.querySelectorAll("tspan[fill]")].flatMap(colour),
             isPlain: [...chart.querySelectorAll(".data, tspan[fill]")].some(each => getComputedStyle(each).fill === getComputedStyle(chart).fill),
             labels: [...chart.querySelectorAll(".label")].map(each => each.textContent), filled: (right - left) / axis.width };
  });
}
