//! What the guesses of one attempt are counted against.

use futures_util::future::try_join_all;
use signet_store::StoreError;

use signet_directory::{User, fold};
use signet_realm::attempts::{self, Budget, Kind, Refused};
use signet_realm::budgets::Act;
use signet_request::browser_request::BrowserRequest;

/// The budgets of one attempt.
///
/// A known browser of the account has a budget of its own, and learns when it is used up. From
/// everywhere else two things are counted: the text that was typed, folded, whether it names an
/// account or not; and the account that it names, by whatever name. What is said (429) depends on
/// the text alone. Where the account's guesses are used up, everything that is typed is wrong, as
/// it is for a name that is nobody's: otherwise the answers would tell which names exist, and which
/// address is whose.
///
/// Mails are counted for the network that asks, and a wider bound is for all networks: who asks for
/// somebody's mails uses up their own, not the person's.
pub struct Budgets {
    kind: Kind,
    /// Said when it is used up.
    told: Vec<Budget>,
    /// Not said. For a name that is nobody's there are as many, so that counting takes as long.
    silent: Vec<Budget>,
    /// Of each network that the address is in. None: a known browser of the account counts for
    /// itself, also behind an address that others share.
    networks: Vec<Budget>,
}

/// What may be done with an attempt that was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is decided.
    Open,
    /// The account's guesses are used up: it is wrong, whatever was typed.
    UsedUp,
}

impl Budgets {
    /// For an attempt of `kind` at the account that `typed` names.
    pub fn of(browser: &BrowserRequest, kind: Kind, user: Option<&User>, typed: &str) -> Budgets {
        let limits = &browser.context.realm.people.limits;
        let device = browser.device();
        if let (Some(user), Some(device)) = (user, &device)
            && let Some(known) = device.known(user)
        {
            return Budgets {
                kind,
                told: vec![limits.of_account(kind, &user.id, Some(known))],
                silent: Vec::new(),
                networks: Vec::new(),
            };
        }
        let text = format!("typed {}", fold(typed).as_deref().unwrap_or(typed));
        let account = match user {
            Some(user) => user.id.clone(),
            None => format!("nobody {text}"),
        };
        // The window first: what it refuses is no guess, and must not use up the day.
        let peer = browser.context.peer;
        let networks = limits.of_networks(kind, peer);
        if typed.is_empty() && user.is_none() {
            // Nobody was named: what is shown names them. There is no account to guess at.
            return Budgets {
                kind,
                told: Vec::new(),
                silent: Vec::new(),
                networks,
            };
        }
        let both = |name: &str| {
            if kind == Kind::Mail {
                return vec![
                    limits.of_account_from(kind, name, peer),
                    limits.of_account_in_all(kind, name),
                ];
            }
            let window = limits.of_account(kind, name, None);
            std::iter::once(window)
                .chain(limits.of_account_day(kind, name, None))
                .collect()
        };
        Budgets {
            kind,
            told: both(&text),
            silent: both(&account),
            networks,
        }
    }

    /// Counts a guess; the address only has to have something left.
    pub async fn begin(&self, browser: &BrowserRequest) -> Result<Standing, Refused> {
        let (store, now) = (&*browser.context.realm.store, browser.context.now());
        for network in &self.networks {
            attempts::check(store, network, now).await?;
        }
        // A known browser of the account is bounded by its own budget of mails.
        if self.kind == Kind::Mail && !self.networks.is_empty() {
            let (realm, peer) = (&browser.context.realm, browser.context.peer);
            let spent = realm.budgets.spend(Act::MailRequest, peer, now);
            spent.map_err(|retry_after| Refused::TooMany { retry_after })?;
        }
        for budget in &self.told {
            attempts::count(store, budget, now).await?;
        }
        let counted = self.silent.iter().map(async |budget| {
            match attempts::count(store, budget, now).await {
                Ok(()) => Ok(Standing::Open),
                Err(Refused::TooMany { .. }) => Ok(Standing::UsedUp),
                Err(error @ Refused::Store(_)) => Err(error),
            }
        });
        // None depends on another: they share a flush.
        let standings = try_join_all(counted).await?;
        let used_up = standings.contains(&Standing::UsedUp);
        Ok(if used_up {
            Standing::UsedUp
        } else {
            Standing::Open
        })
    }

    /// The guess was wrong: it also counts for the networks.
    pub async fn wrong(&self, browser: &BrowserRequest) -> Result<(), StoreError> {
        let (store, now) = (&*browser.context.realm.store, browser.context.now());
        match attempts::count_all(store, &self.networks, now).await {
            Err(Refused::Store(error)) => Err(error),
            Ok(()) | Err(Refused::TooMany { .. }) => Ok(()),
        }
    }

    /// The guess was right, or was not looked at.
    pub async fn right(&self, browser: &BrowserRequest) -> Result<(), StoreError> {
        let (store, now) = (&*browser.context.realm.store, browser.context.now());
        let counted = self.silent.iter().chain(&self.told);
        let given_back = counted.map(|budget| attempts::give_back(store, budget, now));
        try_join_all(given_back).await.map(|_| ())
    }
}
