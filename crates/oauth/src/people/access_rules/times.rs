//! When a rule holds: days and hours of a time zone, from and until a moment.
use crate::issued::names::wire_names;
use crate::people::Fault;
use jiff::{
    Timestamp,
    civil::Weekday,
    tz::{TimeZone, TimeZoneDatabase},
};
use std::{fmt, str::FromStr};

/// A day of the week.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Day {
    /// Monday.
    Monday,
    /// Tuesday.
    Tuesday,
    /// Wednesday.
    Wednesday,
    /// Thursday.
    Thursday,
    /// Friday.
    Friday,
    /// Saturday.
    Saturday,
    /// Sunday.
    Sunday,
}
wire_names!(Day {
    Monday = "mon",
    Tuesday = "tue",
    Wednesday = "wed",
    Thursday = "thu",
    Friday = "fri",
    Saturday = "sat",
    Sunday = "sun",
});

impl Day {
    const fn of(weekday: Weekday) -> Day {
        match weekday {
            Weekday::Monday => Day::Monday,
            Weekday::Tuesday => Day::Tuesday,
            Weekday::Wednesday => Day::Wednesday,
            Weekday::Thursday => Day::Thursday,
            Weekday::Friday => Day::Friday,
            Weekday::Saturday => Day::Saturday,
            Weekday::Sunday => Day::Sunday,
        }
    }
}

/// Hours of a day, the last minute not included; where the end is before the beginning, over
/// midnight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hours {
    /// Minutes since midnight.
    from: u16,
    /// Minutes since midnight; 1440 is the next one.
    until: u16,
}

impl Hours {
    const fn contains(self, minute: u16) -> bool {
        if self.from < self.until {
            self.from <= minute && minute < self.until
        } else {
            self.from <= minute || minute < self.until
        }
    }
}

/// `HH:MM`, as minutes; `24:00` is the end of the day.
fn minutes(text: &str) -> Option<u16> {
    let (hours, minutes) = text.split_once(':')?;
    let two = |text: &str| -> Option<u16> {
        let digits = text.len() == 2 && text.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| text.parse().ok())?
    };
    let (hours, minutes) = (two(hours)?, two(minutes)?);
    let all = hours * 60 + minutes;
    (minutes < 60 && all <= 1440).then_some(all)
}

impl FromStr for Hours {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Hours, Fault> {
        let read = text.split_once('-').and_then(|(from, until)| {
            let (from, until) = (minutes(from)?, minutes(until)?);
            (from < 1440 && from != until).then_some(Hours { from, until })
        });
        read.ok_or("hours are HH:MM-HH:MM, as 08:00-18:00 or 22:00-06:00")
    }
}

impl fmt::Display for Hours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, until) = (self.from, self.until);
        let (a, b, c, d) = (from / 60, from % 60, until / 60, until % 60);
        write!(f, "{a:02}:{b:02}-{c:02}:{d:02}")
    }
}

/// When a rule holds; with nothing, always.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Window {
    /// From this moment, Unix seconds.
    pub not_before: Option<u64>,
    /// Until this moment, itself not included, Unix seconds.
    pub not_after: Option<u64>,
    /// On these days; none: on all.
    pub days: Vec<Day>,
    /// At these hours.
    pub hours: Option<Hours>,
    /// The zone that days and hours are of; none: UTC.
    pub zone: Option<Zone>,
}

/// A time zone, by its name in the IANA database, which is compiled in: every node has the same.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Zone {
    name: String,
    zone: TimeZone,
}

impl Zone {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl FromStr for Zone {
    type Err = Fault;

    fn from_str(name: &str) -> Result<Zone, Fault> {
        let zone = TimeZoneDatabase::bundled().get(name);
        let zone = zone.map_err(|_| "zone is a name of the IANA database, as Europe/Berlin")?;
        Ok(Zone {
            name: name.to_owned(),
            zone,
        })
    }
}

impl Window {
    /// Whether it can be.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self) -> Result<(), Fault> {
        if let (Some(from), Some(until)) = (self.not_before, self.not_after)
            && from >= until
        {
            return Err("not_before is before not_after");
        }
        if self.days.len() > 7 {
            return Err("a week has seven days");
        }
        if self.zone.is_some() && self.days.is_empty() && self.hours.is_none() {
            return Err("a zone is that of days or hours");
        }
        Ok(())
    }

    /// Whether a moment is in it. Unix seconds.
    pub fn contains(&self, now: u64) -> bool {
        if self.not_before.is_some_and(|from| now < from)
            || self.not_after.is_some_and(|until| now >= until)
        {
            return false;
        }
        if self.days.is_empty() && self.hours.is_none() {
            return true;
        }
        let moment = i64::try_from(now).ok();
        let Some(moment) = moment.and_then(|now| Timestamp::from_second(now).ok()) else {
            return false;
        };
        let zone = self.zone.as_ref();
        let zone = zone.map_or(TimeZone::UTC, |zone| zone.zone.clone());
        let local = zone.to_datetime(moment);
        let minute = u16::try_from(local.hour()).unwrap_or(0) * 60
            + u16::try_from(local.minute()).unwrap_or(0);
        (self.days.is_empty() || self.days.contains(&Day::of(local.date().weekday())))
            && self.hours.is_none_or(|hours| hours.contains(minute))
    }
}

/// A moment of RFC 3339, as Unix seconds.
///
/// # Errors
/// It is none.
pub fn moment(text: &str) -> Result<u64, Fault> {
    const FAULT: &str = "a moment is one of RFC 3339, as 2027-01-31T08:00:00Z";
    let read: Timestamp = text.parse().map_err(|_| FAULT)?;
    u64::try_from(read.as_second()).map_err(|_| FAULT)
}

/// Unix seconds as a moment of RFC 3339.
pub fn moment_text(seconds: u64) -> String {
    let read = i64::try_from(seconds).ok();
    let read = read.and_then(|seconds| Timestamp::from_second(seconds).ok());
    read.unwrap_or(Timestamp::MAX).to_string()
}
