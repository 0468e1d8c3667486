//! Ways to log in, one file each, and what limits the guessing.

pub mod attempts;
pub mod flow;
pub mod one_time_code;
pub mod password;
