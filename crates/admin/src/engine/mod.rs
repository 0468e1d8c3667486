//! What every operation of the admin API shares: who calls, how a request becomes an input and an
//! output an answer, and the documents that are made of the rows.
pub(crate) mod adapter;
pub(crate) mod caller;
pub(crate) mod facts;
pub(crate) mod input;
pub(crate) mod noun;
pub(crate) mod openapi;
pub(crate) mod operation;
pub(crate) mod output;
pub(crate) mod problem;
pub(crate) mod right;
pub(crate) mod words;
