//! Determines the response to a plain GET of a URL by the same requester.
//!
//! A probe is a separate request: on a private copy of the requester's connection, with the requester's headers, run
//! through every phase of httpd and into the handler that a GET would end in. Only its response is not sent: a filter
//! captures it in place of the network. So whatever decides on a GET (access, aliases, rewriting, filters, types)
//! decides on the probe, and nothing is re-implemented here.
//!
//! An untouched file reaches the network as exactly one bucket of the type FILE from which nothing was read. That
//! bucket is the proof; no byte of the file is read for it.
//!
//! No probe runs a program. Only handlers that send files or redirect internally to another URL are allowed; the target
//! of such a redirect is checked in the same way before its own handler runs.

use std::ffi::c_int;
use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::ptr::null;

use crate::asker::Asker;
use crate::bindings as ap;
use crate::capture::{Body, Captured};
use crate::pool::OwnPool;
use crate::stage::Stage;
use crate::table::Table;
use crate::text;

/// The outcome of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Status 200 and an untouched file.
    Untouched,
    /// Access was granted, but the response is not an untouched file.
    Otherwise,
    /// A phase before the handler refused the request with this status.
    Refused(u16),
    /// The handler failed with this status: the file cannot be opened, temporarily or permanently.
    Failed(u16),
}

/// A synthesised request. Its file stays open for as long as this lives.
pub struct Probe<'a> {
    request: *mut ap::request_rec,
    captured: *mut Captured,
    verdict: Verdict,
    asker: &'a Asker<'a>,
    /// The pool of everything above.
    _pool: OwnPool,
}

impl<'a> Probe<'a> {
    pub(crate) fn new(
        request: *mut ap::request_rec,
        captured: *mut Captured,
        asker: &'a Asker<'a>,
        pool: OwnPool,
    ) -> Self {
        Self { request, captured, verdict: Verdict::Refused(0), asker, _pool: pool }
    }

    /// Returns the outcome.
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Returns true if a link or a directory in the path of the file stopped it, which would stop any requester.
    pub fn is_cut_off(&self) -> bool {
        self.verdict == Verdict::Refused(403) && !self.captured().is_on_its_way
    }

    /// Returns the record of the last internal redirect, or of the request itself.
    fn record(&self) -> &ap::request_rec {
        // SAFETY: it lives in our pool, and so do all its internal redirects.
        let first = unsafe { &*self.request };
        // SAFETY: as above.
        std::iter::successors(Some(first), |record| unsafe { record.next.as_ref() }).last().unwrap_or(first)
    }

    /// Returns its progress.
    fn stage(&self) -> Stage<'_> {
        Stage(self.record())
    }

    fn captured(&self) -> &Captured {
        // SAFETY: it lives in our pool, and the filter that writes to it runs only inside `invoke`.
        unsafe { &*self.captured }
    }

    /// Returns the file that the URL points to.
    pub fn path(&self) -> Option<&Path> {
        self.stage().path()
    }

    /// Returns true if that is a regular file.
    pub fn is_file(&self) -> bool {
        self.stage().is_file()
    }

    /// Returns true if a handler other than the one for files was configured.
    pub fn has_handler(&self) -> bool {
        self.stage().named_handler().is_some()
    }

    /// Returns the media type that was found, with its parameters.
    pub fn content_type(&self) -> Option<&str> {
        self.stage().content_type()
    }

    /// Makes httpd determine the media type of a file whose request was refused before that phase.
    pub fn find_type(&mut self) {
        if self.is_file() && self.record().content_type.is_null() {
            // SAFETY: the phase reads only the file's name, and perhaps its content.
            unsafe { ap::ap_run_type_checker(self.request) };
        }
    }

    /// Returns the realm and name of the user that httpd authenticated for this probe.
    pub fn user(&self) -> Option<(&[u8], &[u8])> {
        let record = self.record();
        // SAFETY: reads a valid request; both are C strings that last as long as it does.
        unsafe {
            let user = text::bytes(record.user).filter(|_| !matches!(self.verdict, Verdict::Refused(_)))?;
            Some((text::bytes(ap::ap_auth_name(std::ptr::from_ref(record).cast_mut())).unwrap_or_default(), user))
        }
    }

    /// Returns the headers of the response, in the order in which they would be sent.
    pub fn headers(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let lines = self.captured().head.split(|byte| *byte == b'\n').skip(1);
        lines.filter_map(|line| {
            let colon = line.iter().position(|byte| *byte == b':')?;
            Some((line[..colon].trim_ascii(), line[colon + 1..].trim_ascii()))
        })
    }

    /// Returns the file itself, opened again through the descriptor that would have been sent, so that it has a
    /// separate position.
    pub fn file(&self) -> io::Result<File> {
        let Body::File { file, .. } = self.captured().body else { return self.empty_file() };
        let mut descriptor = -1;
        // SAFETY: the file was opened in our pool, or for longer; the descriptor is valid as long as the file is open.
        let descriptor = unsafe {
            if ap::apr_os_file_get(&raw mut descriptor, file) != 0 {
                return Err(io::ErrorKind::NotFound.into());
            }
            BorrowedFd::borrow_raw(descriptor)
        };
        let handle = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&descriptor));
        File::open(handle).or_else(|_| Ok(File::from(descriptor.try_clone_to_owned()?)))
    }

    /// Opens an empty file, which need not have been passed on at all. It is opened by its name, and must be the one
    /// that httpd found there.
    fn empty_file(&self) -> io::Result<File> {
        let path = self.path().ok_or(io::ErrorKind::NotFound)?;
        // If it were a pipe now, opening it would wait for a writer.
        let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
        let (now, found) = (file.metadata()?, &self.record().finfo);
        let is_same = now.ino() == found.inode && now.dev() == found.device;
        if is_same && now.is_file() && now.len() == 0 { Ok(file) } else { Err(io::ErrorKind::NotFound.into()) }
    }

    /// Returns size, modification time, change time (both in microseconds) and inode number of the file, as httpd found
    /// them.
    pub fn found(&self) -> (u64, i64, i64, u64) {
        let found = &self.record().finfo;
        (u64::try_from(found.size).unwrap_or_default(), found.mtime, found.ctime, found.inode)
    }

    /// Runs every phase before the handler; returns false if one of them refused the request.
    pub(crate) fn passes(&mut self) -> bool {
        // httpd would not read a longer line from a client.
        // SAFETY: the server and the line of this request.
        let is_too_long = unsafe {
            let most = usize::try_from((*self.asker.server).limit_req_line).unwrap_or_default();
            most > 0 && text::bytes((*self.request).the_request).is_some_and(|line| line.len() > most)
        };
        if is_too_long {
            self.verdict = Verdict::Refused(414);
            return false;
        }
        // SAFETY: a complete request, as after reading one from a connection.
        let status = unsafe {
            let read = ap::ap_run_post_read_request(self.request);
            if let Some((address, ip)) = self.asker.client {
                (*self.request).useragent_addr = address;
                (*self.request).useragent_ip = ip;
            }
            if read == 0 || read == ap::DECLINED { ap::ap_process_request_internal(self.request) } else { read }
        };
        self.asker.realms.end(status);
        // SAFETY: a valid request.
        self.asker.remember_name(unsafe { &*self.request });
        self.verdict = match status {
            0 => Verdict::Otherwise,
            status => Verdict::Refused(u16::try_from(status).unwrap_or_default()),
        };
        status == 0
    }

    /// Runs the handler, if that is harmless.
    pub(crate) fn invoke(&mut self) {
        // SAFETY: all phases have passed, and the response ends in our filter. Rate limits are removed because they do
        // not change the response and no client waits for it; caches are disabled because no client has requested it.
        let status = unsafe {
            let environment = Table::new((*self.request).subprocess_env);
            environment.unset(c"rate-limit");
            environment.set(c"no-cache", "probe");
            ap::ap_invoke_handler(self.request)
        };
        self.asker.realms.end(self.record().status);
        self.verdict = self.judge(status);
    }

    fn judge(&self, status: c_int) -> Verdict {
        let record = self.record();
        let captured = self.captured();
        let whole = match captured.body {
            Body::Nothing => record.finfo.size == 0,
            Body::File { file, start: 0, length } => {
                u64::try_from(record.finfo.size).is_ok_and(|size| size == length) && self.is_named(file)
            }
            Body::File { .. } | Body::Touched => false,
        };
        if captured.is_barred {
            return Verdict::Otherwise;
        }
        if status != 0 {
            return Verdict::Failed(u16::try_from(status).unwrap_or_default());
        }
        let is_answer = record.status == ap::HTTP_OK.cast_signed();
        let is_ok = captured.head.split(|byte| *byte == b' ').nth(1) == Some(b"200");
        if is_answer && is_ok && whole { Verdict::Untouched } else { Verdict::Otherwise }
    }

    fn is_named(&self, file: *mut ap::apr_file_t) -> bool {
        let mut name = null();
        // SAFETY: the file is open; its name is a C string that lasts as long.
        unsafe {
            ap::apr_file_name_get(&raw mut name, file);
            text::bytes(name) == text::bytes(self.record().filename)
        }
    }
}
