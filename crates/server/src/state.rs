//! What requests share: the application's slots, and the immutable snapshot that one request reads.
//!
//! The hot path takes no lock: it loads one `Arc<Snapshot>` and reads. Writers (registration, the admin API, key rotation,
//! a configuration reload) build the next snapshot and swap it in; a request that is under way keeps the one it started with.
use arc_swap::{ArcSwap, Guard};
use bytes::Bytes;
use signet_crypto::{Algorithm, Clock, KeyType, seal::Keyring};
use signet_oauth::{metadata::metadata, registry::Registry, settings::Settings};
use signet_store::{RevocationIndex, Store};
use std::{
    collections::HashSet,
    net::IpAddr,
    sync::{Arc, OnceLock},
};

use crate::outbound::{ClientKeysCache, Outbound, OutboundOptions};
use crate::{
    http::metrics::Metrics,
    keys::{self, KeySet, SealingFile, SigningKeys},
    people::{People, PeopleOptions},
    streams::Streams,
    verified_tokens::VerifiedTokens,
};
use signet_audit::Audit;

/// One consistent view of everything that changes rarely. Cheap to clone: every part is shared.
#[derive(Clone)]
pub struct Snapshot {
    /// The protocol settings, from the configuration.
    pub settings: Arc<Settings>,
    /// Clients, resources and scopes.
    pub registry: Arc<Registry>,
    /// Signing keys by algorithm, verification keys by `kid`, and the rendered JWKS.
    pub keys: Arc<KeySet>,
    /// Metadata documents, rendered once.
    pub documents: Documents,
    /// Origins that some client names: browsers may read token, userinfo and the like from there.
    pub origins: Arc<HashSet<String>>,
    /// Answer with HSTS: the issuer is https, and not the developer's own machine.
    pub strict_transport: bool,
}

/// Responses that are the same for every caller until the snapshot changes.
#[derive(Clone, Default)]
pub struct Documents {
    /// RFC 8414 and OpenID Connect Discovery: one document serves both.
    pub metadata: Bytes,
    /// The JWK Set. Keys of type `AKP` (ML-DSA) are in it as soon as a record or the settings ask for one: relying parties that refuse
    /// a whole set for one type that they do not know are only met by those keys where somebody wants them.
    pub jwks: Bytes,
}

/// Whether anything is signed with ML-DSA: by the settings, or by the record of a client or resource server.
fn uses_ml_dsa(settings: &Settings, registry: &Registry) -> bool {
    let is_ml_dsa = |algorithm: &Algorithm| algorithm.key_type() == KeyType::Akp;
    let of_settings = [settings.access_token_alg, settings.id_token_alg];
    let of_resources = registry
        .resources
        .values()
        .filter_map(|resource| resource.access_token_signed_response_alg);
    let of_clients = registry.clients.values().flat_map(|client| {
        [
            client.access_token_signed_response_alg,
            client.id_token_signed_response_alg,
            client.userinfo_signed_response_alg,
            client.introspection_signed_response_alg,
        ]
        .into_iter()
        .flatten()
    });
    let mut all = of_settings
        .into_iter()
        .chain(of_resources)
        .chain(of_clients);
    all.any(|algorithm| is_ml_dsa(&algorithm))
}

impl Snapshot {
    /// A snapshot with its documents rendered from its parts.
    pub fn new(settings: Arc<Settings>, registry: Arc<Registry>, keys: Arc<KeySet>) -> Snapshot {
        let origins = registry
            .clients
            .values()
            .flat_map(|c| c.allowed_origins.iter().cloned())
            .collect();
        Snapshot {
            origins: Arc::new(origins),
            strict_transport: strict_transport(&settings.issuer),
            documents: Documents {
                metadata: metadata(&settings, &registry).into(),
                jwks: if uses_ml_dsa(&settings, &registry) {
                    keys.jwks().clone()
                } else {
                    keys.classical_jwks().clone()
                },
            },
            settings,
            registry,
            keys,
        }
    }
}

/// The server's policy beyond the protocol settings; from the configuration, fixed for the life of the process.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// Addresses of reverse proxies whose `Forwarded`, `X-Forwarded-For` and client certificate headers are believed.
    pub trusted_proxies: Vec<IpAddr>,
    /// The header in which they say whom they speak for.
    pub forwarded: ForwardedHeader,
    /// The header in which a trusted proxy hands over the client certificate (RFC 9440 `Client-Cert`, or URL-encoded PEM).
    pub client_certificate_header: Option<String>,
    /// The proxy checks the certificate's chain before it passes it on: only then does `tls_client_auth` work behind it.
    pub proxy_verifies_client_certificates: bool,
    /// `/metrics` also for other machines than this one.
    pub open_metrics: bool,
    /// What this node is called in answers and logs; empty: `local`.
    pub node: String,
}

impl Policy {
    pub(crate) fn is_trusted_proxy(&self, address: IpAddr) -> bool {
        self.trusted_proxies.contains(&address)
    }
}

/// Which header names the client behind a proxy. One only: a proxy that sets the one passes on what a client wrote in the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ForwardedHeader {
    /// `X-Forwarded-For`.
    #[default]
    XForwardedFor,
    /// `Forwarded` (RFC 7239).
    Forwarded,
}

fn strict_transport(issuer: &str) -> bool {
    issuer.strip_prefix("https://").is_some_and(|rest| {
        let host = rest.split(['/', ':']).next().unwrap_or(rest);
        host != "localhost" && !host.starts_with("127.") && !host.starts_with('[')
    })
}

/// What an `Realm` is made of.
pub struct Parts {
    /// The first snapshot.
    pub snapshot: Snapshot,
    /// Where state rests.
    pub store: Arc<dyn Store>,
    /// The sealing keys.
    pub keyring: Keyring,
    /// What is revoked; loaded from the same store.
    pub revocations: RevocationIndex,
    /// Fetches what clients' records point to.
    pub outbound: OutboundOptions,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Policy beyond the protocol.
    pub policy: Policy,
    /// Password threads, mail, and what limits guessing.
    pub people: PeopleOptions,
}

/// Everything that handlers reach. One per process, shared by all of its runtimes.
pub struct Realm {
    snapshot: ArcSwap<Snapshot>,
    keyring: ArcSwap<Keyring>,
    /// Serializes writers of the snapshot; readers never touch it.
    writing: std::sync::Mutex<()>,
    /// Serializes writers of the registry's rows, so that the snapshot follows in the order of their commits.
    pub(crate) registry_writes: tokio::sync::Mutex<()>,
    /// The signing keys' keeper; set once by the wiring. The keys that requests use are the snapshot's.
    pub signing_keys: OnceLock<Arc<SigningKeys>>,
    /// The audit trail; set once by the wiring, where there is one. [`Realm::audit`] is how it is reached.
    pub audit_trail: OnceLock<Audit>,
    /// The file that the keyring came from; set once by the wiring, where there is one.
    pub sealing_file: OnceLock<Arc<std::sync::Mutex<SealingFile>>>,
    /// Where state rests.
    pub store: Arc<dyn Store>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Policy beyond the protocol.
    pub policy: Policy,
    /// What concerns persons: users, passwords, mail.
    pub people: People,
    /// Counters and histograms, lock-free.
    pub metrics: Metrics,
    /// What is revoked.
    pub revocations: RevocationIndex,
    /// Who follows what is revoked.
    pub revocation_streams: Streams,
    /// Our own tokens that verified, kept for the next question about them.
    pub(crate) verified_tokens: VerifiedTokens,
    /// Fetches what clients' records point to.
    pub outbound: Arc<Outbound>,
    /// Clients' public keys.
    pub client_keys: Arc<ClientKeysCache>,
}

impl Realm {
    /// Puts the parts together.
    pub fn new(parts: Parts) -> Arc<Realm> {
        Arc::new(Realm {
            snapshot: ArcSwap::from_pointee(parts.snapshot),
            keyring: ArcSwap::from_pointee(parts.keyring),
            writing: std::sync::Mutex::new(()),
            registry_writes: tokio::sync::Mutex::new(()),
            signing_keys: OnceLock::new(),
            audit_trail: OnceLock::new(),
            sealing_file: OnceLock::new(),
            people: People::new(Arc::clone(&parts.store), parts.people),
            store: parts.store,
            clock: parts.clock,
            policy: parts.policy,
            metrics: Metrics::default(),
            revocations: parts.revocations,
            revocation_streams: Streams::default(),
            verified_tokens: VerifiedTokens::default(),
            outbound: Arc::new(Outbound::new(parts.outbound)),
            client_keys: Arc::default(),
        })
    }

    /// The current snapshot. A request takes it once, through its `Context`.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.load_full()
    }

    /// The sealing keys; not to be held across an `await` for long.
    pub fn keyring(&self) -> Guard<Arc<Keyring>> {
        self.keyring.load()
    }

    /// Puts another keyring in place (sealing key rotation). Its older keys must still open what the last one sealed.
    pub fn replace_keyring(&self, keyring: impl Into<Arc<Keyring>>) {
        self.keyring.store(keyring.into());
    }

    /// The audit trail; one that keeps nothing where there is none.
    pub fn audit(&self) -> &Audit {
        const OFF: &Audit = &Audit::off();
        self.audit_trail.get().unwrap_or(OFF)
    }

    /// What this node is called.
    pub fn node(&self) -> &str {
        match &*self.policy.node {
            "" => "local",
            name => name,
        }
    }

    /// Seconds since the Unix epoch.
    pub fn now(&self) -> u64 {
        self.clock.now()
    }

    /// Milliseconds since the Unix epoch.
    pub fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    /// The present, and how long the tokens live that are signed now: what keys are kept by.
    pub fn moment(&self) -> keys::Moment {
        let snapshot = self.snapshot();
        keys::Moment {
            now: self.now(),
            longest_token: keys::longest_token(&snapshot.settings, &snapshot.registry),
        }
    }

    /// Changes the snapshot: `change` gets a copy, and what it leaves is swapped in with its documents rendered anew.
    /// Writers come one after another; readers are never held up. `change` must not block.
    pub fn update(&self, change: impl FnOnce(&mut Snapshot)) {
        // A poisoned lock means a writer panicked before its swap: the snapshot in place is still whole.
        let _writer = self.writing.lock().unwrap_or_else(|e| e.into_inner());
        let mut next = Snapshot::clone(&self.snapshot.load());
        change(&mut next);
        let next = Snapshot::new(next.settings, next.registry, next.keys);
        self.snapshot.store(Arc::new(next));
    }
}
