//! Which issuers' streams of revocations are followed.

use std::{path::Path, sync::Arc, time::Duration};

use signet_crypto::Clock;
use signet_verify::{
    MemoryRevocations, OnStreamLoss, Revocations, RevocationsByIssuer,
    fetch::{Credentials, Outbound, RevocationReader},
};
use tokio::task::JoinSet;

use super::{
    model::{self, GateConfig},
    secrets,
};
use signet_process::SystemClock;

/// How long a reload waits for the streams of the next setup, where those of the present one are
/// whole.
const PATIENCE: Duration = Duration::from_secs(10);

/// One issuer's stream.
#[derive(Clone)]
pub(crate) struct Followed {
    issuer: String,
    url: Option<String>,
    credentials: Credentials,
    revocations: Arc<MemoryRevocations>,
}

/// Every stream that the configuration names.
pub(crate) fn followed(config: &GateConfig, base: &Path) -> Result<Vec<Followed>, String> {
    let mut all = Vec::new();
    for issuer in &config.issuers {
        let Some(stream) = &issuer.revocations else {
            continue;
        };
        let what = format!("issuer {}: revocations", issuer.issuer);
        let credentials = secrets::credentials(&what, &stream.client, base)?;
        let on_stream_loss = match stream.on_stream_loss {
            model::OnStreamLoss::FailOpen => OnStreamLoss::FailOpen,
            model::OnStreamLoss::FailClosed => OnStreamLoss::FailClosedAfter(stream.after.0),
        };
        all.push(Followed {
            issuer: issuer.issuer.clone(),
            url: stream.url.clone(),
            credentials,
            revocations: Arc::new(MemoryRevocations::new(on_stream_loss).named(&issuer.issuer)),
        });
    }
    Ok(all)
}

/// What the verifier asks; None where nothing is followed.
pub(crate) fn asked(followed: &[Followed]) -> Option<Arc<dyn Revocations>> {
    if followed.is_empty() {
        return None;
    }
    let all = followed
        .iter()
        .fold(RevocationsByIssuer::new(), |all, one| {
            all.and(&one.issuer, one.revocations.clone())
        });
    Some(Arc::new(all))
}

/// Follows all of them, until what is returned is dropped.
pub(crate) fn follow(followed: &[Followed], outbound: &Arc<Outbound>) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    for one in followed {
        let clock = SystemClock;
        let mut reader = RevocationReader::new(
            &one.issuer,
            one.credentials.clone(),
            one.revocations.clone(),
            outbound.clone(),
            move || clock.now(),
        );
        if let Some(url) = &one.url {
            reader = reader.at(url);
        }
        tasks.spawn(reader.run());
    }
    tasks
}

/// Whether every stream of `next` is whole, but for those that are lost at `present`: they may
/// become whole later. Waits for it.
pub(crate) async fn are_current(present: &[Followed], next: &[Followed]) -> bool {
    let is_lost = |issuer: &str| {
        let mut known = present.iter().filter(|one| one.issuer == issuer);
        known.any(|one| !one.revocations.is_current())
    };
    let all = || {
        next.iter()
            .all(|one| one.revocations.is_current() || is_lost(&one.issuer))
    };
    let become_so = async {
        while !all() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, become_so).await.is_ok()
}

/// Hands what `present` holds on to `next`, issuer by issuer: while a stream is lost, nothing but
/// this memory knows what it told. To be called right before `next` takes over.
pub(crate) fn hand_on(present: &[Followed], next: &[Followed]) {
    for one in next {
        for known in present.iter().filter(|known| known.issuer == one.issuer) {
            one.revocations.take_over(&known.revocations);
        }
    }
}
