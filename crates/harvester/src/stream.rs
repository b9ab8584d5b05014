//! A harvest as an asynchronous stream of records, for programs that process records themselves.
//!
//! The guarantees are those of a harvest into a folder. Requesting the next record confirms that the ones before have
//! been processed; after the last of a page, the page is committed. A program that crashes continues, after its
//! restart, with the page it was at: records of that page are repeated, none is left out. The same happens if a page is
//! truncated and requested again, because records that the program received cannot be taken back. An incomplete stream
//! ends with an error as its last item, which lists what is missing.

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::harvest::{Harvest, HarvestError};
use crate::record::{Header, Novelty};
use crate::sink::gathered::Gathered;
use crate::sink::{Kept, Origin, Part, Sink, SinkError};
use crate::state::OWN_FOLDER;
use crate::summary::Summary;

/// Records that may wait in the stream. Each holds a megabyte at most in memory.
const WAITING: usize = 4;

/// A record as received.
pub struct Record {
    /// The difference from the stored item.
    pub novelty: Novelty,
    /// The origin of the record.
    pub origin: Arc<Origin>,
    /// Its header, its metadata and its about containers, each as the exact bytes received; large ones are on disk.
    pub content: Gathered,
}

impl Record {
    /// Returns the header of the record.
    pub fn header(&self) -> &Header {
        self.content.header()
    }

    /// Its metadata, if it has any and if that is not longer than `limit`.
    pub fn metadata(&mut self, limit: usize) -> std::io::Result<Option<Vec<u8>>> {
        let Some(part) = self.content.parts().iter().position(|part| part.part == Part::Metadata) else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        self.content.read(part, |piece| {
            if bytes.len() + piece.len() > limit {
                return Err(std::io::Error::other(format!("the metadata is longer than {limit} bytes")));
            }
            bytes.extend_from_slice(piece);
            Ok(())
        })?;
        Ok(Some(bytes))
    }
}

/// The reason why a stream is not complete.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// Something is missing; the summary lists it.
    #[error("harvest incomplete: {}", .0.missing.first().map(ToString::to_string).unwrap_or_default())]
    Incomplete(Box<Summary>),
    /// The harvest failed.
    #[error(transparent)]
    Failed(#[from] HarvestError),
}

/// A stream of records.
///
/// It implements [`Stream`], to be combined with other streams. Its method [`next`](Records::next) needs no other crate.
/// Dropping it ends the harvest, but does not wait: the folder stays locked until the harvest notices, which may take as
/// long as the page that is being read. To harvest into the same folder right after, [`close`](Records::close) it.
///
/// ```no_run
/// use modoai_fetch::{Client, Manners, Url};
/// use modoai_harvester::harvest::{Harvest, Options};
/// use modoai_harvester::stream::Records;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let options = Options::new(Url::parse("https://example.org/oai")?);
/// let harvest = Harvest::new(Client::new(Manners::default())?, options);
/// // What is remembered between two runs is in this folder: the next run brings what changed.
/// let mut records = Records::of(harvest, Some("state".as_ref()), "oai_dc");
/// while let Some(record) = records.next().await {
///     let mut record = record?;
///     let metadata = record.metadata(1 << 20)?;
///     println!("{}: {} bytes", record.header().identifier, metadata.map_or(0, |bytes| bytes.len()));
///     if record.header().identifier.ends_with("/enough") {
///         break;
///     }
/// }
/// records.close().await;
/// # Ok(())
/// # }
/// ```
pub struct Records {
    messages: mpsc::Receiver<Message>,
    harvest: Option<JoinHandle<Result<Summary, HarvestError>>>,
    summary: Option<Summary>,
    /// Closes when the outlet is dropped. The folder is unlocked by then.
    outlet: oneshot::Receiver<()>,
}

enum Message {
    Record(Box<Record>),
    /// The end of a page. A reply confirms that all records before it were processed.
    Page(oneshot::Sender<()>),
}

impl Records {
    /// Begins a harvest, in the runtime this is called in. What is remembered is in `dir`; nothing is if there is none.
    ///
    /// # Panics
    ///
    /// Outside of a runtime of tokio.
    pub fn of(harvest: Harvest, dir: Option<&Path>, format: &str) -> Self {
        let (sender, messages) = mpsc::channel(WAITING);
        let (alive, outlet) = oneshot::channel();
        let (dir, format) = (dir.map(Path::to_path_buf), format.to_owned());
        let folder = dir.as_ref().map_or_else(std::env::temp_dir, |dir| dir.join(OWN_FOLDER));
        let sink = Box::new(Outlet { sender, folder, origin: None, record: None, _alive: alive });
        let harvest = tokio::spawn(async move { harvest.into_sink(dir.as_deref(), "stream", &format, sink).await });
        Self { messages, harvest: Some(harvest), summary: None, outlet }
    }

    /// Ends the harvest immediately. What was committed is kept, and the folder is free for the next harvest.
    pub async fn close(mut self) {
        self.messages.close();
        // This fails the commit that waits for its page to be taken.
        while self.messages.recv().await.is_some() {}
        if let Some(harvest) = self.harvest.take() {
            harvest.abort();
            // It was cancelled on purpose.
            let _ = harvest.await;
        }
        // A page that was being read still holds the state and the outlet, and drops them in this order.
        let _ = (&mut self.outlet).await;
    }

    /// Returns the next record; `None` after the last. The future may be dropped and the method called again without
    /// loss.
    pub async fn next(&mut self) -> Option<Result<Record, StreamError>> {
        std::future::poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }

    /// Returns the summary of the harvest, once the stream has ended.
    pub fn summary(&self) -> Option<&Summary> {
        self.summary.as_ref()
    }
}

impl Stream for Records {
    type Item = Result<Record, StreamError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            match self.messages.poll_recv(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Message::Record(record))) => return Poll::Ready(Some(Ok(*record))),
                Poll::Ready(Some(Message::Page(taken))) => {
                    // If the harvest no longer waits for it, it has ended, and reports that itself.
                    let _ = taken.send(());
                }
                Poll::Ready(None) => break,
            }
        }
        let Some(harvest) = self.harvest.as_mut() else { return Poll::Ready(None) };
        let ended = std::task::ready!(Pin::new(harvest).poll(context));
        self.harvest = None;
        let error = match ended {
            Ok(Ok(summary)) => {
                let summary = self.summary.insert(summary);
                match summary.complete {
                    true => return Poll::Ready(None),
                    false => StreamError::Incomplete(Box::new(summary.clone())),
                }
            }
            Ok(Err(error)) => error.into(),
            Err(panic) => HarvestError::Sink(gone(&panic.to_string())).into(),
        };
        Poll::Ready(Some(Err(error)))
    }
}

impl Drop for Records {
    fn drop(&mut self) {
        // Cancels further requests. A page that is being read fails, because nothing receives its records.
        if let Some(harvest) = &self.harvest {
            harvest.abort();
        }
    }
}

/// The sink that sends records to a stream.
struct Outlet {
    sender: mpsc::Sender<Message>,
    /// The folder for large records: on the disk of the harvest, if it has a folder.
    folder: PathBuf,
    origin: Option<Arc<Origin>>,
    record: Option<Gathered>,
    _alive: oneshot::Sender<()>,
}

fn gone(why: &str) -> SinkError {
    SinkError::Internal(why.to_owned())
}

impl Outlet {
    fn send(&self, message: Message) -> Result<(), SinkError> {
        self.sender.blocking_send(message).map_err(|_| gone("the receiver of the records was dropped"))
    }

    fn gathered(&mut self) -> Result<&mut Gathered, SinkError> {
        self.record.as_mut().ok_or_else(|| gone("received record content before its header"))
    }
}

impl Sink for Outlet {
    fn page(&mut self, origin: &Origin) -> Result<(), SinkError> {
        self.origin = Some(Arc::new(origin.clone()));
        Ok(())
    }

    fn record(&mut self, header: &Header) -> Result<(), SinkError> {
        let mut record = Gathered::new(&self.folder);
        record.begin(header).map_err(SinkError::io("write to", &self.folder))?;
        self.record = Some(record);
        Ok(())
    }

    fn part(&mut self, part: Part, namespaces: &[(&str, &str)]) -> Result<(), SinkError> {
        self.gathered()?.part(part, namespaces.iter().copied());
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<(), SinkError> {
        let written = self.gathered()?.bytes(bytes);
        written.map_err(SinkError::io("write to", &self.folder))
    }

    fn part_end(&mut self) -> Result<(), SinkError> {
        self.gathered()?.part_end();
        Ok(())
    }

    fn end(&mut self, novelty: Novelty) -> Result<Kept, SinkError> {
        if let (Some(content), Some(origin), true) = (self.record.take(), self.origin.clone(), novelty != Novelty::Same)
        {
            self.send(Message::Record(Box::new(Record { novelty, origin, content })))?;
        }
        Ok(Kept::Yes)
    }

    fn abandon(&mut self) -> Result<(), SinkError> {
        self.record = None;
        Ok(())
    }

    fn commit(&mut self) -> Result<String, SinkError> {
        let (taken, waiting) = oneshot::channel();
        self.send(Message::Page(taken))?;
        waiting.blocking_recv().map_err(|_| gone("the receiver of the records was dropped"))?;
        Ok(String::new())
    }

    fn roll_back(&mut self) -> Result<(), SinkError> {
        self.record = None;
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}
