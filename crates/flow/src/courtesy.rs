//! Lists give way: whoever looks at the site is waiting for it, and a harvester is not.

use rustix::process::setpriority_process;
use rustix::thread::gettid;

/// The least that a thread can ask for. Beside one that asks for the usual, it gets a seventieth of a processor; alone, all of it.
const LAST: i32 = 19;

/// Makes the calling thread, and no other, give way to whatever else the machine has to do. For good: only root may take it back.
pub fn give_way() {
    // On Linux, a thread has a priority of its own.
    if let Err(error) = setpriority_process(Some(gettid()), LAST) {
        tracing::debug!(%error, "a thread keeps its priority");
    }
}
