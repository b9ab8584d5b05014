//! Bodies of responses: documents as a whole, pages piece by piece.

use bytes::Bytes;
use modoai_fetch::{FetchError, Url};
use tokio::sync::mpsc;

use crate::desk::Desk;
use crate::mend::Mender;
use crate::page::{Order, PageError, PageReader, PageReport};
use crate::world::Pieces;

/// The maximum length of a document that is not a list.
const MAX_DOCUMENT: usize = 8 << 20;

/// Bytes that are gathered while the reader is busy. For each batch, two threads may have to be woken up; with smaller
/// batches, that would be a large part of the work.
const BATCH: usize = 512 * 1024;

/// Reads a body that is not a list. If it is truncated, also returns the error.
pub(super) async fn whole(mut body: impl Pieces, url: &Url) -> Result<(Vec<u8>, Option<FetchError>), FetchError> {
    let mut all = Vec::new();
    loop {
        match body.chunk().await {
            Ok(Some(piece)) if piece.len() > MAX_DOCUMENT - all.len() => {
                return Err(FetchError::TooLarge { url: url.to_string(), limit: MAX_DOCUMENT });
            }
            Ok(Some(piece)) => all.extend_from_slice(&piece),
            Ok(None) => return Ok((all, None)),
            Err(broken @ FetchError::CutShort { .. }) => return Ok((all, Some(broken))),
            Err(error) => return Err(error),
        }
    }
}

/// Pieces of a response, in order; or the error with which it broke off.
pub(super) type Batch = Result<Vec<Bytes>, FetchError>;

/// Receives a body. The reader gets each piece immediately if it waits for one, and larger batches if it does not.
pub(super) async fn receive<B: Pieces>(mut body: B, reader: mpsc::Sender<Batch>) -> B {
    let (mut pieces, mut size) = (Vec::new(), 0);
    let broken = loop {
        match body.chunk().await {
            Ok(Some(piece)) => {
                size += piece.len();
                pieces.push(piece);
            }
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
        let room = if size < BATCH { reader.try_reserve().ok() } else { reader.reserve().await.ok() };
        match room {
            Some(room) => room.send(Ok(std::mem::take(&mut pieces))),
            None if reader.is_closed() => return body,
            None => continue,
        }
        size = 0;
    };
    // If the reader has ended, it has reported the reason.
    let _ = reader.send(Ok(pieces)).await;
    if let Some(error) = broken {
        let _ = reader.send(Err(error)).await;
    }
    body
}

/// Reads a page as it arrives.
pub(super) fn read(
    desk: &mut Desk,
    order: &Order,
    mender: Option<Mender>,
    batches: impl Iterator<Item = Batch>,
) -> Result<PageReport, PageError> {
    let mut page = PageReader::new(desk, order, mender)?;
    for batch in batches {
        match batch {
            Ok(pieces) => pieces.iter().try_for_each(|piece| page.push(piece))?,
            // A complete document is accepted, whatever length was announced for its body. An incomplete one is rolled
            // back.
            Err(broken @ FetchError::CutShort { .. }) => {
                page.breaks_off();
                return page.finish().map_err(|error| match error {
                    PageError::Unreadable(_) | PageError::Nothing { .. } => broken.into(),
                    other => other,
                });
            }
            Err(error) => return Err(error.into()),
        }
    }
    page.finish()
}
