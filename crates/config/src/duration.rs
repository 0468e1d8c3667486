//! A length of time in the configuration: seconds as a number, or a number with a unit ("90s",
//! "10m", "8h", "30d").

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Whole seconds, at most ten years.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duration(pub u64);

/// Ten years: a longer life of anything here is a slip of the pen.
const MAX: u64 = 10 * 366 * 86_400;

impl Duration {
    /// Reads "90", "90s", "10m", "8h" or "30d".
    pub fn parse(text: &str) -> Result<Duration, &'static str> {
        const EXPECTED: &str =
            "expected seconds, or a number with a unit: \"90s\", \"10m\", \"8h\", \"30d\"";
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, unit) = text.split_at(digits);
        let number: u64 = number.parse().map_err(|_| EXPECTED)?;
        let unit = match unit {
            "" | "s" => 1,
            "m" => 60,
            "h" => 3_600,
            "d" => 86_400,
            _ => return Err(EXPECTED),
        };
        match number.checked_mul(unit) {
            Some(seconds) if seconds <= MAX => Ok(Duration(seconds)),
            _ => Err("a duration is at most ten years"),
        }
    }
}

impl fmt::Display for Duration {
    /// In the largest unit of which it is a whole number: "10m", "90s".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(86_400, 'd'), (3_600, 'h'), (60, 'm'), (1, 's')];
        let whole = |(seconds, _): &(u64, char)| self.0 != 0 && self.0.is_multiple_of(*seconds);
        let (seconds, unit) = units.into_iter().find(whole).unwrap_or((1, 's'));
        write!(f, "{}{unit}", self.0 / seconds)
    }
}

/// As a person writes it.
impl Serialize for Duration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Duration;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("seconds, or a number with a unit such as \"10m\"")
            }
            fn visit_u64<E: de::Error>(self, v: u64) -> Result<Duration, E> {
                if v <= MAX {
                    Ok(Duration(v))
                } else {
                    Err(E::custom("a duration is at most ten years"))
                }
            }
            fn visit_i64<E: de::Error>(self, v: i64) -> Result<Duration, E> {
                u64::try_from(v)
                    .map_err(|_| E::custom("a duration is not negative"))
                    .and_then(|v| self.visit_u64(v))
            }
            fn visit_str<E: de::Error>(self, v: &str) -> Result<Duration, E> {
                Duration::parse(v).map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for Duration {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Duration".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Seconds, or a number with a unit: s, m, h or d.",
            "anyOf": [
                { "type": "integer", "minimum": 0, "maximum": MAX },
                { "type": "string", "pattern": "^[0-9]+[smhd]?$" }
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_seconds_or_a_number_with_a_unit() {
        assert_eq!(Duration::parse("90"), Ok(Duration(90)));
        assert_eq!(Duration::parse("90s"), Ok(Duration(90)));
        assert_eq!(Duration::parse("10m"), Ok(Duration(600)));
        assert_eq!(Duration::parse("8h"), Ok(Duration(28_800)));
        assert_eq!(Duration::parse("30d"), Ok(Duration(2_592_000)));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "m",
            "-1",
            "1.5h",
            "1w",
            " 1s",
            "99999999999999999999d",
            "4000d",
        ] {
            assert!(Duration::parse(text).is_err(), "{text:?}");
        }
    }
}
