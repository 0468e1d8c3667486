//! A code app, and what a test reads of a page.
use super::Server;
use signet_login::journey::totp;

/// The app: the secret as bytes.
pub struct App(pub Vec<u8>);

impl App {
    pub fn of(base32: &str) -> App {
        const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
        let (mut bytes, mut held, mut bits) = (Vec::new(), 0u32, 0u32);
        for letter in base32.bytes() {
            let five = ALPHABET.iter().position(|known| *known == letter).unwrap();
            bits = (bits << 5) | five as u32;
            held += 5;
            if held >= 8 {
                held -= 8;
                bytes.push((bits >> held) as u8);
            }
        }
        App(bytes)
    }

    /// What it shows now, or `steps` later.
    pub fn code(&self, server: &Server, steps: i64) -> String {
        let step = (server.realm.now() / totp::PERIOD).saturating_add_signed(steps);
        totp::TotpSecret::from_bytes(&self.0).code(step)
    }
}

#[track_caller]
pub fn between(text: &str, start: &str, end: &str) -> String {
    let from = text
        .find(start)
        .unwrap_or_else(|| panic!("no {start} in {text}"))
        + start.len();
    text[from..].split(end).next().unwrap().to_owned()
}
