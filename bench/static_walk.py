"""What there is to find on a site of static files, by walking the files: no HTTP, and nothing that modoai uses. bench/spider
takes this for the truth. Run by itself, it prints what it found as JSON:

usage: python3 bench/static_walk.py FOLDER [START]
"""

import json
import re
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, unquote, urldefrag, urljoin, urlsplit, urlunsplit

# A host that cannot exist: whatever is resolved to it is internal.
HOST = "http://site.invalid"
ATTRIBUTES = {
    ("a", "href"),
    ("area", "href"),
    ("audio", "src"),
    ("embed", "src"),
    ("form", "action"),
    ("frame", "src"),
    ("iframe", "src"),
    ("img", "src"),
    ("input", "src"),
    ("link", "href"),
    ("object", "data"),
    ("script", "src"),
    ("source", "src"),
    ("track", "src"),
    ("video", "poster"),
    ("video", "src"),
}
CSS_URL = re.compile(r"""url\(\s*(?:"([^"]*)"|'([^']*)'|([^)"'\s]*))\s*\)|@import\s+(?:"([^"]*)"|'([^']*)')""", re.I)
CSS_COMMENT = re.compile(r"/\*.*?\*/", re.S)
SPACES = " \t\n\f\r"


class Page(HTMLParser):
    """The references and the anchors of one page."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.references, self.anchors, self.base, self.in_style = [], set(), None, False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        values = dict(reversed(attributes))
        if values.get("id"):
            self.anchors.add(values["id"])
        if tag == "a" and values.get("name"):
            self.anchors.add(values["name"])
        if tag == "base" and values.get("href") and self.base is None:
            self.base = values["href"]
        for name, value in values.items():
            if value is None:
                continue
            if (tag, name) in ATTRIBUTES and (tag != "form" or value.strip()):
                self.references.append((f"{tag} {name}", value))
            elif name == "srcset" and tag in ("img", "source"):
                for candidate in value.split(","):
                    if candidate.split():
                        self.references.append(("srcset", candidate.split()[0]))
            elif name == "style":
                self.references += [("css", url) for url in css(value)]
        if tag == "meta" and (values.get("http-equiv") or "").lower() == "refresh":
            moved = re.search(r"url\s*=\s*[\"']?([^\"']+)", values.get("content") or "", re.I)
            if moved:
                self.references.append(("refresh", moved[1]))
        self.in_style = tag == "style"

    def handle_endtag(self, tag):
        self.in_style = False

    def handle_data(self, data):
        if self.in_style:
            self.references += [("css", url) for url in css(data)]


def css(text):
    """What a style sheet refers to."""
    return [url for match in CSS_URL.finditer(CSS_COMMENT.sub("", text)) for url in match.groups() if url]


def resolve(base, reference):
    """The URL without its fragment, and the fragment; a URL of another kind is returned as it is."""
    reference = "".join(c for c in reference.strip(SPACES) if c not in "\t\n\r")
    url, fragment = urldefrag(urljoin(base, reference))
    parts = urlsplit(url)
    if parts.scheme in ("http", "https"):
        # As it goes over the line: no page here is in anything but UTF-8.
        path = quote(parts.path or "/", safe="%/:@!$&'()*+,;=~-._|[]^\\")
        # The standard leaves no way out of the root.
        while path.startswith("/../"):
            path = path[3:]
        url = urlunsplit((parts.scheme, parts.netloc.lower(), path, parts.query, ""))
    return url, fragment


class Site:
    """The files of a folder, as a server would give them out."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def file(self, url):
        """The file behind a URL of this site; none if a server would not find one."""
        path = self.folder / unquote(urlsplit(url).path).lstrip("/")
        if url.split("?")[0].endswith("/"):
            path /= "index.html"
        return path if path.is_file() else None


def walk(folder, start="/index.html"):
    """Follows every reference from the start, and says what is where, and what is not."""
    site = Site(folder)
    pages, sheets, kinds = {}, set(), Counter()
    internal, external, elsewhere, sources = set(), set(), Counter(), {}
    links, from_pages, from_sheets, fragments = Counter(), set(), set(), {}
    size = 0
    queue = [HOST + start]
    seen = set(queue)
    internal.add(queue[0])
    while queue:
        url = queue.pop()
        file = site.file(url)
        if file is None:
            continue
        if file.suffix == ".html":
            data = file.read_bytes()
            size += len(data)
            page = Page(data.decode("utf-8", "replace"))
            pages[url] = page.anchors
            found, base = page.references, urljoin(url, page.base) if page.base else url
            kinds.update(kind for kind, _ in found)
        elif file.suffix == ".css":
            sheets.add(url)
            found, base = [("sheet", reference) for reference in css(file.read_text("utf-8", "replace"))], url
        else:
            continue
        for kind, reference in found:
            target, fragment = resolve(base, reference)
            if not target.startswith(HOST + "/"):
                scheme = urlsplit(target).scheme
                what = scheme if scheme not in ("http", "https") else "external"
                if what == "external":
                    external.add(target)
                if kind != "sheet":
                    links["internal" if what == "" else what] += 1
                continue
            if kind != "sheet":
                links["internal"] += 1
            internal.add(target)
            (from_sheets if kind == "sheet" else from_pages).add(target)
            sources.setdefault(target, url)
            if fragment and kind != "sheet":
                fragments.setdefault((target, fragment), set()).add(url)
            if target not in seen:
                seen.add(target)
                queue.append(target)
    broken = {url for url in internal if site.file(url) is None}
    missing = []
    for target, fragment in fragments:
        anchors = pages.get(target)
        # Where there is no page, that is what is broken; where there is another kind of file, fragments mean other things.
        if anchors is None or fragment in anchors or unquote(fragment) in anchors or unquote(fragment).lower() == "top":
            continue
        missing.append((target, fragment))
    return {
        "files": sum(1 for _ in Path(folder).rglob("*.html")),
        "pages": len(pages),
        "sheets": len(sheets),
        "bytes": size,
        "links": sum(links.values()),
        "links by scheme": dict(links),
        "links by kind": dict(kinds),
        "urls": len(internal),
        "external urls": len(external),
        "broken": sorted(url.removeprefix(HOST) for url in broken),
        "broken, only from style sheets": sorted(url.removeprefix(HOST) for url in broken & from_sheets - from_pages),
        "fragments": sorted(f"{url.removeprefix(HOST)}#{fragment}" for url, fragment in missing),
        "links with such fragments": sum(len(fragments[one]) for one in missing),
        "reachable": sorted(url.removeprefix(HOST) for url in pages),
        "internal": sorted(url.removeprefix(HOST) for url in internal),
    }


if __name__ == "__main__":
    json.dump(walk(*sys.argv[1:]), sys.stdout, indent=1)
    print()
