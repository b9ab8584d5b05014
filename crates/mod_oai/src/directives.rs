//! The directives, one row each.
//!
//! Most are settings ([`derived`](crate::derived)), so that the standalone server and the module share every parser,
//! default and message. Below modoai's directives are those of other modules that are only observed.

use std::ffi::{CStr, CString};
use std::path::Path;
use std::sync::Arc;

use modoai_httpd::directive::{Directive, Does, Place, Setting};
use modoai_repository::catalogue::Location;
use modoai_repository::catalogue::location::expect_path;
use modoai_repository::description::Description;
use modoai_repository::site::rules::ignored;
use modoai_settings::Value;

use crate::derived::{
    Arguments, Taken, Text, default, former, number_or_text, on_or_off, one, put, set as setting_of, setting, texts,
};
use crate::{Oai, roots};

/// The handlers of this module: the present name and the historic one.
pub(crate) const HANDLERS: [&[u8]; 2] = [b"oai-handler", b"modoai-handler"];

const fn own(
    name: &'static CStr,
    help: &'static CStr,
    set: fn(&mut Setting<'_, Oai>, Arguments<'_>) -> Taken,
) -> Directive<Oai> {
    Directive { name, place: Place::Server, help, does: Does::Set(set) }
}

const fn observed(
    name: &'static CStr,
    owner: &'static CStr,
    observe: fn(&mut Setting<'_, Oai>, Arguments<'_>),
) -> Directive<Oai> {
    Directive { name, place: Place::Owners, help: c"(observed by mod_oai)", does: Does::Observe(owner, observe) }
}

/// The help of the one directive that sets two settings.
const PAGE_SIZE_HELP: &Text =
    &Text::of("Maximum number of records in a page of ListRecords, and of headers in a page of ListIdentifiers")
        .with(" (default: ")
        .with(default("records_per_page"))
        .with(" ")
        .with(default("identifiers_per_page"))
        .with(")");

/// The table. `Section` is a directive of a repository: in a section with `OAICatalogue`, of the repository there.
#[rustfmt::skip]
pub(crate) const DIRECTIVES: &[Directive<Oai>] = &[
    own(c"OAIEngine", c"On to provide a repository on this server (default: On)", engine),
    setting!(Section "repository_name" default "ServerName"),
    setting!(Section "admin_email" default "ServerAdmin"),
    own(c"OAISiteURL", c"public URL of the site, if it differs from ServerName", site_url),
    Directive {
        name: c"OAIPageSize",
        place: Place::Section,
        help: PAGE_SIZE_HELP.c(),
        does: Does::Set(page_size),
    },
    setting!(Section "page_bytes"),
    setting!(Section "by_value_limit"),
    setting!(Server "repository_identifier"),
    setting!(Section "identify_descriptions", c"OAIDescription", "none", descriptions),
    setting!(Section "describe_datestamps"),
    Directive {
        name: c"OAICatalogue",
        place: Place::Section,
        help: c"catalogue of documents or records, served here instead of the site",
        does: Does::Set(catalogue),
    },
    own(c"OAIIndexDir", c"directory for the catalogues, outside every document root", index_dir),
    setting!(Section "temporary_directory", c"OAITempDir", "tmp in the directory of the catalogue", temp_dir),
    own(c"OAIRoot", c"URL path, and a directory or file that is served there by a mapping that mod_oai cannot detect", root),
    own(c"OAIUsers", c"names or patterns of users whose UserDir is listed (default: none)", users),
    own(c"OAIIgnore", c"patterns of names that are not listed, in addition to backups and similar files", ignore),
    own(c"OAISet", c"setSpec, name, and patterns of the URL paths that belong to the set", set),
    own(c"OAITraffic", c"On to add URLs seen in successful requests (default: Off)", traffic),
    setting!(Server "rescan"),
    setting!(Server "read_ahead"),
    setting!(Server "max_deleted"),
    setting!(Section "list_delay"),
    setting!(Section "records_per_hour"),
    setting!(Section "bytes_per_hour"),
    setting!(Section "lists_per_harvester"),
    setting!(Section "lists_at_once"),
    setting!(Section "request_delay"),
    setting!(Section "list_share"),
    own(c"OAIHarvester", c"known harvester: its name, then key=value, such as networks=192.0.2.0/24", harvester),
    // The names of 2005.
    own(c"modoai_sitename", c"see OAIRepositoryName", |at, words| setting_of(at, "repository_name", words)),
    own(c"modoai_email", c"see OAIAdminEmail", |at, words| setting_of(at, "admin_email", words)),
    own(c"modoai_encode_size", c"see OAIByValueLimit", |at, words| setting_of(at, "by_value_limit", words)),
    own(c"modoai_resumption_count", c"see OAIPageSize", page_size),
    former!("friends"),
    former!("sample_identifier"),
    former!("metadata_rights"),
    former!("eprints_content"),
    former!("eprints_metadata_policy"),
    former!("eprints_data_policy"),
    former!("eprints_submission_policy"),
    former!("eprints_comments"),
    former!("branding_icon"),
    former!("branding_link"),
    former!("show_dotfiles"),
    former!("max_vanished"),
    former!(c"OAIIgnoreMatch", "is part of OAIIgnore now: write OAIIgnore \"re:EXPRESSION\""),
    former!(c"OAIIgnoreReset", "is part of OAIIgnore now: write OAIIgnore !* to discard all previous patterns"),
    observed(c"SetHandler", c"core.c", set_handler),
    observed(c"Alias", c"mod_alias.c", alias),
    observed(c"UserDir", c"mod_userdir.c", user_dir),
    observed(c"IndexIgnore", c"mod_autoindex.c", index_ignore),
    observed(c"IndexIgnoreReset", c"mod_autoindex.c", index_ignore_reset),
    observed(c"SSLVerifyClient", c"mod_ssl.c", asks_for_certificate),
    observed(c"SSLCipherSuite", c"mod_ssl.c", asks_for_certificate),
    observed(c"ExtFilterDefine", c"mod_ext_filter.c", program_filter),
    observed(c"LuaOutputFilter", c"mod_lua.c", program_filter),
    observed(c"Action", c"mod_actions.c", action),
];

/// `OAIPageSize RECORDS [IDENTIFIERS]`
fn page_size(setting: &mut Setting<'_, Oai>, arguments: Arguments<'_>) -> Taken {
    let (first, second) = match arguments {
        [both] => (*both, *both),
        [first, second] => (*first, *second),
        _ => return Err("needs one argument, or two: records in a page, and headers in a page".to_owned()),
    };
    put(setting, "records_per_page", number_or_text(first))?;
    put(setting, "identifiers_per_page", number_or_text(second))
}

/// `OAIDescription FILE …`. The files are read here, while httpd still has the rights of root.
fn descriptions(setting: &mut Setting<'_, Oai>, key: &'static str, arguments: Arguments<'_>) -> Taken {
    texts(arguments)?;
    let read = |file: &&str| Ok(Value::from(Description::read(&setting.path(file)?)?.xml.as_str()));
    let elements = arguments.iter().map(read).collect::<Result<Value, String>>()?;
    put(setting, key, elements)
}

/// `OAIIgnore PATTERN …`; `!*` discards all patterns so far.
fn ignore(setting: &mut Setting<'_, Oai>, arguments: Arguments<'_>) -> Taken {
    texts(arguments)?;
    let patterns = arguments.iter().map(|pattern| Some((*pattern).to_owned()).filter(|pattern| pattern != "!*"));
    let patterns: Vec<_> = patterns.collect();
    let written: Vec<String> = patterns.iter().flatten().cloned().collect();
    ignored(&written).map_err(|error| error.to_string())?;
    setting.server.ignore.extend(patterns);
    Ok(())
}

/// `OAISet physics:hep "High energy physics" "description=Papers and talks" /hep "re:^/talks/.*-hep"`
fn set(setting: &mut Setting<'_, Oai>, arguments: Arguments<'_>) -> Taken {
    let [spec, name, rest @ ..] = arguments else {
        return Err("needs a setSpec, a name and patterns, such as: OAISet physics \"Physics\" /physics".to_owned());
    };
    let mut row = vec![("spec", Value::from(*spec)), ("name", Value::from(*name))];
    let mut patterns = Vec::new();
    for argument in rest {
        match argument.strip_prefix("description=") {
            Some(description) => row.push(("description", Value::from(description))),
            None => patterns.push(Value::from(*argument)),
        }
    }
    row.push(("patterns", patterns.into_iter().collect()));
    setting.server.add_set(row.into_iter().collect())
}

/// `OAIHarvester BASE "agent=BASE harvester" networks=192.0.2.0/24,2001:db8::/32 records_per_hour=0`
fn harvester(setting: &mut Setting<'_, Oai>, arguments: Arguments<'_>) -> Taken {
    let Some((name, keys)) = arguments.split_first().filter(|(name, _)| !name.contains('=')) else {
        return Err("needs a name and at least one key=value, such as: OAIHarvester BASE agent=base".to_owned());
    };
    let mut row = vec![("name", Value::from(*name))];
    for argument in keys {
        let Some((key, text)) = argument.split_once('=') else {
            return Err(format!("needs key=value after the name, not '{argument}'"));
        };
        let networks = || text.split(',').map(Value::from).collect();
        row.push((key, if key == "networks" { networks() } else { number_or_text(text) }));
    }
    setting.server.describe(row.into_iter().collect())
}

fn engine(setting: &mut Setting<'_, Oai>, arguments: Arguments<'_>) -> Taken {
    setting.server.engine = Some(on_or_off(arguments)?);
    Ok(())
}

fn traffic(setting: &mut Setting<'_, Oai>, arguments: Arguments<'_>) -> Taken {
    setting.server.traffic = Some(on_or_off(arguments)?);
    Ok(())
}

fn site_url(setting: &mut Setting<'_, Oai>, arguments: Arguments<'_>) -> Taken {
    let url = one(arguments)?;
    let host = url.strip_prefix("http://").or(url.strip_prefix("https://")).unwrap_or_default();
    let is_plain = !host.is_empty() && !host.starts_with('/') && !host.contains(['?', '#', ' ', '<', '"']);
    if !is_plain {
        return Err(format!("needs a URL such as https://www.example.org/, not '{url}'"));
    }
    setting.server.site_url = Some(format!("{}/", url.trim_end_matches('/')));
    Ok(())
}

fn catalogue(setting: &mut Setting<'_, Oai>, arguments: Arguments<'_>) -> Taken {
    let written = one(arguments)?;
    if written.is_empty() {
        return Err("needs the path of a catalogue".to_owned());
    }
    let (location, section) = (location(setting, written)?, setting.section.map(str::to_owned));
    setting.server.catalogues.push((section.clone(), location.clone()));
    let catalogue = Arc::make_mut(setting.directory.catalogue.get_or_insert_default());
    (catalogue.location, catalogue.section) = (Some(location), section);
    Ok(())
}

/// The location of a catalogue, below the server root unless it is absolute.
fn location(setting: &Setting<'_, Oai>, written: &str) -> Result<Location, String> {
    let location = Location::parse(written.as_ref()).map_err(|error| error.to_string())?;
    location.resolved(|path| setting.path(&path.to_string_lossy()))
}

fn index_dir(setting: &mut Setting<'_, Oai>, arguments: Arguments<'_>) -> Taken {
    let written = one(arguments)?;
    setting.server.index_dir = Some(location(setting, written)?.path().to_owned());
    Ok(())
}

fn temp_dir(setting: &mut Setting<'_, Oai>, key: &'static str, arguments: Arguments<'_>) -> Taken {
    let written = one(arguments)?;
    expect_path(Path::new(written))?;
    let path = setting.path(written)?;
    put(setting, key, Value::from(path.to_str().ok_or("needs a path in UTF-8")?))
}

fn root(setting: &mut Setting<'_, Oai>, arguments: Arguments<'_>) -> Taken {
    let [url, path] = arguments else {
        return Err("needs a URL path and a directory, such as: OAIRoot /pub/ /srv/pub".to_owned());
    };
    if !url.starts_with('/') {
        return Err(format!("needs a URL path that begins with a slash, not '{url}'"));
    }
    if !Path::new(path).is_absolute() {
        return Err(format!("needs the full path of a directory or file, not '{path}'"));
    }
    setting.server.places.push(((*url).to_owned(), path.into()));
    Ok(())
}

fn users(setting: &mut Setting<'_, Oai>, arguments: Arguments<'_>) -> Taken {
    texts(arguments)?;
    roots::check_patterns(arguments)?;
    setting.server.users.get_or_insert_default().extend(arguments.iter().map(|name| (*name).to_owned()));
    Ok(())
}

fn set_handler(setting: &mut Setting<'_, Oai>, arguments: Arguments<'_>) {
    let is_ours = arguments.first().is_some_and(|name| HANDLERS.contains(&name.as_bytes()));
    setting.directory.is_repository = Some(is_ours);
    if let (true, Some(path)) = (is_ours, setting.section) {
        setting.server.endpoints.push(path.to_owned());
    }
}

fn alias(setting: &mut Setting<'_, Oai>, arguments: Arguments<'_>) {
    let (url, path) = match (arguments, setting.section) {
        ([url, path], _) => (*url, *path),
        ([path], Some(url)) => (url, *path),
        // mod_alias says what is wrong with it.
        _ => return,
    };
    // An expression is known only with a request, and a pattern only when it is matched.
    let is_plain = url.starts_with('/') && !url.contains(['^', '$', '*', '(', '[', '|']) && !path.contains("%{");
    if is_plain && let Ok(path) = setting.path(path) {
        setting.server.places.push((url.to_owned(), path));
    }
}

fn user_dir(setting: &mut Setting<'_, Oai>, arguments: Arguments<'_>) {
    let says_who = |word: &str| word.eq_ignore_ascii_case("enabled") || word.eq_ignore_ascii_case("disabled");
    if arguments.first().is_some_and(|word| !says_who(word)) {
        setting.server.user_dir = Some(arguments.iter().map(|place| (*place).to_owned()).collect());
    }
}

fn index_ignore(setting: &mut Setting<'_, Oai>, arguments: Arguments<'_>) {
    let patterns = setting.directory.index_ignore.get_or_insert_default();
    let last_part = |pattern: &&str| CString::new(pattern.rsplit('/').next().unwrap_or_default()).ok();
    Arc::make_mut(patterns).extend(arguments.iter().filter_map(last_part));
}

fn index_ignore_reset(setting: &mut Setting<'_, Oai>, arguments: Arguments<'_>) {
    if on_or_off(arguments).unwrap_or(false) {
        setting.directory.index_ignore_reset = true;
        setting.directory.index_ignore = None;
    }
}

fn action(setting: &mut Setting<'_, Oai>, arguments: Arguments<'_>) {
    if let Some(media_type) = arguments.first().filter(|name| name.contains('/')) {
        Arc::make_mut(setting.directory.actions.get_or_insert_default()).push(media_type.to_ascii_lowercase());
    }
}

/// In a section, mod_ssl may have to renegotiate with the client before it can decide. It cannot do so within a
/// response, so such resources are not listed.
fn asks_for_certificate(setting: &mut Setting<'_, Oai>, _: Arguments<'_>) {
    setting.directory.asks_for_certificate |= setting.section.is_some();
}

fn program_filter(setting: &mut Setting<'_, Oai>, arguments: Arguments<'_>) {
    let Some(name) = arguments.first().and_then(|name| CString::new(name.to_ascii_lowercase()).ok()) else { return };
    // In a `.htaccess`, what is noted for the server is lost.
    Arc::make_mut(setting.directory.program_filters.get_or_insert_default()).push(name.clone());
    setting.server.program_filters.push(name);
}
