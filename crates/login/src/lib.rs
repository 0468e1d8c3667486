//! What a person does: logs in, signs up, takes over an invitation, recovers, looks after the own
//! account, and has it deleted.
//!
//! - [`journey`]: ways to log in, one file a method, and what is common to all of them.
//! - [`account`]: `/account`, a person's own page.
//! - [`administrator`]: the login that the console asks for.
//! - [`sign_up`], [`invitation`], [`recover`]: accounts that begin and end by mailed
//!   links.
//! - `freshness`: the one question of every act that outlives its session: has this browser just
//!   shown everything that the account has?
//!
//! Protocol endpoints send a person here and go on with who came back; this crate names none of
//! them.
#![forbid(unsafe_code)]

pub mod account;
pub mod administrator;
pub mod failure;
pub mod freshness;
pub mod invitation;
pub mod journey;
pub mod keep_account;
pub mod passkeys;
pub mod recover;
pub mod sign_up;
mod user_passkeys;
pub mod waiting_login;
