//! What a new password must be: long enough, and none of those that are tried first.
//!
//! NIST SP 800-63B section 3.1.1.2 wants a list of expected passwords and no rules of composition.
//! A list of a few thousand catches `password1` and lets `Passw0rd!7` pass; so what is listed here
//! are the words that such passwords are made of (`common.txt`), and a password is common if it is
//! one of them, or a name of the account's own, with a little before and behind it: a walk over the
//! keyboard, a year, digits, an exclamation mark, `0` for `o`. Passwords of several words are never
//! common by this. Beside the words stand the passwords that were found most often in what others
//! lost (`breached.txt.zst`: the lists that come with Django and with zxcvbn-ts, as far as they are
//! long enough to be passwords here; THIRD-PARTY-NOTICES.md).

use std::sync::LazyLock;

use signet_crypto::password::MAX_PASSWORD_BYTES;

use crate::record::{Profile, User};

/// Shortest new password in characters (NIST SP 800-63B section 3.1.1.2 asks for eight at least).
pub const MIN_PASSWORD_CHARS: usize = 8;
/// Shortest new password of an administrator, in characters.
pub const MIN_ADMINISTRATOR_PASSWORD_CHARS: usize = 12;
/// Longest that a realm may ask for, in characters: a person can type no more.
pub const LONGEST_MINIMUM: usize = 64;
/// Shortest of a person's own names that a password must not have in it.
const SHORTEST_OF_A_NAME: usize = 4;
/// Longest password that is compared with what is common, in characters: longer ones are nobody's
/// first guess.
const MAX_COMMON_CHARS: usize = 40;
/// Shortest word and shortest walk that count as one piece.
const SHORTEST: usize = 3;
/// Most pieces that a common password is made of.
const PIECES: usize = 3;
/// Most digits or marks in one piece: a year, a day and month, `!!!`.
const TRIMMINGS: usize = 4;

static WORDS: LazyLock<Vec<Vec<char>>> = LazyLock::new(|| {
    let lines = include_str!("common.txt").lines();
    lines
        .filter(|line| !line.starts_with('#'))
        .flat_map(str::split_whitespace)
        .map(|word| word.chars().collect::<Vec<char>>())
        .filter(|word| word.len() >= SHORTEST)
        .collect()
});

/// Along the keyboard, along the alphabet, along the numbers; each is also walked backwards.
const WALKS: [&str; 12] = [
    "abcdefghijklmnopqrstuvwxyz",
    "01234567890",
    "qwertyuiop",
    "qwertzuiop",
    "azertyuiop",
    "asdfghjkl",
    "qsdfghjklm",
    "zxcvbnm",
    "yxcvbnm",
    "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik",
    "147258369",
    "!@#$%^&*()",
];

/// Found in breaches: sorted, in small letters, one a line.
static BREACHED: LazyLock<String> = LazyLock::new(|| {
    let packed = include_bytes!("breached.txt.zst");
    let unpacked = zstd::bulk::decompress(packed, MAX_LIST_BYTES);
    // Invariant: the file is part of the program, and a test reads it.
    String::from_utf8(unpacked.unwrap_or_default()).unwrap_or_default()
});
/// Bound of the list of breached passwords, unpacked, in bytes.
const MAX_LIST_BYTES: usize = 1024 * 1024;

/// What a realm asks of new passwords.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PasswordPolicy {
    /// Shortest, in characters; at least [`MIN_PASSWORD_CHARS`].
    pub min_chars: usize,
    /// Shortest of a person who may administer.
    pub min_chars_of_administrators: usize,
}

impl Default for PasswordPolicy {
    fn default() -> Self {
        PasswordPolicy {
            min_chars: MIN_PASSWORD_CHARS,
            min_chars_of_administrators: MIN_ADMINISTRATOR_PASSWORD_CHARS,
        }
    }
}

/// Why somebody may not have a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PasswordRefused {
    /// Shorter than so many characters.
    #[error("The new password needs at least {0} characters.")]
    TooShort(usize),
    /// Longer than what is hashed.
    #[error("The new password is too long.")]
    TooLong,
    /// One character again and again.
    #[error("The new password is one character repeated. Choose another.")]
    Repeated,
    /// Of the words that people choose, or found in a breach.
    #[error(
        "The new password is one that many people choose, and is guessed first. Choose another."
    )]
    Common,
    /// Made of the person's own names, or with one in it.
    #[error("The new password has your name or address in it. Choose another.")]
    Name,
    /// With the name of this server in it.
    #[error("The new password has the name of this server in it. Choose another.")]
    Server,
}

impl PasswordRefused {
    /// Names the text that a person reads.
    pub const fn text_id(self) -> &'static str {
        match self {
            PasswordRefused::TooShort(MIN_PASSWORD_CHARS) => "password-too-short",
            PasswordRefused::TooShort(_) => "password-too-short-longer",
            PasswordRefused::TooLong => "password-too-long",
            PasswordRefused::Repeated => "password-repeated",
            PasswordRefused::Common => "password-common",
            PasswordRefused::Name => "password-name",
            PasswordRefused::Server => "password-server",
        }
    }
}

/// Whose password it is to be.
#[derive(Clone, Debug, Default)]
pub struct PasswordOf<'a> {
    /// The user name and the address.
    pub login: Vec<&'a str>,
    /// What else the person is called.
    pub names: Vec<&'a str>,
    /// The issuer's host and the realm's name.
    pub server: Vec<&'a str>,
    /// May administer.
    pub admin: bool,
}

impl<'a> PasswordOf<'a> {
    /// An account's; without the server's names.
    pub fn new(
        username: &'a str,
        email: Option<&'a str>,
        profile: &'a Profile,
        admin: bool,
    ) -> PasswordOf<'a> {
        let names = [
            &profile.name,
            &profile.given_name,
            &profile.family_name,
            &profile.nickname,
        ];
        PasswordOf {
            login: std::iter::once(username).chain(email).collect(),
            names: names.into_iter().flatten().map(String::as_str).collect(),
            server: Vec::new(),
            admin,
        }
    }

    /// This account's; without the server's names.
    pub fn user(user: &'a User) -> PasswordOf<'a> {
        PasswordOf::new(
            &user.username,
            user.email.as_deref(),
            &user.profile,
            user.admin,
        )
    }

    /// With what the server is called.
    #[must_use]
    pub fn at(mut self, server: impl IntoIterator<Item = &'a str>) -> PasswordOf<'a> {
        self.server.extend(server);
        self
    }
}

impl PasswordPolicy {
    /// The shortest password of somebody, in characters.
    pub fn shortest(&self, admin: bool) -> usize {
        match admin {
            true => self.min_chars_of_administrators.max(self.min_chars),
            false => self.min_chars,
        }
        .max(MIN_PASSWORD_CHARS)
    }

    /// Whether somebody may have this as their new password.
    ///
    /// # Errors
    /// [`PasswordRefused`], the person's to correct.
    pub fn check(&self, password: &str, of: &PasswordOf<'_>) -> Result<(), PasswordRefused> {
        let shortest = self.shortest(of.admin);
        if password.chars().count() < shortest {
            return Err(PasswordRefused::TooShort(shortest));
        }
        if password.len() > MAX_PASSWORD_BYTES {
            return Err(PasswordRefused::TooLong);
        }
        let first = password.chars().next();
        if password.chars().all(|c| Some(c) == first) {
            return Err(PasswordRefused::Repeated);
        }
        let lower = password.to_lowercase();
        let has = |name: &str, least: usize| {
            name.chars().count() >= least && lower.contains(&name.to_lowercase())
        };
        // A name of one or two letters is part of too much.
        let local = |name: &'_ str| name.split('@').next().unwrap_or("").trim().to_owned();
        if of.login.iter().any(|name| has(&local(name), SHORTEST)) {
            return Err(PasswordRefused::Name);
        }
        if of.server.iter().any(|name| has(name, SHORTEST)) {
            return Err(PasswordRefused::Server);
        }
        let typed: Vec<char> = lower.chars().collect();
        if typed.len() <= MAX_COMMON_CHARS
            && (BREACHED.lines().any(|line| line == lower)
                || is_made_of(&typed, &WORDS)
                || is_made_of(unit(&typed), &WORDS)
                || is_number(&typed))
        {
            return Err(PasswordRefused::Common);
        }
        let mut words = of.names.iter().flat_map(|name| name.split_whitespace());
        if words.any(|word| has(word, SHORTEST_OF_A_NAME)) {
            return Err(PasswordRefused::Name);
        }
        // After what is common: walks and digits alone are made of nobody's name.
        let names = of.login.iter().chain(&of.names);
        let names: Vec<Vec<char>> = names.flat_map(|name| words_of(name)).collect();
        if typed.len() <= MAX_COMMON_CHARS && is_made_of(&typed, &names) {
            return Err(PasswordRefused::Name);
        }
        Ok(())
    }
}

/// The words of a name or an address, and the name itself without what is between them.
fn words_of(name: &str) -> Vec<Vec<char>> {
    let name = name.to_lowercase();
    let local = name.split('@').next().unwrap_or("");
    let words = name.split(|c: char| !c.is_alphanumeric());
    let joined: String = local.chars().filter(|c| c.is_alphanumeric()).collect();
    words
        .map(str::to_owned)
        .chain([joined])
        .map(|word| word.chars().collect::<Vec<char>>())
        .filter(|word| word.len() >= SHORTEST)
        .collect()
}

/// The part that the whole is a repetition of; the whole where it is none.
fn unit(typed: &[char]) -> &[char] {
    let repeats = |len: &usize| {
        typed.len().is_multiple_of(*len) && typed.chunks(*len).all(|chunk| chunk == &typed[..*len])
    };
    let len = (1..typed.len()).find(repeats).unwrap_or(typed.len());
    &typed[..len]
}

/// Digits alone are tried to the end in moments.
fn is_number(typed: &[char]) -> bool {
    typed.len() < 12 && typed.iter().all(|c| !c.is_alphabetic())
}

/// Whether it is at most [`PIECES`] pieces, of which one at the most is a word of `words`, and one
/// at the least is a word or a walk.
fn is_made_of(typed: &[char], words: &[Vec<char>]) -> bool {
    // For each place: the fewest pieces that lead to it, without and with a word.
    const FAR: usize = PIECES + 1;
    let mut fewest = vec![[FAR; 2]; typed.len() + 1];
    fewest[0][0] = 0;
    for at in 0..typed.len() {
        let [without, with] = fewest[at];
        if without.min(with) >= FAR {
            continue;
        }
        let rest = &typed[at..];
        let mut reach = |len: usize, with_word: usize, pieces: usize| {
            let there = &mut fewest[at + len][with_word];
            *there = (*there).min(pieces);
        };
        for len in 1..=walk(rest).max(trimmings(rest)).max(run(rest)) {
            let is_piece = len <= trimmings(rest)
                || (len >= SHORTEST && (len <= walk(rest) || len <= run(rest)));
            if is_piece {
                reach(len, 0, without + 1);
                reach(len, 1, with + 1);
            }
        }
        for word in words.iter().filter(|word| begins(rest, word)) {
            reach(word.len(), 1, without + 1);
        }
    }
    // Without any word it is walks and trimmings: as common, if something of it is a walk.
    let [without, with] = fewest[typed.len()];
    with <= PIECES || (without <= PIECES && has_walk(typed))
}

fn has_walk(typed: &[char]) -> bool {
    (0..typed.len()).any(|at| walk(&typed[at..]).max(run(&typed[at..])) >= SHORTEST)
}

/// Whether the text begins with the word, in letters or in the figures that stand for them.
fn begins(rest: &[char], word: &[char]) -> bool {
    let stands_for = |typed: char, letter: char| {
        typed == letter
            || matches!(
                (typed, letter),
                ('0', 'o')
                    | ('1' | '!' | '|', 'i' | 'l')
                    | ('3', 'e')
                    | ('4' | '@', 'a')
                    | ('5' | '$', 's')
                    | ('7' | '+', 't')
                    | ('8', 'b')
                    | ('9', 'g')
            )
    };
    rest.len() >= word.len() && rest.iter().zip(word).all(|(&t, &l)| stands_for(t, l))
}

/// How much of the beginning is one walk.
fn walk(rest: &[char]) -> usize {
    let along = |walk: Vec<char>| {
        let starts = 0..walk.len();
        let len = |start: usize| {
            rest.iter()
                .zip(&walk[start..])
                .take_while(|(a, b)| a == b)
                .count()
        };
        starts.map(len).max().unwrap_or(0)
    };
    WALKS
        .iter()
        .flat_map(|walk| [walk.chars().collect(), walk.chars().rev().collect()])
        .map(along)
        .max()
        .unwrap_or(0)
}

/// How often the first character is repeated.
fn run(rest: &[char]) -> usize {
    rest.iter().take_while(|&&c| c == rest[0]).count()
}

/// How many digits or marks it begins with, up to [`TRIMMINGS`].
fn trimmings(rest: &[char]) -> usize {
    rest.iter()
        .take(TRIMMINGS)
        .take_while(|c| !c.is_alphabetic())
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_new(password: &str, names: &[&str]) -> Result<(), PasswordRefused> {
        let (login, names) = names.split_at(names.len().min(2));
        let of = PasswordOf {
            login: login.to_vec(),
            names: names.to_vec(),
            ..PasswordOf::default()
        };
        PasswordPolicy::default().check(password, &of)
    }

    #[test]
    fn an_administrators_password_is_longer_and_a_realm_may_ask_for_more() {
        let policy = PasswordPolicy::default();
        let of = |admin| PasswordOf {
            admin,
            ..PasswordOf::default()
        };
        assert_eq!(policy.check("vX9$kQ2m", &of(false)), Ok(()));
        let short = Err(PasswordRefused::TooShort(12));
        assert_eq!(policy.check("vX9$kQ2mLpz", &of(true)), short);
        assert_eq!(policy.check("vX9$kQ2mLpzq", &of(true)), Ok(()));
        let long = PasswordPolicy {
            min_chars: 15,
            ..policy
        };
        let short = Err(PasswordRefused::TooShort(15));
        assert_eq!(long.check("vX9$kQ2mLpzq", &of(true)), short);
        // Nobody is asked for less than eight.
        let none = PasswordPolicy {
            min_chars: 0,
            min_chars_of_administrators: 0,
        };
        let short = Err(PasswordRefused::TooShort(8));
        assert_eq!(none.check("vX9$kQ2", &of(true)), short);
    }

    #[test]
    fn a_password_with_a_name_of_its_person_or_of_the_server_in_it_is_refused() {
        let of = PasswordOf {
            login: vec!["bq7", "maria.quist@example.test"],
            names: vec!["Berta Quistorp"],
            server: vec!["id.example.com", "tenants"],
            admin: false,
        };
        let check = |password| PasswordPolicy::default().check(password, &of);
        for (password, why) in [
            ("some BQ7 or other words", PasswordRefused::Name),
            ("old Maria.Quist walks home", PasswordRefused::Name),
            ("the quistorp house at night", PasswordRefused::Name),
            ("secret of ID.example.com now", PasswordRefused::Server),
            ("all my tenants are calm", PasswordRefused::Server),
        ] {
            assert_eq!(check(password), Err(why), "{password}");
        }
        assert_eq!(check("my example of a test"), Ok(()));
        // Two letters are part of too much.
        let al = PasswordOf {
            login: vec!["al"],
            ..PasswordOf::default()
        };
        assert_eq!(
            PasswordPolicy::default().check("a tall walnut tree", &al),
            Ok(())
        );
    }

    #[test]
    fn what_was_found_in_breaches_is_refused_in_any_case() {
        assert!(BREACHED.lines().count() > 20_000);
        assert!(BREACHED.lines().is_sorted());
        for line in BREACHED.lines().step_by(997) {
            assert_eq!(check_new(line, &[]), Err(PasswordRefused::Common), "{line}");
            let upper = line.to_uppercase();
            assert_eq!(
                check_new(&upper, &[]),
                Err(PasswordRefused::Common),
                "{line}"
            );
        }
    }

    #[test]
    fn new_passwords_are_checked() {
        assert!(check_new("short", &[]).is_err());
        assert!(check_new("aaaaaaaaaa", &[]).is_err());
        assert!(check_new("Alice@Example.Test", &["alice@example.test"]).is_err());
        assert!(check_new("four calm words here", &["alice"]).is_ok());
    }

    #[test]
    fn what_is_guessed_first_is_refused() {
        for common in [
            "password",
            "12345678",
            "qwertyuiop",
            "iloveyou1",
            "signet123",
            "Password1!",
            "P@ssw0rd2024",
            "Passw0rd!7",
            "letmein!!",
            "Summer2024!",
            "Admin@123",
            "qwerty123456",
            "1q2w3e4r",
            "1qaz2wsx",
            "trustno1!",
            "abcdefgh",
            "87654321",
            "11112222",
            "abcabcabc",
            "testtest",
            "monkey1990",
            "1990monkey",
            "football#1",
            "!@#$%^&*",
            "asdfghjkl;",
            "19870523",
            "dragon12345",
            "zaq12wsx",
            "Michael85",
            "aaaabbbb",
            "00000001",
            "qazwsxedc",
        ] {
            assert!(check_new(common, &[]).is_err(), "{common}");
        }
    }

    #[test]
    fn the_accounts_own_names_are_refused_with_what_people_add_to_them() {
        let names = ["berta", "Berta.Quist@example.test", "Berta Maria Quist"];
        for own in [
            "Berta2024!",
            "b3rta1234",
            "quist!!!!",
            "123bertaquist",
            "quist1999",
        ] {
            assert!(check_new(own, &names).is_err(), "{own}");
            assert!(check_new(own, &[]).is_ok(), "{own}");
        }
    }

    #[test]
    fn what_nobody_guesses_first_is_taken() {
        for fine in [
            "correct horse battery staple",
            "another calm set of words",
            "tr0ub4dor&3",
            "vX9$kQ2mLp",
            "monkeydragonfootball",
            "gelber Zaun im Juni",
            "8f14e45fceea167a",
            "\u{43f}\u{430}\u{440}\u{43e}\u{43b}\u{44c} \u{434}\u{43b}\u{44f}",
            "my dog eats 7 lemons",
            "483920175648",
        ] {
            assert_eq!(
                check_new(fine, &["alice", "alice@example.test"]),
                Ok(()),
                "{fine}"
            );
        }
    }

    #[test]
    fn the_words_are_a_list() {
        assert!(WORDS.len() > 900, "{}", WORDS.len());
        assert!(WORDS.iter().all(|word| {
            word.iter()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        }));
    }
}
