//! A row of the table of metrics.

/// What a metric is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// What only grows.
    Counter,
    /// What goes up and down.
    Gauge,
    /// How long something took.
    Histogram,
}

impl Kind {
    /// "counter", "gauge" or "histogram".
    pub fn name(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        }
    }
}

/// What a metric counts in, by its name in UCUM, as OpenTelemetry has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Things.
    One,
    /// Seconds; of a moment, since 1970.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Bytes.
    Bytes,
}

impl Unit {
    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Unit::One => "1",
            Unit::Seconds => "s",
            Unit::Milliseconds => "ms",
            Unit::Bytes => "By",
        }
    }
}

/// What the values of a label are: never what a caller chooses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Values {
    /// These.
    Of(&'static [&'static str]),
    /// Names of something, and what bounds how many there are.
    Named(&'static str),
}

/// A label.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Label {
    /// Its name.
    pub name: &'static str,
    /// Its values.
    pub values: Values,
}

/// Which program has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Program {
    /// A server.
    Server,
    /// A gate.
    Gate,
    /// Both.
    Both,
}

/// A metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Metric {
    /// Its name, without the `_total` that the text format adds to a counter's.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
    /// What it counts in.
    pub unit: Unit,
    /// In the order in which they are written.
    pub labels: &'static [Label],
    /// A sentence.
    pub help: &'static str,
    /// Which program has it.
    pub program: Program,
}

impl Metric {
    /// The name as Prometheus has it (OpenMetrics 1.0 section 4.4).
    pub fn exposed_name(&self) -> String {
        match self.kind {
            Kind::Counter => format!("{}_total", self.name),
            Kind::Gauge | Kind::Histogram => self.name.to_owned(),
        }
    }
}
