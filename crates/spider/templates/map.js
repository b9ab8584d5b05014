// Interaction with the map, and the text next to it. Text is only inserted as text nodes, and only http and https URLs
// become links, because titles and URLs are untrusted.

const byId = (id) => document.getElementById(id);
const el = (name, properties, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties ?? {})) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
};
const count = (number, one, many = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
const isWeb = (url) => /^https?:\/\//i.test(url);
const link = (url, words = url) => (isWeb(url) ? el("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, words) : words);
const ownerOf = (page) => (columns.owner[page] < 0 ? "" : columns.owners[columns.owner[page]]);
const narrow = matchMedia("(max-width: 760px)");

// Returns the problems of a page in short form.
const matter = (page) => {
  const words = gone.has(page) ? [VERDICTS[GONE]] : [];
  const [broken, fragments, moved] = [BROKEN, FRAGMENT, MOVED].map((verdict) => countOf(page, verdict));
  if (broken) words.push(count(broken, "broken link"));
  if (fragments) words.push(count(fragments, "missing fragment"));
  if (moved) words.push(count(moved, "moved link"));
  if (!words.length) words.push(VERDICTS[columns.verdict[page]]);
  return words.join(", ");
};

// A link to a page: if opened in a new tab or window, it opens the page; otherwise it selects the page on the map.
const pageLink = (page) => {
  const show = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    select(page, true);
  };
  return isWeb(urls[page])
    ? el("a", { href: urls[page], rel: "noopener noreferrer", onclick: show }, titleOf(page))
    : el("button", { type: "button", class: "more", onclick: show }, titleOf(page));
};

// A list that shows more rows on request, because creating thousands of rows would be slow.
const rows = (list, row, container = el("ul", { class: "rows" })) => {
  const box = el("div", null, container);
  let shown = 0;
  const more = el("button", { type: "button", class: "more", onclick: () => grow() });
  const grow = () => {
    const next = list.slice(shown, shown + 60);
    container.append(...Array.from(next, row));
    shown += next.length;
    more.remove();
    if (shown < list.length) {
      more.textContent = `${(list.length - shown).toLocaleString("en")} more`;
      box.append(more);
    }
  };
  grow();
  return box;
};

const pageRow = (page) => {
  const owner = ownerOf(page);
  return el("li", { class: `v${columns.verdict[page]}` }, pageLink(page), el("small", null, matter(page) + (owner ? ` · ${owner}` : "")));
};
const endRow = (end) =>
  el("li", { class: `v${ends[end].verdict}` },
    el("a", { href: `#end${end}`, onclick: (event) => { event.preventDefault(); selectEnd(end, true); } }, ends[end].url),
    el("small", null, `${ends[end].reason} · ${count(ends[end].pages.length, "page")}${ends[end].wide ? ": in the site's template" : ""}`));
const problemRow = (row) => {
  const end = ends[row.end];
  const where = [row.line ? `line ${row.line}` : "", row.element, row.text ? `“${row.text}”` : ""].filter(Boolean).join(", ");
  return el("li", { class: `v${end.verdict}` }, link(end.url),
    el("small", null, end.reason + (end.since ? `, since ${end.since}` : "") + ` · ${where}`),
    end.to ? el("small", null, "now at ", link(end.to)) : null,
    end.pages.length > 1
      ? el("small", null, el("a", { href: `#end${row.end}`, onclick: (event) => { event.preventDefault(); selectEnd(row.end, true); } }, `on ${count(end.pages.length, "page")}`))
      : null);
};
const folded = (title, list, row, open) => {
  const details = el("details", open ? { open: "" } : null, el("summary", null, `${title} (${list.length.toLocaleString("en")})`));
  const fill = () => {
    if (details.open && details.children.length === 1) details.append(rows(list, row));
  };
  details.addEventListener("toggle", fill);
  if (open) details.append(rows(list, row));
  return details;
};

// Selection.
const closer = () => el("button", { type: "button", class: "close", "aria-label": "Clear selection", title: "Clear selection (Escape)", onclick: () => letGo() }, "×");
const show = (...children) => {
  const section = byId("selected");
  section.replaceChildren(closer(), ...children.filter(Boolean));
  section.hidden = false;
  byId("panel").classList.remove("low");
  byId("sheet").setAttribute("aria-expanded", "true");
  byId("panel").scrollTop = 0;
};
const wayTo = (page) => {
  const way = [];
  for (let at = columns.parent[page]; at >= 0 && way.length < 40; at = columns.parent[at]) way.unshift(at);
  return way.flatMap((step) => [pageLink(step), " › "]);
};
const select = (page, fly) => {
  Object.assign(view, { selected: page, selectedEnd: -1, hovered: -1 });
  refocus();
  const { rows: found, untold } = problemsOf(page);
  const order = [...found].sort((a, b) => ends[a.end].verdict - ends[b.end].verdict);
  const sure = order.filter((row) => ends[row.end].verdict !== NOT_TESTED), unsure = order.filter((row) => ends[row.end].verdict === NOT_TESTED);
  const by = (list) => Array.from(list).sort((a, b) => titleOf(a).localeCompare(titleOf(b)));
  const way = wayTo(page);
  show(
    el("h2", { id: "selected-name" }, titleOf(page)),
    el("span", { class: "url" }, link(urls[page])),
    el("dl", null,
      el("dt", null, "Verdict"), el("dd", { class: `mark mark${columns.verdict[page]}` }, matter(page)),
      el("dt", null, "Owner"), el("dd", null, ownerOf(page) || "unknown"),
      el("dt", null, "Distance"), el("dd", null, columns.depth[page] ? `${count(columns.depth[page], "link")} from the start page` : "start page"),
      way.length ? el("dt", null, "Reached by") : null, way.length ? el("dd", null, ...way, "here") : null),
    sure.length || untold ? el("h3", null, `Needs attention (${(sure.length + untold).toLocaleString("en")})`) : null,
    sure.length ? rows(sure, problemRow) : null,
    untold ? el("small", null, `${count(untold, "link")} more with problems`) : null,
    unsure.length ? folded("Links not tested", unsure, problemRow) : null,
    folded("Links to", by(out(page)), pageRow), folded("Linked from", by(into(page)), pageRow),
  );
  byId("says").textContent = `${titleOf(page)}: ${matter(page)}; ${count(out(page).length, "link")} out, ${count(into(page).length, "link")} in`;
  history.replaceState(null, "", `#n${columns.nodes[page]}`);
  if (fly) flyTo([page]);
  redraw();
};
const selectEnd = (end, fly) => {
  Object.assign(view, { selected: -1, selectedEnd: end, hovered: -1 });
  refocus();
  const { url, reason, since, to, pages, verdict } = ends[end];
  show(
    el("h2", { id: "selected-name" }, link(url)),
    el("dl", null,
      el("dt", null, "Verdict"), el("dd", { class: `mark mark${verdict}` }, reason),
      since ? el("dt", null, "Since") : null, since ? el("dd", null, since) : null,
      to ? el("dt", null, "Now at") : null, to ? el("dd", null, link(to)) : null),
    el("h3", null, `On ${count(pages.length, "page")}`), rows(pages, pageRow),
  );
  byId("says").textContent = `${url}: ${reason}, on ${count(pages.length, "page")}`;
  if (fly) flyTo(pages);
  redraw();
};
const letGo = () => {
  Object.assign(view, { selected: -1, selectedEnd: -1, hovered: -1 });
  refocus();
  byId("selected").hidden = true;
  history.replaceState(null, "", location.pathname + location.search);
  redraw();
};
// Moves and zooms the map so that pages are visible and distinguishable.
const flyTo = (pages) => {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const page of pages) {
    const [x, y] = [arrangements[view.arrangement][page * 3], arrangements[view.arrangement][page * 3 + 1]];
    [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x), Math.max(bottom, y)];
  }
  const k = Math.min(view.width / (right - left || 1), view.height / (bottom - top || 1)) * 0.8;
  const near = 5 / unit[view.arrangement];
  goTo((left + right) / 2, (top + bottom) / 2, Math.max(Math.min(k, pages.length > 1 ? near : Math.max(view.k, near)), overview().k));
};

// The legend: the meaning of the colours, and a filter by colour.
const swatch = ({ colour, shape }) => {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  const paths = {
    disc: "M9 3a6 6 0 1 0 .01 0z", hollow: "M9 3a6 6 0 1 0 .01 0z", ring: "M9 2.5a6.5 6.5 0 1 0 .01 0zM9 6a3 3 0 1 1-.01 0z",
    diamond: "M9 1.5 16.5 9 9 16.5 1.5 9z", square: "M3.5 3.5h11v11h-11z", triangle: "M9 2 16.5 15h-15z", pentagon: "M9 2 16 7.2 13.3 15.5H4.7L2 7.2z",
    cross: "M2 4.5 4.5 2 9 6.5 13.5 2 16 4.5 11.5 9 16 13.5 13.5 16 9 11.5 4.5 16 2 13.5 6.5 9z",
  };
  svg.setAttribute("viewBox", "0 0 18 18");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", paths[shape]);
  path.setAttribute("fill", shape === "hollow" ? "none" : colour);
  if (shape === "hollow") {
    path.setAttribute("stroke", colour);
    path.setAttribute("stroke-width", "2");
  }
  svg.append(path);
  return svg;
};
const relegend = () => {
  const order = colourings[view.colouring].order ?? classes.map((_, nth) => nth);
  byId("legend").replaceChildren(...order.filter((nth) => members[nth].length).map((nth) => {
    const rotten = members[nth].filter((page) => columns.verdict[page] <= FRAGMENT).length;
    const chosen = view.chosen.has(nth);
    return el("li", null, el("button", {
      type: "button", "aria-pressed": String(chosen), class: view.chosen.size && !chosen ? "others" : undefined, "data-class": nth,
      onclick: () => {
        if (!view.chosen.delete(nth)) view.chosen.add(nth);
        relegend();
        byId("legend").querySelector(`[data-class="${nth}"]`)?.focus();
        redraw();
      },
    }, swatch(classes[nth]), el("span", null, classes[nth].name),
    el("i", { title: "pages, and pages with broken links" }, members[nth].length.toLocaleString("en"),
      view.colouring !== "verdict" && rotten ? el("b", null, ` · ${rotten.toLocaleString("en")} broken`) : "")));
  }));
};
const recolour = () => {
  classify();
  relegend();
  redraw();
};

// The list of problems: by page, or by target, where one repair may fix many pages.
const troubled = Array.from({ length: PAGES }, (_, page) => page).filter((page) => columns.verdict[page] <= MOVED)
  .map((page) => [page, verdictOf(page) === GONE ? 999 : countOf(page, columns.verdict[page])])
  .sort(([a, many], [b, more]) => columns.verdict[a] - columns.verdict[b] || more - many || a - b).map(([page]) => page);
const needy = [...ends.keys()].filter((end) => ends[end].verdict <= MOVED)
  .sort((a, b) => ends[a].verdict - ends[b].verdict || ends[b].pages.length - ends[a].pages.length || a - b);
const relist = (which) => {
  for (const button of byId("tabs").children) button.setAttribute("aria-pressed", String(button.dataset.list === which));
  const [list, row, words] = which === "pages" ? [troubled, pageRow, "page"] : [needy, endRow, "target"];
  const container = el("ol", { id: "list" });
  byId("list").parentElement.closest("#problems > div.grown")?.remove();
  byId("list")?.remove();
  const box = rows(list, row, container);
  box.className = "grown";
  if (!list.length) container.append(el("li", { class: "none" }, "Nothing."));
  byId("more").before(box);
  byId("more").textContent = `${count(list.length, words)} in all.`;
};

// Search.
const haystack = Array.from({ length: PAGES }, (_, page) => `${text(columns.titles[page])} ${urls[page]}`.toLowerCase());
let hits = [], marked = -1;
const find = () => {
  const words = byId("query").value.toLowerCase().split(/\s+/).filter(Boolean);
  hits = words.length ? haystack.flatMap((hay, page) => (words.every((word) => hay.includes(word)) ? [page] : [])) : [];
  // Matches in titles precede those in URLs; then pages with many links.
  const inTitle = (page) => words.every((word) => titleOf(page).toLowerCase().includes(word));
  const all = new Set(hits);
  hits = hits.map((page) => [page, inTitle(page)]).sort(([a, first], [b, second]) => second - first || into(b).length - into(a).length).map(([page]) => page);
  view.found = words.length ? all : null;
  if (words.length) Object.assign(view, { selected: -1, selectedEnd: -1 });
  refocus();
  marked = -1;
  byId("found").replaceChildren(...hits.slice(0, 40).map((page, nth) =>
    el("li", { role: "option", id: `hit${nth}`, "aria-selected": "false", onpointerdown: (event) => { event.preventDefault(); take(page); } },
      titleOf(page), el("small", null, urls[page]))));
  if (words.length && !hits.length) byId("found").append(el("li", { role: "option", "aria-disabled": "true" }, "No page found."));
  byId("says").textContent = words.length ? `${count(hits.length, "page")} found` : "";
  unfold(words.length > 0);
  redraw();
};
const unfold = (open) => {
  byId("found").hidden = !open;
  byId("query").setAttribute("aria-expanded", String(open));
};
const take = (page) => {
  unfold(false);
  view.found = null;
  select(page, true);
};
const markHit = (nth) => {
  const options = byId("found").querySelectorAll("[id^=hit]");
  if (!options.length) return;
  options[marked]?.setAttribute("aria-selected", "false");
  marked = (nth + options.length) % options.length;
  options[marked].setAttribute("aria-selected", "true");
  options[marked].scrollIntoView({ block: "nearest" });
  byId("query").setAttribute("aria-activedescendant", `hit${marked}`);
};
byId("query").addEventListener("input", find);
byId("query").addEventListener("focus", () => { if (hits.length) unfold(true); });
byId("query").addEventListener("blur", () => unfold(false));
byId("query").addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown") markHit(marked + 1);
  else if (event.key === "ArrowUp") markHit(marked - 1);
  else if (event.key === "Enter" && hits.length) take(hits[Math.max(marked, 0)]);
  else if (event.key === "Escape") { byId("query").value = ""; find(); }
  else return;
  event.preventDefault();
});

// Pointers: one moves the map, two zoom it, a short touch selects.
const pointers = new Map();
let travelled = 0;
const place = (event) => {
  const box = canvas.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
};
canvas.addEventListener("pointerdown", (event) => {
  canvas.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, place(event));
  travelled = pointers.size > 1 ? Infinity : 0;
  ways.camera++;
});
canvas.addEventListener("pointermove", (event) => {
  const now = place(event), before = pointers.get(event.pointerId);
  if (!before) {
    if (event.pointerType === "mouse") hover(now);
    return;
  }
  if (pointers.size === 1) {
    view.x -= (now.x - before.x) / view.k;
    view.y -= (now.y - before.y) / view.k;
    travelled += Math.hypot(now.x - before.x, now.y - before.y);
    canvas.classList.toggle("grabbed", travelled > 6);
    byId("tip").hidden = true;
  } else {
    const [other] = [...pointers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    const [was, is] = [before, now].map((at) => Math.hypot(at.x - other.x, at.y - other.y));
    view.x -= (now.x - before.x) / 2 / view.k;
    view.y -= (now.y - before.y) / 2 / view.k;
    if (was > 0) zoomAt((now.x + other.x) / 2, (now.y + other.y) / 2, is / was);
  }
  pointers.set(event.pointerId, now);
  moved();
});
const lift = (event) => {
  if (!pointers.delete(event.pointerId)) return;
  canvas.classList.remove("grabbed");
  if (event.type !== "pointerup" || travelled > 6 || pointers.size) return;
  const at = place(event);
  const { page, end } = under(at.x, at.y, event.pointerType === "mouse" ? 6 : 16);
  if (end >= 0) selectEnd(end, false);
  else if (page >= 0) select(page, false);
  else letGo();
};
canvas.addEventListener("pointerup", lift);
canvas.addEventListener("pointercancel", lift);
canvas.addEventListener("pointerleave", () => hover(null));
canvas.addEventListener("dblclick", (event) => zoomAt(place(event).x, place(event).y, 2));
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  const lines = event.deltaMode === 1 ? 16 : 1;
  zoomAt(place(event).x, place(event).y, Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0016)));
}, { passive: false });
const hover = (at) => {
  const { page, end } = at ? under(at.x, at.y, 5) : { page: -1, end: -1 };
  const tip = byId("tip");
  if (page < 0) tip.hidden = true;
  else {
    const owner = ownerOf(page);
    tip.replaceChildren(...(end >= 0
      ? [el("b", null, ends[end].url), el("span", { class: "mark mark0" }, ends[end].reason), el("small", null, `on ${count(ends[end].pages.length, "page")}, among them ${titleOf(page)}`)]
      : [el("b", null, titleOf(page)), el("span", { class: "url" }, urls[page]), el("span", { class: `mark mark${columns.verdict[page]}` }, matter(page)),
        el("small", null, `${owner ? `${owner} · ` : ""}${count(into(page).length, "link")} in · ${count(out(page).length, "link")} out`)]));
    tip.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = tip;
    tip.style.left = `${Math.max(4, at.x + width + 24 > view.width ? at.x - width - 14 : at.x + 14)}px`;
    tip.style.top = `${Math.max(4, at.y + height + 24 > view.height ? at.y - height - 14 : at.y + 14)}px`;
  }
  canvas.classList.toggle("pointing", page >= 0);
  if (view.hovered === page && view.hoveredEnd === end) return;
  Object.assign(view, { hovered: page, hoveredEnd: end });
  redraw();
};

// Keys: move from page to page, in the direction of the arrow.
const step = (dx, dy) => {
  if (view.selected < 0) return PAGES ? select(tops[0] ?? 0, true) : undefined;
  const all = arrangements[view.arrangement], x = all[view.selected * 3], y = all[view.selected * 3 + 1];
  let best = -1, least = Infinity;
  for (let page = 0; page < PAGES; page++) {
    if (page === view.selected || (view.chosen.size && !view.chosen.has(classOf[page]))) continue;
    const along = (all[page * 3] - x) * dx + (all[page * 3 + 1] - y) * dy, beside = Math.abs((all[page * 3] - x) * dy) + Math.abs((all[page * 3 + 1] - y) * dx);
    if (along > 0 && along + beside * 2 < least) [best, least] = [page, along + beside * 2];
  }
  if (best >= 0) select(best, true);
};
const keys = {
  ArrowLeft: () => step(-1, 0), ArrowRight: () => step(1, 0), ArrowUp: () => step(0, -1), ArrowDown: () => step(0, 1),
  "+": () => zoomAt(view.width / 2, view.height / 2, 1.4), "=": () => zoomAt(view.width / 2, view.height / 2, 1.4),
  "-": () => zoomAt(view.width / 2, view.height / 2, 1 / 1.4), 0: fit,
  Enter: () => { if (view.selected >= 0 && isWeb(urls[view.selected])) open(urls[view.selected], "_blank", "noopener,noreferrer"); },
};
canvas.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
  keys[event.key]();
  event.preventDefault();
});
addEventListener("keydown", (event) => {
  if (event.target.matches("input[type=search]")) return;
  if (event.key === "Escape") letGo();
  else if (event.key === "/") { byId("query").focus(); event.preventDefault(); }
});

// Buttons.
byId("zoom").addEventListener("click", (event) => {
  const what = event.target.dataset.do;
  if (what === "fit") fit();
  else if (what) zoomAt(view.width / 2, view.height / 2, what === "in" ? 1.6 : 1 / 1.6);
});
byId("arrange").addEventListener("change", (event) => {
  arrange(event.target.value);
  byId("flows").disabled = event.target.value !== "folders";
});
byId("colour").addEventListener("change", (event) => {
  view.colouring = event.target.value;
  view.chosen.clear();
  recolour();
});
byId("flows").addEventListener("change", (event) => {
  view.flows = event.target.checked;
  redraw();
});
byId("tabs").addEventListener("click", (event) => { if (event.target.dataset.list) relist(event.target.dataset.list); });
byId("sheet").addEventListener("click", () => {
  const low = byId("panel").classList.toggle("low");
  byId("sheet").setAttribute("aria-expanded", String(!low));
});

// Start.
const fromAddress = () => {
  const node = Number(/^#n(\d+)$/.exec(location.hash)?.[1] ?? NaN);
  const page = columns.nodes.indexOf(node);
  if (page >= 0) select(page, true);
};
document.documentElement.classList.add("runs");
if (narrow.matches) byId("sheet").click();
readPalette(false);
classify();
resize();
Object.assign(view, overview());
relegend();
relist(ends.some((end) => end.wide) ? "ends" : "pages");
draw();
fromAddress();
new ResizeObserver(() => { resize(); draw(); }).observe(canvas);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readPalette(false); recolour(); });
addEventListener("hashchange", fromAddress);
addEventListener("beforeprint", () => { readPalette(true); classify(); resize(3); draw(); });
addEventListener("afterprint", () => { readPalette(false); classify(); resize(); draw(); });
