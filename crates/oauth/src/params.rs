//! Request parameters: `application/x-www-form-urlencoded` bodies and query strings, read strictly.
//!
//! Everything is bounded, percent-encoding must be well formed, the text must be UTF-8 without
//! control characters, and a parameter appears once (RFC 6749 section 3.1), but for those that
//! their specifications let repeat. Decoded text lies in one buffer; the hot path costs two
//! allocations.
use crate::error::OAuthError;

/// Longest body or query, in bytes.
pub const MAX_BYTES: usize = 64 * 1024;
/// Most parameters in one request.
pub const MAX_COUNT: usize = 64;
/// Longest parameter name, in bytes after decoding.
pub const MAX_NAME_BYTES: usize = 128;
/// Longest parameter value, in bytes after decoding: a token with an ML-DSA-87 signature fits.
pub const MAX_VALUE_BYTES: usize = 16 * 1024;
/// Parameters that may be repeated: RFC 8707 section 2, RFC 8693 section 2.1.
const REPEATABLE: [&str; 2] = ["resource", "audience"];

/// The parameters of one request, in order. A parameter without a value is as if omitted (RFC 6749
/// section 3.1).
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Params {
    text: String,
    /// Where a name begins, where its value begins, where the value ends.
    pairs: Vec<(u32, u32, u32)>,
}

/// Names only: values are tokens and secrets.
impl std::fmt::Debug for Params {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.iter().map(|(name, _)| name))
            .finish()
    }
}

impl Params {
    /// Reads a form body or a query (without its `?`). Every failure is `invalid_request`.
    pub fn parse(encoded: &[u8]) -> Result<Params, OAuthError> {
        if encoded.len() > MAX_BYTES {
            return Err(OAuthError::invalid_request("the request is too large"));
        }
        let mut text = Vec::with_capacity(encoded.len());
        let mut pairs = Vec::with_capacity(8);
        for pair in pairs_of(encoded).filter(|pair| !pair.is_empty()) {
            let equals = pair.iter().position(|&b| b == b'=').unwrap_or(pair.len());
            let start = text.len();
            decode(&pair[..equals], &mut text)?;
            let middle = text.len();
            decode(pair.get(equals + 1..).unwrap_or_default(), &mut text)?;
            if middle == start {
                return Err(OAuthError::invalid_request("a parameter has no name"));
            }
            // MAX_BYTES fits in u32, and decoding never grows.
            pairs.push((start as u32, middle as u32, text.len() as u32));
            if pairs.len() > MAX_COUNT {
                return Err(OAuthError::invalid_request("too many parameters"));
            }
        }
        let text = String::from_utf8(text)
            .map_err(|_| OAuthError::invalid_request("a parameter is not UTF-8"))?;
        Self::checked(text, pairs)
    }

    /// The same rules over pairs that are decoded already (a pushed request, a stored interaction).
    pub fn from_pairs<'a>(
        pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Params, OAuthError> {
        let (mut text, mut ranges) = (String::new(), Vec::new());
        for (name, value) in pairs {
            let start = text.len();
            text.push_str(name);
            let middle = text.len();
            text.push_str(value);
            if text.len() > MAX_BYTES || ranges.len() == MAX_COUNT {
                return Err(OAuthError::invalid_request("the request is too large"));
            }
            ranges.push((start as u32, middle as u32, text.len() as u32));
        }
        Self::checked(text, ranges)
    }

    fn checked(text: String, pairs: Vec<(u32, u32, u32)>) -> Result<Params, OAuthError> {
        let mut params = Params { text, pairs };
        for &(start, middle, end) in &params.pairs {
            if (middle - start) as usize > MAX_NAME_BYTES
                || (end - middle) as usize > MAX_VALUE_BYTES
            {
                return Err(OAuthError::invalid_request("a parameter is too long"));
            }
            // A pair's ends may lie inside a UTF-8 sequence that spans two pairs: such text was
            // never UTF-8 in itself.
            let (Some(name), Some(value)) = (
                params.text.get(start as usize..middle as usize),
                params.text.get(middle as usize..end as usize),
            ) else {
                return Err(OAuthError::invalid_request("a parameter is not UTF-8"));
            };
            // White space of JSON values is let through, and nothing else below space.
            if has_control(name, b"") || has_control(value, b"\t\n\r") {
                return Err(OAuthError::invalid_request(
                    "a parameter contains control characters",
                ));
            }
        }
        params.pairs.retain(|&(_, middle, end)| middle != end);
        for (i, (name, _)) in params.iter().enumerate() {
            if !REPEATABLE.contains(&name)
                && params.iter().skip(i + 1).any(|(other, _)| other == name)
            {
                // RFC 6749 section 3.1: parameters must not be included more than once.
                return Err(OAuthError::invalid_request(
                    "a parameter appears more than once",
                ));
            }
        }
        Ok(params)
    }

    /// The value of a parameter; the first one where it repeats.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter()
            .find(|(n, _)| *n == name)
            .map(|(_, value)| value)
    }
    /// Every value of a parameter that may repeat.
    pub fn all(&self, name: &str) -> Vec<&str> {
        self.iter()
            .filter(|(n, _)| *n == name)
            .map(|(_, value)| value)
            .collect()
    }
    /// Whether the parameter was sent with a value.
    pub fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }
    /// The value, or `invalid_request`, which names the parameter.
    pub fn require(&self, name: &'static str) -> Result<&str, OAuthError> {
        self.get(name).ok_or_else(|| {
            let said = match name {
                "client_id" => "the parameter client_id is missing",
                "code" => "the parameter code is missing",
                "device_code" => "the parameter device_code is missing",
                "grant_type" => "the parameter grant_type is missing",
                "refresh_token" => "the parameter refresh_token is missing",
                "scope" => "the parameter scope is missing",
                "subject_token" => "the parameter subject_token is missing",
                "subject_token_type" => "the parameter subject_token_type is missing",
                "token" => "the parameter token is missing",
                _ => "a required parameter is missing",
            };
            OAuthError::invalid_request(said).with_hint(format!("missing: {name}"))
        })
    }
    /// Names and values in order of appearance.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        // The ranges were checked when they were made.
        self.pairs.iter().map(|&(start, middle, end)| {
            (
                &self.text[start as usize..middle as usize],
                &self.text[middle as usize..end as usize],
            )
        })
    }
    /// The parameters as a form or query again, in order: what [`Params::parse`] reads back to the
    /// same.
    pub fn to_form(&self) -> String {
        let mut out = String::with_capacity(self.text.len() + self.pairs.len() * 2);
        for (name, value) in self.iter() {
            if !out.is_empty() {
                out.push('&');
            }
            encode_into(name, &mut out);
            out.push('=');
            encode_into(value, &mut out);
        }
        out
    }
}

/// Appends the form encoding of `text`: unreserved characters as they are, the rest percent-encoded
/// (a space as `%20`).
pub fn encode_into(text: &str, out: &mut String) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let is_escaped = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '~'));
    let mut rest = text;
    // What stands for itself goes over in runs: a code is one.
    while let Some(at) = rest.find(is_escaped) {
        let (plain, from) = rest.split_at(at);
        out.push_str(plain);
        let end = from.find(|c| !is_escaped(c)).unwrap_or(from.len());
        for byte in from[..end].bytes() {
            out.push('%');
            out.push(HEX[usize::from(byte >> 4)] as char);
            out.push(HEX[usize::from(byte & 15)] as char);
        }
        rest = &from[end..];
    }
    out.push_str(rest);
}

/// Form-decodes one name or value: `+` is a space, `%` needs two hexadecimal digits.
pub(crate) fn decode(encoded: &[u8], out: &mut Vec<u8>) -> Result<(), OAuthError> {
    let mut rest = encoded;
    // What stands for itself goes over in runs: a token is one.
    while let Some(at) = find_escape(rest) {
        let (plain, escape) = rest.split_at(at);
        out.extend_from_slice(plain);
        match escape {
            [b'%', high, low, after @ ..] => {
                let (Some(high), Some(low)) =
                    ((*high as char).to_digit(16), (*low as char).to_digit(16))
                else {
                    return Err(OAuthError::invalid_request("malformed percent-encoding"));
                };
                // Two digits below 16 fit in a byte.
                out.push((high * 16 + low) as u8);
                rest = after;
            }
            [b'+', after @ ..] => {
                out.push(b' ');
                rest = after;
            }
            _ => return Err(OAuthError::invalid_request("malformed percent-encoding")),
        }
    }
    out.extend_from_slice(rest);
    Ok(())
}

/// Where the first `+` or `%` is.
fn find_escape(text: &[u8]) -> Option<usize> {
    find(text, |byte| (byte == b'+') | (byte == b'%'))
}

/// What stands between the `&`, the empty too.
fn pairs_of(encoded: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(encoded);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let Some(at) = find(text, |byte| byte == b'&') else {
            return Some(text);
        };
        rest = text.get(at + 1..);
        text.get(..at)
    })
}

/// Where the first byte is that is so.
fn find(text: &[u8], is_so: impl Fn(u8) -> bool) -> Option<usize> {
    let clean = runs(text, |run| !has(run, &is_so));
    let at = text.get(clean..)?.iter().position(|&byte| is_so(byte))?;
    Some(clean + at)
}

/// How many bytes at the beginning lie in whole runs for which `holds`.
fn runs(text: &[u8], holds: impl Fn(&[u8; RUN]) -> bool) -> usize {
    let (runs, _) = text.as_chunks::<RUN>();
    RUN * runs.iter().take_while(|run| holds(run)).count()
}

/// Bytes that are looked at together: without a branch for each, the compiler takes them by the
/// register.
const RUN: usize = 32;

/// Whether any of a run is so. Looks at all of them.
fn has(run: &[u8; RUN], is_so: impl Fn(u8) -> bool) -> bool {
    run.iter().fold(false, |has, &byte| has | is_so(byte))
}

/// Whether a text has characters below space, or DEL, that are not among those let through.
fn has_control(text: &str, through: &[u8]) -> bool {
    let text = text.as_bytes();
    let is_control = |byte: u8| (byte < b' ') | (byte == 0x7f);
    let clean = runs(text, |run| !has(run, is_control));
    let mut rest = text.get(clean..).unwrap_or_default().iter();
    rest.any(|byte| is_control(*byte) && !through.contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_form_is_decoded_in_order() {
        let params =
            Params::parse(b"grant_type=authorization_code&scope=openid+email&state=%C3%A9%26")
                .unwrap();
        assert_eq!(params.get("scope"), Some("openid email"));
        assert_eq!(params.get("state"), Some("\u{e9}&"));
        assert_eq!(
            params.iter().next(),
            Some(("grant_type", "authorization_code"))
        );
    }

    #[test]
    fn a_parameter_appears_once_but_resource_and_audience_may_repeat() {
        assert!(Params::parse(b"scope=a&scope=a").is_err());
        assert!(Params::parse(b"unknown=a&unknown=b").is_err());
        let params =
            Params::parse(b"resource=https://a&resource=https://b&audience=x&audience=y").unwrap();
        assert_eq!(params.all("resource"), ["https://a", "https://b"]);
        assert_eq!(params.all("audience"), ["x", "y"]);
    }

    #[test]
    fn an_empty_value_is_as_if_omitted() {
        let params = Params::parse(b"client_secret=&scope").unwrap();
        assert_eq!(params.get("client_secret"), None);
        assert!(!params.contains("scope"));
        assert!(params.require("scope").is_err());
    }

    #[test]
    fn malformed_encodings_are_refused() {
        for bad in [
            &b"a=%"[..],
            b"a=%1",
            b"a=%zz",
            b"a=%ff",
            b"a=%00",
            b"%0a=1",
            b"=1",
            b"a=%C3&b=%A9",
            b"a=\x07",
            b"%C3=%A9",
        ] {
            assert!(Params::parse(bad).is_err(), "{bad:?}");
        }
    }

    /// What is looked at in runs says the same as what is looked at by the byte, wherever a byte
    /// of its own lies.
    #[test]
    fn a_byte_of_its_own_is_found_wherever_it_lies() {
        for at in 0..RUN * 3 {
            let mut text = vec![b'x'; RUN * 3];
            for (byte, expected) in [(&b"%41"[..], "A"), (b"+", " "), (b"%09", "\t")] {
                text.splice(at.., byte.iter().copied().chain([b'y'; RUN]));
                let form = [b"a=", &*text, b"&b=1"].concat();
                let params = Params::parse(&form).unwrap();
                let value = format!("{}{expected}{}", "x".repeat(at), "y".repeat(RUN));
                assert_eq!(params.get("a"), Some(&*value), "{at}");
                assert_eq!(params.get("b"), Some("1"));
            }
            for bad in [&b"%0b"[..], b"\x7f", b"\0", b"%zz", b"%"] {
                text.splice(at.., bad.iter().copied());
                let form = [b"a=", &*text].concat();
                assert!(Params::parse(&form).is_err(), "{at} {bad:?}");
            }
        }
    }

    #[test]
    fn sizes_and_counts_are_bounded() {
        let many = (0..=MAX_COUNT)
            .map(|i| format!("p{i}=1"))
            .collect::<Vec<_>>()
            .join("&");
        assert!(Params::parse(many.as_bytes()).is_err());
        assert!(
            Params::parse(format!("a={}", "x".repeat(MAX_VALUE_BYTES + 1)).as_bytes()).is_err()
        );
        assert!(Params::parse(format!("a={}", "x".repeat(MAX_VALUE_BYTES)).as_bytes()).is_ok());
        assert!(Params::parse(format!("{}=a", "x".repeat(MAX_NAME_BYTES + 1)).as_bytes()).is_err());
        assert!(Params::parse(&vec![b'&'; MAX_BYTES + 1]).is_err());
    }

    #[test]
    fn debug_output_shows_no_values() {
        let params = Params::parse(b"client_secret=s3cret-value").unwrap();
        assert!(!format!("{params:?}").contains("s3cret"));
    }

    proptest! {
        #[test]
        fn parsing_never_panics_and_round_trips(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            if let Ok(params) = Params::parse(&bytes) {
                let again = Params::parse(params.to_form().as_bytes()).unwrap();
                prop_assert!(params.iter().eq(again.iter()));
            }
        }
        #[test]
        fn form_like_text_never_panics(text in "[a-c=&%+0-9é]{0,80}") {
            let _ = Params::parse(text.as_bytes());
        }
    }
}
