//! The tables that `vectors/jose` is written from.

pub mod dpop;
pub mod tokens;

/// A token and the key that its verifier was given.
pub struct Case {
    pub group: &'static str,
    pub name: &'static str,
    pub jwk: String,
    pub token: String,
    pub result: &'static str,
}

/// A proof and the request that it came with.
pub struct DpopCase {
    pub group: &'static str,
    pub name: &'static str,
    pub proof: String,
    pub htm: &'static str,
    pub htu: &'static str,
    pub now: u64,
    pub result: &'static str,
}

/// `text` with its one `from` replaced.
pub fn replaced(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "{from}");
    text.replacen(from, to, 1)
}
