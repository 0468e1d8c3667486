//! Behaviour of the binary, as real processes.

mod admin;
mod agent;
mod agent_story;
mod audit;
mod compact;
mod config;
mod documentation;
mod gate_revocations;
mod gate_tokens;
mod mcp;
mod new_things;
mod once;
mod prompt;
mod rooms;
mod serve;
mod support;
