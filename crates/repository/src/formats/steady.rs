//! A file's bytes as they were at one moment, although it may be written to meanwhile.
//!
//! The bytes are copied (small files to memory, large ones to an unlinked temporary file) and the file's fingerprint is
//! taken again afterwards. If it moved, the copy may be torn: the host is asked for the file again, and after a few
//! attempts the resource goes by reference only. So what is sent is never a mixture of two states.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};

use md5::Md5;
use sha2::{Digest as _, Sha256};

use super::Subject;
use crate::host::Representation;
use crate::item::{Digests, Fingerprint, TICK};
use crate::site::folder::fingerprint_of;

/// Files up to this size are copied to memory.
const IN_MEMORY: u64 = 1 << 20;

/// A multiple of three, so that the base64 of the pieces is the base64 of the whole.
const PIECE: usize = 3 * 16 * 1024;

/// A busy file gets so many chances to hold still.
const ATTEMPTS: usize = 3;

/// What was read, and the opening it belongs to.
pub(super) struct Steady {
    pub(super) representation: Representation,
    /// Digests of the value, or of the file as the catalogue knows it.
    pub(super) digests: Option<Digests>,
    pub(super) digests_are_new: bool,
    /// The bytes; none if they are too many, or would not hold still.
    pub(super) value: Option<Value>,
}

/// A steady copy.
pub(super) enum Value {
    Memory(Vec<u8>),
    Disk(File),
}

impl Value {
    /// Gives the memory back for the next file.
    pub(super) fn recycle(self, buffer: &mut Vec<u8>) {
        if let Self::Memory(bytes) = self {
            *buffer = bytes;
        }
    }

    /// Hands out the bytes in pieces whose base64 can be joined.
    pub(super) fn each_piece(&mut self, each: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        match self {
            Self::Memory(bytes) => bytes.chunks(PIECE).try_for_each(each),
            Self::Disk(file) => {
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

/// Reads the subject's file, if it is small enough to go by value.
pub(super) fn read(subject: &mut Subject<'_>, representation: Representation) -> io::Result<Steady> {
    let mut representation = representation;
    for attempt in 1..=ATTEMPTS {
        let fingerprint = representation.fingerprint;
        let remembered = subject.item.facts.digests.filter(|_| fingerprint == subject.item.fingerprint);
        if fingerprint.size > subject.repository.settings.by_value_limit {
            return Ok(Steady { representation, digests: remembered, digests_are_new: false, value: None });
        }
        if !fingerprint.is_fresh()
            && let Some((value, digests)) =
                copy(&mut representation.file, &fingerprint, remembered, &mut subject.desk.buffer)?
        {
            let digests_are_new = remembered.is_none();
            return Ok(Steady { representation, digests: Some(digests), digests_are_new, value: Some(value) });
        }
        if attempt < ATTEMPTS {
            std::thread::sleep(TICK);
            match subject.host.get(subject.item)? {
                Some(again) => representation = again,
                None => break,
            }
        }
    }
    Ok(Steady { representation, digests: None, digests_are_new: false, value: None })
}

/// Copies and digests; `None` if the file did not hold still. A file that cannot be read to its end did not either.
fn copy(
    file: &mut File,
    fingerprint: &Fingerprint,
    remembered: Option<Digests>,
    buffer: &mut Vec<u8>,
) -> io::Result<Option<(Value, Digests)>> {
    let mut hashes = remembered.is_none().then(Hashes::default);
    let mut value = if fingerprint.size <= IN_MEMORY {
        buffer.clear();
        // One more than the file has: a longer one is seen to be longer.
        buffer.reserve(usize::try_from(fingerprint.size).expect("at most IN_MEMORY") + 1);
        Value::Memory(std::mem::take(buffer))
    } else {
        Value::Disk(tempfile::tempfile()?)
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

/// The number of bytes copied, hardly more than `size`; `None` if the file cannot be read.
fn copy_into(
    file: &mut File,
    size: u64,
    value: &mut Value,
    mut hashes: Option<&mut Hashes>,
) -> io::Result<Option<u64>> {
    match value {
        Value::Memory(bytes) => {
            // By hand: `read_to_end` of a limited file feels its way in small steps. Once all is there, the fingerprint
            // tells whether more has come.
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
        Value::Disk(copy) => {
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

/// Reads until the room is full or the input ends.
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

#[derive(Default)]
struct Hashes {
    sha256: Sha256,
    md5: Md5,
}

impl Hashes {
    fn update(&mut self, bytes: &[u8]) {
        self.sha256.update(bytes);
        self.md5.update(bytes);
    }

    fn finish(self) -> Digests {
        Digests { sha256: self.sha256.finalize().into(), md5: self.md5.finalize().into() }
    }
}

/// The digests of a whole file.
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
