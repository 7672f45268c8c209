// SPDX-License-Identifier: Apache-2.0
// The view from above: free ground, what stands, obstacles with their velocities and ways. x is right, z is ahead along the ground,
// metres: a camera may look down or be turned about its view axis.
import { COLUMN_WIDTH, NOTHING_FREE, colour, distanceColour, dropEdges, obstacleText, onGround, outlineParts, strokeEdge } from "./pictures.js";

const KNOWN = 1; // of a column's flags
const TAIL_S = 4;
const CELL_M = 0.05, FREE = 1, OCCUPIED = 2, DROP = 3, LOST = 4; // of the map; other cells are unknown
const CELL_HEIGHT_M = 0.02, TALL_M = 1.9; // unit of a cell's top; from this height on, a cell is as red as can be
const ZONE_COLOURS = { go: "--good", slow: "--warn", stop: "--bad" };

function applied(pose, point) {
  const r = pose.rotation, t = pose.translation_m;
  return [0, 1, 2].map(i => r[3 * i] * point[0] + r[3 * i + 1] * point[1] + r[3 * i + 2] * point[2] + t[i]);
}

function inverse(pose, point) {
  const r = pose.rotation, d = point.map((each, i) => each - pose.translation_m[i]);
  return [0, 1, 2].map(i => r[i] * d[0] + r[3 + i] * d[1] + r[6 + i] * d[2]);
}

// Right and ahead along the ground, as axes of the camera: [right, ahead]. Without ground the camera's own.
function groundAxes(ground) {
  if (!ground || Math.abs(ground.pitch_rad) > 1.3) return [[1, 0, 0], [0, 0, 1]];
  const { pitch_rad: pitch, roll_rad: roll } = ground;
  const down = [Math.cos(pitch) * Math.sin(roll), Math.cos(pitch) * Math.cos(roll), Math.sin(pitch)];
  const ahead = [-down[0] * down[2], -down[1] * down[2], 1 - down[2] * down[2]].map(each => each / Math.cos(pitch));
  const right = [down[1] * ahead[2] - down[2] * ahead[1], down[2] * ahead[0] - down[0] * ahead[2], down[0] * ahead[1] - down[1] * ahead[0]];
  return [right, ahead];
}

// Where the point, or vector, in axes of the camera lies, or points, seen from above: [x, z].
export function fromAbove(ground, point) {
  return groundAxes(ground).map(axis => axis[0] * point[0] + axis[1] * point[1] + axis[2] * point[2]);
}

// Where a point of the robot's base lies, seen from above: [x, z]. Without a mount the base is below the camera.
export function fromBase(mount, x, y) {
  const dx = x - (mount?.x_m ?? 0), dy = y - (mount?.y_m ?? 0), yaw = mount?.yaw_rad ?? 0;
  return [Math.sin(yaw) * dx - Math.cos(yaw) * dy, Math.cos(yaw) * dx + Math.sin(yaw) * dy];
}

// Likewise of a point in axes of the map.
export function fromMap(map, mount, x, y) {
  const dx = x - map.x_m, dy = y - map.y_m, c = Math.cos(map.yaw_rad), s = Math.sin(map.yaw_rad);
  return fromBase(mount, c * dx + s * dy, c * dy - s * dx);
}

function cellColour(kind, top) {
  if (kind === FREE) return [40, 180, 90, 45];
  if (kind === OCCUPIED) return [225, Math.round(150 * (1 - Math.min(top * CELL_HEIGHT_M / TALL_M, 1))), 50, 150];
  if (kind === LOST) return [130, 130, 140, 70];
  return kind === DROP ? [150, 60, 220, 170] : [0, 0, 0, 0];
}

export class Top {
  constructor(figure) {
    this.cells = document.createElement("canvas"); // the map, a pixel a cell
    this.canvas = figure.querySelector("canvas");
    this.rangeM = 10;
    this.tails = new Map(); // track -> [{time, point}], in axes of the start where the motion is known
    this.canvas.addEventListener("wheel", event => {
      this.zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15);
      event.preventDefault();
    }, { passive: false });
    figure.addEventListener("keydown", event => {
      if (event.key === "+" || event.key === "-") this.zoom(event.key === "-" ? 1.25 : 0.8);
    });
  }

  zoom(factor) { this.rangeM = Math.min(Math.max(this.rangeM * factor, 2), 100); }

  draw(frame) {
    const { canvas } = this, status = frame.status;
    canvas.width = canvas.clientWidth * devicePixelRatio || 320;
    canvas.height = canvas.width * 3 / 4;
    const context = canvas.getContext("2d"), style = getComputedStyle(canvas);
    const scale = canvas.height * 0.94 / this.rangeM;
    const place = (x, z) => [canvas.width / 2 + x * scale, canvas.height * 0.97 - z * scale];
    context.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
    if (frame.map && status.map) this.drawMap(context, place, frame);
    this.drawGrid(context, place, scale, style);
    if (frame.scan && status.calibration) this.drawScan(context, place, frame);
    this.drawZones(context, place, status, style);
    this.drawObstacles(context, place, status, style);
    context.fillStyle = style.getPropertyValue("--accent");
    const [x, y] = place(0, 0), size = 6 * devicePixelRatio;
    context.beginPath();
    context.moveTo(x, y - size);
    context.lineTo(x + size, y + size);
    context.lineTo(x - size, y + size);
    context.fill();
  }

  drawMap(context, place, { map: { width, height, data }, status }) {
    const { map, mount } = status, image = new ImageData(width, height);
    for (let i = 0; i < width * height; i++) image.data.set(cellColour(data[4 * i], data[4 * i + 3]), 4 * i);
    Object.assign(this.cells, { width, height });
    this.cells.getContext("2d").putImageData(image, 0, 0);
    const corner = (column, row) => place(...fromMap(map, mount, (map.origin_x + column) * CELL_M, (map.origin_y + row) * CELL_M));
    const [x, y] = corner(0, 0), [columnX, columnY] = corner(1, 0), [rowX, rowY] = corner(0, 1);
    context.save();
    context.imageSmoothingEnabled = false;
    context.transform(columnX - x, columnY - y, rowX - x, rowY - y, x, y);
    context.drawImage(this.cells, 0, 0);
    context.restore();
  }

  drawZones(context, place, { zones, mount }, style) {
    for (const zone of zones ?? []) {
      const points = zone.polygon_m.map(([x, y]) => place(...fromBase(mount, x, y)));
      context.strokeStyle = context.fillStyle = style.getPropertyValue(zone.active ? ZONE_COLOURS[zone.verdict] : "--soft");
      context.lineWidth = 2 * devicePixelRatio;
      context.beginPath();
      for (const point of points) context.lineTo(...point);
      context.closePath();
      context.stroke();
      const [x, y] = points.reduce((highest, each) => each[1] < highest[1] ? each : highest);
      context.fillText(zone.name, x + 4, y - 4);
    }
  }

  drawGrid(context, place, scale, style) {
    const step = [0.5, 1, 2, 5, 10, 20].find(each => each * 6 >= this.rangeM) ?? 20, [x, y] = place(0, 0);
    context.strokeStyle = style.getPropertyValue("--line");
    context.fillStyle = style.getPropertyValue("--soft");
    for (let metres = step; metres < this.rangeM * 1.3; metres += step) {
      context.beginPath();
      context.arc(x, y, metres * scale, Math.PI, 2 * Math.PI);
      context.stroke();
      context.fillText(`${metres} m`, x + 4, y - metres * scale - 3);
    }
  }

  drawScan(context, place, frame) {
    const c = frame.status.calibration, { ground } = frame.status, { data } = frame.scan, focal = 16 * c.fx * c.baseline_m;
    const at = (column, disparity) => {
      const z = Math.min(focal / disparity, 2 * this.rangeM);
      return place(...fromAbove(ground, onGround(ground, c, column * COLUMN_WIDTH + COLUMN_WIDTH / 2, z)));
    };
    const columns = data.length / 4;
    context.fillStyle = "rgb(40 180 90 / 30%)";
    for (let i = 0; i < columns; i++) {
      const free = data[4 * i + 1];
      if (!(data[4 * i + 2] & KNOWN) || free === NOTHING_FREE) continue;
      context.beginPath();
      context.moveTo(...place(0, 0));
      context.lineTo(...at(i - 0.5, Math.max(free, 1)));
      context.lineTo(...at(i + 0.5, Math.max(free, 1)));
      context.fill();
    }
    const size = 2 * devicePixelRatio;
    for (let i = 0; i < columns; i++) {
      if (data[4 * i] === 0) continue;
      const [x, y] = at(i, data[4 * i]);
      context.fillStyle = `rgb(${colour(1.2 * data[4 * i] / focal).join(" ")})`;
      context.fillRect(x - size / 2, y - size / 2, size, size);
    }
    const seen = (x, z) => place(...fromAbove(ground, onGround(ground, c, x, z)));
    for (const edge of dropEdges(frame))
      strokeEdge(context, edge.flatMap(({ left, right, distance_m: z }) => [seen(left, z), seen(right, z)]), devicePixelRatio);
  }

  drawObstacles(context, place, status, style) {
    const pose = status.motion?.valid ? status.motion.pose : null, now = performance.now() / 1000;
    for (const obstacle of status.obstacles ?? []) {
      const [x, z] = fromAbove(status.ground, obstacle.position_m);
      this.drawTail(context, place, obstacle, pose, status.ground, now, style);
      context.strokeStyle = context.fillStyle = distanceColour(obstacle.nearest_m);
      context.lineWidth = 2 * devicePixelRatio;
      this.drawOutline(context, place, status, obstacle);
      const velocity = obstacle.moving ? obstacle.world_velocity_mps : null;
      if (velocity) {
        context.beginPath();
        context.moveTo(...place(x, z));
        const [vx, vz] = fromAbove(status.ground, velocity);
        context.lineTo(...place(x + vx, z + vz));
        context.stroke();
      }
      const [textX, textY] = place(x, z);
      context.fillText(obstacleText(obstacle), textX + 4, textY - 4);
    }
    for (const [track, tail] of this.tails) if (now - tail.at(-1).time > TAIL_S) this.tails.delete(track);
  }

  // What stands, part by part; a part where nothing stands is a gap.
  drawOutline(context, place, { ground, calibration }, obstacle) {
    let last = null;
    context.beginPath();
    for (const { index, left, right, distance_m: z } of outlineParts(obstacle)) {
      const ends = [left, right].map(x => place(...fromAbove(ground, onGround(ground, calibration, x, z))));
      if (last !== index - 1) context.moveTo(...ends[0]);
      for (const end of ends) context.lineTo(...end);
      last = index;
    }
    context.stroke();
  }

  drawTail(context, place, obstacle, pose, ground, now, style) {
    const tail = this.tails.get(obstacle.track) ?? [];
    tail.push({ time: now, point: pose ? applied(pose, obstacle.position_m) : obstacle.position_m });
    while (now - tail[0].time > TAIL_S) tail.shift();
    this.tails.set(obstacle.track, tail);
    context.strokeStyle = style.getPropertyValue("--soft");
    context.lineWidth = devicePixelRatio;
    context.beginPath();
    for (const { point } of tail) {
      context.lineTo(...place(...fromAbove(ground, pose ? inverse(pose, point) : point)));
    }
    context.stroke();
  }
}
