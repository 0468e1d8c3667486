//! Secrets of the validation service: from a file or from the environment, never from the
//! configuration itself.

use std::path::Path;

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer, pem::PemObject};
use signet_crypto::{Secret, decrypt::DecryptionKey};
use signet_jose::jwe::NamedKey;
use signet_verify::fetch::Credentials;

use super::model::{self, ClientSecret};

/// Longest file of a secret or a private key that is read, in bytes.
const LONGEST: u64 = 16 * 1024;

/// A client's id and secret; a line end behind the secret is not part of it. `what` begins the
/// message of an error.
pub(crate) fn credentials(
    what: &str,
    client: &ClientSecret,
    base: &Path,
) -> Result<Credentials, String> {
    let secret = match (&client.client_secret_file, &client.client_secret_env) {
        (Some(file), None) => read(what, &base.join(file))?,
        (None, Some(name)) => {
            let text = std::env::var(name)
                .map_err(|_| format!("{what}: the environment has no text called {name}"))?;
            let text = Secret::new(text);
            Secret::new(text.expose().trim_end_matches(['\r', '\n']).to_owned())
        }
        _ => {
            return Err(format!(
                "{what}: client_secret_file or client_secret_env, one of the two"
            ));
        }
    };
    if secret.expose().is_empty() {
        return Err(format!("{what}: the client's secret is empty"));
    }
    Ok(Credentials::new(&client.client_id, secret))
}

/// The text of a secret's file, without the line end that editors add. `what` begins the message of
/// an error.
pub(crate) fn read(what: &str, file: &Path) -> Result<Secret<String>, String> {
    let failed = |e: std::io::Error| format!("{what}: {}: {e}", file.display());
    if std::fs::metadata(file).map_err(failed)?.len() > LONGEST {
        return Err(format!("{what}: {} is too long", file.display()));
    }
    let text = Secret::new(std::fs::read_to_string(file).map_err(failed)?);
    let line = text.expose().trim_end_matches(['\r', '\n']);
    Ok(Secret::new(line.to_owned()))
}

/// A private key of a PEM file.
pub(crate) fn pkcs8(file: &Path) -> Result<PrivatePkcs8KeyDer<'static>, String> {
    let length = std::fs::metadata(file).map_err(|e| e.to_string())?;
    if length.len() > LONGEST {
        return Err("the file is too long".into());
    }
    let pem = Secret::new(std::fs::read(file).map_err(|e| e.to_string())?);
    let der = PrivateKeyDer::from_pem_slice(pem.expose()).map_err(|e| e.to_string())?;
    match der {
        PrivateKeyDer::Pkcs8(der) => Ok(der),
        _ => Err("it is no PKCS#8 key".into()),
    }
}

/// A private key that opens encrypted tokens. `what` begins the message of an error.
pub(crate) fn decryption_key(
    what: &str,
    key: &model::DecryptionKey,
    base: &Path,
) -> Result<NamedKey, String> {
    let file = base.join(&key.file);
    let failed = |e: String| format!("{what}: {}: {e}", file.display());
    let der = pkcs8(&file).map_err(failed)?;
    let opened = DecryptionKey::from_pkcs8(der.secret_pkcs8_der());
    Ok(NamedKey {
        kid: key.kid.clone(),
        key: opened.map_err(|e| failed(e.to_string()))?,
    })
}
