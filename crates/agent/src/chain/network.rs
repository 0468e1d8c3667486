//! Networks: an address and a prefix length.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use crate::cbor::{Decoder, Encoder};
use crate::error::{Refusal, Result, ensure};

/// An IPv4 or IPv6 network; the bits after the prefix are zero, so a network has one form.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Network {
    address: IpAddr,
    prefix: u8,
}

/// The address in the high bits, with its family's width: both families compare alike.
fn bits(address: IpAddr) -> (u128, u8) {
    match address {
        IpAddr::V4(v4) => (u128::from(v4.to_bits()) << 96, 32),
        IpAddr::V6(v6) => (v6.to_bits(), 128),
    }
}

fn mask(prefix: u8) -> u128 {
    u128::MAX.checked_shl(128 - u32::from(prefix)).unwrap_or(0)
}

impl Network {
    /// A network.
    ///
    /// # Errors
    /// [`Refusal::InvalidValue`] for a prefix longer than the address, bits after it, and IPv4
    /// written as IPv6.
    pub fn new(address: IpAddr, prefix: u8) -> Result<Network> {
        let (value, width) = bits(address);
        let good =
            prefix <= width && value & !mask(prefix) == 0 && address.to_canonical() == address;
        ensure(good, Refusal::InvalidValue)?;
        Ok(Network { address, prefix })
    }

    /// Whether the address is inside. An IPv4 address in IPv6's form is the IPv4 address that it
    /// means.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        let ((own, width), (other, other_width)) = (bits(self.address), bits(address));
        width == other_width && (own ^ other) & mask(self.prefix) == 0
    }

    /// Whether all of the other network is inside.
    pub fn covers(&self, other: &Network) -> bool {
        self.prefix <= other.prefix && self.contains(other.address)
    }

    pub(crate) fn write(&self, out: &mut Encoder) {
        out.array(2);
        match self.address {
            IpAddr::V4(v4) => out.bytes(&v4.octets()),
            IpAddr::V6(v6) => out.bytes(&v6.octets()),
        };
        out.uint(self.prefix.into());
    }

    pub(crate) fn read(d: &mut Decoder<'_>) -> Result<Network> {
        d.tuple(2, |d| {
            let address = d.bytes()?;
            let address = if let Ok(v4) = <[u8; 4]>::try_from(address) {
                IpAddr::from(v4)
            } else {
                IpAddr::from(<[u8; 16]>::try_from(address).map_err(|_| Refusal::Malformed)?)
            };
            let prefix = u8::try_from(d.uint()?).map_err(|_| Refusal::InvalidValue)?;
            Network::new(address, prefix)
        })
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

impl FromStr for Network {
    type Err = Refusal;

    /// `10.0.0.0/8`, `2001:db8::/32`, or one address.
    fn from_str(text: &str) -> Result<Network> {
        let invalid = |_| Refusal::InvalidValue;
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => {
                let plain = prefix.bytes().all(|b| b.is_ascii_digit())
                    && (prefix == "0" || !prefix.starts_with('0'));
                ensure(plain, Refusal::InvalidValue)?;
                (
                    address,
                    Some(prefix.parse::<u8>().map_err(|_| Refusal::InvalidValue)?),
                )
            }
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(invalid)?;
        Network::new(address, prefix.unwrap_or(bits(address).1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containment_is_by_prefix_and_family() {
        let network = |text: &str| text.parse::<Network>().expect(text);
        let inside = |own: &str, ip: &str| network(own).contains(ip.parse().expect(ip));
        assert!(inside("10.0.0.0/8", "10.255.0.1"));
        assert!(!inside("10.0.0.0/8", "11.0.0.1"));
        assert!(inside("10.0.0.0/8", "::ffff:10.0.0.1"));
        assert!(!inside("0.0.0.0/0", "::1"));
        assert!(!inside("::/0", "10.0.0.1"));
        assert!(inside("2001:db8::/32", "2001:db8:1::1"));
        assert!(inside("192.0.2.7", "192.0.2.7") && !inside("192.0.2.7", "192.0.2.6"));
        assert!(network("10.0.0.0/8").covers(&network("10.1.0.0/16")));
        assert!(!network("10.1.0.0/16").covers(&network("10.0.0.0/8")));
        assert!(!network("0.0.0.0/0").covers(&network("::/0")));
    }

    #[test]
    fn a_network_has_one_form() {
        for bad in [
            "10.0.0.1/8",
            "10.0.0.0/33",
            "10.0.0.0/",
            "10.0.0.0/08",
            "10.0.0.0/+8",
            "::ffff:10.0.0.0/104",
            "ten",
            "::/129",
            "",
        ] {
            assert!(bad.parse::<Network>().is_err(), "{bad}");
        }
    }
}
