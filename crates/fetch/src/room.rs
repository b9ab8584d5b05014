//! How many connections this process has room for. Each is an open file, and the usual limit of 1,024 of them is soon used up
//! by whoever asks a few hundred hosts at once and keeps their connections.

/// What other things may need: the store, reports, the resolver.
const FOR_OTHERS: usize = 128;

/// How many requests may be under way without running out of files: half of what there is, since as many connections again
/// may be waiting to be used once more. No less than 16, which must be tried whatever the limit is.
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
    // Where sockets are no files, there are as many as memory allows.
    usize::MAX
}

/// Raises the limit of open files as far as this process may, and says for how many requests there is room then. For
/// programs: the limit is low for the sake of those that cannot bear large numbers, and a library cannot know that.
pub fn make_room_for_connections() -> usize {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut limit = getrlimit(Resource::Nofile);
        limit.current = limit.maximum;
        // If it may not be raised, what there is has to do.
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
