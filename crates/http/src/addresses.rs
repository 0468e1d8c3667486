//! How many connections each address holds: one machine cannot take all of a server's.
//!
//! A mutex, because it is taken when a connection opens and when it ends, never for a request.
use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, PoisonError},
};

/// What counts as one address: an IPv4 address, or an IPv6 /64 (a household or a server has one;
/// single addresses in it cost nothing).
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(v4) => IpAddr::V4(v4),
        IpAddr::V6(v6) => {
            let bits = u128::from(v6) & !u128::from(u64::MAX);
            IpAddr::V6(Ipv6Addr::from(bits))
        }
    }
}

/// The counts.
#[derive(Debug)]
pub struct Addresses {
    most: u32,
    open: Mutex<HashMap<IpAddr, u32>>,
}

impl Addresses {
    /// `most`: connections of one address; 0 is no bound.
    pub fn new(most: u32) -> Arc<Addresses> {
        Arc::new(Addresses {
            most,
            open: Mutex::default(),
        })
    }

    /// A place for one more connection of this address, until it is dropped. `None`: it holds its
    /// share already.
    pub fn enter(self: &Arc<Addresses>, peer: IpAddr) -> Option<Place> {
        let address = network(peer);
        // A count is changed in one step: a panic elsewhere cannot leave it half changed.
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry(address).or_default();
        if self.most != 0 && *count >= self.most {
            return None;
        }
        *count += 1;
        Some(Place {
            addresses: self.clone(),
            address,
        })
    }
}

/// One connection's place.
#[derive(Debug)]
pub struct Place {
    addresses: Arc<Addresses>,
    address: IpAddr,
}

impl Drop for Place {
    fn drop(&mut self) {
        let open = &self.addresses.open;
        let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_holds_its_share_and_gets_it_back() {
        let addresses = Addresses::new(2);
        let of = |text: &str| addresses.enter(text.parse().unwrap());
        let first = of("192.0.2.1").unwrap();
        let _second = of("::ffff:192.0.2.1").unwrap();
        assert!(of("192.0.2.1").is_none());
        let _other = of("192.0.2.2").unwrap();
        drop(first);
        assert!(of("192.0.2.1").is_some());
    }

    #[test]
    fn a_network_of_ipv6_is_one_address_and_nothing_is_remembered() {
        let addresses = Addresses::new(1);
        let place = addresses.enter("2001:db8::1".parse().unwrap()).unwrap();
        assert!(addresses.enter("2001:db8::2".parse().unwrap()).is_none());
        assert!(
            addresses
                .enter("2001:db8:0:1::1".parse().unwrap())
                .is_some()
        );
        drop(place);
        assert!(addresses.open.lock().unwrap().is_empty());
    }
}
