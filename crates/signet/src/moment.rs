//! A moment on the command line: Unix seconds, or a date, or a date and time in UTC.

use signet_config::duration::Duration;

/// Unix seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment(pub u64);

const EXPECTED: &str = "expected Unix seconds, or UTC as 2026-11-22 or 2026-11-22T10:00:00Z";

/// A moment, or how long ago it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// The moment.
    At(Moment),
    /// So long before now.
    Ago(Duration),
}

impl When {
    /// Reads what [`Moment`] reads, or "90s", "10m", "8h", "30d".
    pub fn parse(text: &str) -> Result<When, &'static str> {
        match text.ends_with(['s', 'm', 'h', 'd']) {
            true => Duration::parse(text).map(When::Ago),
            false => Moment::parse(text).map(When::At),
        }
    }

    /// Unix milliseconds. `now_ms`: likewise.
    pub fn ms(self, now_ms: u64) -> u64 {
        match self {
            When::At(moment) => moment.0.saturating_mul(1000),
            When::Ago(length) => now_ms.saturating_sub(length.0.saturating_mul(1000)),
        }
    }
}

impl Moment {
    /// Reads "1795341600", "2026-11-22T10:00:00Z" (RFC 3339, UTC, whole seconds; from 1970), or
    /// "2026-11-22", which is when that day begins in UTC.
    pub fn parse(text: &str) -> Result<Moment, &'static str> {
        let whole;
        let text = match text.len() {
            10 if text.contains('-') => {
                whole = format!("{text}T00:00:00Z");
                whole.as_str()
            }
            _ => text,
        };
        if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
            return text.parse().map(Moment).map_err(|_| EXPECTED);
        }
        let form = b"dddd-dd-ddTdd:dd:ddZ";
        let fits = text.len() == form.len()
            && text.bytes().zip(form).all(|(byte, form)| match form {
                b'd' => byte.is_ascii_digit(),
                literal => byte == *literal,
            });
        if !fits {
            return Err(EXPECTED);
        }
        let number = |from: usize, to: usize| text[from..to].parse::<u64>().map_err(|_| EXPECTED);
        let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
        let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let days_of = |month: u64| match month {
            2 => 28 + u64::from(leap),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        let is_date = year >= 1970
            && (1..=12).contains(&month)
            && (1..=days_of(month)).contains(&day)
            && hour < 24
            && minute < 60
            && second < 60;
        if !is_date {
            return Err("there is no such moment");
        }
        let before = year - 1;
        let leap_days =
            before / 4 - before / 100 + before / 400 - (1969 / 4 - 1969 / 100 + 1969 / 400);
        let days = (year - 1970) * 365 + leap_days + (1..month).map(days_of).sum::<u64>() + day - 1;
        Ok(Moment(((days * 24 + hour) * 60 + minute) * 60 + second))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_terminal::output::date;

    #[test]
    fn when_is_a_moment_or_how_long_ago() {
        let ms = |text: &str| When::parse(text).map(|when| when.ms(90_000_000));
        assert_eq!(ms("10s"), Ok(89_990_000));
        assert_eq!(ms("1d"), Ok(3_600_000));
        assert_eq!(ms("77"), Ok(77_000));
        assert_eq!(ms("1970-01-02"), Ok(86_400_000));
        assert!(ms("yesterday").is_err());
    }

    #[test]
    fn a_moment_is_read_as_it_is_shown() {
        for at in [0, 951_826_154, 1_709_164_800, 1_795_341_600, 4_102_444_799] {
            assert_eq!(Moment::parse(&date(at)), Ok(Moment(at)), "{}", date(at));
            assert_eq!(Moment::parse(&at.to_string()), Ok(Moment(at)));
        }
        assert_eq!(
            Moment::parse("2026-11-22"),
            Moment::parse("2026-11-22T00:00:00Z")
        );
        for bad in [
            "2026-11-2x",
            "2026-1-122",
            "",
            "soon",
            "-1",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-11-22T24:00:00Z",
            "2026-11-22T10:00:00+01:00",
            "1969-12-31T23:59:59Z",
            "99999999999999999999999",
        ] {
            assert!(Moment::parse(bad).is_err(), "{bad}");
        }
    }
}
