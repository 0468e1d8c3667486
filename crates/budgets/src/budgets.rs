//! What an unauthenticated caller can cause, and how much of it.
//!
//! [`TABLE`] has a row for everything that costs memory, disk, mail or a request to somebody else
//! without anybody having proven who they are. A budget is spent by what costs: by bytes that are
//! kept and mails that are sent, not by what was asked for.
//!
//! - A **network** has a budget: an IPv4 address, or a /64 of IPv6; twice as much a /56 and four
//!   times as much a /48, for one customer may have that many.
//! - **All of them** together have one. Where it is used up nothing is turned off: each network
//!   still has a small share, so that who sends much is refused and who comes once is not.
//! - A **known browser** ([`Caller::known`]) counts for itself, and all of them have a budget that
//!   nobody else can use up.
//! - A **key** has a budget in place of a network where what is kept is the id of a proof that it
//!   signed ([`Budgets::spend_of_key`]): who shows a proof has shown a token or a code, too, so the
//!   network says less than the key. All keys together have one, and a share beyond, likewise.
//!
//! What is counted is counted in memory, so that a flood writes nothing; nodes of one installation
//! tell each other what they counted ([`spent`]). Guesses, which must survive a restart, are
//! counted in the store ([`crate::attempts`]). A client that has authenticated is never counted
//! here.

pub mod spent;

use crate::attempts::{Limits, MAILS_IN_ALL, networks};
use signet_http::addresses::network;
use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering::Relaxed},
    },
};
use tokio::sync::Notify;

/// Most networks that one budget tells apart in a window; beyond, they are refused
const MAX_CALLERS: usize = 262_144;
/// What a known browser has of a network's budget: one part of so many.
const KNOWN_PART: u32 = 10;
/// No bound.
const NONE: u32 = u32::MAX;

/// Who causes something.
#[derive(Clone, Copy, Debug)]
pub struct Caller {
    /// Where it comes from.
    pub peer: IpAddr,
    /// The id of a browser in which somebody has logged in before: it is sealed, so that nobody
    /// makes one.
    pub known: Option<[u8; 16]>,
}

impl From<IpAddr> for Caller {
    /// Nobody that is known.
    fn from(peer: IpAddr) -> Caller {
        Caller { peer, known: None }
    }
}

/// What is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    /// A client registers itself.
    Registration,
    /// A registered client reads, changes or removes its own record (RFC 7592).
    RegistrationChange,
    /// The server fetches a document that a registration names.
    Fetch,
    /// The server fetches the keys that a client's record names.
    ClientKeys,
    /// A client without a secret asks for a device code.
    DeviceCode,
    /// A client without a secret pushes an authorization request.
    PushedRequest,
    /// A mail is sent that an unauthenticated caller asked for.
    Mail,
    /// Somebody asks for a mail: whether one is sent must not show.
    MailRequest,
    /// The server asks an identity provider.
    Provider,
    /// Bytes of a login are kept until a provider's answer or a mailed link comes.
    Waiting,
    /// The id of a key's proof is kept, of a request in which no client authenticates.
    Proof,
    /// The id of a key's proof is kept, which came with a token of a client that authenticates.
    ClientProof,
}

/// A row of [`TABLE`].
#[derive(Debug)]
pub struct Row {
    /// What is counted.
    pub act: Act,
    /// In words.
    pub what: &'static str,
    /// One key is counted in place of one network.
    pub of_key: bool,
    /// From one network in a window; [`u32::MAX`]: no bound.
    pub address: u32,
    /// From all networks in a window; [`u32::MAX`]: no bound.
    pub total: u32,
    /// From one network where that of all is used up.
    pub share: u32,
    /// Where this row's total is used up, too.
    pub after: Option<Act>,
    /// At one host in a window, where the act is a request to somebody else.
    pub host: Option<u32>,
    /// Seconds.
    pub window: u64,
}

const fn row(
    act: Act,
    what: &'static str,
    address: u32,
    total: u32,
    share: u32,
    window: u64,
) -> Row {
    Row {
        act,
        what,
        of_key: false,
        address,
        total,
        share,
        after: None,
        host: None,
        window,
    }
}

const fn fetch(
    act: Act,
    what: &'static str,
    address: u32,
    host: u32,
    total: u32,
    share: u32,
) -> Row {
    Row {
        host: Some(host),
        ..row(act, what, address, total, share, 900)
    }
}

const fn proofs(act: Act, what: &'static str, key: u32, total: u32, share: u32) -> Row {
    Row {
        of_key: true,
        ..row(act, what, key, total, share, 900)
    }
}

/// In the order of [`Act`].
#[rustfmt::skip]
pub const TABLE: [Row; 12] = [
    row(Act::Registration, "`/register`: clients that register themselves", 1000, 5000, 20, 900),
    row(Act::RegistrationChange, "`/register/{client_id}`: reading, changing and removing such a client", 1000, 5000, 50, 900),
    fetch(Act::Fetch, "fetches of a `sector_identifier_uri`", 60, 60, 600, 5),
    fetch(Act::ClientKeys, "fetches of a client's `jwks_uri`; beyond, the keys that are known count", 600, 300, 6000, 30),
    row(Act::DeviceCode, "`/device_authorization` of clients without a secret", 300, 3000, 10, 60),
    row(Act::PushedRequest, "`/par` of clients without a secret", 3000, 30_000, 100, 60),
    row(Act::Mail, "mails that are sent: codes, recovery links and links to sign up", NONE, 5000, NONE, 900),
    Row { after: Some(Act::Mail), ..row(Act::MailRequest, "requests for such a mail, whether one is sent or not", 1000, NONE, 20, 900) },
    fetch(Act::Provider, "requests to identity providers, some of each login there", 3000, 10_000, 20_000, 20),
    row(Act::Waiting, "bytes of logins that wait for a provider's answer or a mailed link; beyond, such a link leads to the account page, and a provider is asked later", 4 << 20, 32 << 20, 256 << 10, 900),
    proofs(Act::Proof, "proofs (DPoP and agents') that are kept so that each counts once, of clients without a secret", 20_000, 500_000, 200),
    proofs(Act::ClientProof, "DPoP proofs at `/userinfo`, the admin API and SCIM with a token of a client that has a secret or keys", 200_000, NONE, NONE),
];

/// The counters of one realm.
pub struct Budgets {
    counters: [Counter; TABLE.len()],
    /// Other nodes receive what is counted.
    told: AtomicBool,
    /// Something was counted that they have not heard.
    spent: Notify,
}

struct Counter {
    address: AtomicU32,
    total: AtomicU32,
    share: AtomicU32,
    window: Mutex<Window>,
}

/// Whose count it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Counted {
    /// The bits of the prefix, and the network.
    Network(u8, IpAddr),
    Known([u8; 16]),
    /// Of the name of a key.
    Key(KeyHash),
}

/// The first half of SHA-256: two keys of one are beyond reach.
pub type KeyHash = [u8; 16];

fn hash_of(key: &str) -> KeyHash {
    let hash = signet_crypto::hash::sha256(key.as_bytes());
    // Invariant: it is twice as long.
    *hash.first_chunk().expect("half of 32 bytes")
}

/// No more hosts and known browsers than the total, and no more networks than [`MAX_CALLERS`].
#[derive(Default)]
struct Window {
    ends_at: u64,
    total: u32,
    /// Of the known browsers.
    known: u32,
    callers: HashMap<Counted, u32>,
    hosts: HashMap<String, u32>,
    untold: spent::Untold,
}

impl Window {
    /// Begins again where it is over. `length`: seconds.
    fn roll(&mut self, length: u64, now: u64) {
        // A window that ends too late is of a clock that was forward.
        if now >= self.ends_at || self.ends_at > now.saturating_add(length) {
            *self = Window {
                ends_at: now.saturating_add(length),
                ..Window::default()
            };
        }
    }

    fn of(&self, caller: &Counted) -> u32 {
        self.callers.get(caller).copied().unwrap_or(0)
    }

    fn add(&mut self, caller: Counted, count: u32) {
        let of = self.callers.entry(caller).or_default();
        *of = of.saturating_add(count);
    }

    /// Whether one more key can be counted. Where there are too many, those that have spent no more
    /// than `share` are forgotten: of keys honest ones are many, and none is refused for it. Few
    /// have spent more, for the total bounds them.
    fn has_room(&mut self, share: u32) -> bool {
        if self.callers.len() >= MAX_CALLERS {
            self.callers.retain(|_, spent| *spent > share);
        }
        self.callers.len() < MAX_CALLERS
    }

    fn add_network(&mut self, peer: IpAddr, count: u32) {
        for (_, bits, network) in networks(peer) {
            self.add(Counted::Network(bits, network), count);
        }
    }
}

impl Default for Budgets {
    fn default() -> Budgets {
        Budgets {
            counters: TABLE.map(|row| Counter {
                address: AtomicU32::new(row.address),
                total: AtomicU32::new(row.total),
                share: AtomicU32::new(row.share),
                window: Mutex::default(),
            }),
            told: AtomicBool::new(false),
            spent: Notify::new(),
        }
    }
}

impl Budgets {
    /// Other figures than the table's, and no share beyond the total.
    pub fn set(&self, act: Act, address: u32, total: u32) {
        let counter = &self.counters[act as usize];
        counter.address.store(address, Relaxed);
        counter.total.store(total, Relaxed);
        counter.share.store(0, Relaxed);
    }

    /// Counts one. `now`: Unix seconds.
    ///
    /// # Errors
    /// It is one too many: the seconds after which there is room again, for `Retry-After`.
    pub fn spend(&self, act: Act, caller: impl Into<Caller>, now: u64) -> Result<(), u64> {
        self.count(act, caller.into(), None, 1, now)
    }

    /// As [`Budgets::spend`], so many: what is counted in bytes.
    ///
    /// # Errors
    /// As there.
    pub fn spend_many(
        &self,
        act: Act,
        caller: impl Into<Caller>,
        count: usize,
        now: u64,
    ) -> Result<(), u64> {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        self.count(act, caller.into(), None, count, now)
    }

    /// As [`Budgets::spend`], of a request to this URL: its host is bounded too.
    ///
    /// # Errors
    /// As there.
    pub fn spend_at(
        &self,
        act: Act,
        caller: impl Into<Caller>,
        url: &str,
        now: u64,
    ) -> Result<(), u64> {
        let uri = url.parse::<http::Uri>().ok();
        let host = uri.as_ref().and_then(http::Uri::host).unwrap_or(url);
        self.count(act, caller.into(), Some(host), 1, now)
    }

    /// As [`Budgets::spend`], of a key by its name: a thumbprint, or an agent's id.
    ///
    /// # Errors
    /// As there.
    pub fn spend_of_key(&self, act: Act, key: &str, now: u64) -> Result<(), u64> {
        let (counter, row) = (&self.counters[act as usize], &TABLE[act as usize]);
        let key = hash_of(key);
        let mut window = lock(counter);
        window.roll(row.window, now);
        let (address, total) = (counter.address.load(Relaxed), counter.total.load(Relaxed));
        let share = counter.share.load(Relaxed).min(address);
        let most = match window.total >= total {
            true => share,
            false => address,
        };
        if window.of(&Counted::Key(key)) >= most || !window.has_room(share) {
            return Err(window.ends_at.saturating_sub(now).max(1));
        }
        window.add(Counted::Key(key), 1);
        window.total = window.total.saturating_add(1);
        if self.told.load(Relaxed) {
            window.untold.add_of_key(key, 1);
            drop(window);
            self.spent.notify_one();
        }
        Ok(())
    }

    /// Of what [`Budgets::spend_of_key`] counted nothing was kept.
    pub fn give_back_of_key(&self, act: Act, key: &str) {
        let mut window = lock(&self.counters[act as usize]);
        let key = hash_of(key);
        // None: the window is another one, or the key was forgotten.
        let Some(of) = window.callers.get_mut(&Counted::Key(key)) else {
            return;
        };
        *of = of.saturating_sub(1);
        window.total = window.total.saturating_sub(1);
        if self.told.load(Relaxed) {
            window.untold.add_of_key(key, -1);
        }
    }

    /// Whether the total of an act is used up.
    fn is_used_up(&self, act: Act, now: u64) -> bool {
        let counter = &self.counters[act as usize];
        let mut window = lock(counter);
        window.roll(TABLE[act as usize].window, now);
        window.total >= counter.total.load(Relaxed)
    }

    fn count(
        &self,
        act: Act,
        caller: Caller,
        host: Option<&str>,
        count: u32,
        now: u64,
    ) -> Result<(), u64> {
        let (counter, row) = (&self.counters[act as usize], &TABLE[act as usize]);
        let after = row.after.is_some_and(|act| self.is_used_up(act, now));
        let mut window = lock(counter);
        window.roll(row.window, now);
        let refused = Err(window.ends_at.saturating_sub(now).max(1));
        let (address, total) = (counter.address.load(Relaxed), counter.total.load(Relaxed));
        let goes_beyond = |of: u32, most: u32| of.saturating_add(count) > most && most != NONE;
        if let Some(id) = caller.known {
            let id = Counted::Known(id);
            if goes_beyond(window.of(&id), address / KNOWN_PART) || goes_beyond(window.known, total)
            {
                return refused;
            }
            window.add(id, count);
            window.known = window.known.saturating_add(count);
            return Ok(());
        }
        // Known browsers are not held up by how many others there are.
        if window.callers.len() >= MAX_CALLERS {
            return refused;
        }
        let most = match after || goes_beyond(window.total, total) {
            true => counter.share.load(Relaxed).min(address),
            false => address,
        };
        for (times, bits, network) in networks(caller.peer) {
            let of = window.of(&Counted::Network(bits, network));
            if goes_beyond(of, most.saturating_mul(times)) {
                return refused;
            }
        }
        let told = self.told.load(Relaxed);
        if let (Some(host), Some(most)) = (host.map(str::to_ascii_lowercase), row.host) {
            let of_host = window.hosts.get(&host).copied().unwrap_or(0);
            // Of a host no share is given: it did not ask for what is fetched from it.
            if of_host >= most {
                return refused;
            }
            if told {
                *window.untold.hosts.entry(host.clone()).or_default() += 1;
            }
            window.hosts.insert(host, of_host + 1);
        }
        window.add_network(caller.peer, count);
        window.total = window.total.saturating_add(count);
        if told {
            let address = network(caller.peer);
            let untold = window.untold.addresses.entry(address).or_default();
            *untold = untold.saturating_add(count);
            drop(window);
            self.spent.notify_one();
        }
        Ok(())
    }
}

/// Every step leaves whole counts.
fn lock(counter: &Counter) -> std::sync::MutexGuard<'_, Window> {
    counter
        .window
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
}

/// All budgets, as docs/limits.md has them.
pub fn documented(limits: &Limits) -> String {
    let mut lines = vec![
        "| what | of one network | in all | then, of one network | in seconds |".to_owned(),
        "|---|---|---|---|---|".to_owned(),
    ];
    let row = |what: &str, address: &str, total: &str, share: &str, window: u64| {
        format!("| {what} | {address} | {total} | {share} | {window} |")
    };
    let (address, window) = (limits.address.to_string(), limits.window);
    let queue = "the password queue (503)";
    lines.push(row("wrong passwords", &address, queue, "-", window));
    let account = format!(
        "{} of one name, {} of one account",
        limits.account, limits.account
    );
    lines.push(row("wrong mailed codes", &address, &account, "-", window));
    let codes = "wrong user codes of devices";
    lines.push(row(codes, &address, "-", "-", window));
    lines.push(row("wrong client secrets", &address, "-", "-", window));
    lines.push(row("wrong API keys", &address, "-", "-", window));
    let figure = |figure: u32| match figure {
        NONE => "-".to_owned(),
        figure => figure.to_string(),
    };
    for of in &TABLE {
        let mut address = figure(of.address);
        if let Some(host) = of.host {
            address = format!("{address}, and {host} at one host");
        }
        let (total, mut share) = (figure(of.total), figure(of.share));
        if of.of_key {
            address.push_str(" of one key");
            if of.share != NONE {
                share.push_str(" of one key");
            }
        }
        lines.push(row(of.what, &address, &total, &share, of.window));
    }
    let asked = "requests for a mail for one account, known browsers aside";
    let own = limits.mails.to_string();
    let all = limits.mails.saturating_mul(MAILS_IN_ALL).to_string();
    lines.push(row(asked, &own, &all, "-", window));
    lines.push(row(
        "refusals that are a line of the audit trail",
        "one of a kind in a minute",
        "20",
        "-",
        1,
    ));
    let counted = "lines of the audit trail of what is counted";
    lines.push(row(counted, "one of a caller and kind", "1024", "-", 60));
    let log = "log lines of one place in the program, of `info` and above";
    lines.push(row(log, "-", "50", "-", 1));
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    /// A network for each number.
    fn stranger(number: u32) -> IpAddr {
        IpAddr::from(number.to_be_bytes())
    }

    #[test]
    fn the_table_is_in_the_order_of_its_acts() {
        for (index, row) in TABLE.iter().enumerate() {
            assert_eq!(row.act as usize, index);
            assert!(row.address == NONE || row.address <= row.total);
            // No network uses all of it up, and what is left beyond is small.
            assert!(row.address == NONE || row.address.saturating_mul(4) <= row.total);
            assert!(row.share <= row.address || row.total == NONE);
        }
    }

    #[test]
    fn one_address_and_all_of_them_have_a_budget_that_comes_back() {
        let budgets = Budgets::default();
        budgets.set(Act::DeviceCode, 3, 5);
        let spend = |peer: &str, now| budgets.spend(Act::DeviceCode, address(peer), now);
        for _ in 0..3 {
            assert_eq!(spend("192.0.2.1", 100), Ok(()));
        }
        assert_eq!(spend("192.0.2.1", 110), Err(50));
        // A /64 is one address.
        assert_eq!(spend("2001:db8::1", 110), Ok(()));
        assert_eq!(spend("2001:db8::2", 110), Ok(()));
        assert_eq!(spend("198.51.100.1", 110), Err(50));
        assert_eq!(spend("198.51.100.1", 160), Ok(()));
        // Another act is counted for itself.
        assert_eq!(
            budgets.spend(Act::PushedRequest, address("192.0.2.1"), 110),
            Ok(())
        );
    }

    #[test]
    fn a_network_of_ipv6_counts_at_64_at_56_and_at_48() {
        let budgets = Budgets::default();
        budgets.set(Act::Registration, 10, 10_000);
        let of = |peer: String| budgets.spend(Act::Registration, address(&peer), 1).is_ok();
        let granted =
            |peers: &mut dyn Iterator<Item = String>| peers.filter(|p| of(p.clone())).count();
        let in_64 = granted(&mut (0..100).map(|n| format!("2001:db8::{n}")));
        assert_eq!(in_64, 10);
        let in_56 = granted(&mut (0..256).map(|n| format!("2001:db8:0:{n:x}::1")));
        assert_eq!(in_64 + in_56, 20);
        let in_48 = granted(&mut (0..0xffff).map(|n| format!("2001:db8:0:{n:x}::1")));
        assert_eq!(in_64 + in_56 + in_48, 40);
        assert!(of("2001:db8:1::1".to_owned()));
    }

    #[test]
    fn what_is_used_up_in_all_slows_who_sends_much_and_shuts_nobody_out() {
        for row in &TABLE {
            // What is sent is decided by what is asked for.
            if row.address == NONE || row.of_key {
                continue;
            }
            let budgets = Budgets::default();
            let url = |number: u32| format!("https://host{}.example/", number % 7000);
            let spend = |caller: Caller, number| match row.host {
                Some(_) => budgets.spend_at(row.act, caller, &url(number), 1),
                None => budgets.spend(row.act, caller, 1),
            };
            match row.after {
                Some(after) => {
                    let sent = (0..TABLE[after as usize].total)
                        .all(|n| budgets.spend(after, stranger(n), 1).is_ok());
                    assert!(sent);
                }
                None => {
                    let each = row.address as usize;
                    let mut left = row.total as usize;
                    for number in 0.. {
                        let count = each.min(left);
                        if row.host.is_some() {
                            let all = (0..count as u32)
                                .all(|n| spend(stranger(number).into(), number * 1000 + n).is_ok());
                            assert!(all, "{:?}", row.act);
                        } else {
                            let peer = stranger(number);
                            budgets.spend_many(row.act, peer, count, 1).unwrap();
                        }
                        left -= count;
                        if left == 0 {
                            break;
                        }
                    }
                }
            }
            // Who has sent much already is refused; who comes again has a share, and no more.
            if row.after.is_none() {
                assert!(spend(stranger(0).into(), 3).is_err(), "{:?}", row.act);
            }
            let late = address("203.0.113.9");
            let served = (0..row.share.min(2000) + 10)
                .take_while(|n| spend(late.into(), 200_000 + n).is_ok())
                .count();
            if row.share < 2000 {
                assert_eq!(served, row.share as usize, "{:?}", row.act);
            }
            assert!(served > 0, "{:?}", row.act);
            // A known browser has a budget of its own, behind the same network.
            let known = Caller {
                peer: stranger(0),
                known: Some([7; 16]),
            };
            assert!(spend(known, 5).is_ok(), "{:?}", row.act);
        }
    }

    #[test]
    fn a_known_browser_has_a_bound_too() {
        let budgets = Budgets::default();
        budgets.set(Act::Provider, 100, 15);
        let spend = |id: u8| {
            let known = Some([id; 16]);
            let peer = address("192.0.2.1");
            budgets
                .spend(Act::Provider, Caller { peer, known }, 1)
                .is_ok()
        };
        assert_eq!((0..20).filter(|_| spend(1)).count(), 10);
        assert_eq!((0..20).filter(|_| spend(2)).count(), 5);
        // Of the others' nothing was spent.
        let others = (0..20).filter(|n| budgets.spend(Act::Provider, stranger(*n), 1).is_ok());
        assert_eq!(others.count(), 15);
    }

    #[test]
    fn one_key_and_all_of_them_have_a_budget_and_each_a_share_beyond() {
        let budgets = Budgets::default();
        let row = &TABLE[Act::Proof as usize];
        let spend = |key: &str| budgets.spend_of_key(Act::Proof, key, 1);
        let granted = |key: &str, most: u32| (0..most).filter(|_| spend(key).is_ok()).count();
        let keys = row.total / row.address;
        for key in 0..keys {
            let all = granted(&format!("key {key}"), row.address + 1);
            // The last one finds the total used up, too.
            assert_eq!(all, row.address as usize);
        }
        assert_eq!(spend("key 0"), Err(900));
        assert_eq!(granted("late", row.address), row.share as usize);
        // What nothing was kept of is spent again.
        budgets.give_back_of_key(Act::Proof, "late");
        assert_eq!(granted("late", 2), 1);
        // Another row, and the next window.
        assert_eq!(budgets.spend_of_key(Act::ClientProof, "key 0", 1), Ok(()));
        assert_eq!(budgets.spend_of_key(Act::Proof, "key 0", 901), Ok(()));
    }

    #[test]
    fn more_keys_than_are_told_apart_refuse_nobody_and_forget_who_spends_much_least() {
        let budgets = Budgets::default();
        budgets.set(Act::Proof, 300, u32::MAX);
        budgets.counters[Act::Proof as usize]
            .share
            .store(200, Relaxed);
        let spend = |key: &str| budgets.spend_of_key(Act::Proof, key, 1).is_ok();
        assert!((0..300).all(|_| spend("much")));
        assert!((0..MAX_CALLERS + 100).all(|key| spend(&key.to_string())));
        assert!(!spend("much"));
        let window = lock(&budgets.counters[Act::Proof as usize]);
        assert!(window.callers.len() <= MAX_CALLERS);
    }

    #[test]
    fn what_is_fetched_for_clients_has_a_budget_at_one_host_too() {
        let budgets = Budgets::default();
        let most = TABLE[Act::ClientKeys as usize].host.unwrap();
        let spend = |number: u32, host: &str| {
            let url = format!("https://{host}:{}/{number}", 1000 + number);
            budgets.spend_at(Act::ClientKeys, stranger(number), &url, 100)
        };
        for number in 0..most {
            assert_eq!(spend(number, "a.example"), Ok(()));
        }
        assert_eq!(spend(most, "a.example"), Err(900));
        assert_eq!(spend(most, "A.EXAMPLE"), Err(900));
        // What was refused is not counted for the address either.
        budgets.set(Act::ClientKeys, 1, 6000);
        assert_eq!(spend(most, "b.example"), Ok(()));
        assert_eq!(spend(most, "c.example"), Err(900));
    }

    #[test]
    fn the_manual_has_the_budgets() {
        let page = include_str!("../../../docs/limits.md");
        let table = documented(&Limits::default());
        assert!(page.contains(&table), "docs/limits.md lacks\n{table}");
    }
}
