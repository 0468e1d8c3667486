//! A server with people in it, and their mail.
use super::{Server, Setup, block_on, browser::with};
use signet_crypto::password::{Cost, hash};
use signet_directory::passwords::PasswordOptions;
use signet_directory::{NewUser, User};
use signet_mail::Mailer;
use signet_realm::user_services::UserServiceOptions;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Enough to be Argon2id, and no more: tests are not attackers.
pub const CHEAP: Cost = Cost {
    memory_kib: 64,
    passes: 1,
    lanes: 1,
};
pub const PASSWORD: &str = "correct horse battery staple";
pub const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
/// The verifier of `CHALLENGE` (RFC 7636 appendix B).
pub const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

/// The folder that mail goes to; removed with the value.
pub struct Mail {
    folder: tempfile::TempDir,
    read: BTreeSet<PathBuf>,
}

impl Default for Mail {
    fn default() -> Mail {
        Mail::new()
    }
}

impl Mail {
    pub fn new() -> Mail {
        Mail {
            folder: tempfile::tempdir().unwrap(),
            read: BTreeSet::new(),
        }
    }

    /// The text of the messages that came since the last call, but for those about a new browser:
    /// they come beside everything, and have a test of their own
    /// (`account_states::a_login_from_a_new_browser_is_told_once_while_the_person_is_logged_in_elsewhere`).
    pub fn fresh(&mut self) -> Vec<String> {
        let mut mails = self.unread();
        mails.retain(|text| !text.contains("Subject: New login"));
        mails
    }

    /// The text of all messages that came since the last call.
    pub fn unread(&mut self) -> Vec<String> {
        let mut files: Vec<PathBuf> = std::fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|e| e == "eml"))
            .filter(|path| !self.read.contains(path))
            .collect();
        files.sort();
        self.read.extend(files.iter().cloned());
        files
            .iter()
            .map(|path| std::fs::read_to_string(path).unwrap())
            .collect()
    }

    /// Runs something while no mail can be handed over.
    pub fn broken<T>(&self, act: impl FnOnce() -> T) -> T {
        let (here, away) = (
            self.folder.path(),
            self.folder.path().with_extension("away"),
        );
        std::fs::rename(here, &away).unwrap();
        let done = act();
        std::fs::rename(&away, here).unwrap();
        done
    }

    /// The six digits of the one message that came.
    #[track_caller]
    pub fn code(&mut self) -> String {
        let mails = self.fresh();
        assert_eq!(mails.len(), 1, "{mails:?}");
        let is_code = |line: &&str| line.len() == 6 && line.bytes().all(|b| b.is_ascii_digit());
        let code = mails[0].lines().find(is_code);
        code.unwrap_or_else(|| panic!("no code in {}", mails[0]))
            .to_owned()
    }
}

/// What `Setup` needs for people.
pub fn people(mail: &Mail) -> UserServiceOptions {
    UserServiceOptions {
        mailer: Some(
            Mailer::directory("Signet <no-reply@example.test>", mail.folder.path()).unwrap(),
        ),
        ..UserServiceOptions::default()
    }
}

/// A server with one client `web`, the user `alice`, and mail.
pub fn start(mail: &Mail, change: impl FnOnce(&mut Setup)) -> Server {
    let mut setup = Setup {
        clients: vec![super::client("web")],
        people: people(mail),
        passwords: PasswordOptions {
            cost: CHEAP,
            ..PasswordOptions::default()
        },
        ..Setup::default()
    };
    change(&mut setup);
    let server = Server::start(setup);
    add_user(&server, "alice");
    server
}

/// A user with `PASSWORD` and the address `NAME@example.test`.
pub fn add_user(server: &Server, name: &str) -> User {
    let user = NewUser {
        username: name.to_owned(),
        email: Some(format!("{name}@example.test")),
        password: Some(hash(PASSWORD.as_bytes(), CHEAP).unwrap()),
        ..NewUser::default()
    };
    let users = &server.realm.people.users;
    block_on(users.create(user, server.realm.now())).unwrap()
}

/// An authorization request of `web`.
pub fn request(more: &[(&str, &str)]) -> String {
    with("/authorize", &parameters(more))
}

/// Its parameters; `more` replaces or adds, an empty value removes.
pub fn parameters<'a>(more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let mut params = vec![
        ("response_type", "code"),
        ("client_id", "web"),
        ("redirect_uri", "https://client.example/cb"),
        ("scope", "openid email"),
        ("state", "st&te"),
        ("nonce", "n-1"),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
    ];
    for (name, value) in more {
        params.retain(|(known, _)| known != name);
        if !value.is_empty() {
            params.push((name, value));
        }
    }
    params
}
