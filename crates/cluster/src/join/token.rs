//! The text that lets one node in.
use super::ClusterId;
use crate::member::{MAX_ADDRESSES, is_address};
use signet_cbor::{Decoder, Encoder};
use signet_crypto::{Secret, hash::Sha256};
use signet_encoding::base64url;
use std::{fmt, time::Duration};

/// How long an invitation holds where nothing else was asked for.
pub const DEFAULT_TTL: Duration = Duration::from_secs(10 * 60);
/// An invitation holds no longer.
pub const MAX_TTL: Duration = Duration::from_secs(24 * 60 * 60);

/// Longest text of a token, in bytes.
pub(super) const MAX_TOKEN_BYTES: usize = 4096;
/// Most keys that a token pins: the inviter's, and of as many of its fellow members.
pub(super) const MAX_PINS: usize = 5;

const PREFIX: &str = "signet-join-";

/// An invitation, as its holder has it. Debug prints no secret.
#[derive(Clone)]
pub struct Token {
    /// The cluster.
    pub cluster: ClusterId,
    /// Where it listens.
    pub addresses: Vec<String>,
    /// Whose keys may answer there (SHA-256 of the SubjectPublicKeyInfo).
    pub pins: Vec<[u8; 32]>,
    /// Names the invitation. It is sent before there is an encrypted connection, and worth nothing
    /// by itself.
    pub id: [u8; 16],
    /// Proves that it is held.
    pub secret: Secret<[u8; 32]>,
    /// Unix seconds.
    pub end: u64,
}

/// The text is no token.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "this is no join token: one line that begins with {PREFIX}, as `signet node invite` prints it"
)]
pub struct TokenError;

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token")
            .field("addresses", &self.addresses)
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}

impl Token {
    /// One line.
    pub fn to_text(&self) -> Secret<String> {
        let mut out = Encoder::with_capacity(MAX_TOKEN_BYTES);
        out.array(7).uint(1).bytes(&self.cluster);
        out.array(self.addresses.len());
        for address in &self.addresses {
            out.text(address);
        }
        out.array(self.pins.len());
        for pin in &self.pins {
            out.bytes(pin);
        }
        out.bytes(&self.id)
            .bytes(self.secret.expose())
            .uint(self.end);
        let bytes = Secret::new(out.finish());
        let encoded = Secret::new(base64url::encode(bytes.expose()));
        Secret::new(format!("{PREFIX}{}", encoded.expose()))
    }

    /// Reads the line, with whatever space there is around it.
    ///
    /// # Errors
    /// [`TokenError`].
    pub fn parse(text: &str) -> Result<Token, TokenError> {
        let text = text.trim();
        let encoded = text.strip_prefix(PREFIX).ok_or(TokenError)?;
        if text.len() > MAX_TOKEN_BYTES {
            return Err(TokenError);
        }
        let bytes = base64url::decode(encoded.as_bytes()).map_err(|_| TokenError)?;
        let bytes = Secret::new(bytes);
        let token = Decoder::whole(bytes.expose(), |d| {
            d.tuple(7, |d| {
                if d.uint()? != 1 {
                    return Err(signet_cbor::Error::WrongType);
                }
                Ok(Token {
                    cluster: d.fixed()?,
                    addresses: d.list(MAX_ADDRESSES, |d| d.text().map(str::to_owned))?,
                    pins: d.list(MAX_PINS, Decoder::fixed)?,
                    id: d.fixed()?,
                    secret: Secret::new(d.fixed()?),
                    end: d.uint()?,
                })
            })
        });
        let token = token.map_err(|_| TokenError)?;
        let usable = !token.addresses.is_empty()
            && !token.pins.is_empty()
            && token.addresses.iter().all(|a| is_address(a));
        usable.then_some(token).ok_or(TokenError)
    }

    /// How the invitation is named in the handshake.
    pub(super) fn name(&self) -> String {
        base64url::encode(&self.id)
    }
}

/// What is kept of a secret.
pub(super) fn digest(secret: &[u8; 32]) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(b"signet join secret 1\0");
    hash.update(secret);
    hash.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token() -> Token {
        Token {
            cluster: [1; 16],
            addresses: vec!["a:1".into(), "[::1]:2".into()],
            pins: vec![[2; 32], [3; 32]],
            id: [4; 16],
            secret: Secret::new([5; 32]),
            end: 1_800_000_000,
        }
    }

    #[test]
    fn a_token_is_one_line_and_reads_back() {
        let text = token().to_text();
        assert!(text.expose().starts_with("signet-join-"));
        assert!(!text.expose().contains(char::is_whitespace));
        let read = Token::parse(&format!(" {}\n", text.expose())).expect("a token");
        assert_eq!(read.to_text(), text);
        assert_eq!(read.secret, token().secret);
        let shown = format!("{read:?}");
        assert!(!shown.contains('5'), "{shown}");
    }

    #[test]
    fn what_is_no_token_is_refused() {
        let text = token().to_text();
        let text = text.expose();
        for broken in [
            "",
            "signet-join-",
            "signet-join-AA",
            &text[1..],
            &text[..text.len() - 1],
            &format!("{text}A"),
            &format!("{text}="),
        ] {
            assert!(Token::parse(broken).is_err(), "{broken}");
        }
        let unusable = [
            Token {
                addresses: vec![],
                ..token()
            },
            Token {
                pins: vec![],
                ..token()
            },
            Token {
                addresses: vec!["a".into()],
                ..token()
            },
        ];
        for token in unusable {
            assert!(Token::parse(token.to_text().expose()).is_err());
        }
    }

    #[test]
    fn the_longest_token_is_read() {
        let longest = Token {
            addresses: vec![format!("{}:65535", "a".repeat(250)); MAX_ADDRESSES],
            pins: vec![[2; 32]; MAX_PINS],
            ..token()
        };
        assert!(Token::parse(longest.to_text().expose()).is_ok());
    }
}
