//! The directives, one row each.
//!
//! [`STANDS_FOR`] maps directives to settings of the repository, so that the standalone server and the module share
//! every parser, default and message. Below modoai's directives are those of other modules that are only observed.

use std::ffi::{CStr, CString};
use std::path::Path;
use std::sync::Arc;

use modoai_httpd::directive::{Directive, Does, Place, Setting};
use modoai_repository::catalogue::Location;
use modoai_repository::catalogue::location::expect_path;
use modoai_repository::site::pattern::{EXPRESSION, Patterns};
use toml::{Table, Value};

use crate::{Oai, roots};

/// The handlers of this module: the present name and the historic one.
pub(crate) const HANDLERS: [&[u8]; 2] = [b"oai-handler", b"modoai-handler"];

type Arguments<'a> = &'a [&'a str];
type Taken = Result<(), String>;

const fn own(
    name: &'static CStr,
    help: &'static CStr,
    set: fn(&mut Setting<'_, Oai>, Arguments<'_>) -> Taken,
) -> Directive<Oai> {
    Directive { name, place: Place::Server, help, does: Does::Set(set) }
}

/// Returns a directive of a repository: in a section with `OAICatalogue`, of the repository there.
const fn local(
    name: &'static CStr,
    help: &'static CStr,
    set: fn(&mut Setting<'_, Oai>, Arguments<'_>) -> Taken,
) -> Directive<Oai> {
    Directive { name, place: Place::Section, help, does: Does::Set(set) }
}

const fn observed(
    name: &'static CStr,
    owner: &'static CStr,
    observe: fn(&mut Setting<'_, Oai>, Arguments<'_>),
) -> Directive<Oai> {
    Directive { name, place: Place::Owners, help: c"(observed by mod_oai)", does: Does::Observe(owner, observe) }
}

/// Returns a former name of a directive, which is refused with a reference to the present one.
const fn former(name: &'static CStr, refuse: fn(&mut Setting<'_, Oai>, Arguments<'_>) -> Taken) -> Directive<Oai> {
    Directive { name, place: Place::Server, help: c"(former name)", does: Does::Set(refuse) }
}

/// The table.
#[rustfmt::skip]
pub(crate) const DIRECTIVES: &[Directive<Oai>] = &[
    own(c"OAIEngine", c"On to provide a repository on this server (On)", engine),
    local(c"OAIRepositoryName", c"name of the repository (name of the server)", text),
    local(c"OAIAdminEmail", c"contact addresses for harvesters (ServerAdmin)", list),
    own(c"OAISiteURL", c"public URL of the site, if it differs from ServerName", site_url),
    local(c"OAIPageSize", c"page size of ListRecords, and of ListIdentifiers if it differs (500 2000)", page_size),
    local(c"OAIPageBytes", c"size at which a page of records ends (16M)", text),
    local(c"OAIByValueLimit", c"maximum size of files included in oai_didl records (7M)", text),
    own(c"OAIRepositoryIdentifier", c"domain name for identifiers of the form oai:NAME:PATH instead of URLs", text),
    local(c"OAISampleIdentifier", c"sample identifier in Identify, without oai:NAME: (index.html)", text),
    local(c"OAIMetadataRights", c"URLs of the licences of the metadata, included in Identify", list),
    local(c"OAIEprintsContent", c"content of the repository, included in Identify: text and URLs", list),
    local(c"OAIEprintsMetadataPolicy", c"terms of use of the metadata, included in Identify", list),
    local(c"OAIEprintsDataPolicy", c"terms of use of the full texts, included in Identify", list),
    local(c"OAIEprintsSubmissionPolicy", c"submission policy, included in Identify", list),
    local(c"OAIEprintsComments", c"other comments, included in Identify", list),
    local(c"OAIFriends", c"base URLs of other repositories, included in Identify", list),
    local(c"OAIDescribeDatestamps", c"On to describe the datestamps in Identify, in modoai's namespace (On)", flag),
    local(c"OAIBrandingIcon", c"URL of an image that aggregators may show", text),
    local(c"OAIBrandingLink", c"link target of that image", text),
    local(c"OAICatalogue", c"catalogue of documents or records, served here instead of the site", catalogue),
    own(c"OAIIndexDir", c"directory for the catalogues, outside every document root", index_dir),
    local(c"OAITempDir", c"directory for temporary copies of files (tmp in the directory of the catalogue)", temp_dir),
    own(c"OAIRoot", c"URL path, and a directory or file that is served there by a mapping that mod_oai cannot detect", root),
    own(c"OAIUsers", c"names or patterns of users whose UserDir is listed (none)", users),
    own(c"OAIIgnore", c"patterns of names that are not listed, in addition to backups and similar files", ignore),
    own(c"OAIIgnoreMatch", c"regular expressions of URL paths that are not listed", ignore_match),
    own(c"OAIIgnoreReset", c"On to discard all previous patterns, including the built-in ones", ignore_reset),
    own(c"OAISet", c"setSpec, name, and patterns of the URL paths that belong to the set", set),
    own(c"OAIShowDotfiles", c"On to list names that begin with a dot (Off)", flag),
    own(c"OAITraffic", c"On to add URLs seen in successful requests (Off)", traffic),
    own(c"OAIRescan", c"rescan interval, such as 15m (15m)", text),
    own(c"OAIReadAhead", c"On to compute digests before they are requested (On)", flag),
    own(c"OAIMaxDeleted", c"maximum percentage of files that one rescan may delete (50)", number),
    former(c"OAIMaxVanished", |_, _| Err("is named OAIMaxDeleted now".to_owned())),
    local(c"OAIListDelay", c"minimum time between two lists of one harvester, such as 3s (0)", text),
    local(c"OAIRecordsPerHour", c"maximum number of records per hour for one harvester (0: no limit)", number),
    local(c"OAIBytesPerHour", c"maximum number of bytes per hour for one harvester, such as 4G (0: no limit)", text),
    local(c"OAIListsPerHarvester", c"maximum number of concurrent lists of one harvester (16)", number),
    local(c"OAIListsAtOnce", c"maximum number of concurrent lists in all children (0: automatic)", number),
    local(c"OAIRequestDelay", c"minimum time between two requests of any kind of one harvester (0)", text),
    local(c"OAIListShare", c"percentage of the processor time for lists while visitors use the site (10)", number),
    own(c"OAIHarvester", c"known harvester: its name, then key=value, such as networks=192.0.2.0/24", harvester),
    // The names of 2005.
    own(c"modoai_sitename", c"see OAIRepositoryName", text),
    own(c"modoai_email", c"see OAIAdminEmail", list),
    own(c"modoai_encode_size", c"see OAIByValueLimit", text),
    own(c"modoai_resumption_count", c"see OAIPageSize", number),
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

/// The settings of the repository that a directive sets.
const STANDS_FOR: &[(&str, &[&str])] = &[
    ("OAIRepositoryName", &["repository_name"]),
    ("OAIAdminEmail", &["admin_email"]),
    ("OAIPageSize", &["records_per_page", "identifiers_per_page"]),
    ("OAIPageBytes", &["page_bytes"]),
    ("OAIByValueLimit", &["by_value_limit"]),
    ("OAIRepositoryIdentifier", &["repository_identifier"]),
    ("OAISampleIdentifier", &["sample_identifier"]),
    ("OAIMetadataRights", &["metadata_rights"]),
    ("OAIEprintsContent", &["eprints_content"]),
    ("OAIEprintsMetadataPolicy", &["eprints_metadata_policy"]),
    ("OAIEprintsDataPolicy", &["eprints_data_policy"]),
    ("OAIEprintsSubmissionPolicy", &["eprints_submission_policy"]),
    ("OAIEprintsComments", &["eprints_comments"]),
    ("OAIFriends", &["friends"]),
    ("OAIDescribeDatestamps", &["describe_datestamps"]),
    ("OAITempDir", &["temporary_directory"]),
    ("OAIBrandingIcon", &["branding_icon"]),
    ("OAIBrandingLink", &["branding_link"]),
    ("OAIShowDotfiles", &["show_dotfiles"]),
    ("OAIRescan", &["rescan"]),
    ("OAIReadAhead", &["read_ahead"]),
    ("OAIMaxDeleted", &["max_deleted"]),
    ("OAIListDelay", &["list_delay"]),
    ("OAIRecordsPerHour", &["records_per_hour"]),
    ("OAIBytesPerHour", &["bytes_per_hour"]),
    ("OAIListsPerHarvester", &["lists_per_harvester"]),
    ("OAIListsAtOnce", &["lists_at_once"]),
    ("OAIRequestDelay", &["request_delay"]),
    ("OAIListShare", &["list_share"]),
    ("modoai_sitename", &["repository_name"]),
    ("modoai_email", &["admin_email"]),
    ("modoai_encode_size", &["by_value_limit"]),
    ("modoai_resumption_count", &["records_per_page", "identifiers_per_page"]),
];

fn assign(setting: &mut Setting<'_, Oai>, value: &Value) -> Taken {
    assign_each(setting, std::slice::from_ref(value))
}

/// Notes a value for each setting that the directive sets; if there are fewer values, the first again.
fn assign_each(setting: &mut Setting<'_, Oai>, values: &[Value]) -> Taken {
    let name = setting.name;
    let Some((name, keys)) = STANDS_FOR.iter().find(|(directive, _)| *directive == name) else { return Ok(()) };
    keys.iter().zip(values.iter().cycle()).try_for_each(|(key, value)| put(setting, name, key, value.clone()))
}

/// Notes a value: for the server, or for the catalogue of a section.
fn put(setting: &mut Setting<'_, Oai>, directive: &'static str, key: &'static str, value: Value) -> Taken {
    let Some(section) = setting.section else { return setting.server.assign(key, value) };
    setting.server.settings_in.push((section.to_owned(), directive));
    Arc::make_mut(setting.directory.catalogue.get_or_insert_default()).assign(key, value)
}

fn one<'a>(arguments: Arguments<'a>) -> Result<&'a str, String> {
    match arguments {
        [one] => Ok(one),
        [] => Err("needs an argument".to_owned()),
        [_, rest @ ..] => Err(format!("takes one argument, but '{}' follows it; put quotes around it", rest.join(" "))),
    }
}

fn on_or_off(arguments: Arguments<'_>) -> Result<bool, String> {
    match one(arguments)? {
        on if on.eq_ignore_ascii_case("on") => Ok(true),
        off if off.eq_ignore_ascii_case("off") => Ok(false),
        other => Err(format!("needs On or Off, not '{other}'")),
    }
}

fn texts(arguments: Arguments<'_>) -> Result<Vec<Value>, String> {
    match arguments {
        [] => Err("needs at least one argument".to_owned()),
        several => Ok(several.iter().map(|text| Value::String((*text).to_owned())).collect()),
    }
}

fn text(setting: &mut Setting<'_, Oai>, arguments: Arguments<'_>) -> Taken {
    assign(setting, &Value::String(one(arguments)?.to_owned()))
}

fn number(setting: &mut Setting<'_, Oai>, arguments: Arguments<'_>) -> Taken {
    assign(setting, &whole_number(one(arguments)?)?)
}

fn whole_number(text: &str) -> Result<Value, String> {
    text.parse().map(Value::Integer).map_err(|_| format!("needs a whole number, not '{text}'"))
}

/// `OAIPageSize RECORDS [IDENTIFIERS]`
fn page_size(setting: &mut Setting<'_, Oai>, arguments: Arguments<'_>) -> Taken {
    if !(1..=2).contains(&arguments.len()) {
        return Err("needs one argument, or two: records in a page, and headers in a page".to_owned());
    }
    let sizes = arguments.iter().map(|text| whole_number(text)).collect::<Result<Vec<_>, _>>()?;
    assign_each(setting, &sizes)
}

fn flag(setting: &mut Setting<'_, Oai>, arguments: Arguments<'_>) -> Taken {
    assign(setting, &Value::Boolean(on_or_off(arguments)?))
}

fn list(setting: &mut Setting<'_, Oai>, arguments: Arguments<'_>) -> Taken {
    assign(setting, &Value::Array(texts(arguments)?))
}

fn ignore(setting: &mut Setting<'_, Oai>, arguments: Arguments<'_>) -> Taken {
    add_ignored(setting, arguments, "")
}

fn ignore_match(setting: &mut Setting<'_, Oai>, arguments: Arguments<'_>) -> Taken {
    add_ignored(setting, arguments, EXPRESSION)
}

fn add_ignored(setting: &mut Setting<'_, Oai>, arguments: Arguments<'_>, prefix: &str) -> Taken {
    texts(arguments)?;
    let patterns: Vec<String> = arguments.iter().map(|pattern| format!("{prefix}{pattern}")).collect();
    Patterns::new(&patterns).map_err(|error| error.to_string())?;
    setting.server.ignore.extend(patterns.into_iter().map(Some));
    Ok(())
}

fn ignore_reset(setting: &mut Setting<'_, Oai>, arguments: Arguments<'_>) -> Taken {
    if on_or_off(arguments)? {
        setting.server.ignore.push(None);
    }
    Ok(())
}

/// `OAISet physics:hep "High energy physics" "description=Papers and talks" /hep "re:^/talks/.*-hep"`
fn set(setting: &mut Setting<'_, Oai>, arguments: Arguments<'_>) -> Taken {
    let [spec, name, rest @ ..] = arguments else {
        return Err("needs a setSpec, a name and patterns, such as: OAISet physics \"Physics\" /physics".to_owned());
    };
    let text = |text: &str| Value::String(text.to_owned());
    let mut row = Table::from_iter([("spec".to_owned(), text(spec)), ("name".to_owned(), text(name))]);
    let mut patterns = Vec::new();
    for argument in rest {
        match argument.strip_prefix("description=") {
            Some(description) => drop(row.insert("description".to_owned(), text(description))),
            None => patterns.push(text(argument)),
        }
    }
    row.insert("patterns".to_owned(), Value::Array(patterns));
    setting.server.add_set(row)
}

/// `OAIHarvester BASE "agent=BASE harvester" networks=192.0.2.0/24,2001:db8::/32 records_per_hour=0`
fn harvester(setting: &mut Setting<'_, Oai>, arguments: Arguments<'_>) -> Taken {
    let Some((name, keys)) = arguments.split_first().filter(|(name, _)| !name.contains('=')) else {
        return Err("needs a name and at least one key=value, such as: OAIHarvester BASE agent=base".to_owned());
    };
    let mut row = Table::from_iter([("name".to_owned(), Value::String((*name).to_owned()))]);
    for argument in keys {
        let Some((key, text)) = argument.split_once('=') else {
            return Err(format!("needs key=value after the name, not '{argument}'"));
        };
        let value = match text.parse() {
            _ if key == "networks" => {
                Value::Array(text.split(',').map(|network| Value::String(network.to_owned())).collect())
            }
            Ok(number) => Value::Integer(number),
            Err(_) => Value::String(text.to_owned()),
        };
        row.insert(key.to_owned(), value);
    }
    setting.server.describe(row)
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

fn temp_dir(setting: &mut Setting<'_, Oai>, arguments: Arguments<'_>) -> Taken {
    let written = one(arguments)?;
    expect_path(Path::new(written))?;
    let path = setting.path(written)?;
    let path = path.to_str().ok_or("needs a path in UTF-8")?;
    assign(setting, &Value::String(path.to_owned()))
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
