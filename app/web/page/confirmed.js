// SPDX-License-Identifier: Apache-2.0
// The obstacles that the page shows: confirmed ones, and one that is missed for one frame more, where it was. The same rule as in
// core/tracks/confirmed.h.
export class Confirmed {
  constructor() { this.tracked = []; }

  // Of the obstacles of the next frame, those to be shown, the nearest first. Null, where nobody knows, stays null.
  next(obstacles) {
    const missed = this.tracked.filter(({ track }) => !obstacles?.some(each => each.track === track));
    this.tracked = (obstacles ?? []).filter(({ status }) => status === "tracked");
    return obstacles && [...this.tracked, ...missed].sort((a, b) => a.nearest_m - b.nearest_m);
  }
}
