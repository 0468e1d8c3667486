//! Which addresses are public: everything that names this host, this network, or hides another
//! address inside is not.
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// True for addresses of the open internet only.
pub fn is_public(address: IpAddr) -> bool {
    // ::ffff:a.b.c.d is the IPv4 address.
    match address.to_canonical() {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

/// The special-purpose blocks of RFC 6890 and its successors, as (network, prefix length).
const SPECIAL_V4: &[([u8; 4], u32)] = &[
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    // carrier-grade NAT, RFC 6598
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    // link-local, with the metadata services of clouds
    ([169, 254, 0, 0], 16),
    ([172, 16, 0, 0], 12),
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    // 6to4 relays, RFC 7526
    ([192, 88, 99, 0], 24),
    ([192, 168, 0, 0], 16),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    ([224, 0, 0, 0], 4),
    ([240, 0, 0, 0], 4),
];

fn is_public_v4(address: Ipv4Addr) -> bool {
    let bits = address.to_bits();
    !SPECIAL_V4
        .iter()
        .any(|(network, prefix)| (bits ^ u32::from_be_bytes(*network)) >> (32 - prefix) == 0)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, ..] = address.segments();
    // Only 2000::/3 is assigned to hosts. Outside lie ::1, ::/96, fc00::/7, fe80::/10, multicast,
    // and NAT64 (64:ff9b::/96, 64:ff9b:1::/48), which hides an IPv4 address.
    let global_unicast = a & 0xe000 == 0x2000;
    // 2001::/23 are protocol assignments, with Teredo (2001::/32), which hides an IPv4 address.
    let protocol = a == 0x2001 && b < 0x0200;
    let documentation = (a == 0x2001 && b == 0x0db8) || (a == 0x3fff && b < 0x1000);
    // 6to4 hides an IPv4 address.
    let six_to_four = a == 0x2002;
    global_unicast && !protocol && !documentation && !six_to_four
}

#[cfg(test)]
mod tests {
    use super::is_public;

    #[test]
    fn addresses_inside_or_in_disguise_are_not_public() {
        for address in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.9.9.9",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.168.1.1",
            "192.88.99.1",
            "198.18.0.1",
            "198.19.255.255",
            "224.0.0.1",
            "255.255.255.255",
            "240.0.0.1",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2002:a9fe:a9fe::1",
            "2001:0:7f00:1::",
            "2001:db8::1",
            "3fff::1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "ff02::1",
            "fec0::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn addresses_of_the_open_internet_are_public() {
        for address in [
            "1.1.1.1",
            "100.63.255.255",
            "100.128.0.1",
            "172.32.0.1",
            "198.20.0.1",
            "9.9.9.9",
            "2606:4700::1111",
            "2a00:1450::1",
            "2001:4860:4860::8888",
            "::ffff:1.1.1.1",
        ] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }
}
