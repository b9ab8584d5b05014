//! A real Apache httpd with our module in it: configured, started, watched and ended.
//!
//! Everything it needs lives in one temporary folder, its `ServerRoot`; nothing of the machine's own httpd is touched
//! but the executable and its modules. Started by root, the parent stays root and the children run as the distribution's
//! user for httpd; otherwise all run as whoever runs the tests. So a file of mode 000 is unreadable in both cases.
//!
//! | module | what it gives |
//! |---|---|
//! | [`launch`] | how a server is to be started: MPM, modules, configuration |
//! | [`running`] | a server that runs: signals, logs, children |
//! | [`machine`] | what this machine has: executable, modules, users, free ports |

pub mod launch;
pub mod machine;
pub mod running;

pub use launch::{Launch, Mpm, make_certificate};
pub use machine::is_missing;
pub use running::Httpd;
