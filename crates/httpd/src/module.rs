//! A module: its record, its configuration, its hooks.
//!
//! [`crate::module!`] creates the record that httpd searches for; all its entries call the [`Module`] trait.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::bindings as ap;
use crate::capture;
use crate::directive::{self, Directive};
use crate::guard::{guard, log_panics};
use crate::log::{self, Level};
use crate::pool;
use crate::protected::{self, Headers};
use crate::realms;
use crate::reply::Reply;
use crate::request::{Outcome, Request};
use crate::server::Server;
use crate::signals::Signals;
use crate::stage::{self, Stage};
use crate::watchdog;

/// A module. httpd calls all its functions.
pub trait Module: Sized + 'static {
    /// The configuration of a server or virtual host. Also created, but perhaps not used, for servers without a
    /// directive.
    type Server: Send + Sync + 'static;
    /// The configuration of a section, a directory or a `.htaccess`; created with every request that uses one, and
    /// merged by many threads in parallel.
    type Directory: Send + Sync + 'static;
    /// The directives.
    const DIRECTIVES: &'static [Directive<Self>];

    /// Returns the configuration before any directive was read.
    fn new_server() -> Self::Server;
    /// Returns a virtual host's configuration on top of the main server's.
    fn merge_servers(base: &Self::Server, own: &Self::Server) -> Self::Server;
    /// Returns the configuration before any directive was read.
    fn new_directory() -> Self::Directory;
    /// Returns an inner section's configuration on top of an outer one's.
    fn merge_directories(base: &Self::Directory, own: &Self::Directory) -> Self::Directory;

    /// Checks the configuration as a whole after it has been read, by `httpd -t` or for use.
    fn check(main: Server<'_>) -> Result<(), String>;
    /// Called by `httpd -t`, which ends afterwards.
    fn tested(main: Server<'_>);
    /// Called when the configuration is about to be used: the last moment with the parent's privileges, before child
    /// processes exist. Anything it leaves open must belong to the configuration and be closed with it.
    fn configured(main: Server<'_>) -> Result<(), String>;
    /// Returns true if a probe in this section must stop, because the next phase would send data to the client.
    fn bars(directory: &Self::Directory) -> bool;
    /// Returns headers of every response to requests for this section, also if httpd refuses them before the handler
    /// runs.
    fn headers(directory: &Self::Directory) -> Headers;
    /// Returns true if a file must be hidden from probes, or would be passed to a program although no handler is
    /// configured for it.
    fn forbids(stage: Stage<'_>) -> bool;
    /// Handles a request, if it is this module's.
    fn handle(request: &mut Request<'_>) -> Outcome;
    /// Called after a response has been sent and logged.
    fn logged(request: &Request<'_>);
    /// Called about every second, in one child of all.
    fn beat(main: Server<'static>);
    /// Stops all work in this child, because it will end. May be called more than once.
    fn stop();
}

/// Creates the one symbol that httpd searches for.
///
/// ```ignore
/// modoai_httpd::module!(oai_module = Oai, "mod_oai.c");
/// ```
#[macro_export]
macro_rules! module {
    ($symbol:ident = $module:ty, $file:literal) => {
        const _: () = {
            static COMMANDS: $crate::directive::Commands<
                { <$module as $crate::module::Module>::DIRECTIVES.len() + 1 },
            > = $crate::directive::Commands::of::<$module>();

            unsafe extern "C" fn register(_: *mut $crate::bindings::apr_pool_t) {
                $crate::module::register::<$module>(&raw mut $symbol);
            }

            /// The module record. httpd itself writes to it while it loads the module, before threads exist; nothing
            /// else ever does.
            #[allow(non_upper_case_globals)]
            #[unsafe(no_mangle)]
            pub static mut $symbol: $crate::bindings::module =
                $crate::module::record::<$module>(concat!($file, "\0"), COMMANDS.as_ptr(), register);
        };
    };
}

/// Returns the record of a module.
#[doc(hidden)]
pub const fn record<M: Module>(
    name: &'static str,
    commands: *const ap::command_rec,
    register: unsafe extern "C" fn(*mut ap::apr_pool_t),
) -> ap::module {
    ap::module_struct {
        version: ap::MODULE_MAGIC_NUMBER_MAJOR.cast_signed(),
        // The oldest release that has everything used here: 2.4.49.
        minor_version: 116,
        module_index: -1,
        name: name.as_ptr().cast(),
        dynamic_load_handle: null_mut(),
        next: null_mut(),
        magic: ap::MODULE_MAGIC_COOKIE as std::ffi::c_ulong,
        rewrite_args: None,
        create_dir_config: Some(create_directory::<M>),
        merge_dir_config: Some(merge_directories::<M>),
        create_server_config: Some(create_server::<M>),
        merge_server_config: Some(merge_servers::<M>),
        cmds: commands,
        register_hooks: Some(register),
        flags: 0,
    }
}

/// The record of the module in this library. Set again whenever httpd registers its hooks.
static RECORD: AtomicPtr<ap::module> = AtomicPtr::new(null_mut());

pub(crate) fn raw() -> *mut ap::module {
    RECORD.load(Ordering::Relaxed)
}

/// Returns the number of the module in httpd.
pub(crate) fn index() -> c_int {
    let record = raw();
    // SAFETY: null before the hooks are registered, and the static record afterwards.
    if record.is_null() { -1 } else { unsafe { (*record).module_index } }
}

/// Returns this module's slot in a vector of configurations.
///
/// # Safety
///
/// The vector is one of httpd's.
pub(crate) unsafe fn config(vector: *const ap::ap_conf_vector_t) -> *mut c_void {
    // SAFETY: the record is registered before httpd creates any vector.
    unsafe { ap::ap_get_module_config(vector, raw()) }
}

/// The data stored for a section, a directory or a `.htaccess`.
pub(crate) struct Section<M: Module> {
    /// The module's own.
    pub(crate) own: M::Directory,
    /// The directives about authentication that apply here, from the outermost section to the innermost. Two places
    /// with the same directives require the same passwords.
    pub(crate) authentication: Option<Arc<Vec<Vec<u8>>>>,
}

/// Returns the data stored for a section.
///
/// # Safety
///
/// The vector is one of a section or a request, and valid for `'a`.
pub(crate) unsafe fn section<'a, M: Module>(vector: *const ap::ap_conf_vector_t) -> &'a Section<M> {
    // SAFETY: created by `create_directory` or `merge_directories`.
    unsafe { &*config(vector).cast() }
}

/// Returns all modules that are loaded.
pub(crate) fn all() -> impl Iterator<Item = *mut ap::module> {
    let some = |module: *mut ap::module| (!module.is_null()).then_some(module);
    // SAFETY: a list that changes only while the configuration is read, by the calling thread.
    let first = unsafe { ap::ap_top_module };
    // SAFETY: as above; no module in it is null.
    std::iter::successors(some(first), move |module| some(unsafe { (**module).next }))
}

/// Returns the directives of a module; none for a null pointer.
pub(crate) fn commands(module: *mut ap::module) -> impl Iterator<Item = &'static ap::command_rec> {
    // SAFETY: null, or a module that is loaded.
    let first = unsafe { module.as_ref() }.map_or(null(), |module| module.cmds);
    // SAFETY: a table in the module's own memory, which exists as long as the module is loaded. Its last entry has no
    // name, and nothing behind that one is read.
    let at = move |index: usize| unsafe { first.as_ref().map(|_| &*first.add(index)) };
    (0..).map_while(at).take_while(|command| !command.name.is_null())
}

/// Returns true if another module is loaded, by the name of its file, such as `mod_alias.c`.
pub fn is_loaded(file: &CStr) -> bool {
    !find(file).is_null()
}

/// Returns true if httpd was started with `-D` and this name.
pub fn is_defined(name: &CStr) -> bool {
    // SAFETY: reads a list that is complete before any module is loaded.
    unsafe { ap::ap_exists_config_define(name.as_ptr()) != 0 }
}

/// Returns another module's record, or null.
pub(crate) fn find(file: &CStr) -> *mut ap::module {
    // SAFETY: reads a list that changes only while the configuration is read.
    unsafe { ap::ap_find_linked_module(file.as_ptr()) }
}

/// Registers all hooks.
#[doc(hidden)]
pub fn register<M: Module>(record: *mut ap::module) {
    RECORD.store(record, Ordering::Relaxed);
    log_panics();
    let (no_order, middle, first) = (null(), ap::APR_HOOK_MIDDLE.cast_signed(), ap::APR_HOOK_FIRST.cast_signed());
    // SAFETY: called by httpd during registration; the functions have the types that the hooks require.
    unsafe {
        ap::ap_hook_pre_config(Some(loaded::<M>), no_order, no_order, middle);
        ap::ap_hook_check_config(Some(check::<M>), no_order, no_order, middle);
        ap::ap_hook_test_config(Some(tested::<M>), no_order, no_order, middle);
        // Before the watchdog's own hook, which is last: it starts the functions that are registered by then.
        ap::ap_hook_post_config(Some(configured::<M>), no_order, no_order, middle);
        ap::ap_hook_child_init(Some(child_begins::<M>), no_order, no_order, middle);
        ap::ap_hook_child_stopping(Some(child_stops::<M>), no_order, no_order, first);
        ap::ap_hook_handler(Some(handle::<M>), no_order, no_order, middle);
        ap::ap_hook_log_transaction(Some(logged::<M>), no_order, no_order, middle);
        capture::register();
        protected::register::<M>();
        stage::register::<M>();
        realms::register::<M>();
    }
}

unsafe extern "C" fn create_server<M: Module>(at: *mut ap::apr_pool_t, _: *mut ap::server_rec) -> *mut c_void {
    // SAFETY: httpd's own pool.
    guard(null_mut(), || unsafe { pool::keep(at, M::new_server()) }.cast())
}

unsafe extern "C" fn merge_servers<M: Module>(
    at: *mut ap::apr_pool_t,
    base: *mut c_void,
    own: *mut c_void,
) -> *mut c_void {
    // SAFETY: both were created by `create_server` or here, and httpd's own pool.
    guard(null_mut(), || unsafe { pool::keep(at, M::merge_servers(&*base.cast(), &*own.cast())) }.cast())
}

unsafe extern "C" fn create_directory<M: Module>(at: *mut ap::apr_pool_t, _: *mut c_char) -> *mut c_void {
    let new = || Section::<M> { own: M::new_directory(), authentication: None };
    // SAFETY: httpd's own pool.
    guard(null_mut(), || unsafe { pool::keep(at, new()) }.cast())
}

unsafe extern "C" fn merge_directories<M: Module>(
    at: *mut ap::apr_pool_t,
    base: *mut c_void,
    own: *mut c_void,
) -> *mut c_void {
    guard(null_mut(), || {
        // SAFETY: both were created by `create_directory` or here.
        let (base, inner) = unsafe { (&*base.cast::<Section<M>>(), &*own.cast::<Section<M>>()) };
        let authentication = match (&base.authentication, &inner.authentication) {
            (Some(base), Some(inner)) => Some(Arc::new([&base[..], &inner[..]].concat())),
            (base, inner) => inner.clone().or_else(|| base.clone()),
        };
        let merged = Section::<M> { own: M::merge_directories(&base.own, &inner.own), authentication };
        // SAFETY: httpd's own pool.
        unsafe { pool::keep(at, merged) }.cast()
    })
}

unsafe extern "C" fn loaded<M: Module>(
    at: *mut ap::apr_pool_t,
    _: *mut ap::apr_pool_t,
    _: *mut ap::apr_pool_t,
) -> c_int {
    // SAFETY: the pool of the configuration; all modules are loaded, and no directive has been processed.
    guard((), || unsafe { directive::observe::<M>(at) });
    ap::OK.cast_signed()
}

unsafe extern "C" fn check<M: Module>(
    _: *mut ap::apr_pool_t,
    _: *mut ap::apr_pool_t,
    _: *mut ap::apr_pool_t,
    main: *mut ap::server_rec,
) -> c_int {
    // SAFETY: httpd's main server, valid until this function returns.
    told(|| M::check(unsafe { Server::new(main) }))
}

unsafe extern "C" fn tested<M: Module>(_: *mut ap::apr_pool_t, main: *mut ap::server_rec) {
    // SAFETY: httpd's main server, valid until this function returns.
    guard((), || M::tested(unsafe { Server::new(main) }));
}

unsafe extern "C" fn configured<M: Module>(
    at: *mut ap::apr_pool_t,
    _: *mut ap::apr_pool_t,
    _: *mut ap::apr_pool_t,
    main: *mut ap::server_rec,
) -> c_int {
    // SAFETY: reads a state.
    if unsafe { ap::ap_state_query(ap::AP_SQ_MAIN_STATE.cast_signed()) } == ap::AP_SQ_MS_CREATE_PRE_CONFIG.cast_signed()
    {
        // httpd reads its configuration twice when it starts; this was the first time.
        return ap::OK.cast_signed();
    }
    told(|| {
        // SAFETY: httpd's main server and the pool of its configuration, both valid until this function returns.
        unsafe {
            give_every_server_its_own::<M>(at, main);
            watchdog::register::<M>(at, main);
            M::configured(Server::new(main))
        }
    })
}

/// Gives every virtual host a separate configuration. One without a directive of this module shares that of the main
/// server, but the configuration also contains the state of a server at run time.
unsafe fn give_every_server_its_own<M: Module>(at: *mut ap::apr_pool_t, main: *mut ap::server_rec) {
    // SAFETY: httpd's list of servers, and configurations that were created here.
    unsafe {
        let base = config((*main).module_config);
        let mut server = (*main).next;
        while !server.is_null() {
            if config((*server).module_config) == base {
                let own = pool::keep(at, M::merge_servers(&*base.cast(), &M::new_server()));
                ap::ap_set_module_config((*server).module_config, raw(), own.cast());
            }
            server = (*server).next;
        }
    }
}

unsafe extern "C" fn child_begins<M: Module>(at: *mut ap::apr_pool_t, _: *mut ap::server_rec) {
    // SAFETY: the child's own pool.
    guard((), || unsafe { pool::before_the_end(at, M::stop) });
}

unsafe extern "C" fn child_stops<M: Module>(_: *mut ap::apr_pool_t, _: c_int) {
    guard((), M::stop);
}

unsafe extern "C" fn handle<M: Module>(request: *mut ap::request_rec) -> c_int {
    let outcome = guard(None, || {
        let _held = Signals::hold();
        // SAFETY: a valid request until this function returns.
        Some(M::handle(&mut unsafe { Request::new(request) }))
    });
    let outcome = outcome.unwrap_or_else(|| {
        // SAFETY: as above. A response that has been started can only be aborted.
        let request = unsafe { Request::new(request) };
        if request.is_answered() {
            Reply::new(&request).break_off();
            Outcome::Answered
        } else {
            Outcome::Status(500)
        }
    });
    outcome.status()
}

unsafe extern "C" fn logged<M: Module>(request: *mut ap::request_rec) -> c_int {
    guard((), || {
        // The function may open the catalogue.
        let _held = Signals::hold();
        // SAFETY: a valid request until this function returns.
        M::logged(&unsafe { Request::new(request) });
    });
    ap::DECLINED
}

/// Runs a check, and logs its error.
fn told(check: impl FnOnce() -> Result<(), String>) -> c_int {
    match guard(Err("internal error in the module".to_owned()), check) {
        Ok(()) => ap::OK.cast_signed(),
        Err(problem) => {
            log::server(Level::Error, &problem);
            ap::HTTP_INTERNAL_SERVER_ERROR.cast_signed()
        }
    }
}
