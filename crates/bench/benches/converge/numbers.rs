//! Times, and what is said of them.
use serde_json::{Value, json};
use std::{fmt, time::Duration};

/// Milliseconds of one thing, done again and again.
#[derive(Default)]
pub(crate) struct Times(Vec<f64>);

impl Times {
    /// One more.
    pub(crate) fn add(&mut self, time: Duration) {
        self.0.push(time.as_secs_f64() * 1e3);
    }

    /// On average; 0 of none.
    pub(crate) fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len().max(1) as f64
    }

    /// What so many of a hundred do not exceed.
    pub(crate) fn hundredth(&self, percent: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let at = (sorted.len() * percent).div_ceil(100).max(1) - 1;
        sorted.get(at).copied().unwrap_or_default()
    }

    /// For the report.
    pub(crate) fn json(&self) -> Value {
        json!({
            "mean": self.mean(), "median": self.hundredth(50), "p99": self.hundredth(99),
            "max": self.hundredth(100), "count": self.0.len(),
        })
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "mean {:>6.2} ms, median {:>6.2}, 99 % {:>6.2}",
            self.mean(),
            self.hundredth(50),
            self.hundredth(99)
        )
    }
}

/// Whether an aim in milliseconds is met.
pub(crate) fn verdict(value: f64, aim: Option<f64>) -> String {
    aim.map_or(String::new(), |aim| {
        let answer = if value <= aim { "met" } else { "missed" };
        format!(", aim {aim:.0} ms {answer}")
    })
}
