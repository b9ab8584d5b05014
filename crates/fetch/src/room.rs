//! Determines how many connections this process can open. Each connection is an open file, and the usual limit of 1,024
//! is soon reached if hundreds of hosts are visited concurrently and their connections are kept.

/// The files that are reserved for other uses: the store, reports, the resolver.
const FOR_OTHERS: usize = 128;

/// Returns the number of concurrent requests for which open files suffice: half of the files, since as many idle
/// connections may be kept for reuse. At least 16, which must be tried regardless of the limit.
pub fn room_for_connections() -> usize {
    (open_files().saturating_sub(FOR_OTHERS) / 2).max(16)
}

#[cfg(unix)]
fn open_files() -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    limit.current.map_or(usize::MAX, |files| usize::try_from(files).unwrap_or(usize::MAX))
}

#[cfg(not(unix))]
fn open_files() -> usize {
    // Where sockets are not files, memory is the limit.
    usize::MAX
}

/// Raises the limit of open files as far as this process may, and returns the number of requests that are then
/// possible. For programs only: the limit is low for those that cannot handle large numbers, and a library cannot know
/// that.
pub fn make_room_for_connections() -> usize {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut limit = getrlimit(Resource::Nofile);
        limit.current = limit.maximum;
        // If the limit cannot be raised, the present one applies.
        let _ = setrlimit(Resource::Nofile, limit);
    }
    room_for_connections()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_always_some_room() {
        let before = room_for_connections();
        assert!(before >= 16);
        assert!(make_room_for_connections() >= before);
    }
}
