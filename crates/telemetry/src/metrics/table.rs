//! Every metric of a server and of a gate: its name, what it is, what it counts in, its labels with
//! their values, and what it means. One row here is all that a metric is beside its value.
use super::metric::{Kind, Label, Metric, Program, Unit, Values};

/// What guesses may be at.
pub const GUESSES: &[&str] = &[
    "password",
    "mail",
    "code",
    "factor",
    "user_code",
    "client_secret",
];
/// What is exported.
pub const SIGNALS: &[&str] = &["traces", "metrics", "logs"];
/// Where something waits.
pub const QUEUES: &[&str] = &["passwords", "traces", "logs"];
/// Classes of statuses.
pub const CLASSES: &[&str] = &["1xx", "2xx", "3xx", "4xx", "5xx"];
/// Whether a client can keep a secret (RFC 6749 section 2.1).
pub const CLIENT_CLASSES: &[&str] = &["confidential", "public"];
/// States of realms.
pub const REALM_STATES: &[&str] = &["open", "closed", "suspended"];
/// What becomes of a mail.
pub const MAIL_OUTCOMES: &[&str] = &["success", "failed"];
/// Stages of a request of a gate.
pub const STAGES: &[&str] = &["body", "cached", "verified", "refused", "request"];

const fn of(name: &'static str, values: &'static [&'static str]) -> Label {
    Label {
        name,
        values: Values::Of(values),
    }
}

const fn named(name: &'static str, values: &'static str) -> Label {
    Label {
        name,
        values: Values::Named(values),
    }
}

const ROUTE: Label = named("route", "the table of routes, and `other`");
/// The outcome of a request at a gate that logs people in.
const GATE_OUTCOMES: &[&str] = &[
    "accepted",
    "without",
    "forbidden",
    "begun",
    "failed",
    "ended",
];
const NODE: Label = named("node", "the other nodes of the installation");
const ISSUER: Label = named("issuer", "the issuers of the configuration");

macro_rules! metrics {
    ($($(#[$_doc:meta])* $id:ident: $program:ident $kind:ident $unit:ident $name:literal [$($label:expr),*] $help:literal;)*) => {
        $(
            #[doc = $help]
            pub const $id: Metric = Metric {
                name: $name,
                kind: Kind::$kind,
                unit: Unit::$unit,
                labels: &[$($label),*],
                help: $help,
                program: Program::$program,
            };
        )*
        /// All of them, in the order of the manual.
        pub const ALL: &[Metric] = &[$($id),*];
    };
}

#[rustfmt::skip]
metrics! {
    BUILD_INFO: Server Gauge One "signet_build_info" [named("version", "one"), named("commit", "one")] "1; which version this is.";
    LOGINS: Server Counter One "signet_logins" [named("method", "the ways to log in"), named("outcome", "`success`, and the audit trail's names of refusals")] "Logins, by method and outcome.";
    TOKENS_ISSUED: Server Counter One "signet_tokens_issued" [named("grant", "the grant types of the token endpoint"), of("client", CLIENT_CLASSES)] "Token responses, by grant and by whether the client is public or confidential.";
    REFUSALS: Server Counter One "signet_refusals" [named("error", "the registered error codes")] "Requests that were refused, by error code.";
    REPLAYS: Server Counter One "signet_replays" [] "Codes and refresh tokens that came a second time.";
    GUESSES_REFUSED: Server Counter One "signet_guesses_refused" [of("kind", GUESSES)] "Guesses that were refused because there had been too many, by what was guessed.";
    MAILS: Server Counter One "signet_mails" [of("outcome", MAIL_OUTCOMES)] "Attempts to hand a mail over, by outcome.";
    REQUESTS: Both Counter One "signet_requests" [ROUTE, of("status", CLASSES)] "Requests answered.";
    REQUEST_DURATION: Both Histogram Seconds "signet_request_duration_seconds" [ROUTE] "Time from the request's head to its answer.";
    CONNECTIONS: Both Gauge One "signet_connections" [] "Open connections.";
    CONNECTIONS_REFUSED: Both Counter One "signet_connections_refused" [] "Connections refused at the limit.";
    HANDSHAKES_FAILED: Both Counter One "signet_tls_handshakes_failed" [] "TLS handshakes that failed.";
    HANDLER_PANICS: Both Counter One "signet_handler_panics" [] "Requests answered with 500 because their handler panicked.";
    CERTIFICATE_END: Server Gauge Seconds "signet_certificate_end_seconds" [] "When the certificate of the listeners ends, Unix seconds; nothing where no listener has one.";
    SIGNING_KEY_AGE: Server Gauge Seconds "signet_signing_key_age_seconds" [named("alg", "the signature algorithms"), named("kid", "one key of each algorithm")] "Seconds since a key began to sign.";
    STORE_COMMIT: Server Histogram Seconds "signet_store_commit_seconds" [] "Time from a change that is handed to the embedded store to its answer, the wait for a shared flush in it.";
    STORE_FLUSH: Server Histogram Seconds "signet_store_flush_seconds" [] "Time of one commit of the embedded store with its flush, which many changes share.";
    STORE_CHANGES: Server Counter One "signet_store_changes" [] "Changes that shared the flushes of the embedded store.";
    STORE_ERRORS: Server Counter One "signet_store_errors" [] "Store errors.";
    DISK_FULL: Server Gauge One "signet_disk_full" [] "1 while the disk is full and only what ends something is done.";
    CLOCK_STEPS: Server Counter One "signet_clock_steps" [] "Steps of the clock by more than a minute.";
    QUEUE: Server Gauge One "signet_queue_length" [of("queue", QUEUES)] "What waits in memory: passwords for a thread that hashes, spans and log lines for their export.";
    OUTBOX_DUE: Server Gauge One "signet_outbox_due" [named("kind", "the kinds of what goes out")] "What is due to be sent and is not yet, of the first realm; at most 1000 of a kind are counted.";
    OUTBOX_OLDEST: Server Gauge Seconds "signet_outbox_oldest_seconds" [named("kind", "the kinds of what goes out")] "For how long the oldest of what is due has waited, of the first realm.";
    AUDIT_LINES: Server Gauge One "signet_audit_lines" [] "Records in the audit trail.";
    AUDIT_DROPPED: Server Counter One "signet_audit_dropped" [] "Decisions that found the queue of the audit trail full.";
    DECLARATION_DRIFT: Server Counter One "signet_declaration_drift" [named("realm", "the first 100 directories"), named("directory", "the first 100 directories, and `(other)`")] "Objects that differed from a watched directory that had not changed, and were brought back.";
    DECLARATION_APPLIED: Server Gauge Seconds "signet_declaration_applied_seconds" [named("realm", "the first 100 directories"), named("directory", "the first 100 directories, and `(other)`")] "When the server last was as a watched directory declares, Unix seconds.";
    REALMS: Server Gauge One "signet_realms" [of("state", REALM_STATES)] "Realms beside the first: open, closed until the next request, suspended.";
    REALM_REQUESTS: Server Counter One "signet_realm_requests" [named("realm", "the first 1,000 realms that had a request, and `other_realms`")] "Requests for realms beside the first, by realm.";
    EXPORTED: Server Counter One "signet_telemetry_exported" [of("signal", SIGNALS)] "Spans, points and log lines that a collector accepted.";
    EXPORT_DROPPED: Server Counter One "signet_telemetry_dropped" [of("signal", SIGNALS)] "Spans, points and log lines that no collector accepted in time.";

    CLUSTER_READY: Server Gauge One "signet_cluster_ready" [] "1 while this node has what the others have.";
    CLUSTER_STALENESS: Server Gauge Milliseconds "signet_cluster_staleness_ms" [] "For how long this node has not been in contact with a majority, milliseconds; nothing where it never was since it started.";
    CLUSTER_SIGNED: Server Counter One "signet_cluster_batches_signed" [] "Batches of changes that this node signed.";
    CLUSTER_VERIFIED: Server Counter One "signet_cluster_batches_verified" [] "Batches of other nodes whose signatures held.";
    CLUSTER_FORGED: Server Counter One "signet_cluster_batches_forged" [] "Batches refused for a signature that does not hold.";
    CLUSTER_UNKNOWN: Server Counter One "signet_cluster_batches_unknown" [] "Batches refused for a signer who is no member.";
    CLUSTER_AHEAD: Server Counter One "signet_cluster_batches_ahead" [] "Batches whose clock is further ahead than this node's follows; they are in effect.";
    CLUSTER_MALFORMED: Server Counter One "signet_cluster_frames_malformed" [] "Messages of other nodes that could not be read.";
    CLUSTER_HELD: Server Gauge One "signet_cluster_batches_held" [] "Batches that this node holds.";
    CLUSTER_HELD_BYTES: Server Gauge Bytes "signet_cluster_batches_held_bytes" [] "Their bytes.";
    CLUSTER_JOURNAL: Server Gauge Bytes "signet_cluster_journal_bytes" [] "Bytes of the files of this node's journal.";
    CLUSTER_LEADER: Server Gauge One "signet_cluster_store_leader" [] "1 while this node is the leader of the replicated store.";
    CLUSTER_VOTER: Server Gauge One "signet_cluster_store_voter" [] "1 while this node's copy of the replicated store counts for its majority.";
    CLUSTER_MAJORITY: Server Gauge One "signet_cluster_store_majority" [] "1 while this node knows of a majority of the replicated store.";
    CLUSTER_TERM: Server Gauge One "signet_cluster_store_term" [] "The term of the replicated store's consensus.";
    CLUSTER_COMMITTED: Server Gauge One "signet_cluster_store_committed" [] "The last entry of its log that is known to be on a majority.";
    CLUSTER_LAG: Server Gauge One "signet_cluster_store_lag" [] "Entries that this node's rows are known to be behind.";
    CLUSTER_LEADER_CHANGES: Server Counter One "signet_cluster_store_leader_changes" [] "How often another leader was seen since the start.";
    PEER_REACHABLE: Server Gauge One "signet_cluster_peer_reachable" [NODE] "1 while this other node answers.";
    PEER_LAG: Server Gauge Milliseconds "signet_cluster_peer_lag_ms" [NODE] "How long the oldest change of this node waits for that one's acknowledgement, milliseconds.";
    PEER_LAG_DELTAS: Server Gauge One "signet_cluster_peer_lag_deltas" [NODE] "Batches of changes of this node that that one has not acknowledged.";
    PEER_DIVERGED: Server Gauge One "signet_cluster_peer_diverged" [NODE] "1 while the last comparison found a difference that is not yet mended.";
    PEER_COMPARED: Server Gauge Seconds "signet_cluster_peer_compared_seconds" [NODE] "When both were last compared and a difference mended, Unix seconds.";
    PEER_SKEW: Server Gauge Milliseconds "signet_cluster_peer_clock_skew_ms" [NODE] "By how much the clocks of both differ, whichever is ahead, milliseconds.";
    PEER_SENT: Server Counter Bytes "signet_cluster_peer_sent_bytes" [NODE] "Bytes sent over the connection that stands.";
    PEER_RECEIVED: Server Counter Bytes "signet_cluster_peer_received_bytes" [NODE] "Bytes received over it.";

    PROCESS_CPU: Server Counter Seconds "process_cpu_seconds" [] "CPU time.";
    PROCESS_MEMORY: Server Gauge Bytes "process_resident_memory_bytes" [] "Memory that is in use.";
    PROCESS_FILES: Server Gauge One "process_open_fds" [] "Files and connections.";
    PROCESS_START: Server Gauge Seconds "process_start_time_seconds" [] "When the process began, Unix seconds.";

    GATE_STAGE: Gate Histogram Seconds "signet_gate_stage_seconds" [of("stage", STAGES)] "Time that a stage of a request took.";
    GATE_ACCEPTED: Gate Counter One "signet_gate_accepted" [] "Tokens accepted.";
    GATE_CACHED: Gate Counter One "signet_gate_cached" [] "Tokens accepted from the cache.";
    GATE_SESSIONS: Gate Counter One "signet_gate_sessions" [of("outcome", GATE_OUTCOMES)] "Sessions of browsers: requests with one and without, logins, ends; by outcome.";
    GATE_REFUSED: Gate Counter One "signet_gate_refused" [named("reason", "the reasons of the verifier")] "Tokens refused, by reason.";
    GATE_KEYS: Gate Gauge One "signet_gate_issuer_keys" [ISSUER] "Keys of an issuer that can be used now.";
    GATE_STATE: Gate Gauge One "signet_gate_issuer_state" [ISSUER, named("state", "the states of an issuer")] "How an issuer is: 1 for its state.";
    GATE_REVOCATIONS: Gate Gauge One "signet_gate_revocations" [ISSUER] "Revocations of an issuer that are held.";
    GATE_REFUSING: Gate Gauge One "signet_gate_revocations_refusing" [ISSUER] "1 while tokens are refused because revocations cannot be known.";
    GATE_REVOCATIONS_STATE: Gate Gauge One "signet_gate_revocations_state" [ISSUER, named("state", "the states of a source")] "How a source of revocations is: 1 for its state.";
    GATE_REPLAY_BYTES: Gate Gauge Bytes "signet_gate_replay_bytes" [] "Bytes that remember proofs.";
    GATE_REPLAY_LIMIT: Gate Gauge Bytes "signet_gate_replay_limit_bytes" [] "Bytes that may remember proofs.";
    GATE_REPLAY_IDS: Gate Gauge One "signet_gate_replay_ids" [] "Proofs and tokens that are remembered.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_say_their_unit_and_texts_are_sentences() {
        let mut names: Vec<_> = ALL.iter().map(|metric| metric.name).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
        for metric in ALL {
            let name = metric.name;
            assert!(
                name.starts_with("signet_") || name.starts_with("process_"),
                "{name}"
            );
            assert!(
                !name.ends_with("_total") && metric.help.ends_with('.'),
                "{name}"
            );
            // Prometheus' naming: the base unit stands at the end.
            let suffix = match metric.unit {
                Unit::One => continue,
                Unit::Seconds => "_seconds",
                Unit::Milliseconds => "_ms",
                Unit::Bytes => "_bytes",
            };
            assert!(name.ends_with(suffix), "{name}");
        }
    }
}
