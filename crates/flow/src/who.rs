//! Who is asking, told as coarsely as accounts need it.
//!
//! A name that somebody proved, a harvester the operator has described, or a block of addresses: never a single
//! address, and never what else a request says about a person.

use std::fmt;
use std::net::IpAddr;

/// Whose account a request is on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Who {
    /// Somebody who showed a password.
    User(String),
    /// A harvester that the operator has described, by the name given to it.
    Harvester(String),
    /// Everybody in a block of addresses.
    Block(Block),
}

/// A block of addresses: the leading bits of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    /// The first address of the block.
    pub address: IpAddr,
    /// How many leading bits its addresses share.
    pub bits: u8,
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(name) => write!(f, "user {name}"),
            Self::Harvester(name) => write!(f, "{name}"),
            Self::Block(Block { address, bits }) => write!(f, "{address}/{bits}"),
        }
    }
}
