//! Why an administrator does something: a text that goes with a request, and that a realm may ask
//! for.
use crate::facts::Facts;
use crate::problem::Problem;
use crate::right::Right;
use http::{HeaderMap, HeaderName};
use signet_oauth::administration::{MAX_REASON_BYTES, ReasonWanted};

/// The header that has it, in UTF-8.
pub const REASON: HeaderName = HeaderName::from_static("signet-reason");

/// The reason that a request has; none: it says none.
///
/// # Errors
/// 400 for a reason that is too long, or not a line of text.
pub fn of(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut given = headers.get_all(REASON).iter();
    let (Some(value), None) = (given.next(), given.next()) else {
        return match headers.contains_key(REASON) {
            true => Err(Problem::invalid("Signet-Reason is there twice")),
            false => Ok(None),
        };
    };
    let text = std::str::from_utf8(value.as_bytes()).map(str::trim);
    let text = text.map_err(|_| Problem::invalid("Signet-Reason is not UTF-8"))?;
    if text.len() > MAX_REASON_BYTES || text.chars().any(char::is_control) {
        return Err(Problem::invalid(format!(
            "Signet-Reason is a line of at most {MAX_REASON_BYTES} bytes"
        )));
    }
    Ok((!text.is_empty()).then(|| text.to_owned()))
}

/// Whether an operation may be performed with this reason, or without one.
///
/// # Errors
/// `reason_required`, 400.
pub fn expect(facts: &Facts, wanted: ReasonWanted, reason: Option<&str>) -> Result<(), Problem> {
    let is_needed = match wanted {
        ReasonWanted::Optional => false,
        ReasonWanted::Dangerous => facts.is_final() || facts.needs == Right::Reveal,
        ReasonWanted::Required => true,
    };
    if reason.is_some() || !is_needed || facts.needs == Right::Read {
        return Ok(());
    }
    Err(Problem::new(
        http::StatusCode::BAD_REQUEST,
        "reason_required",
        format!(
            "{} needs a reason in this realm: the header Signet-Reason, --reason of the commands, or the field of the console",
            facts.id
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn a_reason_is_one_bounded_line_of_text() {
        let read = |bytes: &[u8]| {
            let mut headers = HeaderMap::new();
            headers.insert(REASON, HeaderValue::from_bytes(bytes).unwrap());
            of(&headers)
        };
        assert_eq!(of(&HeaderMap::new()).unwrap(), None);
        assert_eq!(read(b"  ").unwrap(), None);
        assert_eq!(
            read("Ausweis verloren – Müller".as_bytes())
                .unwrap()
                .as_deref(),
            Some("Ausweis verloren – Müller")
        );
        assert!(read(&[0xff, 0xfe]).is_err());
        assert!(read(&[b'x'; MAX_REASON_BYTES + 1]).is_err());
        assert!(read(&[b'x'; MAX_REASON_BYTES]).is_ok());
        let mut twice = HeaderMap::new();
        twice.append(REASON, HeaderValue::from_static("a"));
        twice.append(REASON, HeaderValue::from_static("b"));
        assert!(of(&twice).is_err());
    }
}
