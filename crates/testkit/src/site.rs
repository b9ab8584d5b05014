//! Folders of files to serve: every awkward name, random trees, the original paper's test bed, and trees large enough
//! to measure with. All of it is made from a seed, so that a failure can be repeated.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use crate::content::{KINDS, Kind};
use crate::dice::Dice;

/// A folder that vanishes with the test. What goes wrong in it is the test's end, so nothing returns an error.
#[derive(Debug)]
pub struct TestSite {
    folder: TempDir,
}

impl Default for TestSite {
    fn default() -> Self {
        Self { folder: TempDir::new().expect("a temporary folder") }
    }
}

impl TestSite {
    /// With these files in it.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let site = Self::default();
        for (name, content) in files {
            site.write(name, content);
        }
        site
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Where a file of this name is.
    pub fn at(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path().join(name)
    }

    /// Creates a file, and the folders on the way, or overwrites it in place.
    pub fn write(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        write(&self.at(name), content.as_ref()).expect("a writable site");
    }

    /// Replaces a file in one step, as careful editors and rsync do: write beside it, then rename.
    pub fn replace(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let beside = self.at(".being-written");
        write(&beside, content.as_ref()).expect("a writable site");
        fs::rename(beside, self.at(name)).expect("a file to replace");
    }

    /// Deletes a file.
    pub fn remove(&self, name: impl AsRef<Path>) {
        fs::remove_file(self.at(name)).expect("a file to delete");
    }

    /// Moves a file or a folder.
    pub fn rename(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) {
        fs::rename(self.at(from), self.at(to)).expect("something to move");
    }

    /// Says that a file was modified so long after 1970, as `touch -d` does.
    pub fn date(&self, name: impl AsRef<Path>, since_epoch: Duration) {
        let file = fs::File::options().append(true).open(self.at(name)).expect("a file to touch");
        file.set_modified(SystemTime::UNIX_EPOCH + since_epoch).expect("a date it can have");
    }
}

/// File names that have broken software before, as bytes, because not all of them are text. All are served by default.
pub const AWKWARD_NAMES: &[&[u8]] = &[
    b"with space.txt",
    b" leading and trailing .txt ",
    b"100% sure.txt",
    b"%41.txt",
    b"%2e%2e",
    b"a&b.txt",
    b"a<b>c.txt",
    b"quote'and\"double.txt",
    b"semi;colon=.txt",
    b"[brackets].txt",
    b"{braces}|pipe^caret`.txt",
    b"hash#tag.txt",
    b"question?.txt",
    b"plus+plus.txt",
    b"comma,colon:at@dollar$.txt",
    b"back\\slash.txt",
    b"~tilde",
    b"-dash",
    b"trailing.",
    b"two.dots.tar.gz",
    b"UPPER.TXT",
    b"]]>.txt",
    b"tab\there.txt",
    b"line\nbreak.txt",
    b"return\rhere.txt",
    b"bell\x07.txt",
    b"delete\x7f.txt",
    b"latin-1 caf\xe9.txt",
    b"broken \xc3\x28 utf-8.txt",
    b"overlong \xc0\xaf.txt",
    "ünïcödé.html".as_bytes(),
    "de\u{301}compose\u{301}.txt".as_bytes(),
    "日本語.txt".as_bytes(),
    "עברית.txt".as_bytes(),
    "🚲 emoji.txt".as_bytes(),
    "zero\u{200b}width.txt".as_bytes(),
    "not a character \u{ffff}.txt".as_bytes(),
    b"nameless",
    b"nameless-png",
    b"image.svg",
    b"x.unknown-extension",
    b"deep/er/and deeper/file.txt",
    b"folder.html/file.html",
    b"50%25/100%/a+b/c.txt",
];

/// Writes one file for each of [`AWKWARD_NAMES`], and one whose name is as long as names can be. Returns the names.
pub fn awkward(root: &Path) -> io::Result<Vec<OsString>> {
    let longest = [b"x".repeat(251), b".txt".to_vec()].concat();
    let names = AWKWARD_NAMES.iter().map(|name| name.to_vec()).chain([longest]);
    names
        .map(|name| {
            let kind = Kind::of_name(&name);
            let name = OsString::from_vec(name);
            write(&root.join(&name), &kind.content(&mut Dice::new(1), 300, &name))?;
            Ok(name)
        })
        .collect()
}

/// Returns true for a name that a mirror writes. It refuses control characters, and names that begin with `-`.
pub fn is_mirrored(name: &Path) -> bool {
    let bytes = name.as_os_str().as_bytes();
    !bytes.iter().any(u8::is_ascii_control) && !bytes.split(|byte| *byte == b'/').any(|part| part.starts_with(b"-"))
}

/// Removes the files that a mirror refuses, so that a mirror of what is left is complete.
pub fn remove_unmirrored(root: &Path) -> io::Result<()> {
    let refused = files_below(root)?.into_iter().filter(|name| !is_mirrored(name));
    for name in refused {
        fs::remove_file(root.join(name))?;
    }
    Ok(())
}

/// Writes a random tree: `files` files of all kinds, sizes from nothing to 100 kB, names from plain to awkward, folders
/// up to five deep. Returns the names.
pub fn varied(root: &Path, seed: u64, files: usize) -> io::Result<Vec<OsString>> {
    let mut dice = Dice::new(seed);
    let mut folders = vec![PathBuf::new()];
    let mut names = Vec::with_capacity(files);
    for number in 0..files {
        if dice.below(8) == 0 {
            let parent = dice.pick(&folders).clone();
            if parent.components().count() < 5 {
                folders.push(parent.join(stem(&mut dice, number)));
            }
        }
        let kind = *dice.pick(&KINDS);
        let mut name = stem(&mut dice, number);
        name.push(kind.extension);
        let name = dice.pick(&folders).join(name).into_os_string();
        // Most files are small; a few are not.
        let size = dice.below(100_000) >> dice.below(16);
        write(&root.join(&name), &kind.content(&mut dice, size as usize, &name))?;
        names.push(name);
    }
    Ok(names)
}

/// Files in the test bed of the 2005 paper: a computer science department's web site.
pub const PAPER_FILES: usize = 5_268;
/// Bytes in the paper's test bed.
pub const PAPER_BYTES: u64 = 292_000_000;
/// Files in the paper's test bed that its start page leads to, by links on pages. The others are not linked.
pub const PAPER_LINKED: usize = 709;

/// Writes a tree of the paper's shape: [`PAPER_FILES`] files with [`PAPER_BYTES`] bytes at scale 1, to the byte.
///
/// The paper gives the two totals; the mix is that of a department's site of the time: mostly pages and small
/// pictures, with the bulk of the bytes in a tenth of the files (papers, slides, archives). The start page is `index.html`;
/// links lead from it to [`PAPER_LINKED`] files, itself included, and every page has a link back to it.
pub fn paper(root: &Path, scale: f64) -> io::Result<()> {
    let mut dice = Dice::new(2005);
    let files = ((PAPER_FILES as f64 * scale).round() as usize).max(1);
    let total = (PAPER_BYTES as f64 * scale).round() as u64;
    // Share of the files in percent, extension, typical size.
    let mix = [
        (48, ".html", 7_000.0),
        (18, ".gif", 6_000.0),
        (14, ".jpg", 45_000.0),
        (6, ".pdf", 320_000.0),
        (4, ".ps", 400_000.0),
        (4, ".txt", 9_000.0),
        (3, ".ppt", 500_000.0),
        (2, ".tar.gz", 350_000.0),
        (1, "", 3_000.0),
    ];
    let plan: Vec<(Kind, f64)> = (0..files)
        .map(|_| {
            let mut left = dice.below(100);
            let row = mix.iter().find(|(percent, ..)| {
                let here = left < *percent;
                left = left.saturating_sub(*percent);
                here
            });
            let (_, extension, typical) = row.expect("the shares add up to 100");
            // Sizes on the web spread over orders of magnitude: an exponential of a bell curve.
            let bell: f64 = (0..6).map(|_| dice.share()).sum::<f64>() - 3.0;
            (Kind::of(extension), typical * (bell * 1.4).exp())
        })
        .collect();
    let planned: f64 = plan.iter().map(|(_, size)| size).sum();
    let is_page: Vec<bool> = plan.iter().map(|(kind, _)| kind.extension == ".html").collect();
    let (start, targets) = links(&is_page);
    let name = |number: usize| match start {
        Some(start) if start == number => "index.html".to_owned(),
        _ => format!("{}/{}{}", folder_of(number / 25), number, plan[number].0.extension),
    };
    let mut written = 0;
    for (number, (kind, size)) in plan.iter().enumerate() {
        let left = total.saturating_sub(written);
        let last = number + 1 == files;
        let size = if last { left } else { left.min((size / planned * total as f64) as u64) };
        let mut links = String::new();
        if is_page[number] {
            for target in start.into_iter().chain(targets[number].iter().copied()) {
                links.push_str(&format!("<a href=\"/{}\">{target}</a>\n", name(target)));
            }
        }
        let size = (size as usize).saturating_sub(links.len());
        let mut content = kind.content(&mut dice, size, OsStr::new(&name(number)));
        content.extend_from_slice(links.as_bytes());
        written += content.len() as u64;
        write(&root.join(name(number)), &content)?;
    }
    Ok(())
}

/// The start page, if there is a page, and which files each page leads to: to [`PAPER_LINKED`] of [`PAPER_FILES`], spread
/// over the site.
fn links(is_page: &[bool]) -> (Option<usize>, Vec<Vec<usize>>) {
    /// Enough for all, since almost half of the files are pages.
    const PER_PAGE: usize = 8;
    let files = is_page.len();
    let linked = (files * PAPER_LINKED / PAPER_FILES).max(1);
    let mut reached: Vec<usize> = (0..linked).map(|place| place * files / linked).collect();
    // Pages first: then there is always one left to link the next files.
    reached.sort_by_key(|number| !is_page[*number]);
    let mut targets = vec![Vec::new(); files];
    for (page, linked) in reached.iter().zip(reached[1..].chunks(PER_PAGE)).filter(|(page, _)| is_page[**page]) {
        targets[*page] = linked.to_vec();
    }
    (reached.first().copied().filter(|first| is_page[*first]), targets)
}

/// Writes very many small files as fast as the disk takes them: 500 to a folder, a few words in each, extensions as on
/// a site of articles.
pub fn many(root: &Path, files: usize) -> io::Result<()> {
    const FOLDER_FILES: usize = 500;
    let kinds = [".html", ".html", ".txt", ".jpg", ".pdf", ".css", ".png", ".xml"].map(Kind::of);
    let folders = files.div_ceil(FOLDER_FILES);
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let work = |worker: usize| -> io::Result<()> {
        for folder in (worker..folders).step_by(workers) {
            let path = root.join(folder_of(folder));
            fs::create_dir_all(&path)?;
            for number in folder * FOLDER_FILES..files.min((folder + 1) * FOLDER_FILES) {
                let kind = kinds[number % kinds.len()];
                let name = format!("item-{number:07}{}", kind.extension);
                let content = kind.content(&mut Dice::new(number as u64), 100, OsStr::new(&name));
                fs::write(path.join(name), content)?;
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|worker| scope.spawn(move || work(worker))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("a worker does not panic"))
    })
}

/// The names of all files below a folder, found without the product's own walk.
pub fn files_below(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else {
                let path = entry.path();
                found.push(path.strip_prefix(root).expect("it was found below").to_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}

fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, content)
}

/// Three levels of folders, so that none of them grows large.
fn folder_of(number: usize) -> String {
    let words = ["people", "research", "teaching", "archive", "news", "software", "events", "library"];
    format!("{}/{:02}/{:04}", words[number % words.len()], number / words.len() % 40, number)
}

/// A name without extension: plain, or with something awkward in it; the number keeps it unique.
fn stem(dice: &mut Dice, number: usize) -> OsString {
    let spices: [&[u8]; 16] = [
        b"",
        b"",
        b"",
        b"",
        b" ",
        b"%",
        b"&",
        b"'",
        b"\"",
        b"#",
        b"?",
        b"+",
        b"\n",
        b"\xff",
        "ü".as_bytes(),
        "🚲".as_bytes(),
    ];
    let word = *dice.pick(&["page", "figure", "report", "README", "a", "x_y-z"]);
    let spice = *dice.pick(&spices);
    OsString::from_vec([word.as_bytes(), spice, number.to_string().as_bytes()].concat())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::content::PNG;

    #[test]
    fn the_papers_test_bed_has_its_files_and_bytes() {
        let site = TestSite::default();
        paper(site.path(), 0.02).expect("room for it");
        let files = files_below(site.path()).expect("readable");
        let bytes = |file: &PathBuf| fs::metadata(site.at(file)).expect("it is there").len();
        assert_eq!(files.len(), 105);
        assert_eq!(files.iter().map(bytes).sum::<u64>(), 5_840_000);
        // Of which links lead from the start page to the paper's share.
        let mut reached = BTreeSet::from(["index.html".to_owned()]);
        let mut pages = vec!["index.html".to_owned()];
        while let Some(page) = pages.pop() {
            let text = String::from_utf8_lossy(&fs::read(site.at(&page)).expect("no link is broken")).into_owned();
            let links = text.split("<a href=\"/").skip(1).filter_map(|rest| rest.split('"').next());
            pages.extend(links.filter(|link| reached.insert((*link).to_owned())).map(str::to_owned));
        }
        assert_eq!(reached.len(), 105 * PAPER_LINKED / PAPER_FILES);
    }

    #[test]
    fn as_many_files_of_the_papers_test_bed_are_linked_as_in_the_paper() {
        let is_page: Vec<bool> = (0..PAPER_FILES).map(|number| number % 2 == 1).collect();
        let (start, targets) = links(&is_page);
        let reached: BTreeSet<usize> = start.into_iter().chain(targets.into_iter().flatten()).collect();
        assert_eq!(reached.len(), PAPER_LINKED);
        assert!(reached.iter().any(|number| !is_page[*number]), "pictures and papers, too");
    }

    #[test]
    fn random_trees_are_the_same_for_the_same_seed() {
        let tree = |seed| {
            let site = TestSite::default();
            let mut names = varied(site.path(), seed, 60).expect("room for it");
            let contents: Vec<_> = names.iter().map(|name| fs::read(site.at(name)).expect("there")).collect();
            names.sort();
            let found = files_below(site.path()).expect("readable");
            assert_eq!(found, names.iter().map(PathBuf::from).collect::<Vec<_>>());
            (names, contents)
        };
        assert_eq!(tree(1), tree(1));
        assert_ne!(tree(1), tree(2));
    }

    #[test]
    fn many_files_are_all_there_once() {
        let site = TestSite::default();
        many(site.path(), 1_203).expect("room for them");
        assert_eq!(files_below(site.path()).expect("readable").len(), 1_203);
    }

    #[test]
    fn every_awkward_name_can_be_written() {
        let site = TestSite::default();
        let names = awkward(site.path()).expect("a file system that takes any bytes");
        assert_eq!(files_below(site.path()).expect("readable").len(), names.len());
        assert!(fs::read(site.at("nameless-png")).expect("there").starts_with(PNG));
    }
}
