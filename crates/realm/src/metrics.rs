//! Counters and histograms of the server: plain relaxed atomics, which the exposition format is
//! written from on demand. Logins have a lock: each of them costs a password's hash or a signature.
use crate::activity::{Activity, Counts};
use crate::directories::Directories;
use signet_http::{
    Connections,
    metrics::{self, Family, RouteMetrics},
};
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
#[derive(Default)]
pub struct Metrics {
    routes: RouteMetrics,
    /// By the listener.
    pub connections: Connections,
    /// Tokens issued.
    pub tokens_issued: AtomicU64,
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
            ..Metrics::default()
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
            tokens: self.tokens_issued.load(Relaxed),
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
        Family::counter("signet_mails", "Attempts to hand a mail over, by outcome.")
            .of([("outcome", SUCCESS)], sent)
            .of([("outcome", "failed")], failed)
    }

    fn logins(&self) -> Family {
        let logins = self.logins.lock().unwrap_or_else(PoisonError::into_inner);
        let family = Family::counter("signet_logins", "Logins, by method and outcome.");
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

    /// All of it in the text format of OpenMetrics 1.0, which Prometheus reads, with further
    /// families.
    pub fn render(&self, further: Vec<Family>) -> String {
        let mut families = Vec::from(RouteMetrics::families(&[&self.routes]));
        families.extend(metrics::of_connections(&self.connections));
        let counters = [
            (
                "signet_tokens_issued",
                "Token responses.",
                &self.tokens_issued,
            ),
            (
                "signet_replays",
                "Codes and refresh tokens that came a second time.",
                &self.replays,
            ),
            (
                "signet_clock_steps",
                "Steps of the clock by more than a minute.",
                &self.clock_steps,
            ),
            ("signet_store_errors", "Store errors.", &self.store_errors),
            (
                "signet_audit_dropped",
                "Decisions that found the queue of the audit trail full.",
                &self.audit_dropped,
            ),
        ];
        families.extend(
            counters
                .map(|(name, help, count)| Family::counter(name, help).value(count.load(Relaxed))),
        );
        families.push(
            Family::gauge("signet_audit_lines", "Records in the audit trail.")
                .value(self.audit_lines.load(Relaxed)),
        );
        families.push(
            Family::gauge(
                "signet_disk_full",
                "1 while the disk is full and only what ends something is done.",
            )
            .value(self.disk_full.load(Relaxed)),
        );
        families.push(self.logins());
        families.push(self.mails());
        families.extend(self.directories.families());
        let commit = option_env!("SIGNET_COMMIT").unwrap_or_default();
        let build = [("version", env!("CARGO_PKG_VERSION")), ("commit", commit)];
        families.push(Family::gauge("signet_build_info", "1; which version this is.").of(build, 1));
        families.extend(further);
        metrics::render(families)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logins_are_counted_by_method_and_outcome_and_the_build_is_named() {
        let metrics = Metrics::new([]);
        metrics.login("pwd", SUCCESS);
        metrics.login("pwd", "wrong_credentials");
        metrics.login("pwd", "wrong_credentials");
        let text = metrics.render(Vec::new());
        for line in [
            "signet_logins_total{method=\"pwd\",outcome=\"success\"} 1\n",
            "signet_logins_total{method=\"pwd\",outcome=\"wrong_credentials\"} 2\n",
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
