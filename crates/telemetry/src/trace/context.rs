//! W3C Trace Context: the headers `traceparent` and `tracestate`, read strictly.
//!
//! Section 3.2.2.5 and 4.3: a `traceparent` that cannot be read is ignored, and then `tracestate`
//! is, too; a `tracestate` that cannot be read is ignored alone.
use std::fmt;

/// Longest `tracestate` that is handed on, in bytes (section 3.3.1.5 asks for 512 at least).
pub const MAX_TRACESTATE_BYTES: usize = 512;
/// Most members of a `tracestate` (section 3.3.1.1); more make it invalid.
pub const MAX_TRACESTATE_MEMBERS: usize = 32;

/// The header of a request's place in a trace.
pub const TRACEPARENT: &str = "traceparent";
/// The header of what each tracing system adds to it.
pub const TRACESTATE: &str = "tracestate";

/// Names a trace. Never all zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceId([u8; 16]);

/// Names a span of a trace. Never all zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpanId([u8; 8]);

impl TraceId {
    /// Of random bytes. All zero, which is no name, becomes another one.
    pub fn of(bytes: [u8; 16]) -> TraceId {
        match bytes {
            [0, .., 0] if bytes.iter().all(|byte| *byte == 0) => TraceId([1; 16]),
            bytes => TraceId(bytes),
        }
    }

    /// From 32 lower-case hex digits.
    pub fn parse(text: &str) -> Option<TraceId> {
        Some(TraceId(hex(text)?))
    }
}

impl SpanId {
    /// Of random bytes.
    pub fn of(bytes: [u8; 8]) -> SpanId {
        match u64::from_be_bytes(bytes) {
            0 => SpanId([1; 8]),
            _ => SpanId(bytes),
        }
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Lower-case hex of so many bytes, not all of them zero.
fn hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    bytes.iter().any(|byte| *byte != 0).then_some(bytes)
}

/// Where a request stands in a trace, as whoever sent it says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceContext {
    /// The trace.
    pub trace: TraceId,
    /// The caller's span.
    pub span: SpanId,
    /// Whether the caller records it.
    pub sampled: bool,
    /// What each tracing system adds; empty: nothing.
    pub state: String,
}

impl TraceContext {
    /// Reads the headers: each field of `traceparent`, of which there is one in a valid request,
    /// and each of `tracestate`, which are one list (section 3.3.1).
    pub fn read<'a>(
        parents: impl IntoIterator<Item = &'a [u8]>,
        states: impl IntoIterator<Item = &'a [u8]>,
    ) -> Option<TraceContext> {
        let mut parents = parents.into_iter();
        let parent = std::str::from_utf8(parents.next()?).ok()?;
        if parents.next().is_some() {
            return None;
        }
        let (trace, span, sampled) = parent_of(parent)?;
        Some(TraceContext {
            trace,
            span,
            sampled,
            state: state_of(states).unwrap_or_default(),
        })
    }

    /// The `traceparent` that says so.
    pub fn traceparent(&self) -> String {
        let flags = u8::from(self.sampled);
        format!("00-{}-{}-{flags:02x}", self.trace, self.span)
    }
}

/// Section 3.2: `version "-" trace-id "-" parent-id "-" trace-flags`.
fn parent_of(text: &str) -> Option<(TraceId, SpanId, bool)> {
    if !text.is_ascii() || text.len() < 55 {
        return None;
    }
    let version: [u8; 1] = match text.get(..2)? {
        "00" => [0],
        other => hex(other)?,
    };
    match version {
        [0xff] => return None,
        // This version has no more fields.
        [0] if text.len() != 55 => return None,
        // Section 3.2.4: of a later version what this one knows is read.
        [_] if text.len() > 55 && text.as_bytes()[55] != b'-' => return None,
        [_] => {}
    }
    let mut fields = text[..55].split('-');
    fields.next();
    let trace = TraceId(hex(fields.next()?)?);
    let span = SpanId(hex(fields.next()?)?);
    let flags = fields.next()?;
    let flags: [u8; 1] = match flags {
        "00" => [0],
        other => hex(other)?,
    };
    fields.next().is_none().then_some(())?;
    Some((trace, span, flags[0] & 1 == 1))
}

/// Section 3.3: a list of `key "=" value`, in their order, as far as there is room for it.
fn state_of<'a>(fields: impl IntoIterator<Item = &'a [u8]>) -> Option<String> {
    let mut members: Vec<&str> = Vec::new();
    for field in fields {
        let field = std::str::from_utf8(field).ok()?;
        for member in field.split(',') {
            let member = member.trim_matches([' ', '\t']);
            // Section 3.3.1.1: empty members are allowed.
            if member.is_empty() {
                continue;
            }
            let (key, value) = member.split_once('=')?;
            if !is_key(key) || !is_value(value) {
                return None;
            }
            let twice = members.iter().any(|known| {
                let rest = known.strip_prefix(key);
                rest.is_some_and(|rest| rest.starts_with('='))
            });
            if twice || members.len() == MAX_TRACESTATE_MEMBERS {
                return None;
            }
            members.push(member);
        }
    }
    // Section 3.3.1.5: whole members go, long ones first, then from the end.
    let length = |members: &[&str]| members.iter().map(|m| m.len() + 1).sum::<usize>();
    if length(&members) > MAX_TRACESTATE_BYTES {
        members.retain(|member| member.len() <= 128);
    }
    while length(&members) > MAX_TRACESTATE_BYTES {
        members.pop();
    }
    Some(members.join(","))
}

/// Section 3.3.1.3.1: `simple-key`, or `tenant-id "@" system-id`.
fn is_key(key: &str) -> bool {
    let is_part = |part: &str, most: usize, may_begin_with_digit: bool| {
        let mut bytes = part.bytes();
        let begins = bytes.next().is_some_and(|byte| {
            byte.is_ascii_lowercase() || (may_begin_with_digit && byte.is_ascii_digit())
        });
        let goes_on = |byte: u8| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-*/".contains(&byte)
        };
        begins && part.len() <= most && bytes.all(goes_on)
    };
    match key.split_once('@') {
        None => is_part(key, 256, false),
        Some((tenant, system)) => is_part(tenant, 241, true) && is_part(system, 14, false),
    }
}

/// Section 3.3.1.3.2: printable ASCII without `,` and `=`, not ending with a space.
fn is_value(value: &str) -> bool {
    let printable = |byte: u8| (0x20..=0x7e).contains(&byte) && byte != b',' && byte != b'=';
    !value.is_empty() && value.len() <= 256 && !value.ends_with(' ') && value.bytes().all(printable)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn read(parents: &[&str], states: &[&str]) -> Option<TraceContext> {
        TraceContext::read(
            parents.iter().map(|text| text.as_bytes()),
            states.iter().map(|text| text.as_bytes()),
        )
    }

    #[test]
    fn the_specification_s_example_is_read_and_written() {
        let context = read(&[GOOD], &["rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"]).unwrap();
        assert_eq!(
            context.trace.to_string(),
            "0af7651916cd43dd8448eb211c80319c"
        );
        assert_eq!(context.span.to_string(), "b7ad6b7169203331");
        assert!(context.sampled);
        assert_eq!(context.state, "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE");
        assert_eq!(context.traceparent(), GOOD);
        let unsampled = read(&[&GOOD.replace("-01", "-00")], &[]).unwrap();
        assert!(!unsampled.sampled);
        // Flags that are not known are not handed on (section 3.2.2.5).
        let flags = read(&[&GOOD.replace("-01", "-ff")], &[]).unwrap();
        assert_eq!(flags.traceparent(), GOOD);
    }

    #[test]
    fn what_is_malformed_is_ignored() {
        for bad in [
            "",
            "00",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01more",
            "0x-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00_0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331_01",
            " 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319cb7ad6b7169203331--01",
        ] {
            assert_eq!(read(&[bad], &["a=b"]), None, "{bad}");
        }
        assert_eq!(read(&[GOOD, GOOD], &[]), None, "two of them");
        assert_eq!(read(&[], &["a=b"]), None);
        let later = GOOD.replacen("00", "01", 1) + "-more";
        assert!(read(&[&later], &[]).is_some(), "a later version");
    }

    #[test]
    fn a_list_that_is_malformed_is_ignored_alone() {
        let state = |fields: &[&str]| read(&[GOOD], fields).unwrap().state;
        assert_eq!(state(&["a=1", "b=2, c@d=3,"]), "a=1,b=2,c@d=3");
        for bad in [
            "a", "A=1", "1=1", "a=1,a=2", "a=", "a=b=c", "a@=1", "a=\u{7f}", "é=1",
        ] {
            assert_eq!(state(&[bad]), "", "{bad}");
        }
        let many: Vec<String> = (0..33).map(|n| format!("k{n}=v")).collect();
        assert_eq!(state(&[&many.join(",")]), "");
        assert_eq!(state(&[&many[..32].join(",")]), many[..32].join(","));
        // Whole members go where it is too long: long ones first.
        let long = format!(
            "a=1,long={},b={},c={},d={}",
            "x".repeat(200),
            "y".repeat(120),
            "y".repeat(120),
            "y".repeat(120)
        );
        let kept = state(&[&long]);
        assert!(
            kept.starts_with("a=1,b=y") && !kept.contains("long"),
            "{kept}"
        );
        assert!(kept.len() <= MAX_TRACESTATE_BYTES);
    }
}
