//! The client against servers of every kind, on loopback: one binary, so that it links once.

mod asking;
mod decoding;
mod ends;
mod heads;
mod proxies;
mod redirects;
mod responder;
mod safety;
mod turns;
