//! Records by name, with what is asked of all of them kept counted: whoever asks for the longest
//! lifetime of any client's tokens, at each revocation perhaps, must not walk through a hundred
//! thousand.
use super::{MayDiffer, Resource, SharedMap};
use crate::client::Client;
use signet_crypto::{Algorithm, KeyType};
use std::{collections::BTreeMap, ops::Index, sync::Arc};

/// A kind of record.
pub trait Counted {
    /// What is kept counted of all records of the kind.
    type Tally: Clone + Default;

    /// Counts a record in, or out again.
    fn count(&self, tally: &mut Self::Tally, change: Change);
}

/// Whether a record comes or goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// It comes.
    In,
    /// It goes.
    Out,
}

/// All records of a kind. Copies share what they have in common.
#[derive(Clone)]
pub struct Records<T: Counted> {
    by_name: SharedMap<Arc<T>>,
    tally: T::Tally,
}

impl<T: Counted> Default for Records<T> {
    fn default() -> Records<T> {
        Records {
            by_name: SharedMap::default(),
            tally: T::Tally::default(),
        }
    }
}

impl<T: Counted> Records<T> {
    /// The record of a name.
    pub fn get(&self, name: &str) -> Option<&Arc<T>> {
        self.by_name.get(name)
    }

    /// Whether there is a record of this name.
    pub fn contains_key(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// All records with their names, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Arc<T>)> {
        self.by_name.iter().map(|(name, record)| (&**name, record))
    }

    /// All records, in no order.
    pub fn values(&self) -> impl Iterator<Item = &Arc<T>> {
        self.by_name.iter().map(|(_, record)| record)
    }

    /// All names, in no order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.by_name.iter().map(|(name, _)| &**name)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Whether it has no records.
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// What is kept counted of all of them.
    pub fn tally(&self) -> &T::Tally {
        &self.tally
    }

    /// The names that may have another record than in `before`, with the records of then and of
    /// now: see [`SharedMap::changes_since`].
    pub fn changes_since<'a>(
        &'a self,
        before: &'a Records<T>,
    ) -> impl Iterator<Item = MayDiffer<'a, Arc<T>>> {
        self.by_name.changes_since(&before.by_name)
    }

    /// How many records the changes since `before` copied: see [`SharedMap::copied_since`].
    pub fn copied_since(&self, before: &Records<T>) -> usize {
        self.by_name.copied_since(&before.by_name)
    }

    /// Puts a record in place of the one that had this name.
    pub fn insert(&mut self, name: String, record: Arc<T>) {
        // The one before is counted out first: of what both have in common there is one.
        if let Some(before) = self.by_name.insert(&name, Arc::clone(&record)) {
            before.count(&mut self.tally, Change::Out);
        }
        record.count(&mut self.tally, Change::In);
    }

    /// Removes the record of a name.
    pub fn remove(&mut self, name: &str) {
        if let Some(before) = self.by_name.remove(name) {
            before.count(&mut self.tally, Change::Out);
        }
    }
}

impl<T: Counted> Index<&str> for Records<T> {
    type Output = Arc<T>;

    /// # Panics
    /// There is no record of this name.
    fn index(&self, name: &str) -> &Arc<T> {
        match self.get(name) {
            Some(record) => record,
            None => panic!("no record {name}"),
        }
    }
}

impl<T: Counted> FromIterator<(String, Arc<T>)> for Records<T> {
    fn from_iter<I: IntoIterator<Item = (String, Arc<T>)>>(records: I) -> Records<T> {
        let mut all = Records::default();
        for (name, record) in records {
            all.insert(name, record);
        }
        all
    }
}

/// How often each number occurs; the greatest is asked for.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
struct Numbers(BTreeMap<u64, usize>);

impl Numbers {
    fn count(&mut self, number: Option<u64>, change: Change) {
        let Some(number) = number else { return };
        let count = self.0.entry(number).or_default();
        change.apply(count);
        if *count == 0 {
            self.0.remove(&number);
        }
    }

    fn greatest(&self) -> Option<u64> {
        self.0.keys().next_back().copied()
    }
}

impl Change {
    fn apply(self, count: &mut usize) {
        match self {
            Change::In => *count += 1,
            // Invariant: what goes has come before.
            Change::Out => *count = count.saturating_sub(1),
        }
    }
}

fn is_ml_dsa(algorithm: Algorithm) -> bool {
    algorithm.key_type() == KeyType::Akp
}

/// What is kept counted of clients.
#[derive(Clone, Default)]
pub struct ClientTally {
    origins: SharedMap<usize>,
    access_token_lifetimes: Numbers,
    refresh_token_lifetimes: Numbers,
    /// Clients whose record asks for an ML-DSA signature: of those that somebody entered, and of
    /// those that registered themselves.
    ml_dsa_entered: usize,
    ml_dsa_self_registered: usize,
    unused: usize,
}

impl ClientTally {
    /// Whether some client's scripts run at this web origin.
    pub fn has_origin(&self, origin: &str) -> bool {
        self.origins.contains_key(origin)
    }

    /// The longest lifetime of access tokens that a client's record names, seconds.
    pub fn longest_access_token(&self) -> Option<u64> {
        self.access_token_lifetimes.greatest()
    }

    /// The longest lifetime of refresh tokens that a client's record names, seconds.
    pub fn longest_refresh_token(&self) -> Option<u64> {
        self.refresh_token_lifetimes.greatest()
    }

    /// Whether a client's record asks for an ML-DSA signature; `also_self_registered`: those of
    /// clients that registered themselves count.
    pub fn asks_for_ml_dsa(&self, also_self_registered: bool) -> bool {
        self.ml_dsa_entered > 0 || also_self_registered && self.ml_dsa_self_registered > 0
    }

    /// Clients that registered themselves and were never used.
    pub fn unused(&self) -> usize {
        self.unused
    }
}

impl Counted for Client {
    type Tally = ClientTally;

    fn count(&self, tally: &mut ClientTally, change: Change) {
        for origin in &self.allowed_origins {
            let mut count = tally.origins.get(origin).copied().unwrap_or_default();
            change.apply(&mut count);
            match count {
                0 => drop(tally.origins.remove(origin)),
                count => drop(tally.origins.insert(origin, count)),
            }
        }
        let lifetimes = &mut tally.access_token_lifetimes;
        lifetimes.count(self.access_token_lifetime, change);
        let lifetimes = &mut tally.refresh_token_lifetimes;
        lifetimes.count(self.refresh_token_lifetime, change);
        let algorithms = [
            self.access_token_signed_response_alg,
            self.id_token_signed_response_alg,
            self.userinfo_signed_response_alg,
            self.introspection_signed_response_alg,
        ];
        let registered_itself = self.registration_token_hash.is_some();
        if algorithms.into_iter().flatten().any(is_ml_dsa) {
            change.apply(match registered_itself {
                true => &mut tally.ml_dsa_self_registered,
                false => &mut tally.ml_dsa_entered,
            });
        }
        if registered_itself && self.expires_at.is_some() {
            change.apply(&mut tally.unused);
        }
    }
}

/// What is kept counted of resource servers.
#[derive(Clone, Default)]
pub struct ResourceTally {
    access_token_lifetimes: Numbers,
    ml_dsa: usize,
}

impl ResourceTally {
    /// The longest lifetime of access tokens that a resource server's record names, seconds.
    pub fn longest_access_token(&self) -> Option<u64> {
        self.access_token_lifetimes.greatest()
    }

    /// Whether a resource server's record asks for an ML-DSA signature.
    pub fn asks_for_ml_dsa(&self) -> bool {
        self.ml_dsa > 0
    }
}

impl Counted for Resource {
    type Tally = ResourceTally;

    fn count(&self, tally: &mut ResourceTally, change: Change) {
        let lifetimes = &mut tally.access_token_lifetimes;
        lifetimes.count(self.access_token_lifetime, change);
        if self.access_token_signed_response_alg.is_some_and(is_ml_dsa) {
            change.apply(&mut tally.ml_dsa);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(change: impl FnOnce(&mut Client)) -> Arc<Client> {
        let mut client = Client::new("a", 1);
        change(&mut client);
        Arc::new(client)
    }

    #[test]
    fn what_is_counted_is_what_a_walk_through_all_records_finds() {
        let mut clients: Records<Client> = Records::default();
        for n in 0..100_u64 {
            let record = client(|client| {
                client.access_token_lifetime = Some(60 + n % 7);
                client.refresh_token_lifetime = (n % 2 == 0).then_some(n);
                client.allowed_origins = vec![format!("https://{}.example", n % 3)];
                client.id_token_signed_response_alg = (n == 4).then_some(Algorithm::MlDsa44);
                client.registration_token_hash = (n % 2 == 0).then_some([0; 32]);
                client.expires_at = (n % 4 == 0).then_some(9);
            });
            // Each replaces an earlier one of its name.
            clients.insert(format!("client-{}", n % 50), record);
        }
        clients.remove("client-0");
        clients.remove("client-0");
        let tally = clients.tally();
        let all = || clients.values();
        assert_eq!(clients.len(), 49);
        assert_eq!(
            tally.longest_access_token(),
            all().filter_map(|c| c.access_token_lifetime).max()
        );
        assert_eq!(
            tally.longest_refresh_token(),
            all().filter_map(|c| c.refresh_token_lifetime).max()
        );
        let unused = all().filter(|c| c.registration_token_hash.is_some());
        let unused = unused.filter(|c| c.expires_at.is_some()).count();
        assert_eq!(tally.unused(), unused);
        for n in 0..4 {
            let origin = format!("https://{n}.example");
            let named = all().any(|c| c.allowed_origins.contains(&origin));
            assert_eq!(tally.has_origin(&origin), named);
        }
        // The one that asked for it was replaced.
        assert!(!tally.asks_for_ml_dsa(true));
        let names: Vec<String> = clients.keys().map(str::to_owned).collect();
        names.iter().for_each(|name| clients.remove(name));
        assert_eq!(clients.tally().longest_access_token(), None);
        assert_eq!(clients.tally().unused(), 0);
        assert!(!clients.tally().has_origin("https://1.example"));
    }

    #[test]
    fn only_what_somebody_entered_asks_for_ml_dsa_unless_all_may() {
        let mut clients: Records<Client> = Records::default();
        let asking = |itself: bool| {
            client(|client| {
                client.userinfo_signed_response_alg = Some(Algorithm::MlDsa65);
                client.registration_token_hash = itself.then_some([0; 32]);
            })
        };
        clients.insert("itself".into(), asking(true));
        assert!(!clients.tally().asks_for_ml_dsa(false));
        assert!(clients.tally().asks_for_ml_dsa(true));
        clients.insert("entered".into(), asking(false));
        assert!(clients.tally().asks_for_ml_dsa(false));
    }
}
