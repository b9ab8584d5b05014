"use strict";
// The data of the page: the columns from the JSON next to it, as arrays that are fast to read. This file draws nothing.

const columns = JSON.parse(document.getElementById("web").textContent);
const PAGES = columns.titles.length;
const VERDICTS = ["broken links", "missing fragments", "moved links", "expiring", "changed", "not tested", "no problems", "the page itself is broken"];
const [BROKEN, FRAGMENT, MOVED, EXPIRING, CHANGED, NOT_TESTED, GOOD, GONE] = VERDICTS.keys();

const text = (index) => (index < 0 ? "" : columns.texts[index]);

const urls = [];
for (let page = 0; page < PAGES; page++) {
  urls.push((page ? urls[page - 1].slice(0, columns.shared[page]) : "") + columns.rest[page]);
}

// Links as one list of targets, with the position where each page's part begins; and the same for links to each page.
const { out, into } = (() => {
  const bytes = Uint8Array.from(atob(columns.links), (c) => c.charCodeAt(0));
  let at = 0;
  const number = () => {
    let value = 0, scale = 1, byte;
    do {
      byte = bytes[at++];
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte & 128);
    return value;
  };
  const outBegin = new Uint32Array(PAGES + 1), intoBegin = new Uint32Array(PAGES + 1);
  const targets = [];
  for (let page = 0; page < PAGES; page++) {
    let count = number(), target = -1;
    for (let nth = 0; nth < count; nth++) {
      const distance = number();
      target = nth ? target + distance + 1 : page + (distance % 2 ? -(distance + 1) / 2 : distance / 2);
      targets.push(target);
      intoBegin[target + 1]++;
    }
    outBegin[page + 1] = targets.length;
  }
  for (let page = 0; page < PAGES; page++) intoBegin[page + 1] += intoBegin[page];
  const sources = new Uint32Array(targets.length), filled = intoBegin.slice();
  for (let page = 0; page < PAGES; page++) {
    for (let nth = outBegin[page]; nth < outBegin[page + 1]; nth++) sources[filled[targets[nth]]++] = page;
  }
  const reader = (begin, list) => (page) => list.subarray(begin[page], begin[page + 1]);
  return { out: reader(outBegin, Uint32Array.from(targets)), into: reader(intoBegin, sources) };
})();

const gone = new Set(columns.gone);
const verdictOf = (page) => (gone.has(page) ? GONE : columns.verdict[page]);

// Targets with problems, and the pages that link to them. A link on most pages is part of the site's template, and not
// a problem of each page.
const ends = columns.ends.map(([url, verdict, reason, to, since, wide]) => ({
  url: text(url), verdict, reason: text(reason), to: text(to), since: text(since), wide: wide === 1, pages: [],
}));
const problems = new Map();
columns.troubled.forEach((page, nth) => {
  const flat = columns.problems[nth], rows = [];
  for (let at = 0; at < flat.length; at += 4) {
    rows.push({ end: flat[at], line: flat[at + 1], element: text(flat[at + 2]), text: text(flat[at + 3]) });
    const { pages } = ends[flat[at]];
    if (pages[pages.length - 1] !== page) pages.push(page);
  }
  problems.set(page, { rows, untold: columns.untold[nth] });
});
const problemsOf = (page) => problems.get(page) ?? { rows: [], untold: 0 };
const countOf = (page, verdict) => problemsOf(page).rows.filter((row) => ends[row.end].verdict === verdict && !ends[row.end].wide).length;

// The distinct broken links of each page, which are drawn as spikes. Twelve at most, since more cannot be
// distinguished.
const spikes = new Map();
for (const [page, { rows }] of problems) {
  const distinct = [...new Set(rows.map((row) => row.end))].filter((end) => ends[end].verdict <= FRAGMENT && !ends[end].wide);
  distinct.sort((a, b) => ends[a].verdict - ends[b].verdict);
  if (distinct.length) spikes.set(page, distinct.slice(0, 12));
}

// On the map, titles are shown without the part that most of them end with, such as the name of the site.
const titleOf = (page) => text(columns.titles[page]) || urls[page].replace(/^https?:\/\/[^/]*/, "") || urls[page];
const shortTitle = (() => {
  const parts = (title) => title.split(/(\s+[|–—·»-]\s+|\s*::\s*)/);
  const tails = new Map();
  for (let page = 0; page < PAGES; page++) {
    const all = parts(titleOf(page));
    if (all.length > 2) tails.set(all[all.length - 1], (tails.get(all[all.length - 1]) ?? 0) + 1);
  }
  const common = [...tails].find(([, count]) => count > PAGES * 0.4)?.[0];
  return (page) => {
    const title = titleOf(page), all = parts(title);
    return common !== undefined && all.length > 2 && all[all.length - 1] === common ? all.slice(0, -2).join("") : title;
  };
})();

// Circles, each with the index of the enclosing one: they are listed depth-first, from the outermost.
const places = columns.places.map(([x, y, r, level, isFolder, label]) => ({ x, y, r, level, isFolder, label: text(label), around: -1 }));
{
  const path = [];
  places.forEach((place, index) => {
    place.around = place.level ? path[place.level - 1] : -1;
    path[place.level] = index;
  });
}

// The connections between circles: the number of links between two circles within the same circle. Links to pages that
// a fifth of all pages link to do not count, since menus contain them everywhere.
const flows = () => {
  const counts = new Map(), most = Math.max(30, PAGES / 5);
  for (let page = 0; page < PAGES; page++) {
    for (const target of out(page)) {
      if (into(target).length > most) continue;
      let a = columns.inside[page], b = columns.inside[target];
      while (places[a].level > places[b].level) a = places[a].around;
      while (places[b].level > places[a].level) b = places[b].around;
      if (a === b) continue;
      while (places[a].around !== places[b].around) {
        a = places[a].around;
        b = places[b].around;
      }
      const key = Math.min(a, b) * places.length + Math.max(a, b);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  const all = [...counts].map(([key, count]) => ({ a: places[Math.floor(key / places.length)], b: places[key % places.length], count }));
  return all.sort((a, b) => b.count - a.count).slice(0, 150);
};
