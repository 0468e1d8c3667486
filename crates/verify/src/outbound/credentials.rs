//! Whom this side is to an issuer: a client with a secret.

use http::HeaderValue;
use signet_crypto::Secret;
use signet_encoding::base64url;

/// A client's id and secret, sent as RFC 6749 section 2.3.1 says (`client_secret_basic`).
#[derive(Clone, Debug)]
pub struct Credentials {
    client_id: String,
    client_secret: Secret<String>,
}

impl Credentials {
    /// As the issuer gave them.
    pub fn new(client_id: impl Into<String>, client_secret: Secret<String>) -> Credentials {
        Credentials {
            client_id: client_id.into(),
            client_secret,
        }
    }

    /// Who it is.
    pub fn client_id(&self) -> &str {
        &self.client_id
    }

    /// The value of `Authorization`, marked so that nothing prints it.
    pub fn authorization(&self) -> HeaderValue {
        let mut pair = String::new();
        encode(&self.client_id, &mut pair);
        pair.push(':');
        encode(self.client_secret.expose(), &mut pair);
        let pair = Secret::new(pair);
        let encoded = Secret::new(base64(pair.expose().as_bytes()));
        let value = Secret::new(["Basic ", encoded.expose()].concat());
        // Invariant: the text is ASCII without control characters.
        let mut value =
            HeaderValue::from_str(value.expose()).unwrap_or(HeaderValue::from_static("Basic"));
        value.set_sensitive(true);
        value
    }
}

/// `application/x-www-form-urlencoded`, which comes before Basic (RFC 6749 appendix B).
pub(crate) fn encode(text: &str, out: &mut String) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'*' => {
                out.push(char::from(byte));
            }
            b' ' => out.push('+'),
            _ => {
                out.push('%');
                out.push(char::from(HEX[usize::from(byte >> 4)]));
                out.push(char::from(HEX[usize::from(byte & 15)]));
            }
        }
    }
}

/// RFC 4648 section 4, with padding.
fn base64(data: &[u8]) -> String {
    let mut text: String = base64url::encode(data)
        .chars()
        .map(|symbol| match symbol {
            '-' => '+',
            '_' => '/',
            other => other,
        })
        .collect();
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_and_secret_are_encoded_before_they_are_joined() {
        let credentials = Credentials::new("a:b", Secret::new("p w%?\u{e9}".to_owned()));
        let value = credentials.authorization();
        assert!(value.is_sensitive());
        // a%3Ab:p+w%25%3F%C3%A9
        assert_eq!(value.as_bytes(), b"Basic YSUzQWI6cCt3JTI1JTNGJUMzJUE5");
        assert!(!format!("{credentials:?}").contains("p w"));
    }
}
