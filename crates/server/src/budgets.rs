//! What an unauthenticated caller can cause, and how much of it.
//!
//! [`TABLE`] has a row for everything that costs memory, disk, mail or a request to somebody else
//! without anybody having proven who they are: from one address (one /64 of IPv6), and from all of
//! them together. What is counted is counted in memory, so that a flood writes nothing; nodes of
//! one installation tell each other what they counted ([`spent`]). Guesses, which must survive a
//! restart, are counted in the store ([`crate::attempts`]). A client that has authenticated is
//! never counted here.

pub mod spent;

use crate::attempts::Limits;
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
    /// Somebody asks for a mail.
    Mail,
    /// A login at an identity provider begins or ends: the server asks the provider.
    Provider,
}

/// A row of [`TABLE`].
#[derive(Debug)]
pub struct Row {
    /// What is counted.
    pub act: Act,
    /// In words.
    pub what: &'static str,
    /// From one address in a window.
    pub address: u32,
    /// From all addresses in a window.
    pub total: u32,
    /// At one host in a window, where the act is a request to somebody else.
    pub host: Option<u32>,
    /// Seconds.
    pub window: u64,
}

const fn row(act: Act, what: &'static str, address: u32, total: u32, window: u64) -> Row {
    Row {
        act,
        what,
        address,
        total,
        host: None,
        window,
    }
}

const fn fetch(act: Act, what: &'static str, address: u32, host: u32, total: u32) -> Row {
    Row {
        host: Some(host),
        ..row(act, what, address, total, 900)
    }
}

/// In the order of [`Act`].
#[rustfmt::skip]
pub const TABLE: [Row; 8] = [
    row(Act::Registration, "`/register`: clients that register themselves", 1000, 5000, 900),
    row(Act::RegistrationChange, "`/register/{client_id}`: reading, changing and removing such a client", 1000, 5000, 900),
    fetch(Act::Fetch, "fetches of a `sector_identifier_uri`", 60, 60, 600),
    fetch(Act::ClientKeys, "fetches of a client's `jwks_uri`; beyond, the keys that are known count", 600, 300, 6000),
    row(Act::DeviceCode, "`/device_authorization` of clients without a secret", 300, 3000, 60),
    row(Act::PushedRequest, "`/par` of clients without a secret", 3000, 30_000, 60),
    row(Act::Mail, "mails that are asked for: codes, recovery links and links to sign up", 1000, 5000, 900),
    fetch(Act::Provider, "requests to identity providers, some of each login there", 3000, 10_000, 20_000),
];

/// The counters of one realm.
pub struct Budgets {
    counters: [Counter; TABLE.len()],
    /// Other nodes are told of what is counted.
    told: AtomicBool,
    /// Something was counted that they have not heard.
    spent: Notify,
}

struct Counter {
    address: AtomicU32,
    total: AtomicU32,
    window: Mutex<Window>,
}

/// No more entries of either kind than the total.
#[derive(Default)]
struct Window {
    ends_at: u64,
    total: u32,
    addresses: HashMap<IpAddr, u32>,
    hosts: HashMap<String, u32>,
    untold: spent::Untold,
}

impl Window {
    /// Begins anew where it is over. `length`: seconds.
    fn roll(&mut self, length: u64, now: u64) {
        // A window that ends too late is of a clock that was forward.
        if now >= self.ends_at || self.ends_at > now.saturating_add(length) {
            *self = Window {
                ends_at: now.saturating_add(length),
                ..Window::default()
            };
        }
    }
}

impl Default for Budgets {
    fn default() -> Budgets {
        Budgets {
            counters: TABLE.map(|row| Counter {
                address: AtomicU32::new(row.address),
                total: AtomicU32::new(row.total),
                window: Mutex::default(),
            }),
            told: AtomicBool::new(false),
            spent: Notify::new(),
        }
    }
}

impl Budgets {
    /// Other figures than the table's.
    pub fn set(&self, act: Act, address: u32, total: u32) {
        let counter = &self.counters[act as usize];
        counter.address.store(address, Relaxed);
        counter.total.store(total, Relaxed);
    }

    /// Counts one. `now`: Unix seconds.
    ///
    /// # Errors
    /// It is one too many: the seconds after which there is room again, for `Retry-After`.
    pub fn spend(&self, act: Act, peer: IpAddr, now: u64) -> Result<(), u64> {
        self.count(act, peer, None, now)
    }

    /// As [`Budgets::spend`], of a request to this URL: its host is bounded too.
    ///
    /// # Errors
    /// As there.
    pub fn spend_at(&self, act: Act, peer: IpAddr, url: &str, now: u64) -> Result<(), u64> {
        let uri = url.parse::<http::Uri>().ok();
        let host = uri.as_ref().and_then(http::Uri::host).unwrap_or(url);
        self.count(act, peer, Some(host), now)
    }

    fn count(&self, act: Act, peer: IpAddr, host: Option<&str>, now: u64) -> Result<(), u64> {
        let counter = &self.counters[act as usize];
        // Every step leaves whole counts.
        let mut window = counter
            .window
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        window.roll(TABLE[act as usize].window, now);
        let retry_after = window.ends_at.saturating_sub(now).max(1);
        if window.total >= counter.total.load(Relaxed) {
            return Err(retry_after);
        }
        let (address, host) = (network(peer), host.map(str::to_ascii_lowercase));
        let of_address = window.addresses.get(&address).copied().unwrap_or(0);
        if of_address >= counter.address.load(Relaxed) {
            return Err(retry_after);
        }
        let told = self.told.load(Relaxed);
        if let (Some(host), Some(most)) = (host, TABLE[act as usize].host) {
            let of_host = window.hosts.get(&host).copied().unwrap_or(0);
            if of_host >= most {
                return Err(retry_after);
            }
            if told {
                *window.untold.hosts.entry(host.clone()).or_default() += 1;
            }
            window.hosts.insert(host, of_host + 1);
        }
        window
            .addresses
            .insert(address, of_address.saturating_add(1));
        window.total = window.total.saturating_add(1);
        if told {
            *window.untold.addresses.entry(address).or_default() += 1;
            drop(window);
            self.spent.notify_one();
        }
        Ok(())
    }
}

/// All budgets, as docs/limits.md has them.
pub fn documented(limits: &Limits) -> String {
    let mut lines = vec![
        "| what | of one address | in all | in seconds |".to_owned(),
        "|---|---|---|---|".to_owned(),
    ];
    let row = |what: &str, address: &str, total: &str, window: u64| {
        format!("| {what} | {address} | {total} | {window} |")
    };
    let (address, window) = (limits.address.to_string(), limits.window);
    let queue = "the password queue (503)";
    lines.push(row("wrong passwords", &address, queue, window));
    let account = format!(
        "{} of one name, {} of one account",
        limits.account, limits.account
    );
    lines.push(row("wrong mailed codes", &address, &account, window));
    lines.push(row("wrong user codes of devices", &address, "-", window));
    lines.push(row("wrong client secrets", &address, "-", window));
    for of in &TABLE {
        let (mut address, total) = (of.address.to_string(), of.total.to_string());
        if let Some(host) = of.host {
            address = format!("{address}, and {host} at one host");
        }
        lines.push(row(of.what, &address, &total, of.window));
    }
    lines.push(row(
        "refusals that are a line of the audit trail",
        "one of a kind in a minute",
        "20",
        1,
    ));
    lines.push(row("log lines of one place in the program", "-", "50", 1));
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_its_acts() {
        for (index, row) in TABLE.iter().enumerate() {
            assert_eq!(row.act as usize, index);
            assert!(row.address <= row.total);
        }
    }

    #[test]
    fn one_address_and_all_of_them_have_a_budget_that_comes_back() {
        let budgets = Budgets::default();
        budgets.set(Act::DeviceCode, 3, 5);
        let spend = |peer: &str, now| budgets.spend(Act::DeviceCode, peer.parse().unwrap(), now);
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
        let other = budgets.spend(Act::Mail, "192.0.2.1".parse().unwrap(), 110);
        assert_eq!(other, Ok(()));
    }

    #[test]
    fn what_is_fetched_for_clients_has_a_budget_at_one_host_too() {
        let budgets = Budgets::default();
        let most = TABLE[Act::ClientKeys as usize].host.unwrap();
        let spend = |number: u32, host: &str| {
            let peer = IpAddr::from(number.to_be_bytes());
            let url = format!("https://{host}:{}/{number}", 1000 + number);
            budgets.spend_at(Act::ClientKeys, peer, &url, 100)
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
