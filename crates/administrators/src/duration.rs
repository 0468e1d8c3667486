//! Lengths of time as people write them.

/// Seconds of `90d`, `12h`, `30m` or `45s`.
///
/// # Errors
/// In words.
pub(crate) fn seconds(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text} is no length of time: 90d, 12h, 30m, 45s");
    let (number, unit) = text
        .split_at_checked(text.len().saturating_sub(1))
        .ok_or_else(wrong)?;
    let unit = match unit {
        "d" => 86_400,
        "h" => 3600,
        "m" => 60,
        "s" => 1,
        _ => return Err(wrong()),
    };
    let number: u64 = number.parse().map_err(|_| wrong())?;
    number.checked_mul(unit).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn a_length_of_time_has_a_unit() {
        assert_eq!(seconds("90d"), Ok(7_776_000));
        assert_eq!(seconds("12h"), Ok(43_200));
        assert_eq!(seconds("45s"), Ok(45));
        for bad in [
            "",
            "d",
            "90",
            "90x",
            "-1d",
            "1.5h",
            "é",
            "999999999999999999d",
        ] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }
}
