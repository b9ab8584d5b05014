//! Messages to owners: what they say, whom they reach, and through what.

mod exim;
mod fixture;
mod hostile;
mod messages;
mod program;
mod received;
mod server;
mod smtp;
