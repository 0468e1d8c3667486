//! What an upstream receives about an accepted token: header fields made from claims.
//!
//! A claim's text is somebody's input, so it is written such that no value can end a field, begin
//! another, or read as two: in each value everything but visible ASCII, and `%` itself, is
//! percent-encoded. Every configured field is always there, empty where the token lacks the claim:
//! a proxy that overwrites fields thereby removes what a client sent under the same name.
use http::{HeaderMap, HeaderName, HeaderValue};
use signet_encoding::json::Value;
use signet_verify::Claims;

/// Which claim goes to which header field.
#[derive(Clone, Debug)]
pub struct Identity {
    fields: Vec<(HeaderName, String)>,
}

/// Fields that a claim must never write: they mean something to HTTP, to proxies or to this
/// service.
const RESERVED: [&str; 17] = [
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "dpop",
    "host",
    "keep-alive",
    "proxy-authorization",
    "set-cookie",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "www-authenticate",
    "location",
    "x-envoy-auth-headers-to-remove",
];

/// Longest value, in bytes: longer ones are left empty rather than cut.
const MAX_VALUE: usize = 4096;

impl Default for Identity {
    fn default() -> Identity {
        let field = |name, claim: &str| (HeaderName::from_static(name), claim.to_owned());
        Identity {
            fields: vec![
                field("x-auth-subject", "sub"),
                field("x-auth-issuer", "iss"),
                field("x-auth-client", "client_id"),
                field("x-auth-scope", "scope"),
            ],
        }
    }
}

impl Identity {
    /// From pairs of field name and claim.
    ///
    /// # Errors
    /// A sentence where a name is no field name, is reserved, or comes twice.
    pub fn new<'a>(
        fields: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Identity, String> {
        let mut read: Vec<(HeaderName, String)> = Vec::new();
        for (name, claim) in fields {
            let field = HeaderName::try_from(name)
                .map_err(|_| format!("\"{name}\" is no header field name"))?;
            if RESERVED.contains(&field.as_str()) {
                return Err(format!("\"{name}\" means something else already"));
            }
            if read.iter().any(|(other, _)| *other == field) {
                return Err(format!("\"{name}\" is there twice"));
            }
            read.push((field, claim.to_owned()));
        }
        Ok(Identity { fields: read })
    }

    /// The names, for a proxy's list of fields to take over.
    pub fn names(&self) -> impl Iterator<Item = &HeaderName> {
        self.fields.iter().map(|(name, _)| name)
    }

    /// Writes every field.
    pub(crate) fn write(&self, claims: &Claims, headers: &mut HeaderMap) {
        for (name, claim) in &self.fields {
            // Invariant: `encode` leaves visible ASCII only, which is a header value.
            let value = HeaderValue::from_str(&value_of(claims, claim));
            headers.insert(name.clone(), value.unwrap_or(HeaderValue::from_static("")));
        }
    }

    /// Writes every field, empty: so a proxy removes what a client sent under the same name.
    pub(crate) fn write_nobody(&self, headers: &mut HeaderMap) {
        for (name, _) in &self.fields {
            headers.insert(name.clone(), HeaderValue::from_static(""));
        }
    }

    /// The claims that the fields carry.
    pub fn claims(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|(_, claim)| claim.as_str())
    }
}

fn value_of(claims: &Claims, claim: &str) -> String {
    let mut out = String::new();
    match claim {
        "sub" => encode(claims.sub().unwrap_or(""), &mut out),
        "iss" => encode(claims.iss().unwrap_or(""), &mut out),
        "client_id" => encode(claims.client_id().or(claims.azp()).unwrap_or(""), &mut out),
        // A list: each encoded by itself, so that the spaces between them are ours.
        "scope" => list(claims.scopes(), ' ', &mut out),
        "aud" => list(claims.aud(), ',', &mut out),
        other => match claims.get(other) {
            Some(Value::String(text)) => encode(&text, &mut out),
            Some(Value::Number(number)) => encode(number.as_str(), &mut out),
            Some(Value::Bool(true)) => out.push_str("true"),
            Some(Value::Bool(false)) => out.push_str("false"),
            Some(Value::Array(elements)) => {
                list(elements.iter().filter_map(Value::as_str), ',', &mut out);
            }
            _ => {}
        },
    }
    match out.len() <= MAX_VALUE {
        true => out,
        false => String::new(),
    }
}

fn list<'a>(values: impl Iterator<Item = &'a str>, separator: char, out: &mut String) {
    for (index, value) in values.enumerate() {
        if index > 0 {
            out.push(separator);
        }
        encode(value, out);
    }
}

/// Percent-encodes all but visible ASCII; also `%`, so that decoding gives the claim back, and `,`,
/// which parts lists.
fn encode(value: &str, out: &mut String) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for byte in value.bytes() {
        if byte.is_ascii_graphic() && byte != b'%' && byte != b',' {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_can_end_a_field_or_begin_another() {
        let mut out = String::new();
        encode("a\r\nX-Admin: 1\0 %41,\u{e9}", &mut out);
        assert_eq!(out, "a%0D%0AX-Admin:%201%00%20%2541%2C%C3%A9");
        assert!(HeaderValue::from_str(&out).is_ok());
    }

    #[test]
    fn reserved_and_doubled_fields_are_refused() {
        assert!(Identity::new([("X-User", "sub"), ("x-user", "iss")]).is_err());
        for name in RESERVED.iter().copied().chain(["", "x y", "x:"]) {
            assert!(Identity::new([(name, "sub")]).is_err(), "{name}");
        }
        assert!(Identity::new([("X-User", "sub")]).is_ok());
    }
}
