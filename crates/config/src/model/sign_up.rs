//! `[sign_up]`.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Accounts that people make for themselves.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SignUp {
    /// May people make accounts for themselves? Needs `[mail]`: an account is made by a link that
    /// shows that mail to its address arrives.
    pub enabled: bool,
    /// Only addresses of these domains, e.g. "example.com"; subdomains are listed by themselves.
    /// Default: every domain that is not denied.
    pub domains: Vec<String>,
    /// No addresses of these domains.
    pub denied_domains: Vec<String>,
    /// Where the terms can be read that have to be accepted, by whoever signs up or is invited: an
    /// https URL. Default: nothing has to be.
    pub terms_url: Option<String>,
    /// Names the terms in the account's record; goes with `terms_url`, e.g. "2026-11".
    pub terms_version: Option<String>,
}
