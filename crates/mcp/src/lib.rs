//! What an identity signs for a model's host: because a policy allows it, or because a person
//! approved it there and then. Where neither can be had, it is refused.
#![forbid(unsafe_code)]

pub mod approval;
pub mod policy;
pub mod question;
