//! Opens paths of a site, one directory at a time.
//!
//! Every step opens relative to the previous directory, so no part of a path can be exchanged meanwhile. A symbolic
//! link is followed only if [`Links`] allows it, which is decided by the path of the opened file and not by the target
//! that the link states. A GET and the walk leave out the same directories:
//!
//! - One that is its own ancestor, by a link or by a bind mount: a loop would give one file endlessly many URLs.
//! - One behind too many links (`MOST_LINKED`): directories that link to each other would give one file very many URLs.
//! - One in a virtual file system of the kernel (`MADE_UP`): it contains no pages.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Access, AtFlags, CWD, FileType, Mode, OFlags, RawDir, Stat, StatFs, StatxFlags};
use rustix::io::Errno;

use super::settings::Links;
use crate::item::Fingerprint;

/// An open directory of a site.
#[derive(Debug)]
pub struct Folder {
    fd: OwnedFd,
    place: Arc<Place>,
    scope: Arc<Scope>,
}

/// The identity of a directory, and its parent directories.
#[derive(Debug)]
struct Place {
    device: u64,
    inode: u64,
    by_link: bool,
    parent: Option<Arc<Place>>,
}

impl Place {
    /// Returns this place and its parents, the outermost last.
    fn upwards(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |place| place.parent.as_deref())
    }
}

/// The permitted targets of links below a root.
#[derive(Debug)]
struct Scope {
    links: Links,
    root: PathBuf,
    /// The parent directory of a root other than the main one.
    around: Option<PathBuf>,
}

/// An opened directory entry.
#[derive(Debug)]
pub enum Thing {
    /// A regular file, open for reading.
    File(File, Fingerprint),
    /// A directory.
    Folder(Folder),
}

/// A directory entry, determined without opening a file.
#[derive(Debug)]
pub enum Sight {
    /// A regular file that can be read, in this state.
    File(Fingerprint),
    /// A directory.
    Folder(Folder),
    /// A symbolic link that is not followed because it leaves the root.
    LeavesRoot,
}

impl From<Thing> for Sight {
    fn from(thing: Thing) -> Self {
        match thing {
            Thing::File(_, fingerprint) => Self::File(fingerprint),
            Thing::Folder(folder) => Self::Folder(folder),
        }
    }
}

/// Returns true if something is mounted at this path. Opening the path triggers an automounter.
pub fn is_mount_point(path: &Path) -> bool {
    let _ = std::fs::read_dir(path);
    path.parent().is_some_and(|parent| mount_of(path).is_some_and(|mount| mount_of(parent) != Some(mount)))
}

/// Returns the number of the mount that a path is on. Unlike the device number, it differs for bind mounts.
fn mount_of(path: &Path) -> Option<u64> {
    let stat = rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID).ok()?;
    (stat.stx_mask & StatxFlags::MNT_ID.bits() != 0).then_some(stat.stx_mnt_id)
}

impl Folder {
    /// Opens the main root of a site; `root` has no links in it.
    pub fn open_root(root: &Path, links: Links) -> io::Result<Self> {
        let fd = rustix::fs::open(root, FOLDER, Mode::empty())?;
        let stat = rustix::fs::fstat(&fd)?;
        Ok(Self::outermost(fd, &stat, Scope { links, root: root.to_owned(), around: None }))
    }

    /// Opens a root that was added to a site, a directory or a file; `None` if it does not exist. Links in the path to
    /// it are followed, because the administrator has configured this path.
    pub fn open_added(root: &Path, links: Links) -> io::Result<Option<Thing>> {
        let fd = match rustix::fs::open(root, ANYTHING, Mode::empty()) {
            Ok(fd) => fd,
            // Other errors do not mean that it is missing: an unreadable directory may contain a million files.
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let stat = rustix::fs::fstat(&fd)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(Some(Thing::File(File::from(fd), fingerprint(&stat)))),
            FileType::Directory => {
                let real = std::fs::read_link(handle_of(fd.as_fd()))?;
                let scope = Scope { links, root: real, around: root.parent().map(Path::to_owned) };
                Ok(Some(Thing::Folder(Self::outermost(fd, &stat, scope))))
            }
            _ => Ok(None),
        }
    }

    fn outermost(fd: OwnedFd, stat: &Stat, scope: Scope) -> Self {
        let place = Place { device: stat.st_dev, inode: stat.st_ino, by_link: false, parent: None };
        Self { fd, place: Arc::new(place), scope: Arc::new(scope) }
    }

    /// Opens a path below this directory; `None` if the site has no such file or directory.
    pub fn descend(self, segments: &[Vec<u8>]) -> io::Result<Option<Thing>> {
        let mut folder = self;
        let Some((last, before)) = segments.split_last() else { return Ok(Some(Thing::Folder(folder))) };
        for segment in before {
            match folder.enter(OsStr::from_bytes(segment))? {
                Some(inner) => folder = inner,
                None => return Ok(None),
            }
        }
        folder.look(OsStr::from_bytes(last))
    }

    /// Opens the entry of this name.
    pub fn look(&self, name: &OsStr) -> io::Result<Option<Thing>> {
        let (fd, by_link) = match rustix::fs::openat(&self.fd, name, ANYTHING | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(fd) => (fd, false),
            Err(Errno::LOOP) if self.scope.links != Links::Never => {
                match rustix::fs::openat(&self.fd, name, ANYTHING, Mode::empty()) {
                    Ok(fd) => (fd, true),
                    Err(error) => return absent(error),
                }
            }
            Err(error) => return absent(error),
        };
        let stat = rustix::fs::fstat(&fd)?;
        if by_link && !self.scope.allows(fd.as_fd())? {
            return Ok(None);
        }
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(Some(Thing::File(File::from(fd), fingerprint(&stat)))),
            FileType::Directory => Ok(self.inner(fd, &stat, by_link).map(Thing::Folder)),
            _ => Ok(None),
        }
    }

    /// Opens the subdirectory of this name.
    pub fn enter(&self, name: &OsStr) -> io::Result<Option<Self>> {
        let (fd, by_link) = match rustix::fs::openat(&self.fd, name, FOLDER | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(fd) => (fd, false),
            // Opening a link without following it fails with "not a directory".
            Err(Errno::LOOP | Errno::NOTDIR) if self.scope.links != Links::Never => {
                match rustix::fs::openat(&self.fd, name, FOLDER, Mode::empty()) {
                    Ok(fd) => (fd, true),
                    Err(error) => return absent(error),
                }
            }
            Err(error) => return absent(error),
        };
        if by_link && !self.scope.allows(fd.as_fd())? {
            return Ok(None);
        }
        let stat = rustix::fs::fstat(&fd)?;
        Ok(self.inner(fd, &stat, by_link))
    }

    /// Returns the entry of this name, without opening a plain file.
    pub fn glance(&self, name: &OsStr) -> io::Result<Option<Sight>> {
        let stat = match rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(error) => return absent(error),
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile if self.can_read(name, &stat) => Ok(Some(Sight::File(fingerprint(&stat)))),
            FileType::Directory => Ok(self.enter(name)?.map(Sight::Folder)),
            FileType::Symlink => match self.look(name)? {
                Some(thing) => Ok(Some(thing.into())),
                None => Ok(self.leaves_root(name).then_some(Sight::LeavesRoot)),
            },
            _ => Ok(None),
        }
    }

    /// Returns true if the link of this name points to a readable target outside the root.
    fn leaves_root(&self, name: &OsStr) -> bool {
        self.scope.links == Links::Inside
            && rustix::fs::openat(&self.fd, name, ANYTHING, Mode::empty())
                .is_ok_and(|fd| self.scope.allows(fd.as_fd()).is_ok_and(|allowed| !allowed))
    }

    /// Passes the names in this directory to `each`, in no order.
    pub fn names(&self, mut each: impl FnMut(&OsStr)) -> io::Result<()> {
        self.entries(|name, _| each(name))
    }

    /// Passes the names in this directory that are symbolic links to `each`, regardless of their targets; none if links
    /// are never followed.
    pub fn links(&self, mut each: impl FnMut(&OsStr)) -> io::Result<()> {
        if self.scope.links == Links::Never {
            return Ok(());
        }
        self.entries(|name, file_type| {
            let is_link = match file_type {
                // Some file systems do not report types while listing.
                FileType::Unknown => rustix::fs::readlinkat(&self.fd, name, Vec::new()).is_ok(),
                file_type => file_type == FileType::Symlink,
            };
            if is_link {
                each(name);
            }
        })
    }

    fn entries(&self, mut each: impl FnMut(&OsStr, FileType)) -> io::Result<()> {
        // A directory is read through its file position, so the descriptor is opened again.
        let fd = match rustix::fs::openat(&self.fd, ".", FOLDER, Mode::empty()) {
            Ok(fd) => fd,
            // Removed since it was opened.
            Err(Errno::NOENT) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let mut buffer = [MaybeUninit::uninit(); 32 * 1024];
        let mut entries = RawDir::new(&fd, &mut buffer);
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                each(OsStr::from_bytes(name), entry.file_type());
            }
        }
        Ok(())
    }

    /// Returns a path that resolves to exactly this open directory, while it is open.
    pub fn handle(&self) -> PathBuf {
        handle_of(self.fd.as_fd())
    }

    /// Returns true if it is on another device than its parent: a file system is mounted here, or a link points to
    /// another disk. Always false for the main root: without it the site cannot be served at all.
    pub fn is_mounted(&self) -> bool {
        let device_of = |folder: &PathBuf| rustix::fs::stat(folder).ok().map(|stat| stat.st_dev);
        let around = match &self.place.parent {
            Some(parent) => Some(parent.device),
            None => self.scope.around.as_ref().and_then(device_of),
        };
        around.is_some_and(|device| device != self.place.device)
    }

    /// Returns the mount point of an added root. `None` if it is on the root file system, and for directories within a
    /// root.
    pub fn mount_point(&self) -> Option<PathBuf> {
        let around = self.scope.around.as_ref().filter(|_| self.place.parent.is_none())?;
        let mount = mount_of(&self.scope.root)?;
        // By the configured path, unless a link points elsewhere.
        let path = around.join(self.scope.root.file_name()?);
        let path = if path.canonicalize().ok()? == self.scope.root { path } else { self.scope.root.clone() };
        let point = path.ancestors().take_while(|part| mount_of(part) == Some(mount)).last()?;
        point.parent().map(|_| point.to_owned())
    }

    /// Returns which directories between the root and this one, including itself, were reached by a link: the number of
    /// steps up to each of them, the outermost first. Roots are not among them, because they are configured by their
    /// paths.
    pub fn linked(&self) -> Vec<usize> {
        let places = self.place.upwards().enumerate();
        let mut linked: Vec<usize> = places.filter(|(_, place)| place.by_link).map(|(up, _)| up).collect();
        linked.reverse();
        linked
    }

    /// Returns an opened subdirectory as a directory of the site; `None` if it is to be left out.
    fn inner(&self, fd: OwnedFd, stat: &Stat, by_link: bool) -> Option<Self> {
        let (device, inode) = (stat.st_dev, stat.st_ino);
        let is_own_ancestor = self.place.upwards().any(|place| (place.device, place.inode) == (device, inode));
        let too_many = by_link && self.place.upwards().filter(|place| place.by_link).count() >= MOST_LINKED;
        // Checked only if the device differs: nearly every directory is on the device of its parent.
        if is_own_ancestor || too_many || (device != self.place.device && is_made_up(fd.as_fd())) {
            return None;
        }
        let place = Place { device, inode, by_link, parent: Some(self.place.clone()) };
        Some(Self { fd, place: Arc::new(place), scope: self.scope.clone() })
    }

    fn can_read(&self, name: &OsStr, stat: &Stat) -> bool {
        // A file that all users may read needs no further check; this saves a system call for nearly every file.
        stat.st_mode & 0o444 == 0o444 || rustix::fs::accessat(&self.fd, name, Access::READ_OK, AtFlags::EACCESS).is_ok()
    }
}

impl Scope {
    /// Returns true if links may point to the path of an opened file.
    fn allows(&self, fd: BorrowedFd<'_>) -> io::Result<bool> {
        Ok(self.links == Links::Anywhere || std::fs::read_link(handle_of(fd))?.starts_with(&self.root))
    }
}

/// The maximum number of linked directories in one path. Eight directories that all link to each other have 100,000
/// paths; with this limit they have 9,000, which is sufficient for sites that use links on purpose.
const MOST_LINKED: usize = 4;

/// Virtual file systems of the kernel, by their numbers in statfs(2). They do not contain published files; some of
/// their files have side effects when read, or never end, and they change without events. File systems in memory
/// (tmpfs) or composed of others (overlay) are not among them, because they contain files of users.
const MADE_UP: &[(u32, &str)] = &[
    (0x0000_9fa0, "proc"),
    (0x6265_6572, "sysfs"),
    (0x0027_e0eb, "cgroup"),
    (0x6367_7270, "cgroup2"),
    (0x0000_1cd1, "devpts"),
    (0x6462_6720, "debugfs"),
    (0x7472_6163, "tracefs"),
    (0x7363_6673, "securityfs"),
    (0x6165_676c, "pstore"),
    (0xcafe_4a11, "bpf"),
    (0x6265_6570, "configfs"),
    (0x1980_0202, "mqueue"),
    (0x4249_4e4d, "binfmt_misc"),
    (0xde5e_81e4, "efivarfs"),
    (0x6573_5543, "fusectl"),
    (0x9584_58f6, "hugetlbfs"),
    (0x6e73_6673, "nsfs"),
];

/// Returns true if an open directory is on a virtual file system of the kernel. If that cannot be determined, it is
/// treated as an ordinary one, and listing it reports the error.
fn is_made_up(fd: BorrowedFd<'_>) -> bool {
    // As wide as the numbers; on some machines the field is wider, and on some it is signed.
    let number = |stat: StatFs| stat.f_type as u32;
    rustix::fs::fstatfs(fd).map(number).is_ok_and(|number| MADE_UP.iter().any(|(made_up, _)| *made_up == number))
}

/// Opening a pipe without a writer must not block; it is refused once it is open.
const ANYTHING: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// Directories must be readable, not only searchable: a directory that cannot be listed is not served either.
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

fn handle_of(fd: BorrowedFd<'_>) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", fd.as_raw_fd()))
}

fn fingerprint(stat: &Stat) -> Fingerprint {
    let nanoseconds = |seconds: i64, rest: u64| seconds.saturating_mul(1_000_000_000).saturating_add(rest as i64);
    Fingerprint {
        size: u64::try_from(stat.st_size).unwrap_or_default(),
        modified: nanoseconds(stat.st_mtime, stat.st_mtime_nsec),
        changed: nanoseconds(stat.st_ctime, stat.st_ctime_nsec),
        inode: stat.st_ino,
    }
}

/// Returns the state of an open file.
pub fn fingerprint_of(file: &File) -> io::Result<Fingerprint> {
    Ok(fingerprint(&rustix::fs::fstat(file)?))
}

/// Distinguishes errors that mean "missing or inaccessible" from those that leave the state unknown. Only the first may
/// cause a deletion.
fn absent<T>(error: Errno) -> io::Result<Option<T>> {
    match error {
        Errno::NOENT | Errno::NOTDIR | Errno::ACCESS | Errno::PERM | Errno::LOOP | Errno::NAMETOOLONG | Errno::NXIO => {
            Ok(None)
        }
        error => Err(error.into()),
    }
}
