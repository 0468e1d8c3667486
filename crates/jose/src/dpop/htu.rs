//! Comparing the `htu` of a proof with the URL of a request.

/// Whether two `http(s)` URLs name one target: equal after syntax-based and scheme-based
/// normalization (RFC 3986 sections 6.2.2 and 6.2.3), without query and fragment (RFC 9449 section
/// 4.3 item 9). A text that is no such URL equals nothing.
pub(super) fn same(claimed: &str, requested: &str) -> bool {
    match (normalized(claimed), normalized(requested)) {
        (Some(claimed), Some(requested)) => claimed == requested,
        _ => false,
    }
}

/// Scheme, host and port of what [`same`] compares.
pub(super) fn origin(url: &str) -> Option<String> {
    let mut url = normalized(url)?;
    // Behind `https://` the first slash begins the path; there always is one.
    let authority = url.find("://")? + 3;
    let end = authority + url[authority..].find('/')?;
    url.truncate(end);
    Some(url)
}

fn normalized(url: &str) -> Option<String> {
    // RFC 3986 section 2: anything else would be percent-encoded.
    let is_uri = |byte: u8| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte);
    if !url.bytes().all(is_uri) {
        return None;
    }
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let (scheme, rest) = url[..end].split_once("://")?;
    let (scheme, default_port) = match scheme {
        scheme if scheme.eq_ignore_ascii_case("https") => ("https", 443),
        scheme if scheme.eq_ignore_ascii_case("http") => ("http", 80),
        _ => return None,
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (host, port) = host_and_port(authority)?;

    let mut out = String::with_capacity(url.len() + 1);
    out.push_str(scheme);
    out.push_str("://");
    out.extend(host.chars().map(|character| character.to_ascii_lowercase()));
    if let Some(port) = port.filter(|port| *port != default_port) {
        out.push(':');
        out.push_str(&port.to_string());
    }
    push_path(&percent_normalized(path)?, &mut out);
    Some(out)
}

/// No user information: a request has none, and it is the oldest trick in spelling a host.
fn host_and_port(authority: &str) -> Option<(&str, Option<u16>)> {
    let bracket = authority.rfind(']').map_or(0, |at| at + 1);
    let (host, port) = match authority[bracket..].find(':') {
        Some(colon) => (
            &authority[..bracket + colon],
            &authority[bracket + colon + 1..],
        ),
        None => (authority, ""),
    };
    let is_address = host.starts_with('[') && host.ends_with(']') && host.len() > 2;
    let inside = if is_address {
        &host[1..host.len() - 1]
    } else {
        host
    };
    let allowed = |byte: u8| match is_address {
        true => byte.is_ascii_hexdigit() || byte == b':' || byte == b'.',
        false => byte.is_ascii_alphanumeric() || b"-._~".contains(&byte),
    };
    if inside.is_empty() || !inside.bytes().all(allowed) {
        return None;
    }
    let port = match port {
        "" => None,
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => Some(digits.parse().ok()?),
        _ => return None,
    };
    Some((host, port))
}

/// Escapes of unreserved characters are decoded, others written in upper case.
fn percent_normalized(path: &str) -> Option<String> {
    let mut out = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let digits = rest.get(at + 1..at + 3)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let byte = u8::from_str_radix(digits, 16).ok()?;
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push_str(&digits.to_ascii_uppercase());
        }
        rest = &rest[at + 3..];
    }
    out.push_str(rest);
    Some(out)
}

/// Appends a path without its dot segments (RFC 3986 section 5.2.4); an empty one is `/`.
fn push_path(path: &str, out: &mut String) {
    let start = out.len();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        match segment {
            "." => {}
            ".." => {
                let parent = out[start..].rfind('/').unwrap_or(0);
                out.truncate(start + parent);
            }
            segment => {
                out.push('/');
                out.push_str(segment);
                continue;
            }
        }
        if last {
            out.push('/');
        }
    }
    if out.len() == start {
        out.push('/');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_target_are_one_target() {
        for url in [
            "https://as.example/token",
            "HTTPS://AS.EXAMPLE/token",
            "https://as.example:443/token",
            "https://as.example:/token",
            "https://as.example:0443/token",
            "https://as.example/token?a=b",
            "https://as.example/token#fragment?x",
            "https://as.example/%74oken",
            "https://as.example/./a/../token",
            "https://as.example/a/%2e%2E/token",
            "https://as.example/../token",
        ] {
            assert!(same(url, "https://as.example/token"), "{url}");
        }
        assert!(same("https://as.example", "https://as.example/"));
        assert!(same("https://as.example?x", "https://as.example/"));
        assert!(same("http://[::1]:80/a%2fb", "HTTP://[::1]/a%2Fb"));
        assert!(same("https://as.example/a/b/..", "https://as.example/a/"));
        assert!(same("https://as.example/a/.", "https://as.example/a/"));
    }

    #[test]
    fn an_origin_has_one_form() {
        for url in [
            "https://as.example",
            "HTTPS://AS.example:443/a?b#c",
            "https://as.example/",
            "https://as.example?x=https://evil.example/",
        ] {
            assert_eq!(origin(url).as_deref(), Some("https://as.example"), "{url}");
        }
        assert_eq!(
            origin("http://[::1]:9000/x").as_deref(),
            Some("http://[::1]:9000")
        );
        for url in [
            "as.example",
            "https://",
            "https://u@as.example/",
            "ftp://as.example/",
        ] {
            assert_eq!(origin(url), None, "{url}");
        }
    }

    #[test]
    fn other_targets_are_other_targets() {
        for url in [
            "https://as.example/token/",
            "https://as.example//token",
            "https://as.example/Token",
            "https://as.example/tok%65n2",
            "https://as.example/token%2F",
            "https://as.example:8443/token",
            "https://as.example:80/token",
            "http://as.example/token",
            "https://as.example.evil.example/token",
            "https://evil.example/token",
            "https://as.example./token",
            "https://as.example/",
        ] {
            assert!(!same(url, "https://as.example/token"), "{url}");
        }
        assert!(!same("https://as.example/a%2Fb", "https://as.example/a/b"));
    }

    #[test]
    fn what_is_no_http_url_equals_nothing_not_even_itself() {
        for url in [
            "",
            "/token",
            "token",
            "as.example/token",
            "//as.example/token",
            "https:/as.example/token",
            "https:as.example",
            "https://",
            "https:///token",
            "https://:443/token",
            "https://user@as.example/token",
            "https://as.example@evil.example/token",
            "https://as.example:443:443/token",
            "https://as.example:65536/token",
            "https://as.example:+443/token",
            "https://as.example:x/token",
            "https://[::1/token",
            "https://[]/token",
            "https://[::1]x/token",
            "https://a[::1]/token",
            "https://as.example/tok en",
            "https://as.example/token\n",
            "https://as.example/%",
            "https://as.example/%4",
            "https://as.example/%+4",
            "https://as.example/%zz",
            "https://as.ex\u{e4}mple/token",
            "https://as.example\\token",
            "https://as%2eexample/token",
            "ftp://as.example/token",
            "javascript://as.example/token",
        ] {
            assert!(!same(url, url), "{url}");
        }
    }
}
