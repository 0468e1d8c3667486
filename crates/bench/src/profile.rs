//! Where the servers' processor time goes, by `perf`: what a report shows of the goals that were
//! missed.

use std::{
    collections::BTreeMap,
    process::{Child, Command, Output, Stdio},
    time::Duration,
};

use tempfile::TempDir;

use crate::client::Failure;

/// Samples a second of every core.
const RATE: u32 = 3989;
/// Fewer say nothing.
const FEW: u64 = 200;

/// How time is divided, in the order of the report. The first ones are of the thread that
/// answers a request.
pub const GROUPS: [&str; 10] = [
    SIGNATURES, TLS, ROWS, MEMORY, RUNTIME, SIGNET, KERNEL, WRITER, AUDIT, OTHER,
];
const SIGNATURES: &str = "signatures and their checks";
const TLS: &str = "TLS and hashes";
const ROWS: &str = "reading rows";
const MEMORY: &str = "memory";
const RUNTIME: &str = "HTTP and runtime";
const SIGNET: &str = "Signet";
const KERNEL: &str = "kernel";
const WRITER: &str = "the store's writer";
const AUDIT: &str = "the audit trail's threads";
const OTHER: &str = "other";

/// What the names of functions have in them, and what they are: the first that fits counts. Names
/// of aws-lc's assembly among them, which say little else.
const FUNCTIONS: [(&str, &[&str]); 6] = [
    (SIGNET, &["signet"]),
    (
        TLS,
        &[
            "rustls", "aes", "gcm", "ghash", "sha256", "hmac", "chacha", "aead",
        ],
    ),
    (
        RUNTIME,
        &[
            "tokio",
            "mio::",
            "hyper",
            "http",
            "epoll",
            "clock_gettime",
            "pthread",
        ],
    ),
    (
        ROWS,
        &[
            "sqlite",
            "vdbe",
            "Vdbe",
            "wal",
            "pcache",
            "btreeB",
            "Btree",
            "pager",
            "freeSpace",
        ],
    ),
    (
        SIGNATURES,
        &[
            "ecp_", "p256", "p384", "p521", "bignum", "bn_", "BN_", "fiat", "mont", "rsaz", "RSA",
            "EC_", "ECDSA", "25519", "edwards", "sha512", "keccak", "Keccak", "mldsa", "ml_dsa",
            "poly", "ntt", "scalar", "EVP_",
        ],
    ),
    (
        MEMORY,
        &[
            "alloc",
            "free",
            "unlink_chunk",
            "memmove",
            "memcpy",
            "memset",
            "memcmp",
        ],
    ),
];

/// What part of the time each group has, together one; or why that is not known.
pub type Shares = Result<BTreeMap<String, f64>, Failure>;

/// A recording under way.
pub struct Recording {
    perf: Child,
    directory: TempDir,
}

impl Recording {
    /// Records all threads of these processes for a while.
    ///
    /// # Errors
    /// There is no `perf`.
    pub fn begin(processes: &[u32], time: Duration) -> Result<Recording, Failure> {
        let directory = tempfile::tempdir()?;
        let processes: Vec<String> = processes.iter().map(u32::to_string).collect();
        let perf = Command::new("perf")
            .args(["record", "--quiet", "--freq", &RATE.to_string()])
            .args(["--pid", &processes.join(",")])
            .arg("--output")
            .arg(directory.path().join("data"))
            .args(["--", "sleep", &time.as_secs_f64().to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let perf = perf.map_err(|_| "perf is needed: apt-get install linux-perf")?;
        Ok(Recording { perf, directory })
    }

    /// Whether it is still running.
    ///
    /// # Errors
    /// The system's.
    pub fn goes_on(&mut self) -> Result<bool, Failure> {
        Ok(self.perf.try_wait()?.is_none())
    }

    /// What part of the time each group has, together one.
    ///
    /// # Errors
    /// `perf` fails, or saw next to nothing.
    pub fn shares(self) -> Shares {
        succeeded(self.perf.wait_with_output()?)?;
        let report = Command::new("perf")
            .args(["report", "--stdio", "--no-children", "--call-graph", "none"])
            .args(["--fields", "sample,comm,dso,sym", "--field-separator", "|"])
            .arg("--input")
            .arg(self.directory.path().join("data"))
            .stdin(Stdio::null())
            .output()?;
        shares(&String::from_utf8_lossy(&succeeded(report)?))
    }
}

fn succeeded(output: Output) -> Result<Vec<u8>, Failure> {
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().find(|line| !line.trim().is_empty());
    Err(format!("perf: {}", said.unwrap_or("failed")).into())
}

/// `text`: lines of samples, thread, object and function, which may have the separator in it.
fn shares(text: &str) -> Shares {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut fields = line.splitn(4, '|').map(str::trim);
        let (Some(samples), Some(thread), Some(object), Some(function)) =
            (fields.next(), fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        *counts.entry(group(thread, object, function)).or_default() += samples.parse::<u64>()?;
    }
    let all: u64 = counts.values().sum();
    if all < FEW {
        return Err(format!("perf saw only {all} samples").into());
    }
    let shares = counts.into_iter();
    let shares = shares.map(|(group, count)| (group.to_owned(), count as f64 / all as f64));
    Ok(shares.collect())
}

fn group(thread: &str, object: &str, function: &str) -> &'static str {
    match thread {
        "store-writer" => return WRITER,
        _ if thread.starts_with("audit") => return AUDIT,
        _ if !thread.starts_with("http") => return OTHER,
        _ => {}
    }
    if object.starts_with('[') && object != "[vdso]" {
        return KERNEL;
    }
    let fits = |(_, parts): &&(&str, &[&str])| parts.iter().any(|part| function.contains(part));
    FUNCTIONS
        .iter()
        .find(fits)
        .map_or(OTHER, |(group, _)| *group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_told_apart_by_thread_object_and_function() {
        let text = "
# Samples: 1K of event 'cpu-clock:ppp'
 100 |http-0        |signet             |[.] ecp_nistz256_ord_sqr_montx
  50 |http-1        |[kernel.kallsyms]  |[k] tcp_ack
  20 |http-1        |libc.so.6          |[.] _int_malloc
   6 |http-0        |signet             |[.] <signet_oauth::A as B<C|D>>::f
   4 |http-0        |signet             |[.] signet_registry::members::free
  10 |http-0        |signet             |[.] balance_nonroot
   5 |http-0        |signet             |[.] walFindFrame.constprop.0
   3 |store-writer  |signet             |[.] walFindFrame.constprop.0
   2 |audit-keeper  |[kernel.kallsyms]  |[k] vfs_write
";
        let shares = shares(text).expect("are samples");
        let of = |group: &str| shares.get(group).copied().unwrap_or(0.0);
        assert_eq!(of(SIGNATURES), 0.5);
        assert_eq!(of(KERNEL), 0.25);
        assert_eq!(of(MEMORY), 0.1);
        assert_eq!((of(SIGNET), of(OTHER)), (0.05, 0.05));
        assert_eq!((of(ROWS), of(WRITER), of(AUDIT)), (0.025, 0.015, 0.01));
        assert!(shares.keys().all(|group| GROUPS.contains(&&**group)));
    }

    #[test]
    fn a_profile_of_next_to_nothing_is_none() {
        assert!(shares("").is_err());
        assert!(shares("3 |http-0 |signet |[.] f").is_err());
    }
}
