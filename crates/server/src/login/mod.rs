//! Ways to log in, one file each.

pub mod flow;
pub mod one_time_code;
