//! Reads a file in one consistent state, although it may be written meanwhile.
//!
//! The bytes are copied (small files to memory, large ones to an unlinked temporary file) and the file's fingerprint is
//! computed again afterwards. If it has changed, the copy may be torn: the host opens the file again, and after a few
//! attempts the resource is sent by reference only. The sent bytes are therefore never a mixture of two states.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::Path;

use md5::Md5;
use sha2::{Digest as _, Sha256};

use crate::host::Representation;
use crate::item::{Digests, Fingerprint, TICK};
use crate::site::folder::fingerprint_of;

/// Files up to this size are copied to memory.
const IN_MEMORY: u64 = 1 << 20;

/// A multiple of three, so that the base64 of the pieces is the base64 of the whole.
const PIECE: usize = 3 * 16 * 1024;

/// The number of attempts to copy a file that is being written.
const ATTEMPTS: usize = 3;

/// An open file, and its state when it was opened.
pub trait Opened {
    /// Returns that state.
    fn fingerprint(&self) -> Fingerprint;
    /// Returns the file.
    fn file(&mut self) -> &mut File;
}

impl Opened for Representation {
    fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    fn file(&mut self) -> &mut File {
        &mut self.file
    }
}

impl Opened for (File, Fingerprint) {
    fn fingerprint(&self) -> Fingerprint {
        self.1
    }

    fn file(&mut self) -> &mut File {
        &mut self.0
    }
}

/// A consistent copy, and the opening it belongs to.
pub struct Steady<O> {
    /// The opening.
    pub opened: O,
    /// Digests of the value, or those that are known of the file.
    pub digests: Option<Digests>,
    /// True if they were not known before.
    pub digests_are_new: bool,
    /// The bytes; `None` if the file is too large, or changed in every attempt.
    pub value: Option<Value>,
}

/// A consistent copy of the bytes.
pub struct Value(Copied);

enum Copied {
    Memory(Vec<u8>),
    Disk(File),
}

impl Value {
    /// Returns the memory to the buffer, for the next file.
    pub fn recycle(self, buffer: &mut Vec<u8>) {
        if let Copied::Memory(bytes) = self.0 {
            *buffer = bytes;
        }
    }

    /// Passes the bytes to `each` in pieces whose base64 can be joined.
    pub fn each_piece(&mut self, each: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        match &mut self.0 {
            Copied::Memory(bytes) => bytes.chunks(PIECE).try_for_each(each),
            Copied::Disk(file) => {
                file.rewind()?;
                let mut piece = vec![0; PIECE];
                loop {
                    match fill(file, &mut piece)? {
                        0 => return Ok(()),
                        count => each(&piece[..count])?,
                    }
                }
            }
        }
    }
}

/// Reads a file of up to `limit` bytes. If it changes meanwhile, it is opened `again`. Digests that are `known` for one
/// of its states are not computed again. A small copy is in the `buffer`; a copy of a large file is in the directory
/// `temporary`, or in that of the system if `temporary` is empty.
pub fn read<O: Opened>(
    mut opened: O,
    mut again: impl FnMut() -> io::Result<Option<O>>,
    limit: u64,
    temporary: &Path,
    known: Option<(Fingerprint, Digests)>,
    buffer: &mut Vec<u8>,
) -> io::Result<Steady<O>> {
    for attempt in 1..=ATTEMPTS {
        let fingerprint = opened.fingerprint();
        let remembered = known.filter(|(state, _)| *state == fingerprint).map(|(_, digests)| digests);
        if fingerprint.size > limit {
            return Ok(Steady { opened, digests: remembered, digests_are_new: false, value: None });
        }
        if !fingerprint.is_fresh()
            && let Some((value, digests)) = copy(opened.file(), &fingerprint, remembered, temporary, buffer)?
        {
            let digests_are_new = remembered.is_none();
            return Ok(Steady { opened, digests: Some(digests), digests_are_new, value: Some(Value(value)) });
        }
        if attempt < ATTEMPTS {
            std::thread::sleep(TICK);
            match again()? {
                Some(other) => opened = other,
                None => break,
            }
        }
    }
    Ok(Steady { opened, digests: None, digests_are_new: false, value: None })
}

/// Returns the digests of a whole file, with the state that they belong to; `None` if it changes meanwhile.
pub fn digests<O: Opened>(mut opened: O) -> io::Result<Option<(Fingerprint, Digests)>> {
    let before = opened.fingerprint();
    if before.is_fresh() {
        // After this pause, a further write changes the state.
        std::thread::sleep(TICK);
    }
    let digests = digests_of(opened.file())?;
    Ok((fingerprint_of(opened.file())? == before).then_some((before, digests)))
}

/// Copies the file and returns its digests; `None` if the file changed meanwhile or could not be read completely.
fn copy(
    file: &mut File,
    fingerprint: &Fingerprint,
    remembered: Option<Digests>,
    temporary: &Path,
    buffer: &mut Vec<u8>,
) -> io::Result<Option<(Copied, Digests)>> {
    let mut hashes = remembered.is_none().then(Hashes::default);
    let mut value = if fingerprint.size <= IN_MEMORY {
        buffer.clear();
        // One more than the file has, so that a longer file is detected.
        buffer.reserve(usize::try_from(fingerprint.size).expect("at most IN_MEMORY") + 1);
        Copied::Memory(std::mem::take(buffer))
    } else {
        Copied::Disk(temporary_file(temporary)?)
    };
    let Some(length) = copy_into(file, fingerprint.size, &mut value, hashes.as_mut())? else { return Ok(None) };
    if length != fingerprint.size || fingerprint_of(file)? != *fingerprint {
        return Ok(None);
    }
    let digests = match (remembered, hashes) {
        (Some(digests), _) => digests,
        (None, hashes) => hashes.unwrap_or_default().finish(),
    };
    Ok(Some((value, digests)))
}

fn temporary_file(directory: &Path) -> io::Result<File> {
    let usual = std::env::temp_dir();
    let directory = if directory.as_os_str().is_empty() { &usual } else { directory };
    // Without the kind of the error: hosts treat "permission denied" as a statement about the file itself.
    let failed = |error| {
        let place = directory.display();
        io::Error::other(format!(
            "failed to create a temporary file in {place}: {error}; set another temporary directory"
        ))
    };
    tempfile::tempfile_in(directory).map_err(failed)
}

/// Returns the number of bytes copied, hardly more than `size`; `None` if the file cannot be read.
fn copy_into(
    file: &mut File,
    size: u64,
    value: &mut Copied,
    mut hashes: Option<&mut Hashes>,
) -> io::Result<Option<u64>> {
    match value {
        Copied::Memory(bytes) => {
            // `read_to_end` of a limited file would read in small steps. Once all bytes are read, the fingerprint shows
            // if the file has grown.
            while (bytes.len() as u64) < size {
                match rustix::io::read(&*file, rustix::buffer::spare_capacity(bytes)) {
                    Ok(0) => break,
                    Ok(_) | Err(rustix::io::Errno::INTR) => {}
                    Err(_) => return Ok(None),
                }
            }
            if let Some(hashes) = &mut hashes {
                hashes.update(bytes);
            }
            Ok(Some(bytes.len() as u64))
        }
        Copied::Disk(copy) => {
            let mut limited = file.take(size + 1);
            let mut piece = vec![0; PIECE];
            let mut length = 0;
            loop {
                let Ok(count) = fill(&mut limited, &mut piece) else { return Ok(None) };
                if count == 0 {
                    return Ok(Some(length));
                }
                if let Some(hashes) = &mut hashes {
                    hashes.update(&piece[..count]);
                }
                copy.write_all(&piece[..count])?;
                length += count as u64;
            }
        }
    }
}

/// Reads until the buffer is full or the input ends.
fn fill(from: &mut impl io::Read, room: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < room.len() {
        match from.read(&mut room[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Computes the digests of bytes that arrive in pieces.
#[derive(Default)]
pub(crate) struct Hashes {
    sha256: Sha256,
    md5: Md5,
}

impl Hashes {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.sha256.update(bytes);
        self.md5.update(bytes);
    }

    pub(crate) fn finish(self) -> Digests {
        Digests { sha256: self.sha256.finalize().into(), md5: self.md5.finalize().into() }
    }
}

/// Returns the digests of a whole file.
pub(crate) fn digests_of(file: &mut impl io::Read) -> io::Result<Digests> {
    let mut hashes = Hashes::default();
    let mut piece = vec![0; PIECE];
    loop {
        match fill(file, &mut piece)? {
            0 => return Ok(hashes.finish()),
            count => hashes.update(&piece[..count]),
        }
    }
}
