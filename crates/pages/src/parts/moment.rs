//! Days and times for people: in the order and with the names of their language, in UTC, which is
//! stated. `moment.js` writes them again in the browser's zone, where it runs.

use signet_texts::{Arg, Language};

struct Civil {
    year: i64,
    month: u64,
    day: u64,
    hour: u64,
    minute: u64,
    second: u64,
}

fn civil(seconds: u64) -> Civil {
    let days = (seconds / 86_400) as i64;
    // Days to a civil date: shift the year to begin in March, so that leap days come last in
    // 400-year eras.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    Civil {
        year: year_of_era + era * 400 + i64::from(month_from_march >= 10),
        month: ((month_from_march + 2) % 12 + 1) as u64,
        day: (day_of_year - (153 * month_from_march + 2) / 5 + 1) as u64,
        hour: seconds / 3_600 % 24,
        minute: seconds / 60 % 60,
        second: seconds % 60,
    }
}

/// `21 Nov 2026, 04:00 UTC`, as the language has it. `seconds`: Unix time.
pub(crate) fn text(language: Language, seconds: u64) -> String {
    let at = civil(seconds);
    let month = language.find(&format!("time-month-{}", at.month));
    language.with(
        "time-moment",
        &[
            // Texts, not numbers: a year has no separators of thousands.
            ("year", Arg::Text(&at.year.to_string())),
            ("month", Arg::Text(&month.unwrap_or_default())),
            ("day", Arg::Text(&at.day.to_string())),
            ("hour", Arg::Text(&format!("{:02}", at.hour))),
            ("minute", Arg::Text(&format!("{:02}", at.minute))),
        ],
    )
}

/// RFC 3339, as `<time datetime>` has it.
pub(crate) fn iso(seconds: u64) -> String {
    let at = civil(seconds);
    let (year, month, day) = (at.year, at.month, at.day);
    let (hour, minute, second) = (at.hour, at.minute, at.second);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_calendar_dates() {
        let english = |seconds| text(Language::ENGLISH, seconds);
        assert_eq!(english(0), "1 Jan 1970, 00:00 UTC");
        assert_eq!(english(951_782_400), "29 Feb 2000, 00:00 UTC");
        assert_eq!(english(1_795_233_644), "21 Nov 2026, 04:00 UTC");
        assert_eq!(english(4_102_444_799), "31 Dec 2099, 23:59 UTC");
        assert_eq!(iso(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(iso(4_102_444_799), "2099-12-31T23:59:59Z");
    }
}
