//! Stores records as lines of JSON, for programs that read JSON Lines: `DIR/records.jsonl`, one [object](line) per
//! line.
//!
//! Lines are in the order in which records were received. A record that changed has a further line; the last one
//! counts.

mod end;
mod line;

use std::fs::File;
use std::io::{self, BufWriter, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

pub use line::write_line;

use self::end::End;
use super::gathered::Gathered;
use super::{Kept, Origin, Part, Place, Sink, SinkError};
use crate::record::{Header, Novelty};
use crate::state::OWN_FOLDER;

const FILE: &str = "records.jsonl";
/// The size of the write buffer: lines are short and numerous.
const BUFFER: usize = 256 * 1024;

/// Opens the sink, as in [`SINKS`](super::SINKS).
pub(super) fn open(Place { dir, mark, .. }: Place<'_>) -> Result<Box<dyn Sink>, SinkError> {
    Ok(Box::new(JsonSink::open(dir, mark)?))
}

/// The sink that writes lines of JSON.
pub struct JsonSink {
    path: PathBuf,
    out: BufWriter<File>,
    /// The committed part of the file. That is the mark.
    committed: End,
    origin: Option<Origin>,
    /// The current record. It is written only after it is known to be new or changed.
    record: Gathered,
}

impl JsonSink {
    /// Opens the file in this directory. Data that an interrupted page wrote beyond the mark is cut off. A file that
    /// was modified otherwise is refused, because nothing can be appended to it. Without a mark, an existing file is
    /// not modoai's and is refused.
    pub fn open(dir: &Path, mark: Option<&str>) -> Result<Self, SinkError> {
        let path = dir.join(FILE);
        let committed = match mark {
            None => End::default(),
            Some(text) => End::from_text(text).ok_or_else(|| SinkError::Damaged {
                path: path.clone(),
                reason: format!("invalid position {text:?} in the state"),
            })?,
        };
        std::fs::create_dir_all(dir).map_err(SinkError::io("create the directory", dir))?;
        let is_new = committed.length == 0;
        let altered = |reason| SinkError::altered(&path, reason, &[&path, &dir.join(OWN_FOLDER)]);
        let file = match File::options().read(true).write(true).create(is_new).truncate(false).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(altered("it no longer exists".to_owned()));
            }
            opened => opened.map_err(SinkError::io("open", &path))?,
        };
        if mark.is_none() && file.metadata().map_err(SinkError::io("read", &path))?.len() > 0 {
            return Err(SinkError::NotOurs { path });
        }
        if let Some(reason) = committed.contradicted(&file).map_err(SinkError::io("read", &path))? {
            return Err(altered(reason));
        }
        let out = BufWriter::with_capacity(BUFFER, file);
        let mut sink = Self { path, out, committed, origin: None, record: Gathered::new(dir) };
        sink.roll_back()?;
        Ok(sink)
    }

    fn io(&self, activity: &'static str) -> impl FnOnce(io::Error) -> SinkError {
        SinkError::io(activity, &self.path)
    }
}

impl Sink for JsonSink {
    fn page(&mut self, origin: &Origin) -> Result<(), SinkError> {
        self.origin = Some(origin.clone());
        Ok(())
    }

    fn record(&mut self, header: &Header) -> Result<(), SinkError> {
        self.record.begin(header).map_err(SinkError::io("buffer a record for", &self.path))
    }

    fn part(&mut self, part: Part, namespaces: &[(&str, &str)]) -> Result<(), SinkError> {
        self.record.part(part, namespaces.iter().copied());
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<(), SinkError> {
        self.record.bytes(bytes).map_err(SinkError::io("buffer a record for", &self.path))
    }

    fn part_end(&mut self) -> Result<(), SinkError> {
        self.record.part_end();
        Ok(())
    }

    fn end(&mut self, novelty: Novelty) -> Result<Kept, SinkError> {
        if novelty == Novelty::Same {
            return Ok(Kept::Yes);
        }
        if self.record.parts().iter().filter(|part| part.part == Part::Metadata).count() > 1 {
            return Ok(Kept::No("it has two metadata elements, and a line can contain only one".to_owned()));
        }
        let origin = self.origin.as_ref().expect("a page begins before its records");
        write_line(&mut self.record, origin, &mut self.out).map_err(SinkError::io("write to", &self.path))?;
        Ok(Kept::Yes)
    }

    fn abandon(&mut self) -> Result<(), SinkError> {
        Ok(())
    }

    fn commit(&mut self) -> Result<String, SinkError> {
        self.out.flush().map_err(self.io("write to"))?;
        let length = self.out.stream_position().map_err(self.io("write to"))?;
        if length > self.committed.length {
            self.out.get_ref().sync_data().map_err(self.io("sync"))?;
            self.committed = End::at(self.out.get_ref(), length).map_err(self.io("read"))?;
        }
        Ok(self.committed.to_text())
    }

    fn roll_back(&mut self) -> Result<(), SinkError> {
        // The buffer is written to the file first, and is then cut off with the rest.
        self.out.seek(SeekFrom::Start(self.committed.length)).map_err(self.io("write to"))?;
        self.out.get_ref().set_len(self.committed.length).map_err(self.io("shorten"))
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.out.get_ref().sync_all().map_err(self.io("sync"))
    }
}
