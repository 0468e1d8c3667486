//! Reading header fields that must be alone.
use http::HeaderMap;
use signet_verify::Refusal;

/// A header field that must appear at most once: its text, none where it is missing.
///
/// # Errors
/// [`Refusal::Ambiguous`] for two of them, or bytes that are no visible ASCII.
pub(crate) fn single<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<&'h str>, Refusal> {
    let mut values = headers.get_all(name).iter();
    let Some(first) = values.next() else {
        return Ok(None);
    };
    match (first.to_str(), values.next()) {
        (Ok(text), None) => Ok(Some(text)),
        _ => Err(Refusal::Ambiguous),
    }
}
