//! Directives as a table of rows.
//!
//! httpd passes the rest of the line; it is split here as httpd itself would, so that a row is only a name, the
//! permitted contexts, and a function. A name that another module owns may have a row, too: httpd calls all modules
//! that registered a name. In this way the module is notified of aliases without reading private structures.
//!
//! Names of other modules are registered after all modules have been loaded and before the first directive is
//! processed. By then the owner's own entry can be read: the name is registered only if its owner is loaded, and with
//! the contexts that the owner gives it. So httpd accepts and refuses exactly what it would without this module.

use std::ffi::{CStr, CString, c_char, c_void};
use std::path::PathBuf;
use std::ptr::{null, null_mut};
use std::sync::Arc;

use crate::bindings as ap;
use crate::guard::guard;
use crate::module::{self, Module, Section};
use crate::{pool, realms, text};

/// One directive of the module `M`.
pub struct Directive<M: Module> {
    /// Its name.
    pub name: &'static CStr,
    /// The contexts in which it is permitted; for another module's directive, the owner decides.
    pub place: Place,
    /// Its description in `httpd -L`.
    pub help: &'static CStr,
    /// Its function.
    pub does: Does<M>,
}

/// The function of a directive.
pub enum Does<M: Module> {
    /// A directive of this module: processes its arguments, or returns an error, which is prefixed with the name.
    Set(fn(&mut Setting<'_, M>, &[&str]) -> Result<(), String>),
    /// A directive of another module, such as `mod_alias.c`, which checks its arguments and contexts.
    Observe(&'static CStr, fn(&mut Setting<'_, M>, &[&str])),
}

/// The contexts in which a directive is permitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the main configuration and in virtual hosts.
    Server,
    /// There, and in `<Directory>` and `<Location>`.
    Section,
    /// The contexts of its owner.
    Owners,
}

impl Place {
    const fn number(self) -> i32 {
        let number = match self {
            Self::Server => ap::RSRC_CONF,
            Self::Section => ap::RSRC_CONF | ap::ACCESS_CONF,
            // Read from the owner's entry when that is known.
            Self::Owners => 0,
        };
        number.cast_signed()
    }
}

/// The context of a directive.
pub struct Setting<'a, M: Module> {
    /// The configuration of the server that contains it; a blank one in a `.htaccess`.
    pub server: &'a mut M::Server,
    /// The configuration of the section that contains it.
    pub directory: &'a mut M::Directory,
    /// The path of that section, such as `/modoai` of `<Location /modoai>`.
    pub section: Option<&'a str>,
    /// Its name in the configuration.
    pub name: &'a str,
}

impl<M: Module> Setting<'_, M> {
    /// Returns a path as httpd resolves it: below the server root unless it is absolute.
    pub fn path(&self, written: &str) -> Result<PathBuf, String> {
        server_root_relative(written).ok_or_else(|| format!("needs a path, not '{written}'"))
    }
}

/// Returns a path below the server root, unless it is absolute.
pub fn server_root_relative(written: &str) -> Option<PathBuf> {
    let written = CString::new(written).ok()?;
    let pool = crate::pool::OwnPool::alone(c"oai_path");
    // SAFETY: the result is in our pool, or null, and is copied before the pool is destroyed.
    unsafe { text::path(ap::ap_server_root_relative(pool.raw(), written.as_ptr())) }.map(PathBuf::from)
}

/// The table in httpd's form.
#[doc(hidden)]
pub struct Commands<const N: usize>([ap::command_rec; N]);

// SAFETY: httpd only reads it, and the targets of its pointers never change.
unsafe impl<const N: usize> Sync for Commands<N> {}

impl<const N: usize> Commands<N> {
    /// Returns the module's own directives; the entry after the last one marks the end.
    pub const fn of<M: Module>() -> Self {
        assert!(M::DIRECTIVES.len() + 1 == N);
        let mut commands = [END; N];
        let (mut at, mut count) = (0, 0);
        while at < M::DIRECTIVES.len() {
            let row = &M::DIRECTIVES[at];
            if let Does::Set(_) = row.does {
                commands[count] = entry::<M>(row, row.place.number());
                count += 1;
            }
            at += 1;
        }
        Self(commands)
    }

    /// Returns a pointer to the first entry.
    pub const fn as_ptr(&self) -> *const ap::command_rec {
        self.0.as_ptr()
    }
}

/// The mark at the end of a table.
const END: ap::command_rec = ap::command_struct {
    name: null(),
    func: ap::cmd_func { raw_args: None },
    cmd_data: null_mut(),
    req_override: 0,
    args_how: ap::cmd_how_RAW_ARGS,
    errmsg: null(),
};

const fn entry<M: Module>(row: &'static Directive<M>, contexts: i32) -> ap::command_rec {
    ap::command_struct {
        name: row.name.as_ptr(),
        func: ap::cmd_func { raw_args: Some(take::<M>) },
        cmd_data: std::ptr::from_ref(row).cast_mut().cast(),
        req_override: contexts,
        errmsg: row.help.as_ptr(),
        ..END
    }
}

/// Registers the directives of other modules that this one observes. Must be called when all modules have been loaded
/// and no directive has been processed yet.
///
/// # Safety
///
/// The pool is that of the configuration, and no other thread exists.
pub(crate) unsafe fn observe<M: Module>(at: *mut ap::apr_pool_t) {
    let mut commands = Vec::new();
    for row in M::DIRECTIVES {
        if let Does::Observe(owner, _) = row.does
            && let Some(theirs) = module::commands(module::find(owner)).find(|theirs| is_named(theirs, row.name))
        {
            commands.push(entry::<M>(row, theirs.req_override));
        }
    }
    for theirs in module::all().filter(|other| *other != module::raw()).flat_map(module::commands) {
        // SAFETY: the name of a directive is a C string.
        let name = unsafe { CStr::from_ptr(theirs.name) };
        // A directive that takes effect while the file is read applies to a server, not to a section.
        let is_immediate = theirs.req_override.cast_unsigned() & ap::EXEC_ON_READ != 0;
        if realms::is_about_authentication(name) && !is_immediate {
            let func = ap::cmd_func { raw_args: Some(note::<M>) };
            commands.push(ap::command_struct { name: theirs.name, func, req_override: theirs.req_override, ..END });
        }
    }
    commands.push(END);
    // SAFETY: the table lives as long as the configuration. httpd adds the directives of a module that it knows already
    // to its index, and does nothing else while the module has no hooks to register.
    unsafe {
        let record = &mut *module::raw();
        let (own, register) = (record.cmds, record.register_hooks.take());
        record.cmds = pool::copy(at, &commands);
        ap::ap_add_module(record, at, null());
        (record.cmds, record.register_hooks) = (own, register);
    }
}

fn is_named(command: &ap::command_rec, name: &CStr) -> bool {
    // SAFETY: the name of a directive is a C string.
    unsafe { CStr::from_ptr(command.name) }.to_bytes().eq_ignore_ascii_case(name.to_bytes())
}

/// Stores the line of a directive about authentication with its section.
unsafe extern "C" fn note<M: Module>(
    parameters: *mut ap::cmd_parms,
    directory: *mut c_void,
    line: *const c_char,
) -> *const c_char {
    guard((), || {
        // SAFETY: httpd passes valid parameters, the section's configuration that `module` created, and a C string.
        unsafe {
            let name = text::bytes((*(*parameters).cmd).name).unwrap_or_default().to_ascii_lowercase();
            let written = [&name, text::bytes(line).unwrap_or_default()].join(&b' ');
            let section = &mut *directory.cast::<Section<M>>();
            Arc::make_mut(section.authentication.get_or_insert_default()).push(written);
        }
    });
    null()
}

/// Processes a line of the configuration. Returns null, or an error message.
unsafe extern "C" fn take<M: Module>(
    parameters: *mut ap::cmd_parms,
    directory: *mut c_void,
    line: *const c_char,
) -> *const c_char {
    let result = guard(Err("internal error in the module".to_owned()), || {
        // SAFETY: httpd passes valid parameters, the section's configuration that `module` created, and a C string;
        // only this function uses them until it returns, including the server's configuration while the main one is
        // read. `cmd_data` is the row.
        unsafe {
            let parameters = &*parameters;
            let row = &*(*parameters.cmd).cmd_data.cast_const().cast::<Directive<M>>();
            let words = words(parameters.temp_pool, line);
            let arguments: Result<Vec<&str>, _> = words.into_iter().map(std::str::from_utf8).collect();
            // A `.htaccess` is read by many threads in parallel, and does not configure the server.
            let is_htaccess = parameters.override_.cast_unsigned() & (ap::RSRC_CONF | ap::ACCESS_CONF) == 0;
            let mut nothing = M::new_server();
            let server: *mut M::Server =
                if is_htaccess { &raw mut nothing } else { module::config((*parameters.server).module_config).cast() };
            let mut setting = Setting::<M> {
                server: &mut *server,
                directory: &mut (*directory.cast::<Section<M>>()).own,
                section: text::utf8(parameters.path),
                name: row.name.to_str().unwrap_or_default(),
            };
            match (&row.does, arguments) {
                (Does::Set(set), Ok(arguments)) => {
                    set(&mut setting, &arguments).map_err(|problem| message(row.name, &problem))
                }
                (Does::Set(_), Err(_)) => Err(message(row.name, "needs UTF-8")),
                (Does::Observe(_, observe), Ok(arguments)) => {
                    observe(&mut setting, &arguments);
                    Ok(())
                }
                (Does::Observe(..), Err(_)) => Ok(()),
            }
        }
    });
    match result {
        Ok(()) => std::ptr::null(),
        // SAFETY: the configuration's own pool outlives the message.
        Err(problem) => unsafe { text::copy((*parameters).pool, problem.as_bytes()) },
    }
}

fn message(name: &CStr, problem: &str) -> String {
    format!("{} {problem}", name.to_string_lossy())
}

/// Returns the words of a line, by httpd's rules for quotes.
unsafe fn words<'a>(pool: *mut ap::apr_pool_t, mut line: *const c_char) -> Vec<&'a [u8]> {
    let mut words = Vec::new();
    // SAFETY: httpd advances the pointer within the line and copies each word to the pool; an empty one is the end,
    // unless it was written as quotes.
    unsafe {
        while !line.is_null() && *line != 0 {
            let word = text::bytes(ap::ap_getword_conf(pool, &raw mut line)).unwrap_or_default();
            words.push(word);
        }
    }
    words
}
