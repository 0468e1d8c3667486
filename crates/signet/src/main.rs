//! Signet on the command line: see `signet --help`.
//!
//! This crate has no logic of its own: it reads the configuration, puts the parts of the server
//! together, and speaks to a running server on behalf of people and scripts. Exit 0: done, or yes.
//! Exit 1: no. Exit 2: wrong usage, or out of reach.
#![allow(unreachable_pub, reason = "a program: nothing outside reaches into it")]

mod cli;
mod dev;
mod moment;
mod serve;
mod verify;

use std::process::ExitCode;

fn main() -> ExitCode {
    signet_process::memory::give_back_large_blocks();
    signet_http::panics::end_the_process_elsewhere();
    cli::run()
}
