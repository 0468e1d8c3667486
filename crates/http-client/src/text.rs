//! How a form, a query and a client's secret are written.
use signet_encoding::base64url;

/// Percent-encodes everything but RFC 3986 unreserved characters.
pub fn percent_encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// An `application/x-www-form-urlencoded` body.
pub fn form(fields: &[(&str, &str)]) -> String {
    let pairs: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("{}={}", percent_encode(name), percent_encode(value)))
        .collect();
    pairs.join("&")
}

/// A parameter of a query, decoded.
pub fn query_parameter(query: &str, name: &str) -> Option<String> {
    let value = query
        .split('&')
        .find_map(|pair| pair.split_once('=').filter(|(n, _)| *n == name))?
        .1;
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let hex = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&hex).ok()?, 16).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

/// `client_secret_basic` (RFC 6749 section 2.3.1): form-encoded, then Basic (RFC 7617).
pub fn basic(client_id: &str, secret: &str) -> String {
    let pair = format!("{}:{}", percent_encode(client_id), percent_encode(secret));
    let mut text = base64url::encode(pair.as_bytes())
        .replace('-', "+")
        .replace('_', "/");
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    format!("Basic {text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_decoded() {
        let query = "code=a%2Bb&iss=https%3A%2F%2Fid&error_description=so+what";
        assert_eq!(query_parameter(query, "code").as_deref(), Some("a+b"));
        let words = query_parameter(query, "error_description");
        assert_eq!(words.as_deref(), Some("so what"));
        assert_eq!(query_parameter(query, "state"), None);
    }

    #[test]
    fn a_secret_is_form_encoded_before_it_is_basic() {
        // "a%20b:p%3Ass%3E" in base64.
        assert_eq!(basic("a b", "p:ss>"), "Basic YSUyMGI6cCUzQXNzJTNF");
    }

    #[test]
    fn a_form_survives_what_passwords_are_made_of() {
        assert_eq!(
            form(&[("a b", "p&ss=w%rd+é")]),
            "a%20b=p%26ss%3Dw%25rd%2B%C3%A9"
        );
    }
}
