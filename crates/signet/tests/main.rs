//! Behaviour of the binary, as real processes.
#![allow(
    unreachable_pub,
    reason = "a program of tests: nothing outside reaches into it"
)]

mod admin;
mod agent;
mod agent_story;
mod audit;
mod cluster;
mod compact;
mod config;
mod declaration;
mod documentation;
mod first_use;
mod full_disk;
mod gate_revocations;
mod gate_tokens;
mod hubs;
mod keeping;
mod kubernetes;
mod login;
mod manual;
mod mcp;
mod metrics;
mod moves;
mod moving;
mod moving_out;
mod new_things;
mod once;
mod passwords;
mod people;
mod prompt;
mod realms;
mod revoke;
mod revoke_nodes;
mod rooms;
mod rules;
mod serve;
mod setup;
mod store;
mod support;
mod telemetry;
