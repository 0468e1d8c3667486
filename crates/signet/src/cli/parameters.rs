//! Which parameters of the proof system a verifier believes, and what every answer says of them.
//!
//! Whoever knows the secrets behind a verifying key of the proof system can prove anything under
//! it, and no key file tells who does. So a key file is believed in three ways: its verifying key
//! is one that was named by its hash (`--verifying-key-sha256`, as `ceremony verify` prints it); or
//! it is the one of the parameters in this data directory, which knows whether it made them for
//! development or checked their ceremony; or the caller says `--development`, and takes what comes.

use std::path::Path;

use clap::Args;
use serde_json::{Map, Value, json};
use signet_compact::{KeyError, SigningKey, VerifyingKey};

use super::compact_keys::read_key;
use super::{Failure, output};
use signet_parameters::{self, Origin};

/// What a verifier believes.
#[derive(Debug, Args)]
pub struct Trust {
    /// SHA-256, in hexadecimal, of a proof system's verifying key that is trusted, as `ceremony
    /// verify` prints it; may be repeated. No other is then. Without it, that of the data
    /// directory's own parameters is.
    #[arg(long = "verifying-key-sha256", value_name = "HEX", value_parser = sha256)]
    pins: Vec<Pin>,
    /// Accept parameters of unknown origin too: who made them may be able to prove anything.
    #[arg(long)]
    development: bool,
}

/// A hash that was named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pin([u8; 32]);

fn sha256(text: &str) -> Result<Pin, String> {
    signet_parameters::hash(text)
        .map(Pin)
        .ok_or_else(|| "64 hexadecimal digits".into())
}

/// The parameters that a key's proofs are made under.
#[derive(Clone, Copy, Debug)]
pub struct Used {
    /// `None` where this machine does not know.
    origin: Option<Origin>,
    pinned: bool,
    sha256: [u8; 32],
}

impl Used {
    /// `development`, `ceremony`, `pinned` (named by its hash, and nothing else known of it) or
    /// `unknown`.
    pub fn name(&self) -> &'static str {
        match (self.origin, self.pinned) {
            (Some(origin), _) => origin.name(),
            (None, true) => "pinned",
            (None, false) => "unknown",
        }
    }

    /// Adds `parameters` and `verifying_key_sha256` to a JSON answer.
    pub fn put(&self, answer: &mut Map<String, Value>) {
        answer.insert("parameters".into(), self.name().into());
        answer.insert(
            "verifying_key_sha256".into(),
            signet_parameters::hex(&self.sha256).into(),
        );
    }

    /// Says on standard error whose parameters they are.
    pub fn note(&self) {
        let about = match (self.origin, self.pinned) {
            (Some(Origin::Development), _) => {
                "development ones: the process that made them knew their secrets"
            }
            (Some(Origin::Ceremony), _) => "from a ceremony that was verified here",
            (None, true) => "pinned by their hash",
            (None, false) => "of unknown origin: whoever made them may be able to prove anything",
        };
        output::note(&format!(
            "the proving parameters are {about} (verifying key {})",
            signet_parameters::hex(&self.sha256)
        ));
    }
}

impl Trust {
    /// Reads a `VerifyingKey`, or a symmetric `SigningKey`. A zero-knowledge key comes with the
    /// parameters that it is checked under, if they are believed; the signing key of one is checked
    /// under the data directory's own.
    ///
    /// # Errors
    /// Exit 2 for what is no key of these; exit 1, `untrusted_parameters`, for parameters that are
    /// not believed.
    pub fn verifying_key(
        &self,
        path: &Path,
        data_dir: &Path,
    ) -> Result<(VerifyingKey, Option<Used>), Failure> {
        let failed = |why: String| Failure::unusable(format!("{}: {why}", path.display()));
        let unreadable =
            |why: KeyError| failed(format!("neither a verifying key nor a shared key: {why}"));
        let bytes = read_key(path)?;
        let symmetric = SigningKey::from_bytes(bytes.expose())
            .ok()
            .filter(|key| key.algorithm().is_symmetric());
        if let Some(key) = symmetric {
            if !key.algorithm().is_zero_knowledge() {
                let key = key.verifying_key().map_err(|e| failed(e.to_string()))?;
                return Ok((key, None));
            }
            let installed = signet_parameters::verifying_key(data_dir, key.algorithm())?
                .ok_or_else(|| failed("no proving parameters are installed".into()))?;
            let used = self.judge(installed.hash(), path, data_dir)?;
            let key = VerifyingKey::of_proofs(key.algorithm(), key.key_hash(), &installed)
                .map_err(|e| failed(e.to_string()))?;
            return Ok((key, Some(used)));
        }
        let Some(hash) = VerifyingKey::parameters_hash(bytes.expose()).map_err(unreadable)? else {
            let key = VerifyingKey::from_bytes(bytes.expose()).map_err(unreadable)?;
            return Ok((key, None));
        };
        let used = self.judge(hash, path, data_dir)?;
        let key = VerifyingKey::from_bytes_pinned(bytes.expose(), &[used.sha256], |hash| {
            signet_parameters::verifying_key_of(data_dir, hash)
        })
        .map_err(unreadable)?;
        Ok((key, Some(used)))
    }

    fn judge(&self, sha256: [u8; 32], path: &Path, data_dir: &Path) -> Result<Used, Failure> {
        let used = Used {
            origin: signet_parameters::origin_of(data_dir, &sha256)?,
            pinned: self.pins.contains(&Pin(sha256)),
            sha256,
        };
        let believed = match &self.pins[..] {
            [] => used.origin.is_some(),
            _ => used.pinned,
        };
        if believed || self.development {
            return Ok(used);
        }
        let hash = signet_parameters::hex(&sha256);
        let why = format!(
            "{}: nobody here knows who made its proving parameters (verifying key {hash}); name the hash with --verifying-key-sha256 if you have checked the ceremony, or say --development",
            path.display()
        );
        Err(Failure::no("untrusted_parameters", why)
            .with(json!({ "verified": false, "verifying_key_sha256": hash })))
    }
}

/// What this data directory's own parameters are, of a key that makes proofs.
///
/// # Errors
/// Exit 2 where none are installed, or they cannot be read.
pub fn own(data_dir: &Path, key: &SigningKey) -> Result<Option<Used>, Failure> {
    if !key.algorithm().is_zero_knowledge() {
        return Ok(None);
    }
    let (sha256, origin) = signet_parameters::installed_key(data_dir, key.algorithm())?
        .ok_or_else(|| Failure::unusable("no proving parameters are installed"))?;
    Ok(Some(Used {
        origin: Some(origin),
        pinned: false,
        sha256,
    }))
}
