use super::*;
use signet_store::MemoryStore;

const DAY: u64 = 86_400;

fn store() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

/// Claims whatever is due.
async fn claim(
    store: &Arc<dyn Store>,
    limit: usize,
    now: u64,
) -> Result<(Vec<Claimed>, bool), StoreError> {
    let found = look(store, b"", limit, now, |_| Choice::Claim).await?;
    Ok((found.claimed, found.next.is_some()))
}

async fn note(store: &Arc<dyn Store>, sid: &str, client: &str) {
    let ops = seen(&**store, (sid, "alice", client), DAY, 1)
        .await
        .unwrap();
    let mut ops = ops.into_iter();
    let Some(first) = ops.next() else { return };
    let change = Change {
        first,
        then: ops.collect(),
    };
    assert!(store.commit(change, 1).await.unwrap().is_done());
}

#[tokio::test]
async fn each_client_of_a_session_is_told_once_however_often_it_ends() {
    let store = store();
    for client in ["a", "b", "a"] {
        note(&store, "s1", client).await;
    }
    note(&store, "s2", "a").await;
    assert_eq!(ended(&*store, "s1", 10).await.unwrap(), 2);
    assert_eq!(ended(&*store, "s1", 11).await.unwrap(), 0);
    let (claimed, _) = claim(&store, 100, 12).await.unwrap();
    let mut told: Vec<&str> = claimed.iter().map(|c| &*c.notice.client_id).collect();
    told.sort_unstable();
    assert_eq!(told, ["a", "b"]);
    assert!(
        claimed
            .iter()
            .all(|c| c.notice.sid == "s1" && c.notice.user_id == "alice")
    );
}

#[tokio::test]
async fn a_notice_is_one_nodes_until_its_claim_is_over() {
    let store = store();
    note(&store, "s1", "a").await;
    ended(&*store, "s1", 10).await.unwrap();
    let (first, _) = claim(&store, 100, 10).await.unwrap();
    assert_eq!(first.len(), 1);
    assert!(
        claim(&store, 100, 10 + LEASE - 1)
            .await
            .unwrap()
            .0
            .is_empty()
    );
    // That node died: another one sends it.
    let (second, _) = claim(&store, 100, 10 + LEASE).await.unwrap();
    assert_eq!(second[0].notice, first[0].notice);
}

#[tokio::test]
async fn a_notice_is_sent_again_and_given_up_at_last() {
    let store = store();
    note(&store, "s1", "a").await;
    ended(&*store, "s1", 10).await.unwrap();
    let mut now = 10;
    for attempt in 1..=MAX_SENT {
        let (mut claimed, _) = claim(&store, 100, now).await.unwrap();
        let claimed = claimed.pop().expect("it is due");
        let refused = claimed.sent(&*store, Err("503".into()), false, now).await;
        let expected = match attempt < MAX_SENT {
            true => NoticeState::Waiting,
            false => NoticeState::Failed,
        };
        assert_eq!(refused.unwrap(), expected);
        // Not at once.
        assert!(claim(&store, 100, now).await.unwrap().0.is_empty());
        now += 320;
    }
    let (shown, next) = page(&*store, None, 10, now).await.unwrap();
    assert_eq!((shown.len(), next), (1, None));
    assert_eq!(shown[0].attempts, MAX_SENT);
    assert_eq!(shown[0].last.as_deref(), Some("503"));
}

#[tokio::test]
async fn what_nobody_ended_is_found_by_its_watch() {
    let store = store();
    note(&store, "s1", "a").await;
    let (mut claimed, _) = claim(&store, 100, DAY).await.unwrap();
    let watch = claimed.pop().expect("a watch");
    assert_eq!(watch.notice.state, NoticeState::Watching);
    watch.watch_on(&*store, 2 * DAY, DAY).await.unwrap();
    assert!(claim(&store, 100, DAY + LEASE).await.unwrap().0.is_empty());
    let (mut claimed, _) = claim(&store, 100, 2 * DAY).await.unwrap();
    let watch = claimed.pop().expect("the watch again");
    watch.watched_end(&*store, 2 * DAY).await.unwrap();
    let (claimed, _) = claim(&store, 100, 2 * DAY).await.unwrap();
    assert_eq!(claimed.len(), 1);
    assert_eq!(claimed[0].notice.state, NoticeState::Waiting);
}
#[tokio::test]
async fn what_is_left_or_put_off_hides_nothing_behind_it() {
    let store = store();
    for session in 0..6 {
        note(&store, &format!("s{session}"), "a").await;
        ended(&*store, &format!("s{session}"), 10).await.unwrap();
    }
    note(&store, "s9", "b").await;
    ended(&*store, "s9", 11).await.unwrap();
    let choose = |notice: &Notice| match (&*notice.client_id, &*notice.sid) {
        ("a", "s0") => Choice::PutOff(50, "later"),
        ("a", "s1") => Choice::GiveUp("never"),
        ("a", _) => Choice::Leave,
        (_, _) => Choice::Claim,
    };
    let (mut after, mut claimed, mut moved) = (Vec::new(), Vec::new(), 0);
    loop {
        let found = look(&store, &after, 2, 12, choose).await.unwrap();
        claimed.extend(found.claimed);
        moved += found.moved;
        let Some(next) = found.next else { break };
        after = next;
    }
    let told: Vec<&str> = claimed.iter().map(|c| &*c.notice.client_id).collect();
    assert_eq!((told, moved), (vec!["b"], 2));
    // What was left is there, what was put off comes later, and what was given up never.
    assert_eq!(claim(&store, 100, 12).await.unwrap().0.len(), 4);
    let (later, _) = claim(&store, 100, 50).await.unwrap();
    assert_eq!(later.len(), 1);
    assert_eq!((&*later[0].notice.sid, later[0].notice.attempts), ("s0", 0));
    let (shown, _) = page(&*store, None, 10, 50).await.unwrap();
    let failed = shown.iter().find(|n| n.state == NoticeState::Failed);
    let failed = failed.expect("the one given up");
    assert_eq!(
        (&*failed.sid, failed.last.as_deref()),
        ("s1", Some("never"))
    );
}
