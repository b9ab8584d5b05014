//! The input: files, directories and standard input, one file after the other.
//!
//! Directories are read in byte order of names, so that two imports of the same directory read the same entries in the
//! same order; only the directories on the current path are held in memory. The compression of a file is determined by
//! its name, and the file is read as a stream.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The path that represents standard input.
pub(super) const STDIN: &str = "-";

/// The size of the read buffer.
const PIECE: usize = 256 * 1024;

/// The maximum depth of nested directories; deeper nesting is a mistake.
const DEEPEST: usize = 64;

/// All files of an input, in order.
pub(super) struct Files {
    inputs: VecDeque<PathBuf>,
    /// The open directories on the current path: the remaining entries of each, and its device and inode.
    open: Vec<(VecDeque<PathBuf>, (u64, u64))>,
    /// The file name extensions in directories. A file that the user names is accepted with any name.
    extensions: &'static [&'static str],
    read: Arc<AtomicU64>,
    total: Option<u64>,
}

impl Files {
    /// Returns the files of these inputs; in directories only those with these extensions, compressed or not.
    pub(super) fn of(inputs: &[PathBuf], extensions: &'static [&'static str]) -> io::Result<Self> {
        let mut total = Some(0);
        for input in inputs {
            // The total size of a directory is unknown until it has been read.
            let length = if is_stdin(input) {
                None
            } else {
                let metadata = fs::metadata(input).map_err(|error| about(input, &error))?;
                metadata.is_file().then_some(metadata.len())
            };
            total = total.zip(length).map(|(total, length)| total + length);
        }
        Ok(Self { inputs: inputs.iter().cloned().collect(), open: Vec::new(), extensions, read: Arc::default(), total })
    }

    /// Returns the next file.
    pub(super) fn next(&mut self) -> io::Result<Option<PathBuf>> {
        loop {
            let (path, named) = match self.open.last_mut() {
                None => match self.inputs.pop_front() {
                    None => return Ok(None),
                    Some(input) => (input, true),
                },
                Some((left, _)) => match left.pop_front() {
                    None => {
                        self.open.pop();
                        continue;
                    }
                    Some(path) => (path, false),
                },
            };
            if is_stdin(&path) {
                return Ok(Some(path));
            }
            let metadata = match fs::metadata(&path) {
                // A dangling symbolic link, or an entry that was just deleted: not a file, and not an input that the
                // user named.
                Err(error) if error.kind() == io::ErrorKind::NotFound && !named => continue,
                other => other.map_err(|error| about(&path, &error))?,
            };
            if metadata.is_dir() {
                self.enter(&path, (metadata.dev(), metadata.ino()))?;
            } else if named || (metadata.is_file() && self.fits(&path)) {
                return Ok(Some(path));
            }
        }
    }

    fn enter(&mut self, folder: &Path, id: (u64, u64)) -> io::Result<()> {
        // A symbolic link to a directory on the current path would be a loop.
        if self.open.iter().any(|(_, open)| *open == id) {
            return Ok(());
        }
        if self.open.len() == DEEPEST {
            return Err(io::Error::other(format!("{}: directories are nested too deeply", folder.display())));
        }
        let mut names = Vec::new();
        for entry in fs::read_dir(folder).map_err(|error| about(folder, &error))? {
            let name = entry.map_err(|error| about(folder, &error))?.file_name();
            // Hidden files: those of editors and version control systems.
            if !name.as_encoded_bytes().starts_with(b".") {
                names.push(name);
            }
        }
        names.sort_unstable();
        self.open.push((names.into_iter().map(|name| folder.join(name)).collect(), id));
        Ok(())
    }

    fn fits(&self, path: &Path) -> bool {
        fits(path, self.extensions)
    }

    /// Opens a file that [`Files::next`] has returned, decompressed.
    pub(super) fn open(&self, path: &Path) -> io::Result<Box<dyn BufRead + Send>> {
        open(path, self.read.clone())
    }

    /// Adds bytes that were read without [`Files::open`].
    pub(super) fn advance(&self, bytes: u64) {
        self.read.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Returns the number of bytes read of all files, and the total if it is known.
    pub(super) fn progress(&self) -> (u64, Option<u64>) {
        (self.read.load(Ordering::Relaxed), self.total)
    }
}

/// Opens a file or standard input, decompressed; the number of bytes read of the file itself is added to `read`.
pub(super) fn open(path: &Path, read: Arc<AtomicU64>) -> io::Result<Box<dyn BufRead + Send>> {
    let raw: Box<dyn Read + Send> = if is_stdin(path) {
        let head = std::mem::take(&mut *LOOKED_AT.lock().unwrap_or_else(PoisonError::into_inner));
        Box::new(Cursor::new(head).chain(io::stdin()))
    } else {
        Box::new(File::open(path)?)
    };
    let raw = BufReader::with_capacity(PIECE, Counted { raw, read });
    Ok(match compression(path) {
        Some(Compression::Gzip) => Box::new(BufReader::with_capacity(PIECE, flate2::bufread::MultiGzDecoder::new(raw))),
        Some(Compression::Zstd) => Box::new(BufReader::with_capacity(PIECE, zstd::Decoder::with_buffer(raw)?)),
        None => Box::new(raw),
    })
}

/// The bytes of standard input that were read to detect its format: opening it returns them first. As global as
/// standard input.
static LOOKED_AT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Returns the first bytes of standard input, up to this number. They can still be read from it.
pub(super) fn look_at_stdin(most: u64) -> io::Result<Vec<u8>> {
    let mut head = LOOKED_AT.lock().unwrap_or_else(PoisonError::into_inner);
    let left = most.saturating_sub(head.len() as u64);
    io::stdin().take(left).read_to_end(&mut head)?;
    Ok(head.clone())
}

/// Returns true if the path is that of standard input.
pub(super) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == STDIN
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Compression {
    Gzip,
    Zstd,
}

/// Returns the compression of a file, by its name.
pub(super) fn compression(path: &Path) -> Option<Compression> {
    let is = |ending: &str| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(ending));
    match () {
        () if is("gz") => Some(Compression::Gzip),
        () if is("zst") => Some(Compression::Zstd),
        () => None,
    }
}

/// Returns the path without the extension of the compression.
pub(super) fn without_compression(path: &Path) -> PathBuf {
    if compression(path).is_some() { path.with_extension("") } else { path.to_owned() }
}

/// Returns true if a name has one of these extensions, before that of the compression.
pub(super) fn fits(path: &Path, extensions: &[&str]) -> bool {
    let plain = without_compression(path);
    let extension = plain.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    extensions.iter().any(|known| known.eq_ignore_ascii_case(extension))
}

/// Adds the path to an error.
pub(super) fn about(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Counts the bytes that are read.
struct Counted {
    raw: Box<dyn Read + Send>,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.raw.read(buffer)?;
        self.read.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}

/// Limits the input for a parser that reads until a quotation or an element ends. Without a limit, a missing end
/// would fill the memory.
pub(super) struct Guarded {
    file: Box<dyn BufRead + Send>,
    allowance: Allowance,
    what: &'static str,
}

/// The number of bytes that may still be read.
#[derive(Clone)]
pub(super) struct Allowance {
    left: Arc<AtomicU64>,
    most: u64,
}

impl Allowance {
    /// Restores the full limit, at the end of a quotation or an element.
    pub(super) fn renew(&self) {
        self.left.store(self.most, Ordering::Relaxed);
    }
}

impl Guarded {
    /// Creates an input that fails with an error, which contains `what`, if more than `most` bytes are read without a
    /// renewal.
    pub(super) fn of(file: Box<dyn BufRead + Send>, most: usize, what: &'static str) -> (Self, Allowance) {
        let most = most as u64;
        let allowance = Allowance { left: Arc::new(AtomicU64::new(most)), most };
        (Self { file, allowance: allowance.clone(), what }, allowance)
    }
}

impl Read for Guarded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.allowance.left.load(Ordering::Relaxed);
        if left == 0 {
            return Err(io::Error::other(self.what));
        }
        let length = self.file.read(buffer)?;
        self.allowance.left.store(left.saturating_sub(length as u64), Ordering::Relaxed);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn folders_are_walked_in_order_and_circles_are_left_out() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path();
        fs::create_dir_all(root.join("b/c")).expect("folders");
        for name in ["b/2.abs", "b/c/1.abs", "z.abs", "a.ABS", "a.abs.GZ", "b/.hidden.abs", "note.txt"] {
            fs::write(root.join(name), b"").expect("a file");
        }
        std::os::unix::fs::symlink(root, root.join("b/c/up")).expect("a link");
        std::os::unix::fs::symlink(root.join("nowhere"), root.join("gone.abs")).expect("a link");
        let mut files = Files::of(&[root.to_owned(), root.join("note.txt")], &["abs"]).expect("it is there");
        let mut met = Vec::new();
        while let Some(path) = files.next().expect("all can be read") {
            met.push(path.strip_prefix(root).expect("below").to_str().expect("plain").to_owned());
        }
        assert_eq!(met, ["a.ABS", "a.abs.GZ", "b/2.abs", "b/c/1.abs", "z.abs", "note.txt"]);
        assert!(Files::of(&[root.join("missing")], &[]).is_err());
    }

    #[test]
    fn compressed_files_are_streams_of_what_is_in_them() {
        let dir = tempfile::tempdir().expect("a folder");
        let text = b"one\ntwo\n".repeat(1000);
        let gz = dir.path().join("a.jsonl.gz");
        let mut encoder =
            flate2::write::GzEncoder::new(File::create(&gz).expect("a file"), flate2::Compression::fast());
        encoder.write_all(&text).and_then(|()| encoder.finish().map(drop)).expect("written");
        let zst = dir.path().join("a.jsonl.zst");
        fs::write(&zst, zstd::bulk::compress(&text, 1).expect("compressed")).expect("written");
        for path in [gz, zst] {
            assert!(fits(&path, &["jsonl"]));
            let read = Arc::<AtomicU64>::default();
            let mut all = Vec::new();
            open(&path, read.clone()).expect("it is there").read_to_end(&mut all).expect("it is whole");
            assert_eq!(all, text);
            assert_eq!(read.load(Ordering::Relaxed), fs::metadata(&path).expect("there").len());
        }
    }
}
