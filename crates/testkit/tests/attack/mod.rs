//! Attacks on the real programs, one test for each: those that succeeded once, and those that never did.
//!
//! | file | what is attacked |
//! |---|---|
//! | `client_addresses` | private addresses, by URLs, redirects and names that resolve to something else later |
//! | `client_injection` | files and reports, by text that becomes lines, records, markup or formulas; passwords, by redirects |
//! | `client_limits` | the disk and the time of a client, by bombs and lists without an end |
//! | `client_messages` | terminals and logs, by text that moves the cursor or shows reversed |
//! | `client_mirror` | the folder of a mirror, by names of files and by links |
//! | `client_parsers` | parsers, by compression bombs, entities and endless elements |
//! | `httpd_contexts` | a server's configuration is accepted as it is without the module |
//! | `httpd_headers` | probes see a request as a GET would |
//! | `httpd_passwords` | guessing passwords through lists |
//! | `httpd_secrets` | what records and caches tell of others |
//! | `httpd_strangers` | modules that are not httpd's own |
//! | `server_browser` | a browser that opens or embeds a record written by others |
//! | `server_crowds` | logins and connections, by many requests of one address |
//! | `server_headers` | the headers of every answer, in both hosts |
//! | `server_import` | records that name files elsewhere, and XML with a DOCTYPE |
//! | `server_pages` | the HTML pages, by names and contents of files |
//! | `server_paths` | the folder that is served, by spellings of paths and by links |
//! | `server_requests` | the HTTP parser, resumption tokens and the health check |
//! | `server_state` | the state folders, by other users of the machine |
//! | `server_withheld` | sources, keys and backups in the folder that is served |
//! | `tombstones` | names of deleted private files; and deletions that are lost |

mod client_addresses;
mod client_injection;
mod client_limits;
mod client_messages;
mod client_mirror;
mod client_parsers;
mod httpd_contexts;
mod httpd_headers;
mod httpd_passwords;
mod httpd_secrets;
mod httpd_strangers;
mod server_browser;
mod server_crowds;
mod server_headers;
mod server_import;
mod server_pages;
mod server_paths;
mod server_requests;
mod server_state;
mod server_withheld;
mod tombstones;
