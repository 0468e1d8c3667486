//! One TOML file: its model, how it is read, what is checked beyond its shape, and what the server
//! makes of it.

pub mod apply;
pub mod brand;
pub mod check;
pub mod clients;
pub mod duration;
pub mod fault;
pub mod model;
mod passkeys;
pub mod people;
pub mod providers;
pub mod read;
mod rules;
pub mod secret;
pub mod sign_up;

pub use model::Config;
