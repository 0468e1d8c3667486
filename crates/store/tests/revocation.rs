//! Revocations: in effect at once, there after a restart, never undone.
use signet_revocation::{GrantId, Jti, RevocationQuery};
use signet_store::{
    Behind, Change, Key, Layer, MAX_BEHIND, MemoryStore, Op, Outcome, RevocationIndex, Store,
    StoreError, StoreFuture, Subject, Table,
};
use std::future::ready;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

const NOW: u64 = 1_000;
const END: u64 = 5_000;
fn token(agents: &[String]) -> RevocationQuery<'_> {
    RevocationQuery { agents, ..TOKEN }
}

const TOKEN: RevocationQuery<'static> = RevocationQuery {
    jti: Some(Jti::new([1; 16])),
    subject_jtis: &[],
    issued_at_ms: 900_000,
    grant_id: Some(GrantId::new([2; 16])),
    sid: Some("sid"),
    user_id: Some("alice"),
    client_id: Some("web"),
    agent_grants: &[[3; 32], [4; 32]],
    agents: &[],
};

async fn empty() -> (Arc<MemoryStore>, RevocationIndex) {
    let store = Arc::new(MemoryStore::new());
    let index = RevocationIndex::load(store.clone(), NOW)
        .await
        .expect("loads");
    (store, index)
}

#[tokio::test]
async fn each_subject_kills_what_it_names_also_after_a_restart() {
    let subjects = [
        Subject::Jti(Jti::new([1; 16])),
        Subject::Grant(GrantId::new([2; 16])),
        Subject::Session("sid".into()),
        Subject::User("alice".into(), 900_000),
        Subject::Client("web".into(), 900_000),
        Subject::AgentGrant([3; 32]),
        Subject::AgentGrant([4; 32]),
        Subject::Agent("inner".into(), 900_000),
        Subject::Agent("outer".into(), 900_000),
        // An agent that acts for itself, or is the client.
        Subject::Agent("alice".into(), 900_000),
        Subject::Agent("web".into(), 900_000),
    ];
    let agents = ["outer".to_owned(), "inner".to_owned()];
    for subject in subjects {
        let (store, index) = empty().await;
        assert!(!index.is_revoked(&token(&agents)));
        index
            .revoke(subject.clone(), END, NOW)
            .await
            .expect("revokes");
        let again = RevocationIndex::load(store, NOW).await.expect("loads");
        let other = RevocationQuery {
            jti: Some(Jti::new([9; 16])),
            subject_jtis: &[],
            issued_at_ms: 1_000,
            grant_id: None,
            sid: Some("other"),
            user_id: Some("bob"),
            client_id: Some("service"),
            agent_grants: &[[5; 32]],
            agents: &["another".to_owned()],
        };
        for index in [index, again] {
            assert!(index.is_revoked(&token(&agents)), "{subject:?}");
            assert!(!index.is_revoked(&other), "{subject:?}");
        }
    }
}

#[tokio::test]
async fn an_epoch_spares_what_was_made_after_it() {
    let agents = ["inner".to_owned()];
    for epoch in [
        Subject::User("alice".into(), 900_000),
        Subject::Client("web".into(), 900_000),
        Subject::Agent("inner".into(), 900_000),
        Subject::Issuer("https://id.example".into(), 900_000),
    ] {
        let (_, index) = empty().await;
        index.revoke(epoch, END, NOW).await.expect("revokes");
        let at = |issued_at_ms| RevocationQuery {
            issued_at_ms,
            ..token(&agents)
        };
        assert!(index.is_revoked(&at(899_999)));
        assert!(index.is_revoked(&at(900_000)));
        assert!(!index.is_revoked(&at(900_001)));
    }
}

// A19: a clock that runs behind must not bring anything back to life.
#[tokio::test]
async fn an_earlier_epoch_or_end_never_undoes_a_later_one() {
    let (store, index) = empty().await;
    let epoch = |ms| Subject::User("alice".into(), ms);
    index
        .revoke(epoch(900_000), END, NOW)
        .await
        .expect("revokes");
    index
        .revoke(epoch(100), NOW + 1, NOW)
        .await
        .expect("revokes");
    let again = RevocationIndex::load(store.clone(), END - 1)
        .await
        .expect("loads");
    index.sweep(END - 1);
    assert!(index.is_revoked(&TOKEN));
    assert!(again.is_revoked(&TOKEN));
}

// A9: the entry lives as long as the token can.
#[tokio::test]
async fn an_entry_is_forgotten_at_its_end_and_not_before() {
    let (_, index) = empty().await;
    index
        .revoke(Subject::Jti(Jti::new([1; 16])), END, NOW)
        .await
        .expect("revokes");
    index.sweep(END - 1);
    assert!(index.is_revoked(&TOKEN));
    index.sweep(END);
    assert!(index.is_empty());
}

#[tokio::test]
async fn all_pages_are_loaded() {
    let (store, index) = empty().await;
    for number in 0..2_500u64 {
        let mut id = [0; 16];
        id[..8].copy_from_slice(&number.to_be_bytes());
        index
            .revoke(Subject::Jti(Jti::new(id)), END, NOW)
            .await
            .expect("revokes");
    }
    let again = RevocationIndex::load(store, NOW).await.expect("loads");
    assert_eq!(again.len(), 2_500);
}

#[tokio::test]
async fn an_unreadable_entry_stops_the_start() {
    let rows: [(&[u8], &[u8]); 5] = [
        (b"", &[0; 8]),
        (b"x0123456789abcdef", &[0; 8]),
        (b"jshort", &[0; 8]),
        (b"d0123456789abcdef", &[0; 8]),
        (b"ualice", b"soon"),
    ];
    for (partition, value) in rows {
        let store = Arc::new(MemoryStore::new());
        let op = Op::Put {
            key: Key::new(Table::Revocation, partition),
            value: value.to_vec(),
            end: Some(END),
        };
        store.commit(Change::new(op), NOW).await.expect("answers");
        let loaded = RevocationIndex::load(store, NOW).await;
        assert!(matches!(loaded, Err(StoreError::Corrupt(_))));
    }
}

#[tokio::test]
async fn racing_revocations_join() {
    let (store, index) = empty().await;
    let index = Arc::new(index);
    let racers: Vec<_> = (1..=50u64)
        .map(|number| {
            let index = index.clone();
            tokio::spawn(async move {
                let subject = Subject::Client("web".into(), number * 1_000);
                index.revoke(subject, END + number, NOW).await
            })
        })
        .collect();
    for racer in racers {
        racer.await.expect("ends").expect("revokes");
    }
    let again = RevocationIndex::load(store, END + 49).await.expect("loads");
    let token = RevocationQuery {
        issued_at_ms: 50_000,
        client_id: Some("web"),
        ..RevocationQuery::default()
    };
    assert!(again.is_revoked(&token));
    assert!(index.is_revoked(&token));
}

/// A store that stops taking writes.
struct Failing {
    inner: MemoryStore,
    broken: AtomicBool,
}

impl Layer for Failing {
    fn inner(&self) -> &dyn Store {
        &self.inner
    }
    fn commit(&self, change: Change, now: u64) -> StoreFuture<'_, Outcome> {
        if self.broken.load(Ordering::SeqCst) {
            return Box::pin(ready(Err(StoreError::Unavailable("broken".into()))));
        }
        self.inner.commit(change, now)
    }
}

#[tokio::test]
async fn what_is_not_durable_is_not_answered_as_revoked() {
    let store = Arc::new(Failing {
        inner: MemoryStore::new(),
        broken: AtomicBool::new(true),
    });
    let index = RevocationIndex::load(store.clone(), NOW)
        .await
        .expect("loads");
    let answer = index
        .revoke(Subject::Jti(Jti::new([1; 16])), END, NOW)
        .await;
    assert!(matches!(answer, Err(StoreError::Unavailable(_))));
    store.broken.store(false, Ordering::SeqCst);
    index
        .revoke(Subject::Jti(Jti::new([1; 16])), END, NOW)
        .await
        .expect("revokes");
    assert!(index.is_revoked(&TOKEN));
}

#[tokio::test]
async fn a_follower_reads_what_is_there_and_then_each_change_once_it_counts() {
    let (_, index) = empty().await;
    for number in 0..2_500u64 {
        let mut id = [0; 16];
        id[..8].copy_from_slice(&number.to_be_bytes());
        index
            .revoke(Subject::Jti(Jti::new(id)), END, NOW)
            .await
            .expect("revokes");
    }
    let mut feed = index.follow();
    assert_eq!(feed.change_now(), Ok(None));
    let during = Subject::AgentGrant([7; 32]);
    let mut read = Vec::new();
    while let Some(page) = feed.page(NOW).await.expect("reads") {
        if read.is_empty() {
            index
                .revoke(during.clone(), END, NOW)
                .await
                .expect("revokes");
        }
        read.extend(page);
    }
    let jtis = read
        .iter()
        .filter(|entry| matches!(entry.subject, Subject::Jti(_)));
    assert_eq!(jtis.count(), 2_500);
    assert!(read.iter().all(|entry| entry.end == END));
    // Whether or not the page that held it was read before.
    assert_eq!(feed.change().await.expect("hears").subject, during);
    let later = Subject::User("alice".into(), 950_000);
    index
        .revoke(later.clone(), END + 5, NOW)
        .await
        .expect("revokes");
    let change = feed.change().await.expect("hears");
    assert_eq!((&change.subject, change.end), (&later, END + 5));
    assert!(index.is_revoked(&TOKEN));
    assert_eq!(feed.change_now(), Ok(None));
}

#[tokio::test]
async fn a_follower_that_is_too_slow_is_told_so_and_holds_up_nobody() {
    let (_, index) = empty().await;
    let mut feed = index.follow();
    for number in 0..=MAX_BEHIND as u64 {
        let subject = Subject::Client("web".into(), number);
        index.revoke(subject, END, NOW).await.expect("revokes");
    }
    assert_eq!(feed.change().await, Err(Behind));
}
