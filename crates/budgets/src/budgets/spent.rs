//! What was spent, for the other nodes of an installation: each tells the others soon after it
//! counted something, so that many nodes have one budget together, approximately. What is sent
//! is added to the window that the receiving node is in, never above the budget, so it takes no
//! more memory than what is counted at home; what is lost on the way is not counted elsewhere.
use super::{Budgets, Counted, KeyHash, MAX_CALLERS, TABLE, lock};
use serde::{Deserialize, Serialize};
use signet_store::RealmId;
use std::{
    net::IpAddr,
    sync::atomic::Ordering::{Relaxed, SeqCst},
};

/// Most counts that are sent at once; further ones are sent next
pub const MAX_SPENT: usize = 4096;

/// Whose count it is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Payer {
    /// An address, as it is counted: a network of IPv6.
    #[serde(rename = "a")]
    Address(IpAddr),
    /// A host that requests were made to.
    #[serde(rename = "h")]
    Host(String),
    /// A key that signed proofs.
    #[serde(rename = "k")]
    Key(KeyHash),
}

/// So many more were counted: which row of the table, whose, how many.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Spent(pub usize, pub Payer, pub u32);

/// What was not told yet.
#[derive(Default)]
pub(super) struct Untold {
    pub(super) addresses: std::collections::HashMap<IpAddr, u32>,
    pub(super) hosts: std::collections::HashMap<String, u32>,
    /// Less than nothing where what the others know of is given back: so many of the next ones stay
    /// here.
    keys: std::collections::HashMap<KeyHash, i64>,
}

impl Untold {
    pub(super) fn add_of_key(&mut self, key: KeyHash, count: i64) {
        if self.keys.len() >= MAX_CALLERS && !self.keys.contains_key(&key) {
            return;
        }
        let of = self.keys.entry(key).or_default();
        *of += count;
        if *of == 0 {
            self.keys.remove(&key);
        }
    }
}

/// What was spent in a further realm. The first one's travels as the list alone, as it did before
/// there were others.
#[derive(Serialize, Deserialize)]
struct OfRealm {
    realm: String,
    spent: Vec<Spent>,
}

/// As it travels.
pub fn to_bytes(realm: &RealmId, spent: Vec<Spent>) -> Vec<u8> {
    let written = match realm.is_default() {
        true => serde_json::to_vec(&spent),
        false => serde_json::to_vec(&OfRealm {
            realm: realm.as_str().to_owned(),
            spent,
        }),
    };
    // Invariant: numbers, addresses and texts serialize.
    written.unwrap_or_default()
}

/// Reads it: the realm's name, and what was spent there.
///
/// # Errors
/// It is none, or more than may be sent at once.
pub fn from_bytes(bytes: &[u8]) -> Result<(String, Vec<Spent>), String> {
    let (realm, spent) = match bytes.first() {
        Some(b'{') => {
            let OfRealm { realm, spent } =
                serde_json::from_slice(bytes).map_err(|e| e.to_string())?;
            (realm, spent)
        }
        Some(_) | None => {
            let spent = serde_json::from_slice(bytes).map_err(|e| e.to_string())?;
            (String::new(), spent)
        }
    };
    match spent.len() <= MAX_SPENT {
        true => Ok((realm, spent)),
        false => Err("too many counts at once".to_owned()),
    }
}

impl Budgets {
    /// From now on what is counted is kept to be sent, until [`Budgets::take_spent`].
    pub fn tell_others(&self) {
        self.told.store(true, SeqCst);
    }

    /// Waits until something was counted that is to be sent.
    pub async fn until_spent(&self) {
        self.spent.notified().await;
    }

    /// What was counted and not taken yet, at most [`MAX_SPENT`] of it; nothing, when all is taken.
    pub fn take_spent(&self) -> Vec<Spent> {
        let mut spent = Vec::new();
        for (act, counter) in self.counters.iter().enumerate() {
            let mut window = lock(counter);
            let Untold {
                addresses,
                hosts,
                keys,
            } = &mut window.untold;
            let some = addresses.keys().take(MAX_SPENT - spent.len());
            for address in some.copied().collect::<Vec<_>>() {
                let count = addresses.remove(&address).unwrap_or(0);
                spent.push(Spent(act, Payer::Address(address), count));
            }
            let some = hosts.keys().take(MAX_SPENT - spent.len()).cloned();
            for host in some.collect::<Vec<_>>() {
                let count = hosts.remove(&host).unwrap_or(0);
                spent.push(Spent(act, Payer::Host(host), count));
            }
            let some = keys.extract_if(|_, count| *count > 0);
            for (key, count) in some.take(MAX_SPENT - spent.len()) {
                let count = u32::try_from(count).unwrap_or(u32::MAX);
                spent.push(Spent(act, Payer::Key(key), count));
            }
        }
        spent
    }

    /// Another node counted this. `now`: Unix seconds.
    pub fn hear_spent(&self, spent: &[Spent], now: u64) {
        for Spent(act, payer, count) in spent {
            let (Some(counter), Some(row)) = (self.counters.get(*act), TABLE.get(*act)) else {
                // A later version's.
                continue;
            };
            let most = counter.total.load(Relaxed);
            let mut window = lock(counter);
            window.roll(row.window, now);
            match payer {
                Payer::Address(address)
                    if window.total < most && window.callers.len() < MAX_CALLERS =>
                {
                    window.total = window.total.saturating_add(*count);
                    window.add_network(*address, *count);
                }
                Payer::Host(host) if window.hosts.len() < most as usize => {
                    let of_host = window.hosts.entry(host.clone()).or_default();
                    *of_host = of_host.saturating_add(*count);
                }
                Payer::Key(key) => {
                    let share = counter.share.load(Relaxed);
                    let share = share.min(counter.address.load(Relaxed));
                    if window.has_room(share) {
                        window.total = window.total.saturating_add(*count);
                        window.add(Counted::Key(*key), *count);
                    }
                }
                // It is full: everything is refused as it is.
                Payer::Address(_) | Payer::Host(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::Act, *};

    const PEER: &str = "192.0.2.1";

    fn nodes(count: usize) -> Vec<Budgets> {
        let nodes: Vec<Budgets> = (0..count).map(|_| Budgets::default()).collect();
        for node in &nodes {
            node.tell_others();
            node.set(Act::Registration, 20, 50);
        }
        nodes
    }

    /// Everybody tells everybody.
    fn tell(nodes: &[Budgets], now: u64) {
        for (from, node) in nodes.iter().enumerate() {
            let realms = [
                RealmId::default_realm(),
                RealmId::parse("acme").expect("a name"),
            ];
            let realm = &realms[from % 2];
            let read = from_bytes(&to_bytes(realm, node.take_spent()));
            let (named, spent) = read.expect("reads back");
            assert_eq!(named, realm.as_str());
            let others = nodes.iter().enumerate().filter(|(to, _)| *to != from);
            others.for_each(|(_, other)| other.hear_spent(&spent, now));
        }
    }

    fn spend(node: &Budgets, peer: &str, now: u64) -> bool {
        let peer: IpAddr = peer.parse().expect("an address");
        node.spend(Act::Registration, peer, now).is_ok()
    }

    #[test]
    fn ten_nodes_do_not_give_ten_times_the_budget() {
        let nodes = nodes(10);
        // One address at each node in turn, as fast as they tell each other.
        let mut granted = 0;
        for round in 0..10 {
            granted += nodes.iter().filter(|node| spend(node, PEER, round)).count();
            tell(&nodes, round);
        }
        // The budget, and no more than one for each node within a moment.
        assert!((20..30).contains(&granted), "{granted}");
        // All addresses together.
        for round in 10..20 {
            for (place, node) in nodes.iter().enumerate() {
                granted += usize::from(spend(node, &format!("198.51.{place}.{round}"), round));
            }
            tell(&nodes, round);
        }
        assert!((50..60).contains(&granted), "{granted}");
        // A new window begins again on all.
        assert!(nodes.iter().all(|node| spend(node, PEER, 2_000)));
    }

    #[test]
    fn a_host_that_is_fetched_from_is_spared_by_all_nodes_together() {
        let nodes = nodes(3);
        let url = "https://rp.example/sector.json";
        let mut granted = 0;
        for round in 0..60_u8 {
            for (place, node) in nodes.iter().enumerate() {
                let peer: IpAddr = format!("198.51.{place}.{round}")
                    .parse()
                    .expect("an address");
                granted += usize::from(node.spend_at(Act::Fetch, peer, url, 1).is_ok());
            }
            tell(&nodes, 1);
        }
        assert!((60..63).contains(&granted), "{granted}");
    }

    #[test]
    fn the_proofs_of_a_key_have_one_budget_at_all_nodes_together() {
        let nodes = nodes(3);
        nodes.iter().for_each(|node| node.set(Act::Proof, 30, 100));
        let mut granted = 0;
        for round in 0..40 {
            let spend = |node: &&Budgets| node.spend_of_key(Act::Proof, "key", round).is_ok();
            granted += nodes.iter().filter(spend).count();
            tell(&nodes, round);
        }
        assert!((30..33).contains(&granted), "{granted}");
    }

    #[test]
    fn what_is_given_back_at_one_node_is_not_spent_at_another() {
        let nodes = nodes(2);
        let [one, two] = &*nodes else { unreachable!() };
        nodes.iter().for_each(|node| node.set(Act::Proof, 3, 100));
        for told_between in [false, true] {
            for _ in 0..20 {
                assert_eq!(one.spend_of_key(Act::Proof, "key", 1), Ok(()));
                if told_between {
                    tell(&nodes, 1);
                }
                one.give_back_of_key(Act::Proof, "key");
                tell(&nodes, 1);
            }
        }
        // One was sent before it was given back, and none of those that came after it.
        let left = (0..10).filter(|_| two.spend_of_key(Act::Proof, "key", 1).is_ok());
        assert_eq!(left.count(), 2);
    }

    #[test]
    fn what_is_told_is_bounded_and_a_node_alone_keeps_nothing_to_tell() {
        let alone = Budgets::default();
        assert!(spend(&alone, PEER, 1));
        assert_eq!(alone.take_spent(), []);
        let [one, two] = [Budgets::default(), Budgets::default()];
        one.tell_others();
        one.set(Act::Registration, 1, 10_000);
        two.set(Act::Registration, 1, 100);
        for peer in 0..5_000_u16 {
            let [high, low] = peer.to_be_bytes();
            assert!(spend(&one, &format!("10.0.{high}.{low}"), 1));
        }
        let first = one.take_spent();
        assert_eq!(first.len(), MAX_SPENT);
        assert_eq!(one.take_spent().len(), 5_000 - MAX_SPENT);
        assert_eq!(one.take_spent(), []);
        // Who hears it holds no more than its own budget.
        two.hear_spent(&first, 1);
        let window = lock(&two.counters[Act::Registration as usize]);
        assert!(window.callers.len() <= 100, "{}", window.callers.len());
        drop(window);
        // A row of a later version is passed over, and more than may be sent is refused.
        two.hear_spent(&[Spent(99, Payer::Host("a".into()), 1)], 1);
        let much = vec![Spent(0, Payer::Host("a".into()), 1); MAX_SPENT + 1];
        assert!(from_bytes(&to_bytes(&RealmId::default_realm(), much)).is_err());
        assert!(from_bytes(b"{").is_err());
    }
}
