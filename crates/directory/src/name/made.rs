//! User names that are made for people: at the sign-up, and at their first login at a provider.
//!
//! Applications know people by `preferred_username`, and take a name of theirs (`admin`) for their
//! own account. So an unauthenticated caller never has the name that they ask for: it is ASCII, has
//! a random tail, also where nobody has it, so that it does not tell who is there, and what stands
//! before the tail is no name that means an office, a client or a group.

use icu_normalizer::DecomposingNormalizerBorrowed;

/// Names of offices and programs (RFC 2142, and what applications and systems call their own).
const OFFICES: &[&str] = &[
    "abuse",
    "account",
    "accounts",
    "adm",
    "admin",
    "administrator",
    "admins",
    "anonymous",
    "api",
    "apache",
    "backup",
    "billing",
    "bin",
    "bot",
    "contact",
    "daemon",
    "everyone",
    "ftp",
    "guest",
    "help",
    "helpdesk",
    "hostmaster",
    "info",
    "it",
    "kubernetes",
    "mail",
    "mailer-daemon",
    "me",
    "moderator",
    "mysql",
    "news",
    "nobody",
    "noc",
    "no-reply",
    "noreply",
    "operator",
    "owner",
    "postgres",
    "postmaster",
    "public",
    "root",
    "sales",
    "security",
    "self",
    "service",
    "signet",
    "staff",
    "superuser",
    "support",
    "sys",
    "sysadmin",
    "system",
    "test",
    "user",
    "webmaster",
    "www",
];

/// What a name is made of where nothing else can be.
const PERSON: &str = "person";
const MAX_WANTED_CHARS: usize = 32;
/// Without what is taken for something else when it is read out.
const TAIL: &[u8] = b"abcdefghjkmnpqrstuvwxyz23456789";
const TAIL_CHARS: usize = 6;

fn tail() -> String {
    let one = || TAIL[signet_crypto::random::below(TAIL.len() as u32) as usize] as char;
    (0..TAIL_CHARS).map(|_| one()).collect()
}

/// A user name like `wanted` (what stands before the `@` of an address, say), in ASCII and with a
/// random tail. `is_somebodys`: whether a client or a group of the realm is called so.
pub fn made_username(wanted: &str, is_somebodys: &dyn Fn(&str) -> bool) -> String {
    let letters = DecomposingNormalizerBorrowed::new_nfkd()
        .normalize(wanted)
        .to_ascii_lowercase();
    let fits = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let is_mark = |c: char| !c.is_ascii_alphanumeric();
    let base: String = letters
        .chars()
        .filter(fits)
        .take(MAX_WANTED_CHARS)
        .collect();
    let base = base.trim_matches(is_mark);
    // `admin2` and `a.d.m.i.n` are read as the same.
    let plain: String = base.chars().filter(|c| !is_mark(*c)).collect();
    let plain = plain.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_office = |name: &str| OFFICES.contains(&name) || is_somebodys(name);
    let base = match base.is_empty() || is_office(base) || is_office(plain) {
        true => PERSON,
        false => base,
    };
    loop {
        let name = format!("{base}-{}", tail());
        if !is_somebodys(&name) {
            return name;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_name_is_ascii_has_a_tail_and_is_nobodys_office() {
        let somebodys = |name: &str| ["signet-cli", "finance"].contains(&name);
        for (wanted, base) in [
            ("bob", "bob"),
            ("Zo\u{eb}", "zoe"),
            ("a.b", "a.b"),
            ("admin", PERSON),
            ("Admin2", PERSON),
            ("a.d-min", PERSON),
            ("-root-", PERSON),
            ("signet-cli", PERSON),
            ("Finance", PERSON),
            ("\u{1d41a}\u{1d41d}\u{1d426}\u{1d422}\u{1d427}", PERSON),
            ("\u{438}\u{432}\u{430}\u{43d}", PERSON),
            ("", PERSON),
        ] {
            let (first, second) = (
                made_username(wanted, &somebodys),
                made_username(wanted, &somebodys),
            );
            assert_ne!(first, second, "{wanted}");
            let (before, tail) = first.rsplit_once('-').unwrap();
            assert_eq!((before, tail.len()), (base, TAIL_CHARS), "{wanted}");
            assert!(first.is_ascii());
        }
    }

    #[test]
    fn the_tail_is_drawn_again_where_a_client_has_the_name() {
        let seen = std::cell::Cell::new(0);
        let name = made_username("bob", &|name| {
            let is_whole = name != "bob";
            seen.set(seen.get() + u32::from(is_whole));
            is_whole && seen.get() < 3
        });
        assert!(name.starts_with("bob-"));
        assert_eq!(seen.get(), 3);
    }
}
