//! Decides which requests for pages of lists run now, and provides the threads on which pages are generated.
//!
//! A list is the only response that can take long, and the client that waits for it is a program. So lists have
//! separate threads, on which they pause while visitors use the site. A request that finds no room waits a moment, and
//! is then refused with Retry-After.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use modoai_endpoint::Inquiry;
use modoai_flow::{Permit, Refusal};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout_at};

/// The maximum time that a request waits for room before it is refused with Retry-After. Most lists take less.
const HOLD: Duration = Duration::from_secs(2);

/// The delay of a refusal if the request was too early: a client that ignores Retry-After sends at most ten requests
/// per second on each connection.
const EARLY: Duration = Duration::from_millis(100);

/// The maximum number of requests that wait for room; further ones are refused immediately.
const MOST_WAITING: usize = 512;

/// The maximum number of threads for lists. More lists than `lists_at_once` may be in progress to admit clients that
/// have waited.
const MOST_THREADS: usize = 600;

/// A thread without work is kept for a while.
const KEPT: Duration = Duration::from_secs(10);

/// The lists in progress.
pub(crate) struct Lists {
    /// The permits to compute a page; each computation holds one.
    pub(crate) turns: Arc<Semaphore>,
    waiting: Semaphore,
    ended: Arc<Notify>,
    threads: Option<Runtime>,
}

/// The room of a response in progress; when it is dropped, after the permit, a request that waits is woken.
pub(crate) struct Room(Arc<Notify>);

impl Lists {
    /// `workers` pages are computed at the same time.
    pub(crate) fn new(workers: usize) -> io::Result<Self> {
        // Its async workers do nothing; only its blocking threads are used.
        let threads = Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(MOST_THREADS)
            .thread_keep_alive(KEPT)
            .thread_name("list")
            .build()?;
        Ok(Self {
            turns: Arc::new(Semaphore::new(workers)),
            waiting: Semaphore::new(MOST_WAITING),
            ended: Arc::new(Notify::new()),
            threads: Some(threads),
        })
    }

    /// Waits for a short time until a request may begin.
    pub(crate) async fn enter(&self, inquiry: &Inquiry) -> Result<(Room, Permit), Refusal> {
        let entered = self.try_enter(inquiry).await;
        if entered.as_ref().is_err_and(|refusal| refusal.is_early) {
            sleep(EARLY).await;
        }
        entered
    }

    async fn try_enter(&self, inquiry: &Inquiry) -> Result<(Room, Permit), Refusal> {
        let enter = |permit| (Room(self.ended.clone()), permit);
        let deadline = Instant::now() + HOLD;
        if let Ok(_waiting) = self.waiting.try_acquire() {
            loop {
                let ended = self.ended.notified();
                match inquiry.admit_or_wait() {
                    Ok(permit) => return Ok(enter(permit)),
                    Err(Some(refusal)) => return Err(refusal),
                    Err(None) if timeout_at(deadline, ended).await.is_err() => break,
                    Err(None) => {}
                }
            }
        }
        inquiry.admit().map(enter)
    }

    /// Does something on a thread for lists.
    pub(crate) fn spawn<R: Send + 'static>(&self, work: impl FnOnce() -> R + Send + 'static) -> JoinHandle<R> {
        self.threads.as_ref().expect("there until the end").spawn_blocking(work)
    }
}

impl Drop for Lists {
    fn drop(&mut self) {
        if let Some(threads) = self.threads.take() {
            // Nothing may block where this happens, and threads that still run have no client to send to.
            threads.shutdown_background();
        }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}
