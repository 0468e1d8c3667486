//! The commands for what administrators are given: API keys. Each is a request of the admin API.
#![forbid(unsafe_code)]

mod api_key;
mod duration;

pub use api_key::ApiKeyCommand;
