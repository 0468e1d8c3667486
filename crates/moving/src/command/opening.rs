//! Whom an encrypted file is for: what an export is encrypted to, and what opens it again.

use std::path::{Path, PathBuf};

use signet_age::{Identity, Recipient};
use signet_terminal::input;
use signet_terminal::output::Failure;

/// Longest file of identities, in bytes.
const MAX_IDENTITY_BYTES: u64 = 1024 * 1024;

/// What opens an encrypted export.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(crate) struct Opening {
    /// File with the passphrase that an export is encrypted to [default: asked at the terminal].
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
    /// File with the identity (AGE-SECRET-KEY-1...) whose recipient an export is encrypted to.
    #[arg(long, value_name = "FILE", conflicts_with = "passphrase_file")]
    identity: Option<PathBuf>,
}

impl Opening {
    /// What opens the file. Asked for when there is one that is encrypted.
    ///
    /// # Errors
    /// For people: what is missing, or wrong with a file of it.
    pub(crate) fn identity(&self) -> Result<Identity, String> {
        if let Some(file) = &self.identity {
            let unreadable = |why: String| format!("cannot read {}: {why}", file.display());
            let text = read_short(file).map_err(unreadable)?;
            return Identity::parse(&text).map_err(|why| unreadable(why.to_string()));
        }
        let file = self.passphrase_file.as_deref();
        let typed = input::passphrase_of_file(file, "Passphrase of the export", false);
        match typed.map_err(|failure| failure.description().to_owned())? {
            Some(passphrase) => Ok(Identity::Passphrase(passphrase)),
            None => crate::read::opens_nothing(),
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

/// What an export is encrypted to.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(crate) struct Closing {
    /// File with a passphrase that people's credentials are encrypted to [default: asked at the
    /// terminal].
    #[arg(long, value_name = "FILE", requires = "people")]
    passphrase_file: Option<PathBuf>,
    /// An age recipient (age1...) that people's credentials are encrypted to.
    #[arg(
        long,
        value_name = "RECIPIENT",
        requires = "people",
        conflicts_with = "passphrase_file"
    )]
    recipient: Option<String>,
}

impl Closing {
    /// Whom the file is encrypted to. None: it is written as it is, which only a file without
    /// credentials may be.
    ///
    /// # Errors
    /// What is missing, or wrong.
    pub(crate) fn recipient(&self, credentials: bool) -> Result<Option<Recipient>, Failure> {
        if let Some(text) = &self.recipient {
            let recipient = Recipient::parse(text);
            let recipient =
                recipient.map_err(|why| Failure::unusable(format!("--recipient: {why}")));
            return recipient.map(Some);
        }
        if self.passphrase_file.is_none() && !credentials {
            return Ok(None);
        }
        let file = self.passphrase_file.as_deref();
        match input::passphrase_of_file(file, "A passphrase for the export", true)? {
            Some(passphrase) => Ok(Some(Recipient::Passphrase(passphrase))),
            None => Err(Failure::unusable(
                "credentials are never written as they are: --passphrase-file FILE or --recipient age1... says whom they are encrypted to",
            )),
        }
    }
}
