// Drawing: the positions of things on the screen, and their shapes and colours. Everything is drawn again in each
// frame, with one path for all marks of a kind, so that thousands of pages take milliseconds.

const canvas = document.getElementById("map");
const pen = canvas.getContext("2d", { alpha: false });
const RADIUS = 20000;
const TURN = Math.PI * 2;
const calm = matchMedia("(prefers-reduced-motion: reduce)");

// The current view. Call `redraw` after a change.
const view = {
  x: 0, y: 0, k: 0.02,
  width: 1, height: 1,
  arrangement: "folders", colouring: "verdict", chosen: new Set(), flows: false,
  selected: -1, selectedEnd: -1, hovered: -1, hoveredEnd: -1, found: null,
};

// Positions of all pages: in both arrangements, and as drawn, which is between the two while one changes into the
// other.
const arrangements = { folders: new Float32Array(PAGES * 3), rings: new Float32Array(PAGES * 3) };
for (let page = 0; page < PAGES; page++) {
  arrangements.folders.set(columns.folders.slice(page * 3, page * 3 + 3), page * 3);
  arrangements.rings.set([columns.rings[page * 2], columns.rings[page * 2 + 1], columns.ring_dot], page * 3);
}
// The top is larger, because users search for it.
for (let page = 0; page < PAGES; page++) if (columns.depth[page] === 0) arrangements.rings[page * 3 + 2] *= 1.8;
const spots = arrangements.folders.slice();
const unit = {
  folders: PAGES ? columns.folders[2] / (1 + 0.45 * Math.log10(into(0).length + 1)) : 1,
  rings: columns.ring_dot * 0.75,
};

// The colours of the style sheet, for light or dark mode.
let palette = {};
const readPalette = (printed) => {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  palette = {
    paper: printed ? "#ffffff" : colour("paper"), ink: colour("ink"), quiet: colour("quiet"), accent: colour("accent"), in: colour("in"),
    place: colour("place"), placeLine: colour("place-line"), flow: colour("flow"), rest: colour("rest"),
    verdicts: [0, 1, 2, 3, 4, 5, 6, 0].map((nth) => colour(`v${nth}`)),
    owners: [0, 1, 2, 3, 4, 5, 6, 7].map((nth) => colour(`o${nth}`)),
    ramp: ["near", "middle", "far"].map((name) => colour(name).split(",").map(Number)),
  };
};

// The classes of pages: one for each entry of the legend.
const SHAPES = ["diamond", "triangle", "square", "pentagon", "ring", "hollow", "disc", "cross"];
const OWNERS = 8;
const deepest = columns.depth.reduce((most, depth) => Math.max(most, depth), 0);
const DEPTHS = Math.min(deepest, 12);
const colourings = {
  verdict: {
    classOf: verdictOf,
    classes: () => VERDICTS.map((name, nth) => ({ name, colour: palette.verdicts[nth], shape: SHAPES[nth] })),
    order: [GONE, BROKEN, FRAGMENT, MOVED, EXPIRING, CHANGED, NOT_TESTED, GOOD],
  },
  owner: {
    classOf: (page) => (columns.owner[page] < 0 ? OWNERS + 1 : Math.min(columns.owner[page], OWNERS)),
    classes: () => [
      ...palette.owners.map((colour, nth) => ({ name: columns.owners[nth] ?? "", colour, shape: "disc" })),
      { name: `${columns.owners.length - OWNERS} others`, colour: palette.rest, shape: "disc" },
      { name: "nobody known", colour: palette.rest, shape: "hollow" },
    ],
  },
  depth: {
    classOf: (page) => Math.min(columns.depth[page], DEPTHS),
    classes: () => Array.from({ length: DEPTHS + 1 }, (_, depth) => ({
      name: depth === 0 ? "the top" : `${depth}${depth === DEPTHS && deepest > depth ? " or more" : ""} ${depth === 1 ? "link" : "links"} away`,
      colour: ramp(DEPTHS ? depth / DEPTHS : 0), shape: "disc",
    })),
  },
};
const ramp = (share) => {
  const [from, to] = share < 0.5 ? [palette.ramp[0], palette.ramp[1]] : [palette.ramp[1], palette.ramp[2]];
  const rest = share < 0.5 ? share * 2 : share * 2 - 1;
  return `rgb(${from.map((part, nth) => Math.round(part + (to[nth] - part) * rest)).join(",")})`;
};
let classes = [], classOf = new Uint8Array(PAGES), members = [];
const classify = () => {
  const { classes: list, classOf: of } = colourings[view.colouring];
  classes = list();
  members = classes.map(() => []);
  for (let page = 0; page < PAGES; page++) members[(classOf[page] = of(page))].push(page);
};

// The highlighted pages: all, unless something was chosen, searched or selected.
let focus = null;
const refocus = () => {
  if (view.selectedEnd >= 0) focus = new Set(ends[view.selectedEnd].pages);
  else if (view.selected >= 0) focus = new Set([view.selected, ...out(view.selected), ...into(view.selected)]);
  else focus = view.found;
};
const isBright = (page) => (!focus || focus.has(page)) && (!view.chosen.size || view.chosen.has(classOf[page]));

const screenX = (x) => (x - view.x) * view.k + view.width / 2;
const screenY = (y) => (y - view.y) * view.k + view.height / 2;

// Adds a mark to the path.
const mark = {
  disc(x, y, r) { pen.moveTo(x + r, y); pen.arc(x, y, r, 0, TURN); },
  hollow(x, y, r) { pen.moveTo(x + r, y); pen.arc(x, y, r, 0, TURN); },
  ring(x, y, r) { pen.moveTo(x + r, y); pen.arc(x, y, r, 0, TURN); pen.moveTo(x + r * 0.45, y); pen.arc(x, y, r * 0.45, 0, TURN, true); },
  diamond(x, y, r) { polygon(x, y, r * 1.2, 4, 0); },
  square(x, y, r) { pen.rect(x - r * 0.88, y - r * 0.88, r * 1.76, r * 1.76); },
  triangle(x, y, r) { polygon(x, y + r * 0.15, r * 1.3, 3, -Math.PI / 2); },
  pentagon(x, y, r) { polygon(x, y, r * 1.12, 5, -Math.PI / 2); },
  cross(x, y, r) {
    const a = r * 1.1, b = r * 0.38;
    [[-a, -a + b], [-a + b, -a], [0, -b], [a - b, -a], [a, -a + b], [b, 0], [a, a - b], [a - b, a], [0, b], [-a + b, a], [-a, a - b], [-b, 0]]
      .forEach(([dx, dy], nth) => (nth ? pen.lineTo(x + dx, y + dy) : pen.moveTo(x + dx, y + dy)));
    pen.closePath();
  },
};
const polygon = (x, y, r, corners, turned) => {
  for (let nth = 0; nth < corners; nth++) {
    const angle = turned + (nth / corners) * TURN;
    if (nth) pen.lineTo(x + r * Math.cos(angle), y + r * Math.sin(angle));
    else pen.moveTo(x + r * Math.cos(angle), y + r * Math.sin(angle));
  }
  pen.closePath();
};

// Broken pages have a minimum size, so that they are visible at any zoom; and a limit, so that few do not look like
// many.
const sizeOnScreen = (page) => {
  const size = Math.max(spots[page * 3 + 2] * view.k, 0.8);
  return columns.verdict[page] <= FRAGMENT ? Math.max(size, Math.min(2, size * 1.5)) : size;
};

const drawPages = () => {
  const margin = 40;
  for (const bright of [false, true]) {
    // Good pages first, so that they do not hide those with problems.
    for (let nth = classes.length - 1; nth >= 0; nth--) {
      const { colour, shape } = classes[nth];
      // By owner, pages without problems are paler than those that need their owner.
      for (const pale of view.colouring === "owner" && bright ? [true, false] : [false]) {
        pen.beginPath();
        for (const page of members[nth]) {
          if (isBright(page) !== bright || (view.colouring === "owner" && bright && (columns.verdict[page] > MOVED) !== pale)) continue;
          const x = screenX(spots[page * 3]), y = screenY(spots[page * 3 + 1]), r = sizeOnScreen(page);
          if (x < -margin || y < -margin || x > view.width + margin || y > view.height + margin) continue;
          if (r < 1.7) pen.rect(x - r, y - r, r * 2, r * 2);
          else mark[r < 2.4 ? "disc" : shape](x, y, r);
        }
        pen.globalAlpha = bright ? (pale ? 0.55 : 1) : 0.16;
        if (shape === "hollow") {
          pen.strokeStyle = colour;
          pen.lineWidth = 1.5;
          pen.stroke();
        } else {
          pen.fillStyle = colour;
          pen.fill();
        }
      }
    }
  }
  pen.globalAlpha = 1;
  if (view.colouring === "verdict") return;
  // If colours show owners or distances, an outline marks pages with broken links.
  pen.beginPath();
  for (const page of spikes.keys()) {
    if (isBright(page)) mark.disc(screenX(spots[page * 3]), screenY(spots[page * 3 + 1]), sizeOnScreen(page));
  }
  pen.strokeStyle = palette.verdicts[BROKEN];
  pen.lineWidth = Math.min(Math.max(unit[view.arrangement] * view.k * 0.3, 0.8), 2);
  pen.stroke();
};

// Spikes for broken links: a line with a dot at its end, which is hollow for a fragment.
const endsAt = (page, act) => {
  const list = spikes.get(page);
  const step = TURN / Math.max(list.length, 5);
  const from = spots[page * 3 + 2], to = from + unit[view.arrangement] * 0.85;
  list.forEach((end, nth) => {
    const angle = -Math.PI / 2 + (nth - (list.length - 1) / 2) * step;
    act(end, Math.cos(angle), Math.sin(angle), from, to);
  });
};
const drawEnds = () => {
  const head = unit[view.arrangement] * view.k * 0.32;
  if (head < 0.35) return;
  for (const bright of [false, true]) {
    for (const verdict of [FRAGMENT, BROKEN]) {
      const stalks = new Path2D(), heads = new Path2D();
      for (const page of spikes.keys()) {
        if (isBright(page) !== bright) continue;
        const x = screenX(spots[page * 3]), y = screenY(spots[page * 3 + 1]);
        if (x < -60 || y < -60 || x > view.width + 60 || y > view.height + 60) continue;
        endsAt(page, (end, dx, dy, from, to) => {
          if (ends[end].verdict !== verdict) return;
          stalks.moveTo(x + dx * from * view.k, y + dy * from * view.k);
          stalks.lineTo(x + dx * to * view.k, y + dy * to * view.k);
          const hx = x + dx * to * view.k, hy = y + dy * to * view.k, r = (end === view.selectedEnd ? 1.6 : 1) * Math.max(head, 0.8);
          heads.moveTo(hx + r, hy);
          heads.arc(hx, hy, r, 0, TURN);
        });
      }
      pen.globalAlpha = bright ? 1 : 0.16;
      pen.strokeStyle = pen.fillStyle = palette.verdicts[verdict];
      pen.lineWidth = Math.min(Math.max(head * 0.45, 0.6), 2);
      pen.stroke(stalks);
      if (verdict === BROKEN || head < 2) pen.fill(heads);
      else {
        pen.fillStyle = palette.paper;
        pen.fill(heads);
        pen.stroke(heads);
      }
    }
  }
  pen.globalAlpha = 1;
};

const drawPlaces = (alpha) => {
  pen.globalAlpha = alpha;
  pen.fillStyle = palette.place;
  pen.strokeStyle = palette.placeLine;
  for (const place of places) {
    const x = screenX(place.x), y = screenY(place.y), r = place.r * view.k;
    if (place === whole || r < 2 || x + r < 0 || y + r < 0 || x - r > view.width || y - r > view.height) continue;
    pen.beginPath();
    pen.arc(x, y, r, 0, TURN);
    if (place.isFolder) {
      pen.fill();
      pen.lineWidth = place.level < 2 ? 1.2 : 0.8;
      pen.stroke();
    } else if (place.label) {
      pen.lineWidth = 0.8;
      pen.setLineDash([2, 3]);
      pen.stroke();
      pen.setLineDash([]);
    }
  }
  pen.globalAlpha = 1;
};

const drawBands = (alpha) => {
  pen.globalAlpha = alpha;
  pen.strokeStyle = palette.placeLine;
  pen.fillStyle = palette.place;
  pen.lineWidth = 1;
  columns.bands.forEach(([, radius], nth) => {
    const r = radius * view.k;
    pen.beginPath();
    pen.arc(screenX(0), screenY(0), r, 0, TURN);
    pen.stroke();
    if (nth % 2) return;
    if (nth) pen.arc(screenX(0), screenY(0), columns.bands[nth - 1][1] * view.k, TURN, 0, true);
    pen.fill();
  });
  // The link by which each page is reached.
  pen.beginPath();
  for (let page = 0; page < PAGES; page++) {
    const parent = columns.parent[page];
    if (parent < 0 || !isBright(page)) continue;
    pen.moveTo(screenX(spots[parent * 3]), screenY(spots[parent * 3 + 1]));
    pen.lineTo(screenX(spots[page * 3]), screenY(spots[page * 3 + 1]));
  }
  pen.globalAlpha = alpha * (PAGES > 2000 ? 0.1 : 0.22);
  pen.strokeStyle = palette.quiet;
  pen.lineWidth = 0.7;
  pen.stroke();
  pen.globalAlpha = 1;
};

let knownFlows = null;
const drawFlows = () => {
  knownFlows ??= flows();
  const most = knownFlows[0]?.count ?? 1;
  pen.lineCap = "round";
  for (const { a, b, count } of knownFlows) {
    const share = Math.sqrt(count / most);
    pen.strokeStyle = `rgba(${palette.flow}, ${0.12 + 0.4 * share})`;
    pen.lineWidth = 0.8 + 7 * share;
    bow(screenX(a.x), screenY(a.y), screenX(b.x), screenY(b.y), 0.12);
  }
  pen.lineCap = "butt";
};
const bow = (x1, y1, x2, y2, bend) => {
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.quadraticCurveTo((x1 + x2) / 2 - (y2 - y1) * bend, (y1 + y2) / 2 + (x2 - x1) * bend, x2, y2);
  pen.stroke();
};

// The links of one page: outgoing ones are solid lines; incoming ones are dashed, and bend the other way.
const drawLinks = (page, strength) => {
  const x1 = screenX(spots[page * 3]), y1 = screenY(spots[page * 3 + 1]);
  const draw = (list, colour, dash, bend) => {
    pen.strokeStyle = colour;
    pen.globalAlpha = strength * Math.max(0.12, Math.min(0.8, 12 / Math.sqrt(list.length + 1) / 3));
    pen.lineWidth = list.length > 300 ? 0.7 : 1.2;
    pen.setLineDash(list.length > 300 ? [] : dash);
    pen.beginPath();
    for (const other of list) {
      const x2 = screenX(spots[other * 3]), y2 = screenY(spots[other * 3 + 1]);
      pen.moveTo(x1, y1);
      pen.quadraticCurveTo((x1 + x2) / 2 - (y2 - y1) * bend, (y1 + y2) / 2 + (x2 - x1) * bend, x2, y2);
    }
    pen.stroke();
  };
  draw(into(page), palette.in, [4, 4], 0.14);
  draw(out(page), palette.ink, [], 0.14);
  pen.setLineDash([]);
  pen.globalAlpha = 1;
};

const drawRing = (page, colour, width) => {
  pen.beginPath();
  pen.arc(screenX(spots[page * 3]), screenY(spots[page * 3 + 1]), Math.max(sizeOnScreen(page), 3) * 1.25 + width + 1, 0, TURN);
  pen.strokeStyle = palette.paper;
  pen.lineWidth = width + 3;
  pen.stroke();
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.stroke();
};

// Labels: the largest circles first, then pages; a label that would overlap another one is omitted.
const write = (() => {
  let boxes = [];
  const fits = (box) => !boxes.some((other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1]);
  const widths = new Map();
  const shorten = (words, font, room) => {
    pen.font = font;
    const key = font + words;
    let width = widths.get(key);
    if (width === undefined) widths.set(key, (width = pen.measureText(words).width));
    if (width <= room) return [words, width];
    const keep = Math.floor((words.length * room) / width) - 1;
    return keep < 3 ? [null, 0] : [words.slice(0, keep).trimEnd() + "…", room];
  };
  return {
    begin() {
      boxes = [];
      if (widths.size > 20000) widths.clear();
    },
    // Returns true if the label fits.
    at(words, x, y, size, weight, colour, room, force) {
      const font = `${weight} ${size}px system-ui, -apple-system, "Segoe UI", "Liberation Sans", sans-serif`;
      const [shown, width] = shorten(words, font, room);
      if (!shown) return false;
      const box = [x - width / 2 - 2, y - size * 0.6, x + width / 2 + 2, y + size * 0.6];
      if (!force && !fits(box)) return false;
      boxes.push(box);
      pen.font = font;
      pen.textAlign = "center";
      pen.textBaseline = "middle";
      pen.lineJoin = "round";
      pen.lineWidth = 3.5;
      pen.strokeStyle = palette.paper;
      pen.globalAlpha = 0.85;
      pen.strokeText(shown, x, y);
      pen.globalAlpha = 1;
      pen.fillStyle = colour;
      pen.fillText(shown, x, y);
      return true;
    },
  };
})();
const drawLabels = () => {
  write.begin();
  for (const [page, force] of [[view.selected, true], [view.hovered, true]]) {
    if (page >= 0) writePage(page, force, 13, 600);
  }
  if (view.selected < 0 && view.hovered < 0) for (const page of tops.slice(0, 3)) writePage(page, true, 12, 600);
  if (view.arrangement === "folders") {
    for (const place of bySize) {
      const r = place.r * view.k;
      if (r < 26) break;
      const size = Math.round(Math.min(Math.max(r / 8, 11), place.level < 2 ? 17 : 14));
      const x = screenX(place.x), y = screenY(place.y) - r;
      if (!place.label || place === whole || x < -r || x > view.width + r || y < -10 || y > view.height + 10 || r > 4 * view.width) continue;
      write.at(place.label, x, y, size, place.isFolder ? 600 : 400, place.isFolder ? palette.ink : palette.quiet, Math.max(r * 1.8, 70));
    }
  } else {
    columns.bands.forEach(([depth, radius, pages]) => {
      const words = depth === 0 ? "the top" : `${depth} away: ${pages.toLocaleString("en")}`;
      if (depth) write.at(words, screenX(0), screenY(0) - radius * view.k, 11, 600, palette.quiet, 200);
    });
  }
  let written = 0;
  for (const page of byImportance) {
    if (written >= 220) break;
    if (spots[page * 3 + 2] * view.k > 20 && isBright(page) && writePage(page, false, 11, 400)) written++;
  }
};
const writePage = (page, force, size, weight) => {
  const x = screenX(spots[page * 3]), y = screenY(spots[page * 3 + 1]), r = spots[page * 3 + 2] * view.k;
  if (x < 0 || y < 0 || x > view.width || y > view.height) return false;
  const room = force ? 320 : Math.max(r * 2.4, 44);
  return write.at(shortTitle(page), x, y + Math.max(r, 4) * 1.2 + size * 0.8, size, weight, palette.ink, room, force);
};
const tops = Array.from({ length: PAGES }, (_, page) => page).filter((page) => columns.depth[page] === 0);
const bySize = [...places].sort((a, b) => b.r - a.r);
const byImportance = Array.from({ length: PAGES }, (_, page) => page).sort((a, b) => into(b).length - into(a).length || a - b);

let turning = 1; // the progress of a change of the arrangement
const draw = () => {
  pen.globalAlpha = 1;
  pen.fillStyle = palette.paper;
  pen.fillRect(0, 0, view.width, view.height);
  const toFolders = view.arrangement === "folders" ? turning : 1 - turning;
  if (toFolders > 0) drawPlaces(toFolders);
  if (toFolders < 1) drawBands(1 - toFolders);
  if (view.flows && toFolders === 1) drawFlows();
  const linked = view.selected >= 0 ? view.selected : view.hovered;
  if (linked >= 0) drawLinks(linked, view.selected >= 0 ? 1 : 0.6);
  drawPages();
  drawEnds();
  for (const page of tops.slice(0, 3)) drawRing(page, palette.ink, 1.5);
  if (view.found?.size <= 300) for (const page of view.found) drawRing(page, palette.accent, 1.5);
  if (view.hovered >= 0) drawRing(view.hovered, palette.ink, 1.5);
  if (view.selected >= 0) drawRing(view.selected, palette.accent, 3);
  if (turning === 1) drawLabels();
};

// On slow machines, the last image is moved while the user drags or zooms, and a few times a second drawn again.
const SLOW = 26; // milliseconds
const shot = { canvas: document.createElement("canvas"), x: 0, y: 0, k: 1 };
let waiting = false, movedAt = -1e9, drawnAt = 0, wasDrawn = false, cost = 0;
const frame = (now) => {
  waiting = false;
  // The time for drawing is known when the next frame begins.
  if (wasDrawn && now - drawnAt < 1000) cost = now - drawnAt;
  wasDrawn = false;
  const isMoving = now - movedAt < 120;
  if (isMoving && cost > SLOW && now - drawnAt < cost * 4 && shot.canvas.width === canvas.width) {
    const scale = view.k / shot.k, { width, height } = view;
    pen.fillStyle = palette.paper;
    pen.fillRect(0, 0, width, height);
    pen.drawImage(shot.canvas, screenX(shot.x) - (width / 2) * scale, screenY(shot.y) - (height / 2) * scale, width * scale, height * scale);
    redraw();
    return;
  }
  draw();
  if (cost > SLOW) {
    Object.assign(shot.canvas, { width: canvas.width, height: canvas.height });
    shot.canvas.getContext("2d", { alpha: false }).drawImage(canvas, 0, 0);
    Object.assign(shot, { x: view.x, y: view.y, k: view.k });
  }
  drawnAt = now;
  wasDrawn = isMoving;
  if (isMoving) redraw();
};
const redraw = () => {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(frame);
};
const moved = () => {
  movedAt = performance.now();
  redraw();
};

// One pixel of the canvas for each of the screen; on paper, more.
const resize = (density = devicePixelRatio || 1) => {
  const { width, height } = canvas.getBoundingClientRect();
  if (!width || !height) return;
  // If everything was visible, it stays visible.
  const before = overview(), sawAll = ["x", "y", "k"].every((part) => Math.abs(view[part] - before[part]) <= Math.abs(before[part]) * 0.001);
  Object.assign(view, { width, height });
  if (sawAll) Object.assign(view, overview());
  canvas.width = Math.round(width * density);
  canvas.height = Math.round(height * density);
  pen.setTransform(canvas.width / width, 0, 0, canvas.height / height, 0, 0);
};

// Animates a change within half a second, or skips the animation if the user prefers reduced motion. The camera and the
// positions of pages change independently: a new animation of one kind ends the previous one of that kind.
const ways = { camera: 0, pages: 0 };
const glide = (kind, step) => {
  const mine = ++ways[kind];
  const begun = performance.now();
  const next = (now) => {
    if (mine !== ways[kind]) return;
    const share = calm.matches ? 1 : Math.min(Math.max((now - begun) / 450, 0), 1);
    step(share < 0.5 ? 2 * share * share : 1 - 2 * (1 - share) * (1 - share));
    redraw();
    if (share < 1) requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
};
// The outermost circle adds no information if it contains others: it is not drawn, which leaves more space for them.
const whole = places.length > 1 ? places[0] : null;
const extent = (() => {
  if (!whole) return { x: 0, y: 0, width: RADIUS * 2, height: RADIUS * 2 };
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  const take = (x, y, r) => { [left, top, right, bottom] = [Math.min(left, x - r), Math.min(top, y - r), Math.max(right, x + r), Math.max(bottom, y + r)]; };
  for (const place of places) if (place.level === 1) take(place.x, place.y, place.r);
  for (let page = 0; page < PAGES; page++) if (columns.inside[page] === 0) take(columns.folders[page * 3], columns.folders[page * 3 + 1], columns.folders[page * 3 + 2]);
  return { x: (left + right) / 2, y: (top + bottom) / 2, width: right - left, height: bottom - top };
})();
// The camera position at which everything is visible.
const overview = () => {
  const { x, y, width, height } = view.arrangement === "folders" ? extent : { x: 0, y: 0, width: RADIUS * 2, height: RADIUS * 2 };
  return { x, y, k: Math.min((view.width - 20) / width, (view.height - 36) / height) };
};
const goTo = (x, y, k) => {
  const from = { x: view.x, y: view.y, k: view.k };
  glide("camera", (share) => {
    // The zoom is exponential, and the position is interpolated so that the path on the screen is straight.
    view.k = from.k * Math.pow(k / from.k, share);
    const along = Math.abs(k / from.k - 1) < 0.01 ? share : (1 / view.k - 1 / from.k) / (1 / k - 1 / from.k);
    view.x = from.x + (x - from.x) * along;
    view.y = from.y + (y - from.y) * along;
  });
};
const fit = () => {
  const { x, y, k } = overview();
  goTo(x, y, k);
};
const zoomAt = (x, y, factor) => {
  ways.camera++;
  const k = Math.min(Math.max(view.k * factor, overview().k * 0.5), 60 / Math.max(unit[view.arrangement], 1));
  view.x += (x - view.width / 2) * (1 / view.k - 1 / k);
  view.y += (y - view.height / 2) * (1 / view.k - 1 / k);
  view.k = k;
  moved();
};
const arrange = (arrangement) => {
  if (arrangement === view.arrangement) return;
  view.arrangement = arrangement;
  const from = spots.slice(), to = arrangements[arrangement];
  turning = 0;
  glide("pages", (share) => {
    turning = share;
    for (let at = 0; at < spots.length; at++) spots[at] = from[at] + (to[at] - from[at]) * share;
  });
  fit();
};

// Returns the page at a point, and its spike there, if any.
const under = (x, y, reach) => {
  let best = -1, nearest = Infinity, end = -1;
  for (let page = 0; page < PAGES; page++) {
    const away = Math.hypot(screenX(spots[page * 3]) - x, screenY(spots[page * 3 + 1]) - y) - sizeOnScreen(page);
    if (away < reach && away < nearest && isBright(page)) [best, nearest] = [page, away];
  }
  const tip = unit[view.arrangement] * view.k * 0.4;
  if (tip > 2 && nearest > 0) {
    for (const page of spikes.keys()) {
      const px = screenX(spots[page * 3]), py = screenY(spots[page * 3 + 1]);
      if (Math.abs(px - x) > 200 || Math.abs(py - y) > 200) continue;
      endsAt(page, (this_, dx, dy, from, to) => {
        if (Math.hypot(px + dx * to * view.k - x, py + dy * to * view.k - y) < Math.max(tip, reach / 2)) [best, end] = [page, this_];
      });
    }
  }
  return { page: best, end };
};
