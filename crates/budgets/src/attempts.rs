//! How often somebody may guess: failures are counted per account and per address, successes never.
//!
//! One counter per account alone would let anybody lock the owner out by guessing wrong. So a
//! browser in which a person has logged in before carries a sealed device cookie, and guesses from
//! it for that account are counted for the device alone: unknown browsers use up their own budget,
//! and the owner's own browser still gets in (OWASP's "device cookies").
//!
//! A guess is counted before it is checked and given back when it was right, so that guesses in
//! parallel cannot outrun the counter. Counters live in the store, with an end: all nodes see one
//! count, and a restart forgives nothing.

use std::net::IpAddr;

use signet_crypto::hash::sha256;
use signet_http::addresses::network;
use signet_store::{Change, Key, Op, Outcome, Store, StoreError, Table};
use signet_telemetry::metrics::counted;

/// Messages for an account from all networks together, to those from one.
pub const MAILS_IN_ALL: u32 = 5;

/// The networks that an address counts for: how many times a single one's budget each has, the bits
/// of its prefix, and its first address. One /64 of IPv6 is as one address of IPv4; a customer may
/// have a /56 or a /48 of them, and all the addresses in it.
pub fn networks(address: IpAddr) -> impl Iterator<Item = (u32, u8, IpAddr)> {
    let prefixes: &[(u32, u8)] = match network(address) {
        IpAddr::V4(_) => &[(1, 32)],
        IpAddr::V6(_) => &[(1, 64), (2, 56), (4, 48)],
    };
    prefixes.iter().map(move |(times, bits)| {
        let network = match network(address) {
            IpAddr::V4(v4) => IpAddr::V4(v4),
            IpAddr::V6(v6) => {
                let host = u128::MAX.checked_shr(u32::from(*bits)).unwrap_or(0);
                IpAddr::V6((u128::from(v6) & !host).into())
            }
        };
        (*times, *bits, network)
    })
}

/// How many failures in which time. Each budget is a window that begins with its first failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Seconds that a window lasts.
    pub window: u64,
    /// Failures for one account from browsers that never logged in to it.
    pub account: u32,
    /// Failures for one account from one browser that did.
    pub device: u32,
    /// Failures from one network ([`networks`]), for whatever accounts.
    pub address: u32,
    /// Wrong mailed codes for one account from unknown browsers in a day, over however many codes;
    /// and as many wrong codes of an app: a code is one of a million.
    pub codes_per_day: u32,
    /// Messages that may be asked for in a window, for an account from one network, or from one
    /// browser that it is known in; [`MAILS_IN_ALL`] times as many for an account from all
    /// networks.
    pub mails: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            window: 15 * 60,
            account: 10,
            device: 10,
            address: 100,
            codes_per_day: 50,
            mails: 10,
        }
    }
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Passwords.
    Password,
    /// Messages that were asked for: codes and recovery links.
    Mail,
    /// Mailed codes that were typed.
    Code,
    /// Second factors that were typed: codes of an app, and recovery codes.
    Factor,
    /// User codes of devices.
    UserCode,
    /// Client secrets.
    ClientSecret,
    /// API keys.
    ApiKey,
}

impl Kind {
    fn tag(self) -> u8 {
        match self {
            Kind::Password => b'p',
            Kind::Mail => b'm',
            Kind::Code => b'c',
            Kind::Factor => b'f',
            Kind::UserCode => b'u',
            Kind::ClientSecret => b's',
            Kind::ApiKey => b'k',
        }
    }
}

/// A budget: what it is for, and its size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    kind: Kind,
    key: Key,
    most: u32,
    window: u64,
}

impl Limits {
    /// Guesses for an account. `account`: user id, or the folded name where no account has it.
    /// `device`: the id of a device that this account has logged in from.
    pub fn of_account(&self, kind: Kind, account: &str, device: Option<&[u8]>) -> Budget {
        let most = match (kind, device) {
            (Kind::Mail, _) => self.mails,
            (_, Some(_)) => self.device,
            (_, None) => self.account,
        };
        self.budget(
            kind,
            b"account",
            &[account.as_bytes(), device.unwrap_or(&[])],
            most,
        )
    }

    /// The day's budget beside [`Limits::of_account`], where guesses are worth more than a window's
    /// time.
    pub fn of_account_day(
        &self,
        kind: Kind,
        account: &str,
        device: Option<&[u8]>,
    ) -> Option<Budget> {
        (matches!(kind, Kind::Code | Kind::Factor) && device.is_none()).then(|| Budget {
            window: 24 * 3600,
            ..self.budget(kind, b"day", &[account.as_bytes()], self.codes_per_day)
        })
    }

    /// Messages for an account (as in [`Limits::of_account`]) that were asked for from one network.
    pub fn of_account_from(&self, kind: Kind, account: &str, address: IpAddr) -> Budget {
        // Who has a /56 has all that is in it.
        let (bits, network) = networks(address)
            .map(|(_, bits, network)| (bits, octets(network)))
            .nth(1)
            .unwrap_or((32, octets(network(address))));
        let parts: [&[u8]; 3] = [account.as_bytes(), &[bits], &network];
        self.budget(kind, b"account from", &parts, self.mails)
    }

    /// Messages for an account from all networks together, beside [`Limits::of_account_from`].
    pub fn of_account_in_all(&self, kind: Kind, account: &str) -> Budget {
        let most = self.mails.saturating_mul(MAILS_IN_ALL);
        self.budget(kind, b"account", &[account.as_bytes(), &[]], most)
    }

    /// Guesses from an address: of each network that it is in.
    pub fn of_networks(&self, kind: Kind, address: IpAddr) -> Vec<Budget> {
        let of = |(times, bits, network): (u32, u8, IpAddr)| {
            let most = self.address.saturating_mul(times);
            let network = octets(network);
            match times {
                1 => self.budget(kind, b"address", &[&network], most),
                _ => self.budget(kind, b"network", &[&[bits], &network], most),
            }
        };
        networks(address).map(of).collect()
    }

    fn budget(&self, kind: Kind, what: &[u8], parts: &[&[u8]], most: u32) -> Budget {
        // Hashed, so that the key is short and the table lists no names; length-prefixed, so that
        // parts cannot run together.
        let mut input = vec![kind.tag()];
        for part in std::iter::once(&what).chain(parts) {
            input.extend_from_slice(&(part.len() as u64).to_be_bytes());
            input.extend_from_slice(part);
        }
        Budget {
            kind,
            key: Key::new(Table::Attempts, &sha256(&input)[..16]),
            most,
            window: self.window,
        }
    }
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(v4) => v4.octets().to_vec(),
        IpAddr::V6(v6) => v6.octets().to_vec(),
    }
}

/// Why a guess was not allowed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Refused {
    /// The budget is used up: 429 with `Retry-After` in seconds.
    #[error("too many attempts")]
    TooMany {
        /// Seconds.
        retry_after: u64,
    },
    /// The store failed: nobody guesses uncounted.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How often a counter that others write at the same time is tried before the guess is refused.
const MAX_TRIES: usize = 16;

/// Whether the budget is used up, without counting.
pub async fn check(store: &dyn Store, budget: &Budget, now: u64) -> Result<(), Refused> {
    match store.get(&budget.key, now).await? {
        Some(row) if count_of(&row.value) >= budget.most => Err(too_many(budget, row.end, now)),
        _ => Ok(()),
    }
}

/// Counts one guess, or refuses it.
pub async fn count(store: &dyn Store, budget: &Budget, now: u64) -> Result<(), Refused> {
    let mut row = store.get(&budget.key, now).await?;
    for _ in 0..MAX_TRIES {
        let op = match &row {
            None => Op::Insert {
                key: budget.key.clone(),
                value: 1u32.to_be_bytes().to_vec(),
                end: Some(now + budget.window),
            },
            Some(row) => {
                let count = count_of(&row.value);
                if count >= budget.most {
                    return Err(too_many(budget, row.end, now));
                }
                Op::Replace {
                    key: budget.key.clone(),
                    version: row.version,
                    value: (count + 1).to_be_bytes().to_vec(),
                    end: row.end,
                }
            }
        };
        match commit(store, op, now).await? {
            Outcome::Done { .. } => return Ok(()),
            Outcome::Refused(current) => row = current,
        }
    }
    Err(Refused::TooMany { retry_after: 1 })
}

/// Counts one guess in each budget, up to the first that refuses it.
pub async fn count_all(store: &dyn Store, budgets: &[Budget], now: u64) -> Result<(), Refused> {
    for budget in budgets {
        count(store, budget, now).await?;
    }
    Ok(())
}

/// Takes one count back: the guess was right.
pub async fn give_back(store: &dyn Store, budget: &Budget, now: u64) -> Result<(), StoreError> {
    for _ in 0..MAX_TRIES {
        let Some(row) = store.get(&budget.key, now).await? else {
            return Ok(());
        };
        let key = budget.key.clone();
        let version = row.version;
        let op = match count_of(&row.value) {
            0 | 1 => Op::Remove { key, version },
            count => Op::Replace {
                key,
                version,
                value: (count - 1).to_be_bytes().to_vec(),
                end: row.end,
            },
        };
        if let Outcome::Done { .. } = commit(store, op, now).await? {
            return Ok(());
        }
    }
    // A count too many only makes the limit stricter.
    Ok(())
}

async fn commit(store: &dyn Store, first: Op, now: u64) -> Result<Outcome, StoreError> {
    let then = Vec::new();
    store.commit(Change { first, then }, now).await
}

/// A row that cannot be read counts as a full budget until its end.
fn count_of(value: &[u8]) -> u32 {
    value.try_into().map_or(u32::MAX, u32::from_be_bytes)
}

fn too_many(budget: &Budget, end: Option<u64>, now: u64) -> Refused {
    // In the order of `table::GUESSES`.
    counted::GUESSES_REFUSED.add(budget.kind as usize, 1);
    let retry_after = end.unwrap_or(now).saturating_sub(now).max(1);
    Refused::TooMany { retry_after }
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_store::MemoryStore;

    const LIMITS: Limits = Limits {
        window: 900,
        account: 3,
        device: 3,
        address: 5,
        codes_per_day: 4,
        mails: 2,
    };

    #[tokio::test]
    async fn failures_are_limited_and_forgiven_after_the_window() {
        let store = MemoryStore::new();
        let budget = LIMITS.of_account(Kind::Password, "alice", None);
        for _ in 0..3 {
            count(&store, &budget, 1000).await.unwrap();
        }
        let refused = count(&store, &budget, 1100).await;
        assert!(matches!(
            refused,
            Err(Refused::TooMany { retry_after: 800 })
        ));
        assert!(check(&store, &budget, 1100).await.is_err());
        count(&store, &budget, 1900).await.unwrap();
    }

    #[tokio::test]
    async fn a_right_guess_costs_nothing() {
        let store = MemoryStore::new();
        let budget = LIMITS.of_account(Kind::Password, "alice", None);
        for _ in 0..10 {
            count(&store, &budget, 1000).await.unwrap();
            give_back(&store, &budget, 1000).await.unwrap();
        }
    }

    #[tokio::test]
    async fn strangers_cannot_lock_the_owners_browser_out() {
        let store = MemoryStore::new();
        let strangers = LIMITS.of_account(Kind::Password, "alice", None);
        while count(&store, &strangers, 1000).await.is_ok() {}
        let own = LIMITS.of_account(Kind::Password, "alice", Some(b"device"));
        count(&store, &own, 1000).await.unwrap();
    }

    #[tokio::test]
    async fn parallel_guesses_cannot_outrun_the_counter() {
        let store = std::sync::Arc::new(MemoryStore::new());
        let budget = LIMITS.of_account(Kind::Password, "alice", None);
        let guesses: Vec<_> = (0..50)
            .map(|_| {
                let (store, budget) = (store.clone(), budget.clone());
                tokio::spawn(async move { count(&*store, &budget, 1000).await.is_ok() })
            })
            .collect();
        let mut allowed = 0;
        for guess in guesses {
            allowed += u32::from(guess.await.unwrap());
        }
        assert_eq!(allowed, 3);
    }

    #[test]
    fn mailed_codes_have_a_days_budget_too() {
        let day = LIMITS.of_account_day(Kind::Code, "alice", None).unwrap();
        assert_eq!((day.most, day.window), (4, 86_400));
        assert_ne!(day.key, LIMITS.of_account(Kind::Code, "alice", None).key);
        assert_eq!(LIMITS.of_account_day(Kind::Password, "alice", None), None);
        assert_eq!(LIMITS.of_account_day(Kind::Code, "alice", Some(b"d")), None);
    }

    #[test]
    fn one_network_is_one_address() {
        let of = |text: &str| LIMITS.of_networks(Kind::Password, text.parse().unwrap());
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff"));
        assert_ne!(of("2001:db8::1")[0], of("2001:db8:0:1::1")[0]);
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }

    #[test]
    fn one_customers_network_is_bounded_at_56_and_at_48() {
        let of = |text: &str| LIMITS.of_networks(Kind::Password, text.parse().unwrap());
        let one = of("2001:db8:0:1::1");
        let most: Vec<u32> = one.iter().map(|budget| budget.most).collect();
        assert_eq!(most, [5, 10, 20]);
        assert_eq!(one[1..], of("2001:db8:0:ff::1")[1..]);
        assert_ne!(one[1], of("2001:db8:0:100::1")[1]);
        assert_eq!(one[2], of("2001:db8:0:100::1")[2]);
        assert_ne!(one[2], of("2001:db8:1:1::1")[2]);
    }

    #[test]
    fn who_asks_for_mails_for_somebody_does_not_use_up_those_of_another_network() {
        let from = |text: &str| LIMITS.of_account_from(Kind::Mail, "alice", text.parse().unwrap());
        assert_eq!(from("192.0.2.1").most, LIMITS.mails);
        assert_ne!(from("192.0.2.1"), from("192.0.2.2"));
        assert_eq!(from("2001:db8:0:1::1"), from("2001:db8:0:2::1"));
        let all = LIMITS.of_account_in_all(Kind::Mail, "alice");
        assert_eq!(all.most, LIMITS.mails * MAILS_IN_ALL);
        assert_ne!(all, from("192.0.2.1"));
    }
}
