//! Attacks on the real programs, and configurations that broke them: what succeeded once must not do so again.
//!
//! | file | what it attacks |
//! |---|---|
//! | `httpd_contexts` | a server's configuration is accepted as it is without the module |
//! | `httpd_headers` | probes see a request as a GET would |
//! | `httpd_passwords` | guessing passwords through lists |
//! | `httpd_secrets` | what records and caches tell of others |
//! | `httpd_strangers` | modules that are not httpd's own |

mod httpd_contexts;
mod httpd_headers;
mod httpd_passwords;
mod httpd_secrets;
mod httpd_strangers;
