//! Passwords that have been checked on behalf of one requester.
//!
//! A list makes many probes, and each probe of a protected file would check the password anew: slow by intention where it
//! is hashed with bcrypt, and a failed login each time where it is checked by LDAP. So the outcome of a check is
//! remembered for the request, and a password is checked once for each realm. A realm is what the directives about
//! authentication amount to at a place: two places with the same directives ask for the same passwords, whatever files
//! these directives stand in. Only authentication is remembered. Authorisation, such as `Require user`, runs with every
//! probe.
//!
//! What httpd writes to the error log while it checks a password is kept back. It is written if the requester is told
//! that its password is wrong; a requester with the right password for another realm of the site leaves no trace.

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

/// Directives of these beginnings say how users are authenticated.
const PREFIXES: [&[u8]; 2] = [b"auth", b"ssl"];

/// Modules that authenticate by nothing but such directives. If another one takes part, an accepted password is checked
/// again with every probe.
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

/// Headers that a user can be authenticated by. mod_auth_form takes passwords from the session, which can be a cookie.
const CREDENTIALS: [&CStr; 2] = [c"Authorization", c"Cookie"];

/// Providers that decide by user and password alone. Others may decide by the URL, too, as a program behind mod_authnz_fcgi
/// can: what they accept at one place says nothing about another.
const PROVIDERS: [&[u8]; 6] = [b"anon", b"dbd", b"dbm", b"file", b"ldap", b"socache"];

/// Types of authentication whose credentials are valid for every URL. Those of Digest are for one.
const TYPES: [&[u8]; 2] = [b"basic", b"form"];

/// By which a server asks for a password.
const CHALLENGES: [&[u8]; 2] = [b"WWW-Authenticate", b"Proxy-Authenticate"];

/// Variables that providers set for a user they have authenticated.
const ENVIRONMENT: &[u8] = b"AUTHENTICATE_";

/// Whether a directive of another module says how users are authenticated.
pub(crate) fn is_about_authentication(name: &CStr) -> bool {
    let name = name.to_bytes();
    PREFIXES.iter().any(|prefix| name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix)))
}

/// Registers the hooks.
///
/// # Safety
///
/// It is the time to register hooks.
pub(crate) unsafe fn register<M: Module>() {
    let (first, per_conf) = (ap::APR_HOOK_REALLY_FIRST, ap::AP_AUTH_INTERNAL_PER_CONF.cast_signed());
    // SAFETY: the caller's word; the functions have the types wanted.
    unsafe {
        ap::ap_hook_check_authn(Some(recall::<M>), null(), null(), first, per_conf);
        ap::ap_hook_check_authz(Some(accepted), null(), null(), first, per_conf);
        ap::ap_hook_error_log(Some(overhear), null(), null(), first);
    }
}

/// What a requester's credentials were worth in the realms that were met.
#[derive(Default)]
pub(crate) struct Realms {
    known: RefCell<Vec<(Realm, Outcome)>>,
    /// The check that is under way.
    pending: RefCell<Option<Pending>>,
    /// Whether the request itself was authenticated: then the credentials are right somewhere.
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
    /// Whether credentials that were accepted at one place are accepted at every place with the same directives.
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
    /// `is_wrong` if there was a password, and not only a cookie that has nothing to do with passwords.
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
    /// The request's own, while it has one whose error log leads nowhere.
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

/// A server with room behind it: later releases may add fields at its end, which are left empty in a copy.
#[repr(C)]
struct Roomy {
    server: ap::server_rec,
    room: [u64; 32],
}

impl Realms {
    /// Nothing is known yet but whether the request itself was authenticated.
    pub(crate) fn new(is_proven: bool) -> Self {
        Self { is_proven: Cell::new(is_proven), ..Self::default() }
    }

    /// Uses the results of `others`, and adds none to them.
    pub(crate) fn after(others: &Rc<Self>) -> Self {
        Self { others: Some(Rc::clone(others)), ..Self::default() }
    }

    /// Whether a realm refused the credentials as wrong, and none has accepted them.
    pub(crate) fn have_refused(&self) -> bool {
        self.refusals() > 0 && !self.have_accepted()
    }

    /// Whether a realm has accepted the credentials.
    pub(crate) fn have_accepted(&self) -> bool {
        let is_accepted = |(_, outcome): &(Realm, Outcome)| matches!(outcome, Outcome::Accepted { .. });
        self.is_proven.get() || self.known.borrow().iter().any(is_accepted)
    }

    /// How many realms have refused the credentials as wrong.
    pub(crate) fn refusals(&self) -> usize {
        let known = self.known.borrow();
        known.iter().filter(|(_, outcome)| matches!(outcome, Outcome::Refused { is_wrong: true, .. })).count()
    }

    /// Writes to the error log what httpd had to say about the credentials, once, and gives an answer the challenge of the
    /// realm that refused them first.
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
        // What is logged of a password is up to the place that asked for it, not to that of the repository.
        // SAFETY: a good request, whose log is put back; the name of the file is in the memory of the module that wrote the
        // line. The format takes one C string.
        unsafe {
            let request = request.raw();
            let own = std::mem::replace(&mut (*request).log, every_message());
            for Line { file, line, module, level, status, message } in lines.drain(..) {
                ap::ap_log_rerror_(file, line, module, level, status, request, c"%s".as_ptr(), message.as_ptr());
            }
            (*request).log = own;
        }
    }

    /// The check that was under way is over, and the credentials were not accepted.
    pub(crate) fn end(&self, status: c_int) {
        let Some(Pending { realm, request, server, lines }) = self.pending.take() else { return };
        // SAFETY: the request that was checked; it lives as long as its probe.
        let headers = unsafe {
            (*request).server = server;
            Table::new((*request).err_headers_out)
        };
        // Refused, sent to a page for logging in, or the service that checks passwords is out of order: none of them changes
        // within a request.
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

    /// What is known of credentials in a realm: an answer for the hook that authenticates.
    ///
    /// # Safety
    ///
    /// The request is good.
    unsafe fn recall(&self, realm: &Realm, request: *mut ap::request_rec) -> Option<c_int> {
        let known = self.known.borrow();
        let Some(outcome) = known.iter().find_map(|(other, outcome)| (other == realm).then_some(outcome)) else {
            // SAFETY: the caller's word.
            return unsafe { self.others.as_ref()?.recall(realm, request) };
        };
        match outcome {
            Outcome::Refused { status, .. } => Some(*status),
            Outcome::Accepted { .. } if !realm.is_same_everywhere() || !are_all_known() => None,
            Outcome::Accepted { user, kind, environment } => {
                // SAFETY: a good request; what is written there is copied to its pool.
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

    /// A check begins. What is said about it in the error log is taken down.
    ///
    /// # Safety
    ///
    /// The request is good, and `log` is its log or null.
    unsafe fn begin(&self, realm: Realm, request: *mut ap::request_rec, log: *const ap::ap_logconf) {
        self.end(0);
        // SAFETY: a good request. Its server is copied with everything in it, but for the file that errors go to.
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

    /// The check that was under way is over, and the user is known.
    ///
    /// # Safety
    ///
    /// The request is good.
    unsafe fn accept(&self, request: *mut ap::request_rec) {
        let Some(Pending { realm, request: checked, server, .. }) = self.pending.take() else { return };
        // SAFETY: the request that was checked, and the one that is good by the caller's word: mostly the same.
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

/// First of those who authenticate: says what is known already.
unsafe extern "C" fn recall<M: Module>(request: *mut ap::request_rec) -> c_int {
    // SAFETY: a good request whose sections have been put together; what is captured lives as long as the probe.
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

/// First of those who authorise: whoever comes to them has been authenticated.
unsafe extern "C" fn accepted(request: *mut ap::request_rec) -> c_int {
    // SAFETY: a good request; what is captured lives as long as the probe.
    guard((), || unsafe {
        let captured = captured_of(request);
        if !captured.is_null() {
            (*(*captured).realms).accept(request);
        }
    });
    ap::DECLINED
}

/// Takes down what is said while the password of a probe is checked.
unsafe extern "C" fn overhear(info: *const ap::ap_errorlog_info, message: *const c_char) {
    // SAFETY: httpd hands over a good description and a C string; what is captured lives as long as the probe.
    guard((), || unsafe {
        let info = &*info;
        let captured = if info.r.is_null() { null_mut() } else { captured_of(info.r) };
        if captured.is_null() {
            return;
        }
        let Ok(mut pending) = (*(*captured).realms).pending.try_borrow_mut() else { return };
        // If the error log could not be led elsewhere, the line has been written.
        let taken = pending.as_mut().filter(|pending| (*pending.request).server != pending.server);
        if let (Some(pending), false) = (taken, message.is_null()) {
            let (file, line, module) = (info.file, info.line, info.module_index);
            let message = CStr::from_ptr(message).to_owned();
            pending.lines.push(Line { file, line, module, level: info.level, status: info.status, message });
        }
    });
}

/// Whether all modules that authenticate do so by directives that are read along.
fn are_all_known() -> bool {
    // SAFETY: httpd's list of hooks, which does not change once there are requests; the names in it are C strings.
    unsafe {
        let Some(hooks) = ap::ap_hook_get_check_user_id().as_ref() else { return true };
        let count = usize::try_from(hooks.nelts).unwrap_or_default();
        let hooks = hooks.elts.cast::<ap::ap_LINK_check_user_id_t>();
        (0..count).all(|at| text::bytes((*hooks.add(at)).szName).is_some_and(|name| KNOWN.contains(&name)))
    }
}
