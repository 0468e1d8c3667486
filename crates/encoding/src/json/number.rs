//! Numbers, kept as written: JSON gives a decimal text, and what it is worth depends on who asks.
//!
//! | text               | `as_u64`         | `as_i64`         | `as_numeric_date` | `as_f64` |
//! |--------------------|------------------|------------------|-------------------|----------|
//! | `9007199254740993` | itself (2^53 + 1)| itself           | itself            | rounded  |
//! | `-0`               | 0                | 0                | 0                 | -0.0     |
//! | `1.5`              | -                | -                | 1 (cut)           | 1.5      |
//! | `1.0`, `1e3`       | -                | -                | 1, 1000           | 1, 1000  |
//! | `-1`               | -                | -1               | -                 | -1       |
//! | `1e309`            | -                | -                | -                 | -        |

use std::borrow::Cow;

/// Most digits that a number may have: those of its fraction and of its exponent count.
pub const MAX_DIGITS: usize = 30;

/// The literal text of a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number<'a>(pub(super) Cow<'a, str>);

impl<'a> Number<'a> {
    /// As it was written.
    #[inline]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether other parsers read it as this one does, and at once: JavaScript takes `1e400` for
    /// infinity, others refuse it, and decimal types of any size may need minutes for
    /// `1e1000000000`.
    pub(super) fn is_read_alike_everywhere(&self) -> bool {
        let digits = self.0.bytes().filter(u8::is_ascii_digit).count();
        if digits <= 15 && !self.0.contains(['e', 'E']) {
            // What nearly every number is: no double needs to be made of it.
            return true;
        }
        let mantissa = self.0.split(['e', 'E']).next().unwrap_or("");
        let is_zero = !mantissa.bytes().any(|byte| matches!(byte, b'1'..=b'9'));
        digits <= MAX_DIGITS && self.as_f64().is_some_and(|value| is_zero || value != 0.0)
    }

    /// Exact: None for a fraction, an exponent, a negative number or one above `u64::MAX`. `-0` is
    /// 0.
    #[inline]
    pub fn as_u64(&self) -> Option<u64> {
        match &*self.0 {
            "-0" => Some(0),
            text => text.parse().ok(),
        }
    }

    /// Exact: None for a fraction, an exponent or a number outside `i64`. `-0` is 0.
    pub fn as_i64(&self) -> Option<i64> {
        self.0.parse().ok()
    }

    /// Nearest double; None where that is infinite (`1e309`).
    pub fn as_f64(&self) -> Option<f64> {
        self.0.parse().ok().filter(|value: &f64| value.is_finite())
    }

    /// Seconds since 1970 (RFC 7519 section 2, NumericDate). A fraction is cut; an exponent is
    /// evaluated exactly. None for a negative number and above `i64::MAX`, so that a sum with any
    /// leeway cannot overflow.
    pub fn as_numeric_date(&self) -> Option<u64> {
        let text = &*self.0;
        let seconds = if text.bytes().all(|byte| byte.is_ascii_digit()) {
            text.parse().ok()?
        } else {
            cut_decimal(text)?
        };
        (seconds <= i64::MAX as u64).then_some(seconds)
    }

    /// Without a borrow.
    pub fn into_owned(self) -> Number<'static> {
        Number(Cow::Owned(self.0.into_owned()))
    }
}

/// The integer part of a number with sign, fraction or exponent, by decimal shifting: no rounding
/// anywhere.
fn cut_decimal(text: &str) -> Option<u64> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent_of(exponent)),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_zero = !mantissa.bytes().any(|byte| matches!(byte, b'1'..=b'9'));
    if is_zero {
        return Some(0);
    }
    if negative {
        return None;
    }
    // Digits before the decimal point once the exponent has moved it.
    let kept = whole.len() as i64 + exponent;
    let mut digits = whole.bytes().chain(fraction.bytes());
    let mut value: u64 = 0;
    let mut taken = 0;
    while taken < kept {
        let digit = match digits.next() {
            Some(byte) => u64::from(byte - b'0'),
            // More than 20 further zeros overflow, unless nothing but zeros came before: is_zero
            // excludes that.
            None => 0,
        };
        value = value.checked_mul(10)?.checked_add(digit)?;
        taken += 1;
    }
    Some(value)
}

/// Far outside anything that matters the exponent saturates.
fn exponent_of(text: &str) -> i64 {
    let (negative, digits) = match text.as_bytes() {
        [b'-', ..] => (true, &text[1..]),
        [b'+', ..] => (false, &text[1..]),
        _ => (false, text),
    };
    let magnitude = digits.bytes().fold(0i64, |sum, byte| {
        (sum * 10 + i64::from(byte - b'0')).min(1_000_000)
    });
    if negative { -magnitude } else { magnitude }
}

impl From<u64> for Number<'static> {
    fn from(value: u64) -> Self {
        Number(Cow::Owned(value.to_string()))
    }
}

impl From<i64> for Number<'static> {
    fn from(value: i64) -> Self {
        Number(Cow::Owned(value.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number<'_> {
        Number(Cow::Borrowed(text))
    }

    #[test]
    fn integers_are_exact() {
        assert_eq!(number("9007199254740993").as_u64(), Some((1 << 53) + 1));
        assert_eq!(number("18446744073709551615").as_u64(), Some(u64::MAX));
        assert_eq!(number("18446744073709551616").as_u64(), None);
        assert_eq!(number("-9223372036854775808").as_i64(), Some(i64::MIN));
        for text in ["1.0", "1e3", "1E0", "0.5"] {
            assert_eq!(number(text).as_u64(), None, "{text}");
            assert_eq!(number(text).as_i64(), None, "{text}");
        }
    }

    #[test]
    fn minus_zero_is_zero() {
        assert_eq!(number("-0").as_u64(), Some(0));
        assert_eq!(number("-0").as_i64(), Some(0));
        assert_eq!(number("-0").as_numeric_date(), Some(0));
        assert_eq!(number("-0.0e5").as_numeric_date(), Some(0));
    }

    #[test]
    fn what_no_double_holds_is_no_value() {
        assert_eq!(number("1e309").as_f64(), None);
        assert_eq!(number("1e309").as_u64(), None);
        assert_eq!(number("1e309").as_numeric_date(), None);
        assert_eq!(number("1e999999999999999999999").as_numeric_date(), None);
    }

    #[test]
    fn a_number_that_parsers_read_differently_is_refused() {
        let digits = "1".repeat(MAX_DIGITS);
        let fraction = format!("0.{}", "3".repeat(MAX_DIGITS - 1));
        for good in [
            "0",
            "-0",
            "1e308",
            "-1e308",
            "1e-300",
            "0e999999",
            "0.0e-9",
            "1795000000.5",
            "18446744073709551615",
            &digits,
            &fraction,
        ] {
            assert!(number(good).is_read_alike_everywhere(), "{good}");
            let mut reader =
                crate::json::Reader::new(good.as_bytes(), &Default::default()).unwrap();
            assert_eq!(
                reader.number().map(|n| n.as_str().to_owned()).as_deref(),
                Ok(good)
            );
        }
        let one_more = format!("{digits}1");
        let longer = format!("{fraction}3");
        let zeros = format!("1e{}1", "0".repeat(40));
        for bad in [
            "1e309",
            "-1e309",
            "1e400",
            "1e1000000000",
            "1e-400",
            "1e-1000000000",
            &one_more,
            &longer,
            &zeros,
        ] {
            let text = format!("{{\"a\":[{bad}]}}");
            assert!(
                crate::json::parse(text.as_bytes(), &Default::default()).is_err(),
                "{bad}"
            );
            // Also where nobody looks at it.
            let mut reader = crate::json::Reader::new(bad.as_bytes(), &Default::default()).unwrap();
            assert!(reader.skip().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_numeric_date_may_be_fractional_and_is_cut() {
        for (text, seconds) in [
            ("1795000000.5", Some(1_795_000_000)),
            ("1795000000.999999999999999999999", Some(1_795_000_000)),
            ("1.795e9", Some(1_795_000_000)),
            ("1.7950000005E+9", Some(1_795_000_000)),
            ("17950000000e-1", Some(1_795_000_000)),
            ("1e-400", Some(0)),
            ("0e999999", Some(0)),
            ("0.9", Some(0)),
            ("9223372036854775807", Some(i64::MAX as u64)),
            ("9223372036854775808", None),
            ("1e19", None),
            ("-1", None),
            ("-0.5", None),
        ] {
            assert_eq!(number(text).as_numeric_date(), seconds, "{text}");
        }
    }
}
