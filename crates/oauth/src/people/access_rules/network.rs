//! Networks, as addresses with the length of their prefix (RFC 4632 section 3.1, RFC 4291 section
//! 2.3).
use std::{
    fmt,
    net::{IpAddr, Ipv6Addr},
    str::FromStr,
};

/// A network: every address that begins with the same bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

/// The address as bits of IPv6, and how many stand before those of IPv4.
fn wide(address: IpAddr) -> (u128, u8) {
    match address {
        IpAddr::V4(v4) => (u32::from(v4).into(), 96),
        IpAddr::V6(v6) => (u128::from(v6), 0),
    }
}

impl Network {
    /// Whether an address is in it. An IPv4 address that came over an IPv6 socket is one of IPv4.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        if address.is_ipv4() != self.address.is_ipv4() {
            return false;
        }
        let ((own, before), (other, _)) = (wide(self.address), wide(address));
        let shift = 128 - u32::from(before) - u32::from(self.bits);
        own.checked_shr(shift) == other.checked_shr(shift)
    }
}

impl FromStr for Network {
    type Err = crate::people::Fault;

    fn from_str(text: &str) -> Result<Network, Self::Err> {
        const FAULT: &str =
            "a network is an address, or an address with the length of its prefix: 10.0.0.0/8";
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| FAULT)?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            None => most,
            Some(bits) if bits.bytes().all(|b| b.is_ascii_digit()) => {
                bits.parse().map_err(|_| FAULT)?
            }
            Some(_) => return Err(FAULT),
        };
        if bits > most {
            return Err(FAULT);
        }
        let network = Network { address, bits };
        // What stands behind the prefix would say something that is not so.
        let (own, _) = wide(address);
        let rest = u32::from(most - bits);
        let mask = 1_u128.checked_shl(rest).map_or(u128::MAX, |bit| bit - 1);
        if own & mask != 0 {
            return Err("a network's address has no bits behind its prefix");
        }
        if let IpAddr::V6(v6) = address
            && is_mapped(v6)
        {
            return Err("write a network of IPv4 addresses as one of IPv4");
        }
        Ok(network)
    }
}

fn is_mapped(address: Ipv6Addr) -> bool {
    address.to_ipv4_mapped().is_some()
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}
