//! Counters and histograms of the server: plain relaxed atomics, which the exposition format is
//! written from on demand. Logins have a lock: each of them costs a password's hash or a signature.
use crate::activity::{Activity, Counts};
use crate::directories::Directories;
use signet_http::{
    Connections,
    metrics::{self, RouteMetrics},
};
use signet_oauth::client::GrantType;
use signet_oauth::error::TABLE as ERRORS;
use signet_telemetry::metrics::{Family, Metric, counted, table};
use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

/// The outcome of a login that worked.
pub const SUCCESS: &str = "success";

/// Everything that is counted.
pub struct Metrics {
    routes: RouteMetrics,
    /// By the listener.
    pub connections: Connections,
    /// By the grant's place in its list, and by [`table::CLIENT_CLASSES`].
    tokens: [[AtomicU64; table::CLIENT_CLASSES.len()]; GrantType::ALL.len()],
    /// By the code's place in the table of errors.
    refusals: [AtomicU64; ERRORS.len()],
    /// Codes or refresh tokens that came a second time.
    pub replays: AtomicU64,
    /// Errors of the store.
    pub store_errors: AtomicU64,
    /// Steps of the clock that stopped the removal of expired rows.
    pub clock_steps: AtomicU64,
    /// Lines of the audit trail; set when figures are asked for.
    pub audit_lines: AtomicU64,
    /// Decisions that found the audit trail's queue full.
    pub audit_dropped: AtomicU64,
    /// 1 while the disk of the store or of the audit trail is full; set when figures are asked for.
    pub disk_full: AtomicU64,
    /// Attempts to hand a mail over, those that failed among them.
    mails: AtomicU64,
    mails_failed: AtomicU64,
    /// Logins by method and outcome. Both are names of the code: nobody outside adds a series.
    logins: Mutex<BTreeMap<(String, &'static str), u64>>,
    /// What the last day had, minute by minute.
    pub activity: Activity,
    /// Of directories of declarations that are watched.
    pub directories: Directories,
}

impl Metrics {
    /// With a series for each of these routes: the router's own paths, so none is counted under
    /// another name.
    pub fn new(routes: impl IntoIterator<Item = &'static str>) -> Metrics {
        Metrics {
            routes: RouteMetrics::new(routes),
            connections: Connections::default(),
            tokens: [const { [const { AtomicU64::new(0) }; 2] }; GrantType::ALL.len()],
            refusals: [const { AtomicU64::new(0) }; ERRORS.len()],
            replays: AtomicU64::default(),
            store_errors: AtomicU64::default(),
            clock_steps: AtomicU64::default(),
            audit_lines: AtomicU64::default(),
            audit_dropped: AtomicU64::default(),
            disk_full: AtomicU64::default(),
            mails: AtomicU64::default(),
            mails_failed: AtomicU64::default(),
            logins: Mutex::default(),
            activity: Activity::default(),
            directories: Directories::default(),
        }
    }

    /// One token response. `public`: the client has no secret.
    pub fn token(&self, grant: GrantType, public: bool) {
        self.tokens[grant as usize][usize::from(public)].fetch_add(1, Relaxed);
    }

    /// One refusal, by its code in the table of errors.
    pub fn refusal(&self, code: &str) {
        if let Some(at) = ERRORS.iter().position(|row| row.name == code) {
            self.refusals[at].fetch_add(1, Relaxed);
        }
    }

    /// One login that ended. `outcome`: [`SUCCESS`], or what the audit trail calls the refusal.
    pub fn login(&self, method: &str, outcome: &'static str) {
        let mut logins = self.logins.lock().unwrap_or_else(PoisonError::into_inner);
        *logins.entry((method.to_owned(), outcome)).or_default() += 1;
    }

    /// What [`Activity`] is about, counted since the start. A request for a token that is refused
    /// is one that the route `/token` answers with 4xx.
    pub fn counts(&self) -> Counts {
        let logins = self.logins.lock().unwrap_or_else(PoisonError::into_inner);
        let of = |worked: bool| -> u64 {
            let counted = logins.iter();
            counted
                .filter(|((_, outcome), _)| (*outcome == SUCCESS) == worked)
                .map(|(_, count)| count)
                .sum()
        };
        Counts {
            logins: of(true),
            tokens: self
                .tokens
                .iter()
                .flatten()
                .map(|one| one.load(Relaxed))
                .sum(),
            refusals: of(false).saturating_add(self.routes.refused(&["/token"])),
        }
    }

    /// One attempt to hand a mail over.
    pub fn mail(&self, worked: bool) {
        self.mails.fetch_add(1, Relaxed);
        if !worked {
            self.mails_failed.fetch_add(1, Relaxed);
        }
    }

    fn mails(&self) -> Family {
        let failed = self.mails_failed.load(Relaxed);
        let sent = self.mails.load(Relaxed).saturating_sub(failed);
        Family::new(&table::MAILS)
            .of([("outcome", SUCCESS)], sent)
            .of([("outcome", "failed")], failed)
    }

    fn tokens(&self) -> Family {
        let mut family = Family::new(&table::TOKENS_ISSUED);
        for (grant, counts) in GrantType::ALL.iter().zip(&self.tokens) {
            for (class, count) in table::CLIENT_CLASSES.iter().zip(counts) {
                let labels = [("grant", grant.as_str()), ("client", class)];
                family = family.of(labels, count.load(Relaxed));
            }
        }
        family
    }

    fn refusals(&self) -> Family {
        let codes = ERRORS.iter().zip(&self.refusals);
        codes.fold(Family::new(&table::REFUSALS), |family, (row, count)| {
            family.of([("error", row.name)], count.load(Relaxed))
        })
    }

    fn logins(&self) -> Family {
        let logins = self.logins.lock().unwrap_or_else(PoisonError::into_inner);
        let family = Family::new(&table::LOGINS);
        logins
            .iter()
            .fold(family, |family, ((method, outcome), count)| {
                family.of([("method", method.as_str()), ("outcome", *outcome)], *count)
            })
    }

    /// One request that was answered. `route`: as it was added to the router; anything else is
    /// counted as `other`.
    pub fn request(&self, route: &str, status: u16, took: Duration) {
        self.routes.request(route, status, took);
    }

    /// All of it, with what is counted below the realm.
    pub fn families(&self) -> Vec<Family> {
        let mut families = Vec::from(RouteMetrics::families(&[&self.routes]));
        families.extend(metrics::of_connections(&self.connections));
        let of = |metric: &'static Metric, value: &AtomicU64| {
            Family::new(metric).value(value.load(Relaxed))
        };
        families.extend([
            of(&table::REPLAYS, &self.replays),
            of(&table::CLOCK_STEPS, &self.clock_steps),
            of(&table::STORE_ERRORS, &self.store_errors),
            of(&table::AUDIT_DROPPED, &self.audit_dropped),
            of(&table::AUDIT_LINES, &self.audit_lines),
            of(&table::DISK_FULL, &self.disk_full),
            self.tokens(),
            self.refusals(),
            self.logins(),
            self.mails(),
        ]);
        families.extend(self.directories.families());
        families.extend(counted::families());
        let commit = option_env!("SIGNET_COMMIT").unwrap_or_default();
        let build = [("version", env!("CARGO_PKG_VERSION")), ("commit", commit)];
        families.push(Family::new(&table::BUILD_INFO).of(build, 1));
        families
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logins_are_counted_by_method_and_outcome_and_the_build_is_named() {
        let counted = Metrics::new([]);
        counted.login("pwd", SUCCESS);
        counted.login("pwd", "wrong_credentials");
        counted.login("pwd", "wrong_credentials");
        counted.token(GrantType::ClientCredentials, false);
        counted.refusal("invalid_client");
        counted.refusal("what a caller typed");
        let text = metrics::render(counted.families());
        for line in [
            "signet_logins_total{method=\"pwd\",outcome=\"success\"} 1\n",
            "signet_logins_total{method=\"pwd\",outcome=\"wrong_credentials\"} 2\n",
            "signet_tokens_issued_total{grant=\"client_credentials\",client=\"confidential\"} 1\n",
            "signet_tokens_issued_total{grant=\"client_credentials\",client=\"public\"} 0\n",
            "signet_refusals_total{error=\"invalid_client\"} 1\n",
            concat!(
                "signet_build_info{version=\"",
                env!("CARGO_PKG_VERSION"),
                "\""
            ),
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
    }
}
