//! A client's stored form: its metadata and policy under their public names, and beside them what
//! never leaves the server (secrets' hashes). One JSON object; the store keeps it as it is.
use super::{Client, ClientSecret, metadata};
use signet_encoding::{
    base64url,
    json::{self, JsonError, Limits, Object, Writer},
};

/// A stored client that cannot be read. The text is for the operator's log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a stored client cannot be read: {0}")]
pub struct StoredClientError(String);

impl From<JsonError> for StoredClientError {
    fn from(error: JsonError) -> Self {
        StoredClientError(error.to_string())
    }
}

/// As `from_json` reads it.
const LIMITS: Limits = Limits {
    bytes: 512 * 1024,
    depth: 16,
    members: 4096,
};

impl Client {
    /// Metadata, policy and server fields without any secret: what the admin API shows.
    pub fn write_public(&self, w: &mut Writer<'_>) {
        w.member("client_id").string(&self.client_id);
        w.member("revision").number(self.revision);
        w.member("created_at").number(self.created_at);
        metadata::write(w, self);
        metadata::write_policy(w, self);
    }

    /// The stored form: JSON text.
    pub fn to_json(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(1024);
        Writer::new(&mut out).object(|w| {
            self.write_public(w);
            w.member("secrets").array(|w| {
                for secret in &self.secrets {
                    let (name, bytes, end) = match secret {
                        ClientSecret::Sha256 { hash, expires_at } => {
                            ("sha256", hash.as_slice(), expires_at)
                        }
                        ClientSecret::Sealed { sealed, expires_at } => {
                            ("sealed", sealed.as_slice(), expires_at)
                        }
                    };
                    w.object(|w| {
                        w.member(name).base64url(bytes);
                        if let Some(end) = end {
                            w.member("expires_at").number(*end);
                        }
                    });
                }
            });
            if let Some(hash) = &self.registration_token_hash {
                w.member("registration_token_sha256").base64url(hash);
            }
        });
        out
    }

    /// Reads the stored form. The rules of [`metadata::check`] are not run again: they depend on
    /// the settings.
    ///
    /// # Errors
    /// The text is not what [`to_json`](Self::to_json) writes.
    pub fn from_json(text: &[u8]) -> Result<Client, StoredClientError> {
        let document = json::parse_object(text, &LIMITS)?;
        let missing = |name: &str| StoredClientError(format!("{name} is missing or malformed"));
        let id = document
            .string("client_id")?
            .ok_or_else(|| missing("client_id"))?;
        let created_at = document
            .u64("created_at")?
            .ok_or_else(|| missing("created_at"))?;
        let mut client = Client::new(id.to_owned(), created_at);
        client.revision = document
            .u64("revision")?
            .ok_or_else(|| missing("revision"))?;
        metadata::read(&document, &mut client, &metadata::Rules::operator())
            .map_err(|e| StoredClientError(e.description.to_owned()))?;
        for secret in document
            .get("secrets")
            .and_then(|v| v.as_array())
            .ok_or_else(|| missing("secrets"))?
        {
            let secret = secret.as_object().ok_or_else(|| missing("secrets"))?;
            let expires_at = secret.u64("expires_at")?;
            client
                .secrets
                .push(if let Some(hash) = bytes(secret, "sha256")? {
                    let hash = hash.try_into().map_err(|_| missing("sha256"))?;
                    ClientSecret::Sha256 { hash, expires_at }
                } else if let Some(sealed) = bytes(secret, "sealed")? {
                    ClientSecret::Sealed { sealed, expires_at }
                } else {
                    return Err(missing("sha256 or sealed"));
                });
        }
        if let Some(hash) = bytes(&document, "registration_token_sha256")? {
            let hash = hash
                .try_into()
                .map_err(|_| missing("registration_token_sha256"))?;
            client.registration_token_hash = Some(hash);
        }
        Ok(client)
    }
}

fn bytes(object: &Object<'_>, name: &str) -> Result<Option<Vec<u8>>, StoredClientError> {
    match object.string(name)? {
        None => Ok(None),
        Some(text) => base64url::decode(text.as_bytes())
            .map(Some)
            .map_err(|e| StoredClientError(format!("{name}: {e}"))),
    }
}
