//! Files in memory, for parsers that read files.

use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use rustix::fs::{MemfdFlags, memfd_create};

/// A file with this content.
pub fn of(bytes: &[u8]) -> File {
    let file = File::from(memfd_create("fuzz", MemfdFlags::CLOEXEC).expect("memory"));
    file.write_all_at(bytes, 0).expect("memory");
    file
}

/// A path under which this process finds the file.
pub fn path(file: &File) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}
