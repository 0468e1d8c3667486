//! Signet on the command line: see `signet --help`.
//!
//! This crate has no logic of its own: it reads the configuration, puts the parts of the server
//! together, and speaks to a running server on behalf of people and scripts. Exit 0: done, or yes.
//! Exit 1: no. Exit 2: wrong usage, or out of reach.
#![allow(unreachable_pub, reason = "a program: nothing outside reaches into it")]

mod admin_client;
mod cli;
mod config;
mod dev;
mod engine;
mod gate;
mod http_client;
mod input;
mod log;
mod log_budget;
mod mapped;
mod memory;
mod moment;
mod output;
mod private_file;
mod progress;
mod proof_parameters;
mod serve;
mod systemd;
mod verify;

use std::process::ExitCode;

fn main() -> ExitCode {
    memory::give_back_large_blocks();
    signet_http::panics::end_the_process_elsewhere();
    cli::run()
}
