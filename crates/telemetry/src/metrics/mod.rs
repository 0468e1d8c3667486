//! What is counted: one table ([`table`]) of which the text for Prometheus, the manual's page and
//! what OpenTelemetry receives are made, and the counters of what lies below the realm
//! ([`counted`]).
pub mod counted;
mod family;
mod metric;
pub mod table;

pub use family::{Family, Histogram, Labels, Reading};
pub use metric::{Kind, Label, Metric, Program, Unit, Values};
