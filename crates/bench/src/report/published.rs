//! Figures that others have published, from `crates/bench/data`; its README names what each is.

/// Where the latencies of an authorization server come from.
pub const LATENCY: &str = "authorization-server-latency.csv";
/// Where the load of a hosted identity service comes from.
pub const LOAD: &str = "load-test-endpoints.csv";
/// Where a validation service's throughput comes from.
pub const VALIDATION: &str = "jwt-validation-http.csv";
/// Where sizes come from.
pub const SIZES: &str = "token-sizes.csv";
/// Where compact tokens' speeds and sizes come from.
pub const COMPACT: &str = "compact-tokens.csv";
/// Where an agents' library's speeds come from.
pub const AGENTS: &str = "agent-identity.csv";

/// A table with named columns.
#[derive(Debug)]
pub struct Table {
    columns: Vec<&'static str>,
    rows: Vec<Vec<&'static str>>,
}

impl Table {
    /// A file of `crates/bench/data` by its name; without rows where no file has that name.
    #[must_use]
    pub fn named(name: &str) -> Table {
        let text = match name {
            LATENCY => include_str!("../../data/authorization-server-latency.csv"),
            LOAD => include_str!("../../data/load-test-endpoints.csv"),
            VALIDATION => include_str!("../../data/jwt-validation-http.csv"),
            SIZES => include_str!("../../data/token-sizes.csv"),
            COMPACT => include_str!("../../data/compact-tokens.csv"),
            AGENTS => include_str!("../../data/agent-identity.csv"),
            _ => "",
        };
        let mut lines = text.lines().map(|line| line.split(',').collect());
        Table {
            columns: lines.next().unwrap_or_default(),
            rows: lines.collect(),
        }
    }

    /// The rows in which these columns have these values.
    pub fn rows<'t>(
        &'t self,
        wanted: &'t [(&str, &str)],
    ) -> impl Iterator<Item = &'t [&'static str]> {
        self.rows.iter().map(Vec::as_slice).filter(move |row| {
            let mut wanted = wanted.iter();
            wanted.all(|(column, value)| self.cell(row, column) == Some(*value))
        })
    }

    /// A cell of a row.
    #[must_use]
    pub fn cell<'r>(&self, row: &[&'r str], column: &str) -> Option<&'r str> {
        let at = self.columns.iter().position(|name| *name == column)?;
        row.get(at).copied()
    }

    /// The number in `column` of the first row in which the other columns have these values.
    #[must_use]
    pub fn number(&self, wanted: &[(&str, &str)], column: &str) -> Option<f64> {
        let row = self.rows(wanted).next()?;
        self.cell(row, column)?.parse().ok()
    }
}

/// The published mean of a cell of the latency grid, in microseconds. Scenarios are those of the
/// grid here; algorithms by their JOSE names.
#[must_use]
pub fn latency_us(scenario: &str, method: &str, algorithm: &str, nodes: usize) -> Option<f64> {
    let (scenario, method) = match scenario {
        "authorization_code" => ("auth_code", "-"),
        "introspection" => ("introspect", method),
        other => (other, method),
    };
    let nodes = nodes.to_string();
    let wanted = [
        ("scenario", scenario),
        ("client_auth_method", method),
        ("algorithm", algorithm),
        ("nodes", &nodes),
    ];
    Table::named(LATENCY).number(&wanted, "mean")
}

/// The published mean time in which nodes agree on a change, in milliseconds.
#[must_use]
pub fn convergence_ms(algorithm: &str, nodes: usize) -> Option<f64> {
    let nodes = nodes.to_string();
    let wanted = [
        ("scenario", "gossip_convergence"),
        ("algorithm", algorithm),
        ("nodes", &nodes),
    ];
    Table::named(LATENCY).number(&wanted, "mean")
}

/// The greatest published rate of a load scenario without an error, in operations a second.
#[must_use]
pub fn load_rate(scenario: &str) -> Option<f64> {
    let table = Table::named(LOAD);
    let wanted = [("scenario", scenario)];
    let rates = table.rows(&wanted).filter_map(|row| {
        let errors = table.cell(row, "errors")?;
        let rate: f64 = table.cell(row, "rps")?.parse().ok()?;
        (errors.is_empty() || errors == "0").then_some(rate)
    });
    rates.reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_figures_are_found_by_what_they_are_of() {
        let basic = latency_us("client_credentials", "client_secret_basic", "ES256", 1);
        assert_eq!(basic, Some(151.0));
        assert_eq!(
            latency_us("authorization_code", "any", "ES256", 1),
            Some(509.0)
        );
        let rs256 = latency_us("client_credentials", "client_secret_basic", "RS256", 1);
        assert_eq!(rs256, None, "nobody has published it");
        assert!(convergence_ms("ES256", 2).is_some());
        assert_eq!(load_rate("introspection"), Some(500.0));
        assert_eq!(load_rate("full_login_email_otp"), Some(150.0));
    }

    #[test]
    fn every_file_of_published_figures_is_read() {
        for name in [LATENCY, LOAD, VALIDATION, SIZES, COMPACT, AGENTS] {
            let table = Table::named(name);
            assert!(!table.rows.is_empty(), "{name}");
            let columns = table.columns.len();
            assert!(table.rows.iter().all(|row| row.len() == columns), "{name}");
        }
    }
}
