//! What `[telemetry]` makes of a process: what is recorded, and where it is sent.

use std::path::Path;

use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use signet_telemetry::trace::{Options, Parents, Tracer};

use crate::{
    model::{Telemetry, TraceParents},
    secret::SecretRef,
};

/// Records what is sent; nothing where nothing is.
pub fn tracer(telemetry: &Telemetry) -> Tracer {
    if telemetry.otlp_endpoint.is_none() || !telemetry.traces {
        return Tracer::default();
    }
    Tracer::new(Options {
        sample: telemetry.sample,
        per_second: telemetry.sample_per_second,
        parents: match telemetry.parents {
            TraceParents::Proxies => Parents::Proxies,
            TraceParents::Everybody => Parents::Everybody,
            TraceParents::Nobody => Parents::Nobody,
        },
        propagates: telemetry.propagate,
    })
}

/// The collector's address, without a slash at its end.
///
/// # Errors
/// What is wrong with it, for the operator.
pub fn endpoint(text: &str) -> Result<Uri, &'static str> {
    const EXPECTED: &str = "must be an absolute https or http URL without a user, a query and a fragment, e.g. \"https://collector.internal:4318\"";
    let url: Uri = text.trim_end_matches('/').parse().map_err(|_| EXPECTED)?;
    let scheme = url
        .scheme_str()
        .is_some_and(|s| s == "https" || s == "http");
    let authority = url.authority().ok_or(EXPECTED)?;
    if !scheme || authority.as_str().contains('@') || url.query().is_some() || text.contains('#') {
        return Err(EXPECTED);
    }
    Ok(url)
}

/// The header fields that the collector asks for, all of them marked as secret.
///
/// # Errors
/// Which line is no header field; never what stands in it.
pub fn headers(secret: &SecretRef, base: &Path) -> Result<HeaderMap, String> {
    let text = secret.read(base)?;
    let mut headers = HeaderMap::new();
    for (at, line) in text.expose().lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let wrong = || format!("line {} is no header field: expected name: value", at + 1);
        let (name, value) = line.split_once(':').ok_or_else(wrong)?;
        let name = HeaderName::try_from(name.trim()).map_err(|_| wrong())?;
        let mut value = HeaderValue::try_from(value.trim()).map_err(|_| wrong())?;
        value.set_sensitive(true);
        headers.append(name, value);
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_absolute_and_has_no_user() {
        for good in ["https://a.example:4318/", "http://127.0.0.1:1/otlp"] {
            assert!(endpoint(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "a.example:4318",
            "/v1",
            "ftp://a",
            "https://u:p@a",
            "https://a?b",
            "https://a#b",
        ] {
            assert!(endpoint(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn header_fields_are_read_and_a_fault_repeats_none_of_them() {
        let dir = tempfile::tempdir().unwrap();
        let read = |text: &str| {
            std::fs::write(dir.path().join("h"), text).unwrap();
            headers(&SecretRef::File("h".into()), dir.path())
        };
        let found = read("authorization: Bearer hidden\n\nX-Scope: a\n").unwrap();
        assert_eq!(found["x-scope"], "a");
        assert!(found["authorization"].is_sensitive());
        for bad in ["hidden", "a: b\nhid den: x", "a: hid\u{7f}den"] {
            let why = read(bad).unwrap_err();
            assert!(why.contains("line") && !why.contains("hid"), "{why}");
        }
    }

    #[test]
    fn nothing_is_recorded_that_is_not_sent() {
        let mut telemetry = Telemetry::default();
        assert!(!tracer(&telemetry).is_on());
        telemetry.otlp_endpoint = Some("http://127.0.0.1:1".into());
        assert!(tracer(&telemetry).is_on());
        telemetry.traces = false;
        assert!(!tracer(&telemetry).is_on());
    }
}
