//! One TOML file: its model, how it is read, what is checked beyond its shape, and what the server
//! makes of it.
//!
//! Every fault is named with its place, and all of them at once. What was checked is what is
//! served: the check and the start call the same functions.
#![forbid(unsafe_code)]

pub mod apply;
pub mod brand;
pub mod check;
pub mod clients;
pub mod duration;
pub mod engine;
pub mod example;
pub mod explain;
pub mod fault;
pub mod model;
mod passkeys;
pub mod people;
mod place;
pub mod providers;
pub mod read;
pub mod realms;
mod rules;
pub mod secret;
pub mod settings;
mod shape;
pub mod sign_up;
mod stand_in;
pub mod telemetry;

pub use model::Config;
