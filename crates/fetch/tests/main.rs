//! The client against servers of every kind, on loopback: one binary, so that it links once.

mod asking;
mod decoding;
mod ends;
mod heads;
mod kinds;
mod proxies;
mod redirects;
mod responder;
mod robots;
mod safety;
mod turns;
