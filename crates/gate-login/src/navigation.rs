//! Whether a request is a person's: a page that a browser window goes to. Only such a request is
//! led to the login; a script gets 401, and can act on it.

use http::{HeaderMap, header};

/// Whether a browser navigates with this request. `method`: the request's own.
pub(crate) fn is_navigation(method: &str, headers: &HeaderMap) -> bool {
    if method != "GET" {
        // What was posted would be lost on the way.
        return false;
    }
    // Fetch Metadata, where the browser sends it: a script may ask for text/html, too, and a frame
    // would be shown a login that refuses to be framed.
    let says = |name: &str, expected: &str| {
        let value = headers.get(name);
        value.is_none_or(|value| value.as_bytes() == expected.as_bytes())
    };
    says("sec-fetch-mode", "navigate") && says("sec-fetch-dest", "document") && wants_html(headers)
}

fn wants_html(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter();
    accepted
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|range| range.split(';').next())
        .any(|range| range.trim().eq_ignore_ascii_case("text/html"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in pairs {
            map.append(*name, HeaderValue::from_static(value));
        }
        map
    }

    #[test]
    fn only_a_window_that_goes_to_a_page_navigates() {
        let page = ("accept", "application/xhtml+xml, text/HTML;q=0.9");
        assert!(is_navigation("GET", &headers(&[page])));
        let modern = [
            page,
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "document"),
        ];
        assert!(is_navigation("GET", &headers(&modern)));
        assert!(!is_navigation("POST", &headers(&[page])));
        assert!(!is_navigation("HEAD", &headers(&[page])));
        assert!(!is_navigation("GET", &headers(&[])));
        assert!(!is_navigation("GET", &headers(&[("accept", "*/*")])));
        assert!(!is_navigation(
            "GET",
            &headers(&[page, ("sec-fetch-mode", "cors")])
        ));
        let framed = [
            page,
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "iframe"),
        ];
        assert!(!is_navigation("GET", &headers(&framed)));
    }
}
