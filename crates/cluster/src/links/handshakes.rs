//! Handshakes in progress, counted before a peer has authenticated: each address has a share, and
//! all of them together have a bound.
use std::{collections::HashMap, net::IpAddr};

/// Most handshakes in progress; who comes then is turned away.
pub const MAX_HANDSHAKES: usize = 256;
/// Most handshakes in progress from one address, or from one network of 64 bits of IPv6.
pub const MAX_HANDSHAKES_OF_ADDRESS: usize = 32;

/// How many are in progress from where: no more entries than there are of them.
#[derive(Default)]
pub(super) struct Handshakes {
    by_network: HashMap<IpAddr, usize>,
    all: usize,
}

/// What is counted by: an address, and of IPv6 its network of 64 bits, all of which one machine
/// has.
fn network(from: IpAddr) -> IpAddr {
    match from.to_canonical() {
        IpAddr::V4(from) => IpAddr::V4(from),
        IpAddr::V6(from) => {
            let [a, b, c, d, ..] = from.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
    }
}

impl Handshakes {
    /// One begins; false where it is turned away.
    pub(super) fn begin(&mut self, from: IpAddr) -> bool {
        let from = network(from);
        let known = self.by_network.get(&from).copied().unwrap_or(0);
        if self.all >= MAX_HANDSHAKES || known >= MAX_HANDSHAKES_OF_ADDRESS {
            return false;
        }
        self.by_network.insert(from, known + 1);
        self.all += 1;
        true
    }

    /// One that had begun is over.
    pub(super) fn end(&mut self, from: IpAddr) {
        let from = network(from);
        let Some(known) = self.by_network.get_mut(&from) else {
            return;
        };
        *known -= 1;
        self.all -= 1;
        if *known == 0 {
            self.by_network.remove(&from);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v6(network: u16, host: u16) -> IpAddr {
        IpAddr::from([0x2001, 0xdb8, 0, network, 0, 0, 0, host])
    }

    #[test]
    fn who_is_turned_away_leaves_no_entry() {
        let mut handshakes = Handshakes::default();
        let begun = (0..300).filter(|n| handshakes.begin(v6(*n, 1))).count();
        assert_eq!(begun, MAX_HANDSHAKES);
        assert_eq!(handshakes.by_network.len(), MAX_HANDSHAKES);
        for n in 0..MAX_HANDSHAKES {
            handshakes.end(v6(u16::try_from(n).unwrap(), 1));
        }
        assert_eq!((handshakes.by_network.len(), handshakes.all), (0, 0));
        assert!(handshakes.begin(v6(300, 1)));
    }

    #[test]
    fn addresses_of_one_network_of_64_bits_count_as_one() {
        let mut handshakes = Handshakes::default();
        let begun = (0..300).filter(|host| handshakes.begin(v6(1, *host)));
        assert_eq!(begun.count(), MAX_HANDSHAKES_OF_ADDRESS);
        assert!(handshakes.begin(v6(2, 1)));
        // An address of IPv4 is one of its own, in either form.
        let v4 = IpAddr::from([192, 0, 2, 1]);
        let mapped = IpAddr::from([0, 0, 0, 0, 0, 0xffff, 0xc000, 0x0201]);
        let begun = (0..MAX_HANDSHAKES_OF_ADDRESS).filter(|_| handshakes.begin(v4));
        assert_eq!(begun.count(), MAX_HANDSHAKES_OF_ADDRESS);
        assert!(!handshakes.begin(mapped));
        assert!(handshakes.begin(IpAddr::from([192, 0, 2, 2])));
    }
}
