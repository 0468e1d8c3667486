use std::sync::Arc;

use super::*;
use signet_outbox::{Due, State};
use signet_store::MemoryStore;

const DAY: u64 = 86_400;

fn store() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

/// Whatever is due of a kind.
async fn due(store: &Arc<dyn Store>, queue: &Queue<Notice>, now: u64) -> Vec<Due<Notice>> {
    queue.look(&**store, b"", 100, now).await.unwrap().due
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
    let due = due(&store, &NOTICES, 12).await;
    let mut told: Vec<&str> = due.iter().map(|due| &*due.item.what.client_id).collect();
    told.sort_unstable();
    assert_eq!(told, ["a", "b"]);
    let of_alice =
        |due: &Due<Notice>| due.item.what.sid == "s1" && due.item.what.user_id == "alice";
    assert!(due.iter().all(of_alice));
    assert!(due.iter().all(|due| due.item.state == State::Waiting));
}

#[tokio::test]
async fn each_client_of_a_session_has_a_watch_and_an_account_has_one_of_its_own() {
    let store = store();
    note(&store, "s1", "a").await;
    note(&store, "s1", "a").await;
    let account = Change::new(watch_account("alice", DAY, 1));
    assert!(store.commit(account, 1).await.unwrap().is_done());
    assert!(due(&store, &SESSION_WATCHES, DAY - 1).await.is_empty());
    for (queue, sid, client) in [(&SESSION_WATCHES, "s1", "a"), (&ACCOUNT_WATCHES, "", "")] {
        let watches = due(&store, queue, DAY).await;
        assert_eq!(watches.len(), 1);
        let watch = &watches[0].item;
        assert_eq!(watch.state, State::Watching);
        let Notice {
            client_id,
            user_id,
            sid: of,
        } = &watch.what;
        assert_eq!((&**client_id, &**user_id, &**of), (client, "alice", sid));
    }
    assert!(due(&store, &NOTICES, DAY).await.is_empty());
}

/// What a store has from before the outbox had kinds: a notice, and a watch among the notices.
#[tokio::test]
async fn rows_of_before_there_were_kinds_are_read() {
    let store = store();
    for (id, state) in [("jti1", "waiting"), ("jti2", "watching")] {
        let row = format!(
            r#"{{"client_id":"a","user_id":"alice","sid":"s1","id":"{id}","state":"{state}",
            "made_at":7,"attempts":3,"last":"503","last_at":9}}"#
        );
        let sort = [&10u64.to_be_bytes(), id.as_bytes()].concat();
        let put = Op::Put {
            key: Key::with_sort(Table::Outbox, b"waiting", sort),
            value: row.into_bytes(),
            end: Some(DAY),
        };
        store.commit(Change::new(put), 1).await.unwrap();
    }
    let due = due(&store, &NOTICES, 10).await;
    let read: Vec<_> = due
        .iter()
        .map(|due| (&*due.item.id, due.item.state))
        .collect();
    assert_eq!(read, [("jti1", State::Waiting), ("jti2", State::Watching)]);
    let item = &due[0].item;
    assert_eq!((item.made_at, item.attempts, item.last_at), (7, 3, Some(9)));
    assert_eq!(item.last.as_deref(), Some("503"));
    assert_eq!((&*item.what.client_id, &*item.what.sid), ("a", "s1"));
    // And written as they were, for nodes of before.
    let (shown, _) = NOTICES.page(&*store, None, 10, 10).await.unwrap();
    let value = serde_json::to_value(&shown[0]).unwrap();
    let expected = serde_json::json!({
        "client_id": "a", "user_id": "alice", "sid": "s1", "id": "jti1", "state": "waiting",
        "made_at": 7, "attempts": 3, "last": "503", "last_at": 9,
    });
    assert_eq!(value, expected);
}
