//! Selects files that are not listed although a GET would return them, and handlers that no probe may run.

use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use modoai_httpd::module;
use modoai_httpd::server;
use modoai_httpd::stage::Stage;

use crate::Oai;

/// Modules that handle files by media types of the form `application/x-httpd-…` or `httpd/…`, where no handler is set.
const INTERPRETERS: [&CStr; 9] = [
    c"mod_asis.c",
    c"mod_cgi.c",
    c"mod_cgid.c",
    c"mod_fcgid.c",
    c"mod_imagemap.c",
    c"mod_perl.c",
    c"mod_php.c",
    c"mod_php5.c",
    c"mod_php7.c",
];

/// Returns true if a file is not to be listed, or if modoai would have to run a program to find out.
pub(crate) fn forbids(stage: Stage<'_>) -> bool {
    is_ignored(stage) || runs_a_program(stage) || is_filtered_by_a_program(stage)
}

/// Returns true if `IndexIgnore` hides the file in a listing of its folder. By mod_autoindex's rules only the part
/// after the last slash of a pattern counts.
fn is_ignored(stage: Stage<'_>) -> bool {
    let Some(patterns) = &stage.directory::<Oai>().index_ignore else { return false };
    let name = stage.path().and_then(Path::file_name).and_then(|name| CString::new(name.as_bytes()).ok());
    name.is_some_and(|name| patterns.iter().any(|pattern| server::matches(&name, pattern)))
}

/// Returns true if a program would run. A file without a handler is offered to every module; some treat it by its media
/// type and run it, or another program on it. The output would not be the file, so it is not needed.
fn runs_a_program(stage: Stage<'_>) -> bool {
    let Some(content_type) = stage.content_type() else { return false };
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    let has_action = || {
        let actions = stage.directory::<Oai>().actions.as_ref();
        actions.is_some_and(|actions| actions.iter().any(|action| action.eq_ignore_ascii_case(media_type)))
    };
    let is_of = |kind: &str| media_type.get(..kind.len()).is_some_and(|start| start.eq_ignore_ascii_case(kind));
    let is_script = || {
        (is_of("application/x-httpd-") || is_of("httpd/"))
            && INTERPRETERS.iter().any(|interpreter| module::is_loaded(interpreter))
    };
    has_action() || is_script()
}

/// Returns true if a filter runs a program: mod_include one that a file names, others one that the configuration names.
fn is_filtered_by_a_program(stage: Stage<'_>) -> bool {
    let server = stage.server();
    let of_server = &server.config::<Oai>().program_filters[..];
    let of_section = stage.directory::<Oai>().program_filters.as_ref().map_or(&[][..], |programs| &programs[..]);
    let is_program = |filter: &CStr| of_server.iter().chain(of_section).any(|program| program.as_c_str() == filter);
    stage.filters().any(|filter| (filter == c"includes" && stage.allows_includes()) || is_program(filter))
}
