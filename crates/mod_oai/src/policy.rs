//! What is not listed although a GET would return it, and what no probe may run.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;

use modoai_httpd::module;
use modoai_httpd::probe::Stage;
use modoai_httpd::server;

use crate::Oai;

/// Modules that take files by media types of the form `application/x-httpd-…`, whatever their handler.
const INTERPRETERS: [&std::ffi::CStr; 4] = [c"mod_php.c", c"mod_php7.c", c"mod_php5.c", c"mod_perl.c"];

/// Whether a file is not to be listed, or could only be found not to be one by running a program.
pub(crate) fn forbids(stage: Stage<'_>) -> bool {
    is_ignored(stage) || runs_a_program(stage)
}

/// `IndexIgnore`: what a listing of its folder would not show. By mod_autoindex's rules, a pattern with a slash is about
/// whole paths.
fn is_ignored(stage: Stage<'_>) -> bool {
    let Some(patterns) = &stage.directory::<Oai>().index_ignore else { return false };
    let Some(path) = stage.path() else { return false };
    let c_string = |bytes: &[u8]| CString::new(bytes).unwrap_or_default();
    let (whole, name) = (c_string(path.as_os_str().as_bytes()), path.file_name().map(OsStrExt::as_bytes));
    let name = c_string(name.unwrap_or_default());
    patterns.iter().any(|pattern| {
        let subject = if pattern.as_bytes().contains(&b'/') { &whole } else { &name };
        server::matches(subject, pattern)
    })
}

/// A file without a handler is offered to every module; some take it for its media type and run it, or another program
/// on it. What would come out is not the file, so there is no need to see it.
fn runs_a_program(stage: Stage<'_>) -> bool {
    let Some(content_type) = stage.content_type() else { return false };
    let media_type = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let has_action = || stage.directory::<Oai>().actions.as_ref().is_some_and(|actions| actions.contains(&media_type));
    let is_script = || {
        media_type.starts_with("application/x-httpd-")
            && INTERPRETERS.iter().any(|interpreter| module::is_loaded(interpreter))
    };
    has_action() || is_script()
}
