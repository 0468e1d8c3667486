//! Nodes over one store, and receivers of every temper.
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use serde::{Deserialize, Serialize};
use signet_store::{Change, MemoryStore, Store, StoreError, StoreFuture};
use tokio::sync::Notify;

use crate::{Bounds, Claimed, Context, Item, Kind, Queue, Row, Sender, Sent, State, attempt};

const DAY: u64 = 86_400;
const LEASE: u64 = 60;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Word {
    to: String,
    says: String,
}

static QUEUE: Queue<Word> = Queue::shown("words", "said", 7 * DAY);

/// One node.
struct Node {
    store: Arc<dyn Store>,
    now: AtomicU64,
    /// Ids by receiver, in the order in which they were sent.
    sent: Mutex<HashMap<String, Vec<String>>>,
    /// Ids that were given up, and why.
    given_up: Mutex<Vec<(String, String)>>,
    outgoing: Notify,
}

impl Node {
    fn over(store: &Arc<dyn Store>) -> Arc<Node> {
        Arc::new(Node {
            store: Arc::clone(store),
            now: AtomicU64::new(10),
            sent: Mutex::default(),
            given_up: Mutex::default(),
            outgoing: Notify::new(),
        })
    }

    fn sent(&self, to: &str) -> Vec<String> {
        let sent = self.sent.lock().unwrap();
        sent.get(to).cloned().unwrap_or_default()
    }

    fn pass(&self, seconds: u64) {
        self.now.fetch_add(seconds, Relaxed);
    }
}

impl Context for Node {
    fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    fn now(&self) -> u64 {
        self.now.load(Relaxed)
    }

    fn outgoing(&self) -> &Notify {
        &self.outgoing
    }
}

/// The receiver's name says how it answers.
struct Words;

impl Kind for Words {
    type Context = Node;
    type What = Word;

    fn name(&self) -> &'static str {
        "words"
    }

    fn queue(&self) -> &'static Queue<Word> {
        &QUEUE
    }

    fn bounds(&self) -> Bounds {
        Bounds {
            held: 64,
            held_of_receiver: 16,
            at_once: 8,
            at_once_of_receiver: 2,
            lease: LEASE,
            takes: 10,
            attempts: 4,
            longest_pause: 15,
            put_off: 3_600,
            put_off_because: "put off",
            given_up_because: "given up",
        }
    }

    fn receiver<'a>(&self, item: &'a Item<Word>) -> Option<&'a str> {
        (item.state != State::Watching).then_some(&*item.what.to)
    }

    fn expires_at(&self, item: &Item<Word>) -> Option<u64> {
        (item.what.says == "for a minute").then_some(item.made_at + 60)
    }

    fn send<'a>(&'a self, node: &'a Node, item: &'a Item<Word>) -> StoreFuture<'a, Sent> {
        Box::pin(async move {
            if item.state == State::Watching {
                return Ok(match node.now() < 2 * DAY {
                    true => Sent::Again(2 * DAY),
                    false => Sent::Dropped,
                });
            }
            {
                let mut sent = node.sent.lock().unwrap();
                let to = sent.entry(item.what.to.clone()).or_default();
                to.push(item.id.clone());
            }
            match &*item.what.to {
                "hanging" => std::future::pending().await,
                "refusing" => Ok(Sent::Refused("503".into())),
                "away" => Ok(Sent::Unreachable("no connection".into())),
                "gone" => Ok(Sent::Hopeless("there is no such receiver".into())),
                "lost" => Err(StoreError::Unavailable("the result is lost".into())),
                _ => Ok(Sent::Delivered),
            }
        })
    }

    fn give_up<'a>(
        &'a self,
        node: &'a Node,
        item: &'a Item<Word>,
        change: StoreFuture<'a, bool>,
    ) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            let is_done = change.await?;
            if is_done {
                let why = item.last.clone().unwrap_or_default();
                node.given_up.lock().unwrap().push((item.id.clone(), why));
            }
            Ok(is_done)
        })
    }
}

const KINDS: &[&dyn Row<Node>] = &[&Words];

fn store() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

fn word(to: &str, says: &str) -> Word {
    let (to, says) = (to.to_owned(), says.to_owned());
    Word { to, says }
}

async fn put(store: &Arc<dyn Store>, what: Word, at: u64) -> Item<Word> {
    let item = Item::new(what, at);
    let change = Change::new(QUEUE.put(&item, at, at));
    assert!(store.commit(change, at).await.unwrap().is_done());
    item
}

/// Sends what is due, until nothing is.
async fn deliver(sender: &mut Sender<Node>, node: &Arc<Node>) {
    while sender.round(node).await.unwrap() {}
    sender.settle().await;
}

/// Claims whatever is due.
async fn claim(store: &Arc<dyn Store>, now: u64) -> Vec<Claimed<Word>> {
    let look = QUEUE.look(&**store, b"", 100, now).await.unwrap();
    let mut claimed = Vec::new();
    for due in look.due {
        claimed.extend(QUEUE.claim(&**store, due, LEASE, now).await.unwrap());
    }
    claimed
}

async fn shown(store: &Arc<dyn Store>, now: u64) -> Vec<Item<Word>> {
    let (shown, next) = QUEUE.page(&**store, None, 1_000, now).await.unwrap();
    assert_eq!(next, None);
    shown
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_nodes_that_look_at_once_one_sends_an_item() {
    let store = store();
    let nodes = [Node::over(&store), Node::over(&store)];
    let mut ids = Vec::new();
    for _ in 0..40 {
        ids.push(put(&store, word("ready", "hello"), 10).await.id);
    }
    let work = nodes.clone().map(|node| {
        tokio::spawn(async move {
            let mut sender = Sender::new(KINDS);
            for _ in 0..20 {
                deliver(&mut sender, &node).await;
            }
        })
    });
    for work in work {
        work.await.unwrap();
    }
    let mut sent: Vec<String> = nodes.iter().flat_map(|node| node.sent("ready")).collect();
    sent.sort();
    ids.sort();
    assert_eq!(sent, ids);
}

#[test]
fn what_a_node_sent_before_it_died_is_sent_again_with_the_same_id() {
    let store = store();
    let (first, second) = (Node::over(&store), Node::over(&store));
    let dying = tokio::runtime::Runtime::new().unwrap();
    let id = dying.block_on(async {
        let id = put(&store, word("hanging", "hello"), 10).await.id;
        let mut sender = Sender::new(KINDS);
        while sender.round(&first).await.unwrap() {}
        while first.sent("hanging").is_empty() {
            tokio::task::yield_now().await;
        }
        id
    });
    // It was sent, and nothing says so.
    dying.shutdown_background();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let mut sender = Sender::new(KINDS);
        second.pass(LEASE - 1);
        while sender.round(&second).await.unwrap() {}
        assert!(second.sent("hanging").is_empty(), "it is the other's");
        second.pass(1);
        while sender.round(&second).await.unwrap() {}
        while second.sent("hanging").is_empty() {
            tokio::task::yield_now().await;
        }
    });
    assert_eq!(first.sent("hanging"), std::slice::from_ref(&id));
    assert_eq!(second.sent("hanging"), [id]);
    runtime.shutdown_background();
}

#[tokio::test]
async fn a_result_that_could_not_be_written_has_it_sent_again() {
    let store = store();
    let node = Node::over(&store);
    let id = put(&store, word("lost", "hello"), 10).await.id;
    let mut sender = Sender::new(KINDS);
    for _ in 0..3 {
        deliver(&mut sender, &node).await;
        node.pass(LEASE);
    }
    assert_eq!(node.sent("lost"), [&*id; 3]);
}

#[tokio::test]
async fn a_receiver_that_hangs_delays_no_other() {
    let store = store();
    let node = Node::over(&store);
    // More than a node holds at most, and due before all others'.
    for _ in 0..100 {
        put(&store, word("hanging", "hello"), 9).await;
    }
    for to in 0..10 {
        for _ in 0..10 {
            put(&store, word(&format!("ready {to}"), "hello"), 10).await;
        }
    }
    let mut sender = Sender::new(KINDS);
    let others = async {
        loop {
            sender.round(&node).await.unwrap();
            tokio::task::yield_now().await;
            if (0..10).all(|to| node.sent(&format!("ready {to}")).len() == 10) {
                return;
            }
        }
    };
    let told = tokio::time::timeout(std::time::Duration::from_secs(30), others);
    told.await.expect("the others receive theirs");
    assert_eq!(
        node.sent("hanging").len(),
        Words.bounds().at_once_of_receiver
    );
}

#[tokio::test]
async fn attempts_are_bounded_and_an_item_that_failed_is_given_up_once() {
    let store = store();
    let node = Node::over(&store);
    let item = put(&store, word("refusing", "hello"), 10).await;
    let mut sender = Sender::new(KINDS);
    for expected in [1, 2, 3, 4, 4, 4] {
        deliver(&mut sender, &node).await;
        // Not again at once.
        deliver(&mut sender, &node).await;
        assert_eq!(node.sent("refusing").len(), expected);
        node.pass(15);
    }
    let given_up = node.given_up.lock().unwrap().clone();
    assert_eq!(given_up, [(item.id.clone(), "503".to_owned())]);
    let shown = shown(&store, node.now()).await;
    assert_eq!(shown.len(), 1);
    assert_eq!((&shown[0].id, shown[0].state), (&item.id, State::Failed));
    assert_eq!(
        (shown[0].attempts, shown[0].last.as_deref()),
        (4, Some("503"))
    );
}

#[tokio::test]
async fn the_time_between_two_attempts_doubles_up_to_a_bound() {
    let store = store();
    let node = Node::over(&store);
    put(&store, word("refusing", "hello"), 10).await;
    let mut sender = Sender::new(KINDS);
    deliver(&mut sender, &node).await;
    for (pause, sent) in [(5, 2), (10, 3), (15, 4)] {
        node.pass(pause - 1);
        deliver(&mut sender, &node).await;
        assert_eq!(node.sent("refusing").len(), sent - 1);
        node.pass(1);
        deliver(&mut sender, &node).await;
        assert_eq!(node.sent("refusing").len(), sent);
    }
}

#[tokio::test]
async fn what_no_attempt_can_bring_there_is_given_up_at_once() {
    let store = store();
    let node = Node::over(&store);
    put(&store, word("gone", "hello"), 10).await;
    deliver(&mut Sender::new(KINDS), &node).await;
    let given_up = node.given_up.lock().unwrap().len();
    assert_eq!((node.sent("gone").len(), given_up), (1, 1));
    assert_eq!(shown(&store, 10).await[0].state, State::Failed);
}

#[tokio::test]
async fn what_has_expired_is_given_up_and_not_sent() {
    let store = store();
    let node = Node::over(&store);
    put(&store, word("refusing", "for a minute"), 10).await;
    let mut sender = Sender::new(KINDS);
    deliver(&mut sender, &node).await;
    node.pass(60);
    deliver(&mut sender, &node).await;
    assert_eq!(node.sent("refusing").len(), 1);
    let given_up = node.given_up.lock().unwrap().clone();
    assert_eq!(given_up.len(), 1);
    assert_eq!(given_up[0].1, "it has expired");
}

#[tokio::test]
async fn what_is_due_for_a_receiver_that_is_away_is_put_off_and_given_up_at_last() {
    let store = store();
    let node = Node::over(&store);
    for _ in 0..3 {
        put(&store, word("away", "hello"), 10).await;
    }
    let mut sender = Sender::new(KINDS);
    deliver(&mut sender, &node).await;
    let asked = node.sent("away").len();
    assert!(asked <= Words.bounds().at_once_of_receiver, "{asked}");
    let put_off = shown(&store, 10).await;
    let put_off = put_off.iter().filter(|item| item.attempts == 0);
    let put_off: Vec<_> = put_off.map(|item| item.last.as_deref()).collect();
    assert!(!put_off.is_empty());
    assert!(
        put_off.iter().all(|last| *last == Some("put off")),
        "{put_off:?}"
    );
    node.pass(3_600);
    for _ in 0..20 {
        deliver(&mut sender, &node).await;
        node.pass(20);
    }
    assert_eq!(node.given_up.lock().unwrap().len(), 3);
    assert!(
        shown(&store, node.now())
            .await
            .iter()
            .all(|item| item.state == State::Failed)
    );
}

#[tokio::test]
async fn an_item_is_one_nodes_until_its_claim_is_over() {
    let store = store();
    put(&store, word("ready", "hello"), 10).await;
    let first = claim(&store, 10).await;
    assert_eq!(first.len(), 1);
    assert!(claim(&store, 10 + LEASE - 1).await.is_empty());
    // That node died: another one sends it.
    let second = claim(&store, 10 + LEASE).await;
    assert_eq!(second[0].item, first[0].item);
}

#[tokio::test]
async fn the_result_of_a_claim_that_another_node_has_taken_over_is_dropped() {
    let store = store();
    let node = Node::over(&store);
    put(&store, word("ready", "hello"), 10).await;
    let first = claim(&store, 10).await.remove(0);
    node.pass(LEASE);
    let second = claim(&store, 10 + LEASE).await.remove(0);
    attempt(&Words, &node, &first).await.unwrap();
    let shown_now = shown(&store, node.now()).await;
    assert_eq!(shown_now.len(), 1);
    assert_eq!(shown_now[0].state, State::Waiting);
    attempt(&Words, &node, &second).await.unwrap();
    let shown_now = shown(&store, node.now()).await;
    assert_eq!(shown_now.len(), 1);
    assert_eq!(shown_now[0].state, State::Delivered);
}

#[tokio::test]
async fn what_is_put_there_claimed_is_nobody_elses_and_sent_later_where_that_failed() {
    let store = store();
    let node = Node::over(&store);
    let item = Item::new(word("refusing", "hello"), 10);
    let claimed = QUEUE.put_claimed(&*store, item, LEASE, 10).await.unwrap();
    let mut sender = Sender::new(KINDS);
    deliver(&mut sender, &node).await;
    assert!(node.sent("refusing").is_empty());
    let state = attempt(&Words, &node, &claimed).await.unwrap();
    assert_eq!(state, State::Waiting);
    node.pass(5);
    deliver(&mut sender, &node).await;
    assert_eq!(node.sent("refusing"), [&*claimed.item.id; 2]);
}

#[tokio::test]
async fn a_watch_is_looked_at_again_and_shown_to_nobody() {
    let store = store();
    let node = Node::over(&store);
    let watch = Item::watch(word("ready", "hello"), 10);
    store
        .commit(Change::new(QUEUE.put(&watch, DAY, 10)), 10)
        .await
        .unwrap();
    let mut sender = Sender::new(KINDS);
    for (at, left) in [(10, 1), (DAY, 1), (2 * DAY, 0)] {
        node.now.store(at, Relaxed);
        deliver(&mut sender, &node).await;
        assert!(shown(&store, at).await.is_empty());
        let look = QUEUE.look(&*store, b"", 10, 3 * DAY).await.unwrap();
        assert_eq!(look.due.len(), left, "{at}");
    }
    assert!(node.sent("ready").is_empty());
}

#[tokio::test]
async fn what_waits_says_something_else_after_it_was_written_again() {
    let store = store();
    let node = Node::over(&store);
    for to in ["ready", "refusing"] {
        put(&store, word(to, "old"), 10).await;
    }
    let claimed = claim(&store, 10).await;
    let written = QUEUE.rewrite(&*store, 10, |item| {
        let is_old = item.what.says == "old";
        Ok::<_, StoreError>(is_old.then(|| word(&item.what.to, "new")))
    });
    assert_eq!(written.await.unwrap(), 2);
    // What was claimed before is still done, once.
    for claimed in &claimed {
        attempt(&Words, &node, claimed).await.unwrap();
    }
    assert_eq!(shown(&store, 10).await.len(), 2);
}

#[tokio::test]
async fn pages_show_everything_once() {
    let store = store();
    let node = Node::over(&store);
    for to in ["ready", "refusing", "gone"] {
        for _ in 0..3 {
            put(&store, word(to, "hello"), 10).await;
        }
    }
    deliver(&mut Sender::new(KINDS), &node).await;
    for limit in [1, 2, 3, 9, 10] {
        let (mut after, mut ids) = (None::<String>, Vec::new());
        loop {
            let page = QUEUE
                .page(&*store, after.as_deref(), limit, 10)
                .await
                .unwrap();
            ids.extend(page.0.into_iter().map(|item| item.id));
            after = page.1;
            if after.is_none() {
                break;
            }
        }
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 9, "{limit}");
    }
}

/// Rows that were written before there was more than one kind.
#[tokio::test]
async fn members_of_what_is_said_lie_beside_the_items_own() {
    let item = Item::new(word("ready", "hello"), 10);
    let value = serde_json::to_value(&item).unwrap();
    let expected = serde_json::json!({
        "to": "ready", "says": "hello", "id": item.id, "state": "waiting", "made_at": 10,
        "attempts": 0,
    });
    assert_eq!(value, expected);
    let read: Item<Word> = serde_json::from_value(value).unwrap();
    assert_eq!(read, item);
}
