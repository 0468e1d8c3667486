//! What every engine must do, whatever it is made of: the rules, for the tests of any crate that
//! has an engine.
use signet_store::{Change, Key, Op, Outcome, Row, Store, StoreError, Table};
use std::sync::Arc;

pub(crate) const NOW: u64 = 1_000;
pub(crate) const END: Option<u64> = Some(2_000);

pub(crate) fn once(id: &str) -> Key {
    Key::new(Table::Once, id)
}

pub(crate) fn insert(key: Key, value: &str) -> Change {
    Change::new(Op::Insert {
        key,
        value: value.into(),
        end: END,
    })
}

pub(crate) fn put(key: Key, value: &str) -> Op {
    Op::Put {
        key,
        value: value.into(),
        end: END,
    }
}

pub(crate) fn replace(key: Key, version: u64, value: &str) -> Change {
    Change::new(Op::Replace {
        key,
        version,
        value: value.into(),
        end: END,
    })
}

pub(crate) async fn done(store: &dyn Store, change: Change) -> u64 {
    match store.commit(change, NOW).await.expect("answers") {
        Outcome::Done { version } => version,
        refused => panic!("{refused:?}"),
    }
}

pub(crate) async fn value(store: &dyn Store, key: &Key) -> Option<String> {
    let row = store.get(key, NOW).await.expect("answers")?;
    Some(String::from_utf8(row.value).expect("is text"))
}
pub(crate) async fn of_a_hundred_racing_inserts_one_is_done(store: Arc<dyn Store>) {
    let racers: Vec<_> = (0..100)
        .map(|racer| {
            let store = store.clone();
            tokio::spawn(async move {
                let change = insert(once("code"), &racer.to_string());
                store.commit(change, NOW).await.expect("answers")
            })
        })
        .collect();
    let mut winners = Vec::new();
    let mut told = Vec::new();
    for (number, racer) in racers.into_iter().enumerate() {
        match racer.await.expect("ends") {
            Outcome::Done { .. } => winners.push(number.to_string()),
            Outcome::Refused(row) => told.push(row.expect("the winner's row").value),
        }
    }
    assert_eq!(winners.len(), 1);
    assert_eq!(told, vec![winners[0].clone().into_bytes(); 99]);
    assert_eq!(value(&*store, &once("code")).await, Some(winners.remove(0)));
}

pub(crate) async fn of_a_hundred_racing_replacements_one_is_done(store: Arc<dyn Store>) {
    let key = Key::new(Table::Family, "family");
    let version = done(&*store, insert(key.clone(), "1")).await;
    let racers: Vec<_> = (0..100)
        .map(|_| {
            let (store, key) = (store.clone(), key.clone());
            tokio::spawn(async move { store.commit(replace(key, version, "2"), NOW).await })
        })
        .collect();
    let mut winners = 0;
    for racer in racers {
        winners += usize::from(racer.await.expect("ends").expect("answers").is_done());
    }
    assert_eq!(winners, 1);
}

pub(crate) async fn of_a_hundred_racing_takers_one_gets_the_row(store: Arc<dyn Store>) {
    let key = Key::new(Table::DeviceCode, "device");
    done(&*store, insert(key.clone(), "approved")).await;
    let racers: Vec<_> = (0..100)
        .map(|_| {
            let (store, key) = (store.clone(), key.clone());
            tokio::spawn(async move { store.take(&key, NOW).await.expect("answers") })
        })
        .collect();
    let mut rows = Vec::new();
    for racer in racers {
        rows.extend(racer.await.expect("ends"));
    }
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].value, b"approved");
    assert_eq!(value(&*store, &key).await, None);
}

pub(crate) async fn replace_and_remove_need_the_version_that_was_read(store: Arc<dyn Store>) {
    let key = Key::new(Table::Client, "client");
    let missing = store.commit(replace(key.clone(), 1, "x"), NOW).await;
    assert_eq!(missing.expect("answers"), Outcome::Refused(None));

    let first = done(&*store, insert(key.clone(), "1")).await;
    let second = done(&*store, replace(key.clone(), first, "2")).await;
    assert_ne!(first, second);
    let row = Row {
        value: b"2".to_vec(),
        version: second,
        end: END,
    };
    let late = store.commit(replace(key.clone(), first, "lost"), NOW).await;
    assert_eq!(late.expect("answers"), Outcome::Refused(Some(row.clone())));
    let late = store
        .commit(
            Change::new(Op::Remove {
                key: key.clone(),
                version: first,
            }),
            NOW,
        )
        .await;
    assert_eq!(late.expect("answers"), Outcome::Refused(Some(row)));
    let removal = Op::Remove {
        key: key.clone(),
        version: second,
    };
    assert_eq!(done(&*store, Change::new(removal)).await, 0);
    assert_eq!(value(&*store, &key).await, None);
}

pub(crate) async fn versions_never_repeat_for_a_key(store: Arc<dyn Store>) {
    let key = Key::new(Table::Setting, "key");
    let mut seen = Vec::new();
    for _ in 0..5 {
        seen.push(done(&*store, insert(key.clone(), "same")).await);
        seen.push(done(&*store, Change::new(put(key.clone(), "same"))).await);
        let last = seen[seen.len() - 1];
        seen.push(done(&*store, replace(key.clone(), last, "same")).await);
        done(&*store, Change::new(Op::Delete { key: key.clone() })).await;
    }
    let count = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), count);
}

pub(crate) async fn an_ended_row_does_not_exist_even_before_it_is_swept(store: Arc<dyn Store>) {
    let key = Key::with_sort(Table::UserSession, "user", "session");
    let version = done(&*store, insert(key.clone(), "1")).await;
    let (last, end) = (1_999, 2_000);
    assert!(store.get(&key, last).await.expect("answers").is_some());
    assert_eq!(store.get(&key, end).await.expect("answers"), None);
    let listed = store
        .partition(Table::UserSession, b"user", b"", 10, end)
        .await;
    assert_eq!(listed.expect("answers"), []);
    let listed = store.page(Table::UserSession, None, 10, end).await;
    assert_eq!(listed.expect("answers"), []);
    assert_eq!(store.take(&key, end).await.expect("answers"), None);
    let change = replace(key.clone(), version, "2");
    assert_eq!(
        store.commit(change, end).await.expect("answers"),
        Outcome::Refused(None)
    );
    let removal = Change::new(Op::Remove {
        key: key.clone(),
        version,
    });
    assert_eq!(
        store.commit(removal, end).await.expect("answers"),
        Outcome::Refused(None)
    );
    let anew = Change::new(Op::Insert {
        key: key.clone(),
        value: b"3".to_vec(),
        end: Some(3_000),
    });
    assert!(store.commit(anew, end).await.expect("answers").is_done());
    let row = store
        .get(&key, end)
        .await
        .expect("answers")
        .expect("is there");
    assert_eq!(row.value, b"3");
    assert_ne!(row.version, version);
}

pub(crate) async fn a_row_that_has_already_ended_cannot_be_inserted(store: Arc<dyn Store>) {
    for _ in 0..2 {
        let change = Change::new(Op::Insert {
            key: once("late"),
            value: Vec::new(),
            end: Some(NOW),
        });
        assert_eq!(
            store.commit(change, NOW).await.expect("answers"),
            Outcome::Refused(None)
        );
    }
}

pub(crate) async fn sweep_removes_only_what_has_ended_and_at_most_so_many(store: Arc<dyn Store>) {
    for number in 0..7 {
        let change = Change::new(Op::Insert {
            key: once(&number.to_string()),
            value: Vec::new(),
            end: Some(NOW + 10 + number),
        });
        done(&*store, change).await;
    }
    let kept = Key::new(Table::User, "kept");
    done(
        &*store,
        Change::new(Op::Insert {
            key: kept.clone(),
            value: Vec::new(),
            end: None,
        }),
    )
    .await;
    assert_eq!(store.sweep(NOW, 100).await.expect("answers"), 0);
    assert_eq!(store.sweep(NOW + 13, 3).await.expect("answers"), 3);
    assert_eq!(store.sweep(NOW + 13, 3).await.expect("answers"), 1);
    assert_eq!(store.sweep(NOW + 13, 3).await.expect("answers"), 0);
    assert!(
        store
            .get(&once("4"), NOW + 13)
            .await
            .expect("answers")
            .is_some()
    );
    assert!(store.get(&kept, u64::MAX).await.expect("answers").is_some());
}

pub(crate) async fn a_partition_is_read_in_order_by_pages(store: Arc<dyn Store>) {
    for number in [3u8, 1, 200, 2, 9] {
        let key = Key::with_sort(Table::UserGrant, "user", [number]);
        done(&*store, insert(key, &number.to_string())).await;
    }
    for other in ["use", "user2", "users"] {
        let key = Key::with_sort(Table::UserGrant, other, "x");
        done(&*store, insert(key, "other")).await;
    }
    let other_table = Key::with_sort(Table::Consent, "user", [5]);
    done(&*store, insert(other_table, "other")).await;

    let mut seen = Vec::new();
    let mut after = Vec::new();
    loop {
        let page = store
            .partition(Table::UserGrant, b"user", &after, 2, NOW)
            .await;
        let page = page.expect("answers");
        assert!(page.len() <= 2);
        let Some((last, _)) = page.last() else { break };
        after = last.sort.clone();
        seen.extend(page.iter().map(|(key, _)| key.sort[0]));
        assert!(page.iter().all(|(key, _)| key.partition == b"user"));
    }
    assert_eq!(seen, [1, 2, 3, 9, 200]);
}

pub(crate) async fn a_table_is_read_whole_by_pages(store: Arc<dyn Store>) {
    let mut expected = Vec::new();
    for partition in ["b", "a", "c"] {
        for sort in ["2", "1"] {
            let key = Key::with_sort(Table::Revocation, partition, sort);
            done(&*store, insert(key.clone(), "x")).await;
            expected.push(key);
        }
    }
    expected.sort();
    done(&*store, insert(once("other"), "x")).await;
    let mut seen: Vec<Key> = Vec::new();
    loop {
        let page = store.page(Table::Revocation, seen.last(), 4, NOW).await;
        let page = page.expect("answers");
        if page.is_empty() {
            break;
        }
        seen.extend(page.into_iter().map(|(key, _)| key));
    }
    assert_eq!(seen, expected);
}

pub(crate) async fn commit_each_stops_at_the_first_refusal(store: Arc<dyn Store>) {
    done(&*store, insert(once("second"), "taken")).await;
    let changes = ["first", "second", "third"]
        .map(|id| insert(once(id), "mine"))
        .to_vec();
    let outcomes = store.commit_each(changes, NOW).await.expect("answers");
    assert_eq!(outcomes.len(), 2);
    assert!(outcomes[0].is_done());
    assert!(matches!(&outcomes[1], Outcome::Refused(Some(row)) if row.value == b"taken"));
    assert_eq!(
        value(&*store, &once("first")).await.as_deref(),
        Some("mine")
    );
    assert_eq!(value(&*store, &once("third")).await, None);
    assert_eq!(
        store.commit_each(Vec::new(), NOW).await.expect("answers"),
        []
    );
}

pub(crate) async fn what_follows_the_condition_is_done_if_and_only_if_it_held(
    store: Arc<dyn Store>,
) {
    let (side, gone) = (Key::new(Table::User, "side"), Key::new(Table::User, "gone"));
    done(&*store, insert(gone.clone(), "here")).await;
    let change = insert(once("all"), "x")
        .then(put(side.clone(), "1"))
        .then(Op::Delete { key: gone.clone() });
    done(&*store, change.clone()).await;
    assert_eq!(value(&*store, &side).await.as_deref(), Some("1"));
    assert_eq!(value(&*store, &gone).await, None);

    done(&*store, Change::new(put(side.clone(), "2"))).await;
    done(&*store, Change::new(put(gone.clone(), "back"))).await;
    assert!(!store.commit(change, NOW).await.expect("answers").is_done());
    assert_eq!(value(&*store, &side).await.as_deref(), Some("2"));
    assert_eq!(value(&*store, &gone).await.as_deref(), Some("back"));
}

pub(crate) async fn misuse_is_refused_before_anything_is_done(store: Arc<dyn Store>) {
    let condition = insert(once("a"), "x").then(Op::Remove {
        key: once("b"),
        version: 1,
    });
    let endless = Change::new(Op::Put {
        key: once("a"),
        value: Vec::new(),
        end: None,
    });
    for change in [condition, endless] {
        let answer = store.commit(change, NOW).await;
        assert!(matches!(answer, Err(StoreError::Invalid(_))), "{answer:?}");
    }
    let huge = Change::new(Op::Put {
        key: once("a"),
        value: vec![0; signet_store::MAX_VALUE_BYTES + 1],
        end: END,
    });
    let each = vec![insert(once("a"), "x"), huge];
    let answer = store.commit_each(each, NOW).await;
    assert!(matches!(answer, Err(StoreError::TooLarge)), "{answer:?}");
    assert_eq!(value(&*store, &once("a")).await, None);
}

pub(crate) async fn keys_and_values_are_any_bytes(store: Arc<dyn Store>) {
    let bytes: Vec<u8> = (0..=255).collect();
    let key = Key::with_sort(Table::Session, bytes.clone(), bytes.clone());
    let change = Change::new(Op::Insert {
        key: key.clone(),
        value: bytes.clone(),
        end: END,
    });
    done(&*store, change).await;
    let row = store
        .get(&key, NOW)
        .await
        .expect("answers")
        .expect("is there");
    assert_eq!(row.value, bytes);
    let other_table = Key::with_sort(Table::Once, bytes.clone(), bytes);
    assert_eq!(store.get(&other_table, NOW).await.expect("answers"), None);
}

pub(crate) async fn a_healthy_store_says_so(store: Arc<dyn Store>) {
    store.check().await.expect("is healthy");
}
macro_rules! rules {
    ($engine:ident: $($rule:ident),* $(,)?) => {
        mod $engine {
            $(
                #[tokio::test(flavor = "current_thread")]
                async fn $rule() {
                    let opened = super::$engine();
                    $crate::rules::$rule(opened.store.clone()).await;
                }
            )*
        }
    };
}
pub(crate) use rules;

/// Tests of every rule, for each of these functions beside it that open an engine.
macro_rules! contract {
    ($($engine:ident),* $(,)?) => {
        $($crate::rules::rules! { $engine:
            of_a_hundred_racing_inserts_one_is_done,
            of_a_hundred_racing_replacements_one_is_done,
            of_a_hundred_racing_takers_one_gets_the_row,
            replace_and_remove_need_the_version_that_was_read,
            versions_never_repeat_for_a_key,
            an_ended_row_does_not_exist_even_before_it_is_swept,
            a_row_that_has_already_ended_cannot_be_inserted,
            sweep_removes_only_what_has_ended_and_at_most_so_many,
            a_partition_is_read_in_order_by_pages,
            a_table_is_read_whole_by_pages,
            commit_each_stops_at_the_first_refusal,
            what_follows_the_condition_is_done_if_and_only_if_it_held,
            misuse_is_refused_before_anything_is_done,
            keys_and_values_are_any_bytes,
            a_healthy_store_says_so,
        })*
    };
}
pub(crate) use contract;
