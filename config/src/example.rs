//! The example that ships with the program.

/// A configuration with every setting in it. Lines that start with `#` and no space are settings that are off.
pub const EXAMPLE: &str = include_str!("../example.toml");
