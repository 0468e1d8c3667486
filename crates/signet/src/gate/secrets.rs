//! Secrets of the validation service: from a file or from the environment, never from the configuration itself.

use std::path::Path;

use signet_crypto::Secret;
use signet_verify::fetch::Credentials;

use super::model::ClientSecret;

/// Longest secret that is read, in bytes.
const LONGEST: u64 = 4096;

/// A client's id and secret. `what` begins the message of an error.
pub fn credentials(what: &str, client: &ClientSecret, base: &Path) -> Result<Credentials, String> {
    let secret = match (&client.client_secret_file, &client.client_secret_env) {
        (Some(file), None) => {
            let file = base.join(file);
            let failed = |e: std::io::Error| format!("{what}: {}: {e}", file.display());
            if std::fs::metadata(&file).map_err(failed)?.len() > LONGEST {
                return Err(format!("{what}: {} is too long", file.display()));
            }
            std::fs::read_to_string(&file).map_err(failed)?
        }
        (None, Some(name)) => std::env::var(name)
            .map_err(|_| format!("{what}: the environment has no text called {name}"))?,
        _ => {
            return Err(format!(
                "{what}: client_secret_file or client_secret_env, one of the two"
            ));
        }
    };
    let secret = Secret::new(secret);
    // Editors end a file with a line end.
    let secret = Secret::new(secret.expose().trim_end_matches(['\r', '\n']).to_owned());
    if secret.expose().is_empty() {
        return Err(format!("{what}: the client's secret is empty"));
    }
    Ok(Credentials::new(&client.client_id, secret))
}
