//! The server as its clients see it: a real socket, and every byte of the responses.

mod areas;
mod bench;
mod files;
mod hostile;
mod repository;
mod tls;
