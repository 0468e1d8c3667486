//! Figures of the process and of its signing keys, as metrics. Those of the process have the names
//! by which every Prometheus exporter gives them.
use signet_realm::outbox::Waits;
use signet_realm::state::Host;
use signet_registry::keys::{KeyInfo, Phase};
use signet_telemetry::logs;
use signet_telemetry::metrics::{Family, Metric, table};
use std::fs;

/// Ticks of the kernel's clock in `/proc`, a second: the same on every Linux (USER_HZ).
const TICKS: u64 = 100;

/// The families that this system can tell.
pub(crate) fn of_process() -> Vec<Family> {
    let of = |metric: &'static Metric, value: Option<u64>| Some(Family::new(metric).value(value?));
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let files = fs::read_dir("/proc/self/fd").ok();
    let files = files.and_then(|files| u64::try_from(files.count()).ok());
    let system = fs::read_to_string("/proc/stat").unwrap_or_default();
    let cpu = cpu_ticks(&stat).map(|ticks| ticks / TICKS);
    let families = [
        of(&table::PROCESS_CPU, cpu),
        of(&table::PROCESS_MEMORY, resident_bytes(&status)),
        of(&table::PROCESS_FILES, files),
        of(&table::PROCESS_START, started(&stat, &system)),
    ];
    families.into_iter().flatten().collect()
}

/// A field of `/proc/self/stat` by its number in the manual, from 3 on: those before are the name
/// in parentheses, which may have spaces in it, and what stands before it.
fn field(stat: &str, number: usize) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(number - 3)?.trim().parse().ok()
}

/// User and system time.
fn cpu_ticks(stat: &str) -> Option<u64> {
    Some(field(stat, 14)? + field(stat, 15)?)
}

/// The line of `/proc/self/status`, in kB.
fn resident_bytes(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// When the system booted (`/proc/stat`), and how long after that the process began.
fn started(stat: &str, system: &str) -> Option<u64> {
    let booted = system
        .lines()
        .find_map(|line| line.strip_prefix("btime "))?;
    Some(booted.trim().parse::<u64>().ok()? + field(stat, 22)? / TICKS)
}

/// How long each key that signs has been there: one that is not rotated is seen.
pub(crate) fn of_keys(keys: &[KeyInfo], now: u64) -> Family {
    let family = Family::new(&table::SIGNING_KEY_AGE);
    let signing = keys.iter().filter(|key| key.phase == Phase::Active);
    signing.fold(family, |family, key| {
        let age = now.saturating_sub(key.active_from.unwrap_or(key.created_at));
        family.of([("alg", key.kind.name()), ("kid", &key.kid)], age)
    })
}

/// What waits in memory.
pub(crate) fn of_queues(host: &Host) -> Family {
    let length = |of: usize| u64::try_from(of).unwrap_or(u64::MAX);
    let tracer = &host.policy.tracer;
    Family::new(&table::QUEUE)
        .of([("queue", "passwords")], length(host.passwords.waiting()))
        .of([("queue", "traces")], length(tracer.finished().weight()))
        .of([("queue", "logs")], length(logs::LINES.weight()))
}

/// What is due to be sent, and for how long the oldest of it has waited.
pub(crate) fn of_outbox(due: &[(&'static str, Waits)]) -> [Family; 2] {
    let (mut counts, mut ages) = (
        Family::new(&table::OUTBOX_DUE),
        Family::new(&table::OUTBOX_OLDEST),
    );
    for (kind, waits) in due {
        counts = counts.of([("kind", kind)], waits.due);
        ages = ages.of([("kind", kind)], waits.oldest);
    }
    [counts, ages]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_whose_name_has_spaces_is_read() {
        let stat = "42 (a ) b) S 1 2 3 4 5 6 7 8 9 10 300 45 0 0 20";
        assert_eq!(cpu_ticks(stat), Some(345));
        assert_eq!(cpu_ticks(""), None);
        let stat = format!("{stat} 1 0 0 700");
        assert_eq!(started(&stat, "cpu 1\nbtime 1000\n"), Some(1007));
        assert_eq!(resident_bytes("Name:\ta\nVmRSS:\t    8 kB\n"), Some(8192));
    }

    #[test]
    fn a_process_knows_its_memory_and_its_files() {
        let text = signet_http::metrics::render(of_process());
        let names = ["resident_memory_bytes", "open_fds", "start_time_seconds"];
        for name in names {
            let begins = format!("process_{name} ");
            let line = text.lines().find(|line| line.starts_with(&begins));
            let value: u64 = line.unwrap().rsplit(' ').next().unwrap().parse().unwrap();
            assert!(value > 0, "{name}");
        }
    }
}
