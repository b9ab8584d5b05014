//! Sinks: what goes in can be had again, whatever ends the process and whatever becomes of the disk.

mod catalogue;
mod crash;
mod damage;
mod item;
mod jsonl;
mod large;
mod records;
