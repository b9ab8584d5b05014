//! Limits on the amount of data that other servers can make a command store.

use clap::Args;
use modoai_harvester::limits::Limits;
use modoai_settings::Value;

/// Limits of a harvest.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// Maximum size of a record, and of a resource that a record refers to; larger ones are reported as missing.
    #[arg(long, value_name = "SIZE", default_value = "4G", value_parser = bytes)]
    max_size: u64,
    /// Maximum number of bytes to store in one run, before compression; the run stops there, and the next run
    /// continues.
    #[arg(long, value_name = "SIZE", default_value = "100G", value_parser = bytes)]
    max_total: u64,
    /// Minimum free disk space; the run stops when less is free.
    #[arg(long, value_name = "SIZE", default_value = "500M", value_parser = bytes)]
    min_free: u64,
}

impl LimitArgs {
    /// Returns the limits for the harvester.
    pub(crate) fn limits(&self) -> Limits {
        Limits { size: self.max_size, total: self.max_total, free: self.min_free }
    }
}

/// Reads a number of bytes, such as 64K, 16M or 1G.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    Value::from(text).bytes().map_err(|problem| problem.what)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        limits: LimitArgs,
    }

    #[test]
    fn the_defaults_are_those_of_the_library() {
        let command = Command::parse_from(["x"]);
        assert_eq!(command.limits.limits(), Limits::default());
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!([bytes("0"), bytes("100"), bytes("2K"), bytes("1G")], [Ok(0), Ok(100), Ok(2048), Ok(1 << 30)]);
        assert!(bytes("much").is_err() && bytes("-1").is_err() && bytes("").is_err());
    }
}
