//! A metric with its values, at one moment.
use super::metric::{Kind, Metric, Values};

/// A metric of the table, with a value for each set of labels.
#[derive(Debug)]
pub struct Family {
    /// Its row.
    pub metric: &'static Metric,
    /// In the order in which they are written.
    pub readings: Vec<(Labels, Reading)>,
}

/// Names with values.
pub type Labels = Vec<(&'static str, String)>;

/// A value.
#[derive(Clone, PartialEq, Debug)]
pub enum Reading {
    /// Of a counter or a gauge.
    Number(u64),
    /// Of a histogram.
    Timed(Histogram),
}

/// What was timed, at one moment.
#[derive(Clone, PartialEq, Debug)]
pub struct Histogram {
    /// Upper bounds in seconds, and how many lie between each and the one before; the last one is
    /// infinite in a family.
    pub buckets: Vec<(f64, u64)>,
    /// How many there were: as many as the buckets hold, or more, where some are beyond the last
    /// bound.
    pub count: u64,
    /// Seconds that all of them took.
    pub seconds: f64,
}

impl Family {
    /// Without a value yet.
    pub fn new(metric: &'static Metric) -> Family {
        Family {
            metric,
            readings: Vec::new(),
        }
    }

    /// Its one value.
    #[must_use]
    pub fn value(self, value: u64) -> Family {
        self.of([], value)
    }

    /// A value under these labels, which are the row's.
    #[must_use]
    pub fn of<const N: usize>(mut self, labels: [(&'static str, &str); N], value: u64) -> Family {
        debug_assert_ne!(self.metric.kind, Kind::Histogram, "{}", self.metric.name);
        let labels = self.owned(labels);
        self.readings.push((labels, Reading::Number(value)));
        self
    }

    /// A histogram under these labels, which are the row's.
    #[must_use]
    pub fn timed<const N: usize>(
        mut self,
        labels: [(&'static str, &str); N],
        mut timed: Histogram,
    ) -> Family {
        debug_assert_eq!(self.metric.kind, Kind::Histogram, "{}", self.metric.name);
        // Of counts that are read while they grow, the total is made from its parts, so that it
        // never says less.
        let within: u64 = timed.buckets.iter().map(|(_, count)| count).sum();
        timed.count = timed.count.max(within);
        timed.buckets.push((f64::INFINITY, timed.count - within));
        let labels = self.owned(labels);
        self.readings.push((labels, Reading::Timed(timed)));
        self
    }

    fn owned<const N: usize>(&self, labels: [(&'static str, &str); N]) -> Labels {
        // A label that the table does not have is a mistake of the code: every test that reads a
        // process' metrics tries it.
        debug_assert!(self.is_of_row(&labels), "{}: {labels:?}", self.metric.name);
        labels
            .map(|(name, value)| (name, value.to_owned()))
            .to_vec()
    }

    fn is_of_row(&self, labels: &[(&'static str, &str)]) -> bool {
        let row = self.metric.labels;
        labels.len() == row.len()
            && labels.iter().zip(row).all(|((name, value), label)| {
                *name == label.name
                    && match label.values {
                        Values::Of(values) => values.contains(value),
                        Values::Named(_) => true,
                    }
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::table;

    #[test]
    #[should_panic(expected = "signet_mails")]
    fn a_value_that_the_table_does_not_have_is_a_mistake() {
        drop(Family::new(&table::MAILS).of([("outcome", "perhaps")], 1));
    }

    #[test]
    fn a_total_never_says_less_than_its_parts() {
        let timed = Histogram {
            buckets: vec![(0.1, 2), (0.2, 3)],
            count: 4,
            seconds: 0.5,
        };
        let labels = [("route", "/token")];
        let family = Family::new(&table::REQUEST_DURATION).timed(labels, timed);
        let (_, Reading::Timed(timed)) = &family.readings[0] else {
            panic!("{family:?}");
        };
        assert_eq!((timed.count, timed.buckets.len()), (5, 3));
        assert_eq!(timed.buckets[2], (f64::INFINITY, 0));
    }
}
