// SPDX-License-Identifier: Apache-2.0
// The socket: frames and the service's state, for as long as the page is open. A frame is
//   { status, seen, stampMs, delayMs, left, right: {width, height, data | bitmap}, disparity: {width, height, step, data}, scan, histogram, map,
//     colour: as left, with isColour; where the service has no colour the grey picture, located: the places of boxes }.

const RETRY_MS = 1000;
const PING_MS = 200;
const SILENT_MS = 5000; // without a message: the connection is given up, long before TCP would
const TEXT = new TextDecoder();

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Disparities of 8 bits as those of 16.
function widened(small, disparities) {
  const data = new Uint16Array(small.length);
  for (let i = 0; i < small.length; i++) data[i] = small[i] === 255 ? 0xffff : (small[i] + 0.5) * disparities * 16 / 254;
  return data;
}

async function decodePlane(plane, buffer, base, status) {
  const at = base + plane.offset;
  const { width, height } = plane;
  switch (plane.form) {
    case "rgb8": return { width, height, isColour: true, data: new Uint8Array(buffer, at, plane.bytes) };
    case "u8": return { width, height, data: new Uint8Array(buffer, at, plane.bytes) };
    case "u16": return { width, height, step: 1, data: new Uint16Array(buffer, at, plane.bytes / 2) };
    case "u32": return { width, height, data: new Uint32Array(buffer, at, plane.bytes / 4) };
    case "jpeg": {
      const blob = new Blob([new Uint8Array(buffer, at, plane.bytes)], { type: "image/jpeg" });
      return { width, height, isColour: plane.name === "colour", bitmap: await createImageBitmap(blob) };
    }
    case "deflate": {
      const small = await inflate(new Uint8Array(buffer, at, plane.bytes));
      return plane.name === "map" ? { width, height, data: small } : { width, height, step: 2, data: widened(small, status.disparities) };
    }
  }
  throw new Error(`a plane of unknown form ${plane.form}`);
}

async function decode(buffer, seen) {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(TEXT.decode(new Uint8Array(buffer, 4, length)));
  const base = (4 + length + 7) & ~7;
  const frame = { status: header.status, seen, stampMs: header.stamp_ms, delayMs: header.delay_ms };
  await Promise.all(header.planes.map(async plane => {
    // The scan has four numbers for each column, the map for each cell.
    frame[plane.name] = await decodePlane(plane, buffer, base, header.status);
  }));
  frame.colour ??= frame.left;
  return frame;
}

export class Link {
  constructor(handlers) {
    this.handlers = handlers; // frame, service, wall, kept, pixel, connected
    this.clockOffsetMs = 0; // the server's wall clock minus ours
    this.bestRoundMs = Infinity;
    this.wish = { show: [], compact: false };
    this.boxes = []; // whose places come with each frame
    this.located = null; // those of the frame that comes next
    this.heard = null; // when we sent the newest ping that was answered: whatever comes after the answer is newer than that
    this.messages = 0;
    this.connect();
    setInterval(() => this.watch(), PING_MS);
  }

  connect() {
    const address = new URL("socket", location.href); // beside the page: a proxy may have put a path before it
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    this.socket = new WebSocket(address, "parallax.v1");
    this.socket.binaryType = "arraybuffer";
    this.newsAt = performance.now();
    this.socket.onopen = () => {
      this.bestRoundMs = Infinity;
      this.handlers.connected(true);
      this.send(this.wish);
      this.send({ boxes: this.boxes });
      this.ping();
    };
    this.socket.onmessage = event => {
      this.newsAt = performance.now();
      this.receive(event.data, { heard: this.heard, order: this.messages++ });
    };
    this.socket.onclose = () => {
      this.handlers.connected(false);
      setTimeout(() => this.connect(), RETRY_MS);
    };
  }

  // A dead network closes no socket.
  watch() {
    if (this.socket.readyState !== WebSocket.CLOSED && performance.now() - this.newsAt > SILENT_MS) {
      this.socket.onopen = this.socket.onmessage = this.socket.onclose = null;
      this.socket.close();
      this.handlers.connected(false);
      this.connect();
    }
    this.ping();
  }

  // SEEN: how old DATA may be (its `heard`), and its place among the messages: a frame is decoded later than what came after it.
  async receive(data, seen) {
    if (typeof data !== "string") {
      const { located } = this;
      this.located = null;
      const frame = await decode(data, seen);
      frame.located = located?.sequence === frame.status.sequence ? located : null;
      this.handlers.frame(frame);
      return;
    }
    const message = JSON.parse(data);
    if (message.service) this.handlers.service(message.service, seen, message.rates);
    if (message.wall) this.handlers.wall(message.wall);
    if (message.kept) this.handlers.kept(message.kept);
    if (message.located) this.located = message.located;
    if (message.pixel) this.handlers.pixel(message);
    if (message.pong !== undefined) this.takePong(message);
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  want(show, compact) {
    this.wish = { show, compact };
    this.send(this.wish);
  }

  locate(boxes) {
    this.boxes = boxes;
    this.send({ boxes });
  }

  ack(sequence) { this.send({ ack: sequence }); }

  // Both clocks: the first one may stand still while the computer sleeps, and the second one may be set.
  ping() { this.send({ ping: `${performance.now()} ${Date.now()}` }); }

  // The time since HEARD, at most: Infinity if the server has answered nothing yet.
  sinceMs(heard) { return heard ? Math.max(performance.now() - heard.tick, Math.abs(Date.now() - heard.wall)) : Infinity; }

  // The quickest answer tells the most about the other clock.
  takePong(message) {
    const [tick, wall] = message.pong.split(" ").map(Number), now = performance.now(), roundMs = now - tick;
    this.heard = { tick, wall };
    if (roundMs > this.bestRoundMs * 1.5) return;
    this.bestRoundMs = Math.min(roundMs, this.bestRoundMs);
    this.clockOffsetMs = message.now_ms + roundMs / 2 - (performance.timeOrigin + now);
  }

  // How old a picture is now.
  ageMs(stampMs) { return performance.timeOrigin + performance.now() + this.clockOffsetMs - stampMs; }
}
