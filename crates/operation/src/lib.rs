//! What every operation of the admin API shares: who calls, how a request becomes an input and an
//! output an answer, and the documents that are made of the rows.
pub mod adapter;
pub mod api_key;
pub mod caller;
pub mod facts;
pub mod input;
pub mod last_administrator;
pub mod noun;
pub mod openapi;
pub mod operation;
pub mod output;
pub mod problem;
pub mod reason;
pub mod right;
pub mod roles;
pub mod target;
pub mod words;
