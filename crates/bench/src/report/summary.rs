//! What is kept of a series of measurements: its middle, its spread, and the samples themselves.
//!
//! A sample is the mean of one turn; what is compared runs in turns, so that the n-th samples of
//! two series were taken within the same fraction of a second and a neighbour disturbed both. The
//! middle is the median, the spread the distance between the quartiles: neither is moved by a turn
//! that something else interrupted.

use serde::{Deserialize, Serialize};

/// A series of samples in one unit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Half of the samples are not above it.
    pub median: f64,
    /// First quartile.
    pub low: f64,
    /// Third quartile.
    pub high: f64,
    /// Arithmetic mean: what published tables mostly give.
    pub mean: f64,
    /// In the order in which they were taken.
    pub samples: Vec<f64>,
}

impl Summary {
    /// Of samples in the order in which they were taken; an empty series is all zero.
    #[must_use]
    pub fn of(samples: Vec<f64>) -> Summary {
        let mut sorted = samples.clone();
        sorted.sort_by(f64::total_cmp);
        Summary {
            median: quantile(&sorted, 0.5),
            low: quantile(&sorted, 0.25),
            high: quantile(&sorted, 0.75),
            mean: sorted.iter().sum::<f64>() / sorted.len().max(1) as f64,
            samples,
        }
    }

    /// Of one figure, which has no spread: a size, a count.
    #[must_use]
    pub fn exact(value: f64) -> Summary {
        Summary::of(vec![value])
    }

    /// Half of the distance between the quartiles, as a part of the median.
    #[must_use]
    pub fn spread(&self) -> f64 {
        if self.median == 0.0 {
            0.0
        } else {
            (self.high - self.low) / 2.0 / self.median.abs()
        }
    }

    /// The n-th sample over the n-th of `other`: what a neighbour did to both falls out. Without as
    /// many samples on both sides, the quotient of the medians.
    #[must_use]
    pub fn over(&self, other: &Summary) -> Summary {
        if self.samples.len() == other.samples.len() {
            let pairs = self.samples.iter().zip(&other.samples);
            Summary::of(pairs.map(|(own, other)| own / other).collect())
        } else {
            Summary::exact(self.median / other.median)
        }
    }

    /// How far the median of another series like this one may lie from it by chance, as a part of
    /// the median: the standard error of the median of a normal distribution whose spread the
    /// quartiles give. The quartiles of a normal distribution are 1.349 standard deviations apart.
    #[must_use]
    pub fn error(&self) -> f64 {
        let count = self.samples.len().max(1) as f64;
        if self.median == 0.0 {
            return 0.0;
        }
        let deviation = (self.high - self.low) / 1.349;
        1.253 * deviation / count.sqrt() / self.median.abs()
    }
}

/// Between the neighbours of its place; `sorted` ascends.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return 0.0;
    };
    let place = part * last as f64;
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    sorted[below] + (sorted[above] - sorted[below]) * (place - place.floor())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_and_the_quartiles_are_not_moved_by_one_disturbed_turn() {
        let quiet = Summary::of(vec![1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!((quiet.low, quiet.median, quiet.high), (2.0, 3.0, 4.0));
        let disturbed = Summary::of(vec![1.0, 2.0, 3.0, 4.0, 500.0]);
        assert_eq!(disturbed.median, 3.0);
        assert_eq!(disturbed.spread(), quiet.spread());
    }

    #[test]
    fn what_disturbs_both_sides_of_a_turn_falls_out_of_their_ratio() {
        let value = Summary::of(vec![2.0, 20.0, 2.0, 200.0]);
        let floor = Summary::of(vec![1.0, 10.0, 1.0, 100.0]);
        let ratio = value.over(&floor);
        assert_eq!((ratio.median, ratio.spread()), (2.0, 0.0));
    }

    #[test]
    fn nothing_is_summed_up_as_zero_and_one_figure_has_no_spread() {
        assert_eq!(Summary::of(Vec::new()).median, 0.0);
        let size = Summary::exact(64.0);
        assert_eq!((size.median, size.spread(), size.error()), (64.0, 0.0, 0.0));
    }
}
