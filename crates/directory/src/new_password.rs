//! What a new password must be: long enough, and none of those that are tried first.
//!
//! NIST SP 800-63B section 3.1.1.2 wants a list of expected passwords and no rules of composition.
//! A list of a few thousand catches `password1` and lets `Passw0rd!7` pass; so what is listed here
//! are the words that such passwords are made of (`common.txt`), and a password is common if it is
//! one of them, or a name of the account's own, with a little before and behind it: a walk over the
//! keyboard, a year, digits, an exclamation mark, `0` for `o`. Passwords of several words are never
//! common by this.

use std::sync::LazyLock;

use signet_crypto::password::MAX_PASSWORD_BYTES;

use crate::record::User;

/// Shortest new password in characters (NIST SP 800-63B section 3.1.1.2 asks for eight at least).
pub const MIN_PASSWORD_CHARS: usize = 8;
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

/// The names of an account that its password must not be made of.
pub fn names_of(user: &User) -> Vec<&str> {
    let profile = &user.profile;
    [
        Some(&user.username),
        user.email.as_ref(),
        profile.name.as_ref(),
        profile.given_name.as_ref(),
        profile.family_name.as_ref(),
        profile.nickname.as_ref(),
    ]
    .into_iter()
    .flatten()
    .map(String::as_str)
    .collect()
}

/// Whether somebody may have this as their new password. `names`: what the account is called, as
/// [`names_of`] has it.
///
/// # Errors
/// What is wrong with it, for the person.
pub fn check_new(password: &str, names: &[&str]) -> Result<(), &'static str> {
    if password.chars().count() < MIN_PASSWORD_CHARS {
        return Err("The new password needs at least 8 characters.");
    }
    if password.len() > MAX_PASSWORD_BYTES {
        return Err("The new password is too long.");
    }
    let first = password.chars().next();
    if password.chars().all(|c| Some(c) == first) {
        return Err("The new password is one character repeated. Choose another.");
    }
    if names.iter().any(|name| name.eq_ignore_ascii_case(password)) {
        return Err("The new password must not be your name or address.");
    }
    let typed: Vec<char> = password.to_lowercase().chars().collect();
    if typed.len() > MAX_COMMON_CHARS {
        return Ok(());
    }
    if is_made_of(&typed, &WORDS) || is_made_of(unit(&typed), &WORDS) || is_number(&typed) {
        return Err(
            "The new password is one that many people choose, and is guessed first. Choose another.",
        );
    }
    // After what is common: walks and digits alone are made of nobody's name.
    let names: Vec<Vec<char>> = names.iter().flat_map(|name| words_of(name)).collect();
    if is_made_of(&typed, &names) {
        return Err("The new password is made of your name. Choose another.");
    }
    Ok(())
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
