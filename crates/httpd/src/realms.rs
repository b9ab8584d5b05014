//! Stores the results of checking passwords for one requester.
//!
//! A list makes many probes, and each probe of a protected file would check the password again: slow by intention for
//! hashes of bcrypt, and a failed login each time for LDAP. So the outcome of a check is stored for the duration of the
//! request, and a password is checked once for each realm. A realm is defined by the directives about authentication
//! that apply at a place: two places with the same directives require the same passwords, regardless of the files that
//! contain the directives. Only authentication is stored. Authorisation, such as `Require user`, runs with every probe.
//!
//! Messages that httpd writes to the error log during a check are held back. They are written if the response reports a
//! wrong password; a requester with the right password for another realm of the site leaves no messages.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr::{null, null_mut};
use std::rc::Rc;
use std::sync::Arc;

use crate::bindings as ap;
use crate::guard::guard;
use crate::module::{self, Module};
use crate::pool;
use crate::request::Request;
use crate::stage::{captured_of, every_message, silence};
use crate::table::Table;
use crate::text;

/// Directives that begin with these configure the authentication of users.
const PREFIXES: [&[u8]; 2] = [b"auth", b"ssl"];

/// Modules that authenticate only by such directives. If another one takes part, an accepted password is checked again
/// with every probe.
const KNOWN: [&[u8]; 8] = [
    b"mod_auth_basic.c",
    b"mod_auth_digest.c",
    b"mod_auth_form.c",
    b"mod_authn_core.c",
    b"mod_authnz_fcgi.c",
    b"mod_log_debug.c",
    b"mod_oai.c",
    b"mod_ssl.c",
];

/// Headers by which a user can be authenticated. mod_auth_form takes passwords from the session, which can be a cookie.
const CREDENTIALS: [&CStr; 2] = [c"Authorization", c"Cookie"];

/// Providers that decide by user and password alone. Others may decide by the URL, too, as a program behind
/// mod_authnz_fcgi can: their result at one place does not apply to another.
const PROVIDERS: [&[u8]; 6] = [b"anon", b"dbd", b"dbm", b"file", b"ldap", b"socache"];

/// Types of authentication whose credentials are valid for every URL. Those of Digest are for one.
const TYPES: [&[u8]; 2] = [b"basic", b"form"];

/// Headers with which a server requests a password.
const CHALLENGES: [&[u8]; 2] = [b"WWW-Authenticate", b"Proxy-Authenticate"];

/// Variables that providers set for a user they have authenticated.
const ENVIRONMENT: &[u8] = b"AUTHENTICATE_";

/// Returns true if a directive of another module configures the authentication of users.
pub(crate) fn is_about_authentication(name: &CStr) -> bool {
    let name = name.to_bytes();
    PREFIXES.iter().any(|prefix| name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix)))
}

/// Registers the hooks.
///
/// # Safety
///
/// Must be called while hooks are registered.
pub(crate) unsafe fn register<M: Module>() {
    let (first, per_conf) = (ap::APR_HOOK_REALLY_FIRST, ap::AP_AUTH_INTERNAL_PER_CONF.cast_signed());
    // SAFETY: ensured by the caller; the functions have the required types.
    unsafe {
        ap::ap_hook_check_authn(Some(recall::<M>), null(), null(), first, per_conf);
        ap::ap_hook_check_authz(Some(accepted), null(), null(), first, per_conf);
        ap::ap_hook_error_log(Some(overhear), null(), null(), first);
    }
}

/// The results of checking a requester's credentials, by realm.
#[derive(Default)]
pub(crate) struct Realms {
    known: RefCell<Vec<(Realm, Outcome)>>,
    /// The check in progress.
    pending: RefCell<Option<Pending>>,
    /// True if the request itself was authenticated: then the credentials are right in some realm.
    is_proven: Cell<bool>,
    /// Checks of the same credentials for other probes.
    others: Option<Rc<Self>>,
}

/// Credentials, and the directives by which they are checked.
#[derive(PartialEq)]
struct Realm {
    credentials: [Option<Vec<u8>>; 2],
    directives: Arc<Vec<Vec<u8>>>,
}

impl Realm {
    /// Returns true if credentials that were accepted at one place are accepted at every place with the same
    /// directives.
    fn is_same_everywhere(&self) -> bool {
        self.directives.iter().all(|line| {
            let words = line.split(|byte| b" \t\"'".contains(byte)).filter(|word| !word.is_empty());
            let mut words = words.map(<[u8]>::to_ascii_lowercase);
            let name = words.next().unwrap_or_default();
            let known: &[&[u8]] = match name.as_slice() {
                b"authtype" => &TYPES,
                name if name.starts_with(b"authnzfcgi") => &[],
                name if name.ends_with(b"provider") => &PROVIDERS,
                _ => return true,
            };
            words.all(|word| known.contains(&word.as_slice()))
        })
    }
}

enum Outcome {
    Accepted {
        user: Vec<u8>,
        kind: Vec<u8>,
        environment: Vec<(CString, Vec<u8>)>,
    },
    /// `is_wrong` is true for a password, and false for a cookie without one.
    Refused {
        status: c_int,
        is_wrong: bool,
        challenges: Vec<(CString, Vec<u8>)>,
        lines: Vec<Line>,
    },
}

struct Pending {
    realm: Realm,
    request: *mut ap::request_rec,
    /// The request's own server, while the request has one with a disabled error log.
    server: *mut ap::server_rec,
    lines: Vec<Line>,
}

/// A line of the error log that has not been written.
struct Line {
    file: *const c_char,
    line: c_int,
    module: c_int,
    level: c_int,
    status: ap::apr_status_t,
    message: CString,
}

/// A server with space after it: later releases may add fields at its end, which are left empty in a copy.
#[repr(C)]
struct Roomy {
    server: ap::server_rec,
    room: [u64; 32],
}

impl Realms {
    /// Returns an empty store. `is_proven` is true if the request itself was authenticated.
    pub(crate) fn new(is_proven: bool) -> Self {
        Self { is_proven: Cell::new(is_proven), ..Self::default() }
    }

    /// Uses the results of `others`, and adds none to them.
    pub(crate) fn after(others: &Rc<Self>) -> Self {
        Self { others: Some(Rc::clone(others)), ..Self::default() }
    }

    /// Returns true if a realm refused the credentials as wrong, and none has accepted them.
    pub(crate) fn have_refused(&self) -> bool {
        self.refusals() > 0 && !self.have_accepted()
    }

    /// Returns true if a realm has accepted the credentials.
    pub(crate) fn have_accepted(&self) -> bool {
        let is_accepted = |(_, outcome): &(Realm, Outcome)| matches!(outcome, Outcome::Accepted { .. });
        self.is_proven.get() || self.known.borrow().iter().any(is_accepted)
    }

    /// Returns the number of realms that have refused the credentials as wrong.
    pub(crate) fn refusals(&self) -> usize {
        let known = self.known.borrow();
        known.iter().filter(|(_, outcome)| matches!(outcome, Outcome::Refused { is_wrong: true, .. })).count()
    }

    /// Writes httpd's messages about the credentials to the error log, once, and adds the challenge of the realm that
    /// refused them first to a response.
    pub(crate) fn report(&self, request: &Request<'_>) {
        let mut known = self.known.borrow_mut();
        let first = known.iter_mut().find_map(|(_, outcome)| match outcome {
            Outcome::Refused { is_wrong: true, challenges, lines, .. } => Some((challenges, lines)),
            _ => None,
        });
        let Some((challenges, lines)) = first else { return };
        for (name, value) in challenges {
            request.any_reply_headers().set(name, &String::from_utf8_lossy(value));
        }
        // The log level for a password is that of the place that required it, not that of the repository.
        // SAFETY: a valid request, whose log is restored; the name of the file is in the memory of the module that
        // wrote the line. The format takes one C string.
        unsafe {
            let request = request.raw();
            let own = std::mem::replace(&mut (*request).log, every_message());
            for Line { file, line, module, level, status, message } in lines.drain(..) {
                ap::ap_log_rerror_(file, line, module, level, status, request, c"%s".as_ptr(), message.as_ptr());
            }
            (*request).log = own;
        }
    }

    /// Ends the check in progress: the credentials were not accepted.
    pub(crate) fn end(&self, status: c_int) {
        let Some(Pending { realm, request, server, lines }) = self.pending.take() else { return };
        // SAFETY: the request that was checked; it lives as long as its probe.
        let headers = unsafe {
            (*request).server = server;
            Table::new((*request).err_headers_out)
        };
        // Refused, redirected to a login page, or the service that checks passwords is unavailable: none of them
        // changes within a request.
        let (is_refused, is_sent) =
            (status == ap::HTTP_UNAUTHORIZED.cast_signed(), status == ap::HTTP_MOVED_TEMPORARILY.cast_signed());
        if is_refused || is_sent || status >= ap::HTTP_INTERNAL_SERVER_ERROR.cast_signed() {
            let is_failure = |line: &Line| line.level <= ap::APLOG_ERR.cast_signed();
            let is_wrong =
                is_refused && realm.credentials[0].is_some() || (is_refused || is_sent) && lines.iter().any(is_failure);
            let is_one = |name: &[u8]| CHALLENGES.iter().any(|one| one.eq_ignore_ascii_case(name));
            let asked = headers.entries().filter(|(name, _)| is_one(name));
            let challenges = asked.filter_map(|(name, value)| Some((CString::new(name).ok()?, value.to_vec())));
            let outcome = Outcome::Refused { status, is_wrong, challenges: challenges.collect(), lines };
            self.known.borrow_mut().push((realm, outcome));
        }
    }

    /// Returns the stored result for credentials in a realm, as a return value of the authentication hook.
    ///
    /// # Safety
    ///
    /// The request is valid.
    unsafe fn recall(&self, realm: &Realm, request: *mut ap::request_rec) -> Option<c_int> {
        let known = self.known.borrow();
        let Some(outcome) = known.iter().find_map(|(other, outcome)| (other == realm).then_some(outcome)) else {
            // SAFETY: ensured by the caller.
            return unsafe { self.others.as_ref()?.recall(realm, request) };
        };
        match outcome {
            Outcome::Refused { status, .. } => Some(*status),
            Outcome::Accepted { .. } if !realm.is_same_everywhere() || !are_all_known() => None,
            Outcome::Accepted { user, kind, environment } => {
                // SAFETY: a valid request; values that are written there are copied to its pool.
                unsafe {
                    (*request).user = text::copy((*request).pool, user);
                    (*request).ap_auth_type = text::copy((*request).pool, kind);
                    let variables = Table::new((*request).subprocess_env);
                    environment.iter().for_each(|(name, value)| variables.set(name, &String::from_utf8_lossy(value)));
                }
                Some(ap::OK.cast_signed())
            }
        }
    }

    /// Starts a check. Its messages for the error log are held back.
    ///
    /// # Safety
    ///
    /// The request is valid, and `log` is its log or null.
    unsafe fn begin(&self, realm: Realm, request: *mut ap::request_rec, log: *const ap::ap_logconf) {
        self.end(0);
        // SAFETY: a valid request. Its server is copied with everything in it, except the file for errors.
        unsafe {
            let own = (*request).server;
            *self.pending.borrow_mut() = Some(Pending { realm, request, server: own, lines: Vec::new() });
            (*request).log = if log.is_null() { &raw const (*own).log } else { log };
            let mut nowhere = null_mut();
            let (path, flags) = (c"/dev/null".as_ptr(), ap::APR_FOPEN_WRITE.cast_signed());
            if ap::apr_file_open(&raw mut nowhere, path, flags, 0, (*request).pool) == 0 {
                let copy = &raw mut (*pool::zeroed::<Roomy>((*request).pool)).server;
                copy.copy_from_nonoverlapping(own, 1);
                (*copy).error_log = nowhere;
                (*request).server = copy;
            }
        }
    }

    /// Ends the check in progress: the user was authenticated.
    ///
    /// # Safety
    ///
    /// The request is valid.
    unsafe fn accept(&self, request: *mut ap::request_rec) {
        let Some(Pending { realm, request: checked, server, .. }) = self.pending.take() else { return };
        // SAFETY: the request that was checked, and the one that the caller ensures is valid: usually the same.
        unsafe {
            (*checked).server = server;
            (*request).log = silence();
            let Some(user) = text::bytes((*request).user) else { return };
            let kind = text::bytes((*request).ap_auth_type).unwrap_or_default().to_vec();
            let variables = Table::new((*request).subprocess_env).entries();
            let set = variables.filter(|(name, _)| name.starts_with(ENVIRONMENT));
            let environment = set.filter_map(|(name, value)| Some((CString::new(name).ok()?, value.to_vec())));
            let outcome = Outcome::Accepted { user: user.to_vec(), kind, environment: environment.collect() };
            let mut known = self.known.borrow_mut();
            known.retain(|(other, _)| *other != realm);
            known.push((realm, outcome));
        }
    }
}

/// Runs before all other authentication hooks: returns a stored result.
unsafe extern "C" fn recall<M: Module>(request: *mut ap::request_rec) -> c_int {
    // SAFETY: a valid request whose sections have been merged; the capture lives as long as the probe.
    guard(ap::DECLINED, || unsafe {
        let captured = captured_of(request);
        if captured.is_null() {
            return ap::DECLINED;
        }
        let headers = Table::new((*request).headers_in);
        let credentials = CREDENTIALS.map(|name| headers.get(name).map(<[u8]>::to_vec));
        if credentials.iter().all(Option::is_none) {
            return ap::DECLINED;
        }
        let section = module::section::<M>((*request).per_dir_config);
        let directives = section.authentication.clone().unwrap_or_default();
        let realm = Realm { credentials, directives };
        let realms = &*(*captured).realms;
        if let Some(known) = realms.recall(&realm, request) {
            return known;
        }
        realms.begin(realm, request, (*captured).log);
        ap::DECLINED
    })
}

/// Runs before all other authorisation hooks: a request that reaches them has been authenticated.
unsafe extern "C" fn accepted(request: *mut ap::request_rec) -> c_int {
    // SAFETY: a valid request; the capture lives as long as the probe.
    guard((), || unsafe {
        let captured = captured_of(request);
        if !captured.is_null() {
            (*(*captured).realms).accept(request);
        }
    });
    ap::DECLINED
}

/// Holds back the messages that are logged while the password of a probe is checked.
unsafe extern "C" fn overhear(info: *const ap::ap_errorlog_info, message: *const c_char) {
    // SAFETY: httpd passes a valid description and a C string; the capture lives as long as the probe.
    guard((), || unsafe {
        let info = &*info;
        let captured = if info.r.is_null() { null_mut() } else { captured_of(info.r) };
        if captured.is_null() {
            return;
        }
        let Ok(mut pending) = (*(*captured).realms).pending.try_borrow_mut() else { return };
        // If the error log could not be redirected, the line has been written.
        let taken = pending.as_mut().filter(|pending| (*pending.request).server != pending.server);
        if let (Some(pending), false) = (taken, message.is_null()) {
            let (file, line, module) = (info.file, info.line, info.module_index);
            let message = CStr::from_ptr(message).to_owned();
            pending.lines.push(Line { file, line, module, level: info.level, status: info.status, message });
        }
    });
}

/// Returns true if all authentication modules use only directives that are stored.
fn are_all_known() -> bool {
    // SAFETY: httpd's list of hooks, which does not change while requests are processed; the names in it are C strings.
    unsafe {
        let Some(hooks) = ap::ap_hook_get_check_user_id().as_ref() else { return true };
        let count = usize::try_from(hooks.nelts).unwrap_or_default();
        let hooks = hooks.elts.cast::<ap::ap_LINK_check_user_id_t>();
        (0..count).all(|at| text::bytes((*hooks.add(at)).szName).is_some_and(|name| KNOWN.contains(&name)))
    }
}
