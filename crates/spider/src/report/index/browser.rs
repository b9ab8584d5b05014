//! Tests index documents in a real browser: on narrow and wide screens, in light and dark mode, everything must fit and
//! be legible. Needs Chromium; if it is missing, the test reports that, and fails in a CI.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use percent_encoding::percent_decode_str;
use serde::Deserialize;
use tempfile::TempDir;

use super::super::fixture::{Fixture, Vast};
use super::write;

/// The measurements of a page at one width.
#[derive(Debug, Deserialize)]
struct Seen {
    page: String,
    width: u32,
    /// The width that the content needs.
    wants: u32,
    /// Text with too little contrast to its background, by the rule of WCAG 2 (AA).
    faint: Vec<String>,
    /// The number of elements that run or load something.
    active: u32,
    /// The number of entries.
    entries: u32,
}

/// Opens every page in a frame of every width. The pages themselves may not run scripts; this one may inspect them.
const PROBE: &str = r##"<!doctype html><meta charset="utf-8"><title>probe</title><pre id="out"></pre><script>
const pages = PAGES, widths = [320, 390, 768, 1200];
const channels = (colour) => colour.match(/[\d.]+/g).map(Number);
const light = (colour) => {
  const [r, g, b] = channels(colour).map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = (element, style) => {
  for (; element; element = element.parentElement) {
    const colour = style(element).backgroundColor, alpha = channels(colour)[3];
    if (alpha === undefined || alpha > 0) return colour;
  }
  return "rgb(255, 255, 255)";
};
function style(frame, page, width) {
  const root = frame.contentDocument, style = (element) => frame.contentWindow.getComputedStyle(element);
  const faint = new Set();
  for (const element of root.querySelectorAll("body *")) {
    if (![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
    const { color, fontSize, fontWeight } = style(element), [a, b] = [light(color), light(behind(element, style))];
    const large = parseFloat(fontSize) >= 24 || (parseFloat(fontSize) >= 18.66 && fontWeight >= 700);
    if ((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < (large ? 3 : 4.5)) faint.add(element.outerHTML.slice(0, 120));
  }
  const active = root.querySelectorAll("script, img, iframe, object, embed, link, [onload], [onerror], [src]").length;
  return { page, width, wants: root.documentElement.scrollWidth, faint: [...faint].slice(0, 5), active,
    entries: root.querySelectorAll("article").length };
}
(async () => {
  const seen = [];
  for (const page of pages) for (const width of widths) {
    const frame = document.createElement("iframe");
    frame.style = `width: ${width}px; height: 800px; border: 0`;
    const loaded = new Promise((done) => frame.onload = done);
    frame.src = page;
    document.body.append(frame);
    await loaded;
    seen.push(style(frame, page, width));
    frame.remove();
  }
  document.getElementById("out").textContent = encodeURIComponent(JSON.stringify(seen));
})();
</script>
"##;

#[test]
fn pages_fit_every_screen_and_can_be_read_by_day_and_night() {
    let Some(browser) = browser() else { return };
    let folder = TempDir::new().expect("a folder");
    let mut pages = Vec::new();
    let mut cut_short = Fixture::small();
    cut_short.run.cut_short = Some("interrupted after 2 pages".to_owned());
    let fixtures = [
        ("small", Fixture::small()),
        ("clean", Fixture::clean()),
        ("hostile", Fixture::hostile()),
        ("short", cut_short),
    ];
    for (name, fixture) in fixtures {
        write(&fixture, 0, &folder.path().join(format!("{name}.html"))).expect("it can be written");
        pages.push(format!("{name}.html"));
    }
    let large = write(&Vast::new(520, 12), 0, &folder.path().join("large.html")).expect("it can be written");
    let further = large.folder.expect("further pages");
    pages.push("large.html".to_owned());
    let part = fs::read_dir(&further).expect("a folder").next().expect("a part").expect("a file");
    let name = |path: &std::ffi::OsStr| path.to_string_lossy().into_owned();
    pages.push(format!("{}/{}", name(further.file_name().expect("a name")), name(&part.file_name())));

    for scheme in [0, 1] {
        let seen = style(&browser, folder.path(), &pages, scheme);
        assert_eq!(seen.len(), pages.len() * 4);
        for seen in seen {
            assert!(seen.wants <= seen.width, "{} is {} wide on a screen of {}", seen.page, seen.wants, seen.width);
            assert!(seen.faint.is_empty(), "{} (scheme {scheme}) can hardly be read: {:#?}", seen.page, seen.faint);
            assert_eq!(seen.active, 0, "{}", seen.page);
            assert!(seen.entries > 0 || seen.page == "large.html", "{}", seen.page);
        }
    }
}

/// Measures the pages of a directory; colour scheme 0 is dark, 1 is light.
fn style(browser: &Path, folder: &Path, pages: &[String], scheme: u8) -> Vec<Seen> {
    let probe = folder.join("probe.html");
    fs::write(&probe, PROBE.replace("PAGES", &serde_json::to_string(pages).expect("JSON"))).expect("written");
    let output = Command::new("timeout")
        .arg("180")
        .arg(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--allow-file-access-from-files",
            "--window-size=1300,900",
        ])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
        .args(["--virtual-time-budget=60000", "--dump-dom"])
        .arg(format!("file://{}", probe.display()))
        .output()
        .expect("the browser starts");
    let dom = String::from_utf8_lossy(&output.stdout);
    let found = dom.split_once("<pre id=\"out\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let Some((found, _)) = found.filter(|(found, _)| !found.is_empty()) else {
        panic!("the browser saw nothing: {dom}\n{}", String::from_utf8_lossy(&output.stderr));
    };
    let json = percent_decode_str(found).decode_utf8().expect("UTF-8");
    serde_json::from_str(&json).expect("what the probe writes")
}

fn browser() -> Option<PathBuf> {
    let found = modoai_testkit::command(&["chromium", "chromium-browser"]);
    if found.is_none() {
        modoai_testkit::not_installed("no browser for reports");
    }
    found
}
