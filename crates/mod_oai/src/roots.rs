//! The directories that contain the files of a server, and their URLs.
//!
//! `DocumentRoot`, every `Alias`, every `OAIRoot`, and the folders of users. They only supply candidates; httpd decides
//! with every request whether a GET of a candidate's URL really returns that file, or any.

use std::ffi::CStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use globset::Glob;
use modoai_httpd::server::Server;
use modoai_repository::sets::SetRule;
use modoai_repository::site::name;
use modoai_repository::site::roots::Root;

use crate::config::All;
use crate::traffic::Found;
use crate::{Oai, archive, house, users};

/// `httpd -t -D` with this name prints the roots of all servers, for `modoai index --apache` and `harvesters --apache`.
pub(crate) const SHOW: &CStr = c"MODOAI_SHOW_ROOTS";

/// The roots of a server, without the directories of users: finding those can take long.
pub(crate) fn of(server: &Server<'_>) -> Vec<Root> {
    let config = server.config::<Oai>();
    let document_root = server.document_root().into_iter().map(|path| Root { prefix: String::new(), path });
    let places = config.places.iter().map(|(url, path)| Root { prefix: prefix(url), path: path.clone() });
    document_root.chain(places).collect()
}

/// A URL path of the configuration, where it is not encoded, as the prefix of names.
pub(crate) fn prefix(url: &str) -> String {
    let segments = url.split('/').filter(|segment| !segment.is_empty());
    segments.map(|segment| name::encode_segment(segment.as_bytes())).collect::<Vec<_>>().join("/")
}

/// Returns the folder of this server that contains a path, if there is one.
pub(crate) fn serves(server: &Server<'_>, path: &Path) -> Option<PathBuf> {
    let config = server.config::<Oai>();
    let folders = server.document_root().into_iter().chain(config.places.iter().map(|(_, path)| path.clone()));
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    folders.into_iter().find(|folder| folder.is_absolute() && real(path).starts_with(real(folder)))
}

/// Returns the first of these that is not a valid pattern, as an error.
pub(crate) fn check_patterns(patterns: &[&str]) -> Result<(), String> {
    patterns.iter().try_for_each(|pattern| match Glob::new(pattern) {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("has the invalid pattern '{pattern}': {}", error.kind())),
    })
}

/// Returns a string of TOML on one line.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            // Writing to a string cannot fail.
            _ if character.is_control() => drop(write!(quoted, "\\u{:04X}", u32::from(character))),
            _ => quoted.push(character),
        }
    }
    quoted + "\""
}

fn all_quoted(texts: &[String]) -> String {
    format!("[{}]", texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", "))
}

/// Returns the roots of all servers that have a repository, and after them the catalogues without a site, as TOML.
pub(crate) fn written(main: Server<'_>) -> String {
    let mut text = String::from("# mod_oai roots\n");
    for (server, folder) in house::folders(main) {
        let All { site, settings, .. } = server.config::<Oai>().settings(&server);
        let mut roots = of(&server);
        roots.extend(users::directories(server.config::<Oai>()).into_iter().map(Root::from));
        let learnt = |name: &str, path: &Path| roots.push(Root { prefix: name.to_owned(), path: path.to_owned() });
        Found::of(&folder).each_new(learnt);
        // Writing to a string cannot fail.
        let _ = write!(text, "\n[[server]]\nname = {}\n", quoted(server.name()));
        let _ = writeln!(text, "folder = {}", quoted(&folder.to_string_lossy()));
        let _ = writeln!(text, "ignore = {}", all_quoted(&site.ignore));
        let _ = writeln!(text, "max_deleted = {}", site.max_deleted);
        let _ = writeln!(text, "read_ahead = {}", site.read_ahead);
        for SetRule { spec, name, description, patterns } in settings.set.iter() {
            let _ = write!(text, "[[server.set]]\nspec = {}\nname = {}\n", quoted(spec.as_str()), quoted(name));
            let _ = writeln!(text, "description = {}", quoted(description.as_deref().unwrap_or_default()));
            let _ = writeln!(text, "patterns = {}", all_quoted(patterns.texts()));
        }
        for Root { prefix, path } in roots {
            let path = quoted(&path.to_string_lossy());
            let _ = write!(text, "[[server.root]]\nprefix = {}\npath = {path}\n", quoted(&prefix));
        }
    }
    for (folder, catalogue) in archive::folders(main) {
        let (catalogue, folder) = (catalogue.to_string_lossy(), folder.to_string_lossy());
        let _ = write!(text, "\n[[archive]]\ncatalogue = {}\nfolder = {}\n", quoted(&catalogue), quoted(&folder));
    }
    text
}
