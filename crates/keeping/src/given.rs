//! Whom a backup is encrypted to, and what opens it again.

use std::path::{Path, PathBuf};

use clap::Args;
use signet_age::{Identity, Recipient};
use signet_terminal::{Failure, input};

/// Longest file of identities, in bytes.
const MAX_IDENTITY_BYTES: u64 = 1024 * 1024;

/// Whom a backup is for.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct Closing {
    /// File with the passphrase that the backup is encrypted to [default: asked at the terminal].
    #[arg(long, value_name = "F")]
    passphrase_file: Option<PathBuf>,
    /// An age recipient (age1...) that it is encrypted to instead: the machine that makes the
    /// backup cannot read it later.
    #[arg(long, value_name = "RECIPIENT", conflicts_with = "passphrase_file")]
    recipient: Option<String>,
}

impl Closing {
    /// Whom the file is encrypted to, and, where that is known here, what opens it.
    ///
    /// # Errors
    /// What is missing, or wrong.
    pub(crate) fn recipient(&self) -> Result<(Recipient, Option<Identity>), Failure> {
        if let Some(text) = &self.recipient {
            let recipient = Recipient::parse(text);
            let recipient =
                recipient.map_err(|why| Failure::unusable(format!("--recipient: {why}")))?;
            return Ok((recipient, None));
        }
        let file = self.passphrase_file.as_deref();
        match input::passphrase_of_file(file, "A passphrase for the backup", true)? {
            Some(passphrase) => {
                let again = Identity::Passphrase(passphrase.clone());
                Ok((Recipient::Passphrase(passphrase), Some(again)))
            }
            None => Err(Failure::unusable(
                "a backup is never written as it is: --passphrase-file F or --recipient age1... says whom it is encrypted to",
            )),
        }
    }
}

/// What opens a backup.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct Opening {
    /// File with the passphrase that the backup is encrypted to [default: asked at the terminal].
    #[arg(long, value_name = "F")]
    passphrase_file: Option<PathBuf>,
    /// File with the identity (AGE-SECRET-KEY-1...) whose recipient it is encrypted to.
    #[arg(long, value_name = "FILE", conflicts_with = "passphrase_file")]
    identity: Option<PathBuf>,
}

impl Opening {
    /// What opens the file.
    ///
    /// # Errors
    /// What is missing, or wrong.
    pub(crate) fn identity(&self) -> Result<Identity, Failure> {
        if let Some(file) = &self.identity {
            let unreadable =
                |why: String| Failure::unusable(format!("cannot read {}: {why}", file.display()));
            let text = read_short(file).map_err(unreadable)?;
            return Identity::parse(&text).map_err(|why| unreadable(why.to_string()));
        }
        let file = self.passphrase_file.as_deref();
        match input::passphrase_of_file(file, "Passphrase of the backup", false)? {
            Some(passphrase) => Ok(Identity::Passphrase(passphrase)),
            None => Err(Failure::unusable(
                "what opens it? --passphrase-file F, or --identity FILE",
            )),
        }
    }
}

fn read_short(file: &Path) -> Result<String, String> {
    let length = std::fs::metadata(file).map_err(|e| e.to_string())?.len();
    if length > MAX_IDENTITY_BYTES {
        return Err(format!("longer than {MAX_IDENTITY_BYTES} bytes"));
    }
    std::fs::read_to_string(file).map_err(|e| e.to_string())
}
