//! Sinks: what goes in can be had again, whatever ends the process and whatever becomes of the disk.

mod catalogue;
mod crash;
mod damage;
mod didl;
mod feeding;
mod item;
mod large;
mod lines;
mod mirror;
mod previous;
mod records;
mod warc;
