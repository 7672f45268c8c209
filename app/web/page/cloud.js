// SPDX-License-Identifier: Apache-2.0
// The points in WebGL2: the graphics card makes them from the disparity, so that nothing but the two pictures is uploaded.

const STRIDE = 2; // of pixels, both ways

const POINTS = `#version 300 es
precision highp float;
precision highp usampler2D;
uniform usampler2D disparity;
uniform sampler2D picture;
uniform bool isColour; // of the picture; a grey one is tinted by height
uniform mat4 view;
uniform vec4 camera; // fx, fy, cx, cy
uniform vec3 stereo; // baseline, min_disparity - (cx - cx_right), pixels of the picture for one of the disparity
uniform ivec2 grid;
uniform vec4 ground; // its normal, which points down, and how far it lies below the camera; 0: not known
out vec3 tint;
void main() {
  ivec2 cell = ivec2(gl_VertexID % grid.x, gl_VertexID / grid.x) * ${STRIDE};
  uint d = texelFetch(disparity, cell, 0).r;
  float pixels = float(d) / 16.0 + stereo.y;
  gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
  gl_PointSize = 0.0;
  if (d == 65535u || pixels <= 0.2) return;
  vec2 pixel = vec2(cell) * stereo.z;
  float z = camera.x * stereo.x / pixels;
  vec3 point = vec3((pixel - camera.zw) / camera.xy * z, z);
  vec3 shade = texelFetch(picture, ivec2(pixel), 0).rgb;
  float height = ground.w > 0.0 ? ground.w - dot(ground.xyz, point) : -point.y;
  vec3 low = vec3(0.25, 0.75, 0.4), high = vec3(1.0, 0.55, 0.2);
  tint = isColour ? shade : (0.35 + 0.65 * shade.r) * mix(low, high, clamp(height / 1.5, 0.0, 1.0));
  gl_Position = view * vec4(point, 1.0);
  gl_PointSize = clamp(18.0 / z, 1.5, 6.0);
}`;
const LINES = `#version 300 es
precision highp float;
uniform mat4 view;
in vec3 position;
void main() { gl_Position = view * vec4(position, 1.0); }`;
const FLAT = `#version 300 es
precision highp float;
in vec3 tint;
out vec4 colour;
void main() { colour = vec4(tint, 1.0); }`;
const PLAIN = `#version 300 es
precision highp float;
uniform vec4 tint;
out vec4 colour;
void main() { colour = tint; }`;

function program(gl, vertex, fragment) {
  const made = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made));
  return made;
}

// Matrices are column by column, as WebGL has them.
function product(a, b) {
  return Float32Array.from({ length: 16 }, (_, i) => {
    let sum = 0;
    for (let k = 0; k < 4; k++) sum += a[4 * k + i % 4] * b[4 * (i >> 2) + k];
    return sum;
  });
}

// Looks from the camera's place, moved back and turned about a point ahead. Axes: x right, y down, z ahead.
function viewMatrix(turn, tilt, back, aspect) {
  const middle = 4, s = Math.sin, c = Math.cos;
  const move = (x, y, z) => [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, y, z, 1];
  const yaw = [c(turn), 0, -s(turn), 0, 0, 1, 0, 0, s(turn), 0, c(turn), 0, 0, 0, 0, 1];
  const pitch = [1, 0, 0, 0, 0, c(tilt), s(tilt), 0, 0, -s(tilt), c(tilt), 0, 0, 0, 0, 1];
  const near = 0.1, far = 200, focal = 1.3;
  const lens = [focal / aspect, 0, 0, 0, 0, -focal, 0, 0, 0, 0, (far + near) / (far - near), 1, 0, 0, -2 * far * near / (far - near), 0];
  return [move(0, 0, middle + back), pitch, yaw, move(0, 0, -middle)].reduce(product, lens);
}

const BOX_EDGES = [0, 1, 1, 3, 3, 2, 2, 0, 4, 5, 5, 7, 7, 6, 6, 4, 0, 4, 1, 5, 2, 6, 3, 7];

export class Cloud {
  constructor(figure) {
    this.canvas = figure.querySelector("canvas");
    this.caption = figure.querySelector("figcaption");
    Object.assign(this, { turn: 0.35, tilt: 0.35, back: 2 });
    this.gl = this.canvas.getContext("webgl2", { antialias: false, preserveDrawingBuffer: true });
    if (!this.gl) {
      this.caption.textContent = "this browser has no WebGL 2";
      return;
    }
    this.prepare();
    this.listen(figure);
  }

  prepare() {
    const { gl } = this;
    this.points = program(gl, POINTS, FLAT);
    this.lines = program(gl, LINES, PLAIN);
    this.corners = gl.createBuffer();
    [this.disparity, this.picture] = [0, 1].map(unit => {
      const texture = gl.createTexture();
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.bindTexture(gl.TEXTURE_2D, texture);
      for (const which of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, which, gl.NEAREST);
      for (const which of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, which, gl.CLAMP_TO_EDGE);
      return texture;
    });
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.enable(gl.DEPTH_TEST);
  }

  listen(figure) {
    this.canvas.addEventListener("pointermove", event => {
      if (event.buttons === 0) return;
      this.rotate(event.movementX * 0.008, event.movementY * 0.008);
    });
    this.canvas.addEventListener("wheel", event => {
      this.zoom(event.deltaY > 0 ? 0.5 : -0.5);
      event.preventDefault();
    }, { passive: false });
    figure.addEventListener("keydown", event => {
      const turn = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] }[event.key];
      if (turn) this.rotate(...turn);
      else if (event.key === "+" || event.key === "-") this.zoom(event.key === "-" ? 0.5 : -0.5);
      else return;
      event.preventDefault();
    });
  }

  rotate(turn, tilt) {
    this.turn += turn;
    this.tilt = Math.min(Math.max(this.tilt + tilt, -1.5), 1.5);
  }

  zoom(metres) { this.back = Math.min(Math.max(this.back + metres, -3), 40); }

  upload(frame) {
    const { gl } = this, { colour, disparity } = frame, [stored, format] = colour.isColour ? [gl.RGB8, gl.RGB] : [gl.R8, gl.RED];
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.disparity);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.R16UI, disparity.width, disparity.height, 0, gl.RED_INTEGER, gl.UNSIGNED_SHORT, disparity.data);
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, this.picture);
    if (colour.bitmap) gl.texImage2D(gl.TEXTURE_2D, 0, stored, format, gl.UNSIGNED_BYTE, colour.bitmap);
    else gl.texImage2D(gl.TEXTURE_2D, 0, stored, colour.width, colour.height, 0, format, gl.UNSIGNED_BYTE, colour.data);
  }

  draw(frame) {
    const { gl, canvas } = this;
    if (!gl) return;
    const status = frame.status, c = status.calibration, width = canvas.clientWidth || 320;
    if (canvas.width !== width) Object.assign(canvas, { width, height: Math.round(width * 3 / 4) });
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0.06, 0.07, 0.09, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    this.upload(frame);
    const view = viewMatrix(this.turn, this.tilt, this.back, canvas.width / canvas.height), { disparity } = frame;
    const grid = [Math.floor(disparity.width / STRIDE), Math.floor(disparity.height / STRIDE)];
    gl.useProgram(this.points);
    const at = name => gl.getUniformLocation(this.points, name);
    gl.uniform1i(at("disparity"), 0);
    gl.uniform1i(at("picture"), 1);
    gl.uniform1i(at("isColour"), frame.colour.isColour ? 1 : 0);
    gl.uniformMatrix4fv(at("view"), false, view);
    gl.uniform4f(at("camera"), c.fx, c.fy, c.cx, c.cy);
    gl.uniform3f(at("stereo"), c.baseline_m, status.min_disparity - (c.cx - c.cx_right), disparity.step);
    gl.uniform2i(at("grid"), ...grid);
    gl.uniform4f(at("ground"), ...groundPlane(status.ground));
    gl.drawArrays(gl.POINTS, 0, grid[0] * grid[1]);
    this.drawLines(view, status);
  }

  drawLines(view, status) {
    const { gl } = this, position = gl.getAttribLocation(this.lines, "position");
    gl.useProgram(this.lines);
    gl.uniformMatrix4fv(gl.getUniformLocation(this.lines, "view"), false, view);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.corners);
    gl.enableVertexAttribArray(position);
    gl.vertexAttribPointer(position, 3, gl.FLOAT, false, 0, 0);
    const show = (points, tint) => {
      gl.uniform4f(gl.getUniformLocation(this.lines, "tint"), ...tint, 1);
      gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(points), gl.DYNAMIC_DRAW);
      gl.drawArrays(gl.LINES, 0, points.length / 3);
    };
    show((status.obstacles ?? []).flatMap(boxLines), [1, 0.85, 0.2]);
    show(groundLines(status.ground), [0.35, 0.45, 0.55]);
    gl.disableVertexAttribArray(position);
  }
}

// Its normal in axes of the camera, and its distance from it.
function groundPlane(ground) {
  if (!ground) return [0, 1, 0, 0];
  const { pitch_rad: pitch, roll_rad: roll } = ground, s = Math.sin, c = Math.cos;
  return [s(roll) * c(pitch), c(roll) * c(pitch), s(pitch), ground.camera_height_m];
}

function boxLines(obstacle) {
  const corner = i => obstacle.position_m.map((middle, axis) => middle + (i >> axis & 1 ? 0.5 : -0.5) * obstacle.extent_m[axis]);
  return BOX_EDGES.flatMap(corner);
}

// A grid of metres on the ground, 10 m ahead.
function groundLines(ground) {
  if (!ground) return [];
  const [nx, ny, nz, height] = groundPlane(ground);
  const on = (x, z) => [x, (height - nx * x - nz * z) / ny, z];
  const lines = [];
  for (let i = 0; i <= 10; i++) lines.push(...on(-5, i), ...on(5, i), ...on(i - 5, 0), ...on(i - 5, 10));
  return lines;
}
