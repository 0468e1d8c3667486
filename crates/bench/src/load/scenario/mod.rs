//! The scenarios of the load: what is prepared before the clock runs, what is sent, and which
//! answer is the right one to each request. Everything goes through public endpoints.

mod client_credentials;
mod exchange;
mod introspection;
mod login;
mod oracle;
mod person;
mod refresh;
mod site;

pub use self::{client_credentials::of as client_credentials_of, site::Site};
use crate::client::{Failure, Target};
use crate::load::arrivals::Actor;

/// A scenario that is prepared.
pub trait Scenario: Sync {
    /// The user of a connection; `number` says to which node it goes.
    fn actor(&self, number: usize) -> Box<dyn Actor>;

    /// Checks what is not checked answer by answer: signatures of a sample of the tokens, and that
    /// nothing that is single was given twice.
    ///
    /// # Errors
    /// What was wrong.
    fn settle(&self) -> Result<(), Failure>;

    /// Where the connections go, in turns.
    ///
    /// # Errors
    /// A node without a port.
    fn targets(&self, site: &Site) -> Result<Vec<Target>, Failure> {
        site.targets()
    }

    /// How many operations can be held at most, where the preparation bounds them.
    fn most(&self) -> Option<u64> {
        None
    }
}

impl Actor for Box<dyn Actor> {
    fn begin(&mut self) -> Vec<u8> {
        (**self).begin()
    }

    fn answered(
        &mut self,
        answer: &crate::load::arrivals::Answer<'_>,
    ) -> crate::load::arrivals::Verdict {
        (**self).answered(answer)
    }

    fn waited(&mut self) -> Option<Vec<u8>> {
        (**self).waited()
    }
}

/// Makes a scenario that is to send about so many operations.
pub type Prepare = fn(&Site, operations: u64) -> Result<Box<dyn Scenario>, Failure>;

/// A row of [`TABLE`].
pub struct Kind {
    /// In the report.
    pub name: &'static str,
    /// Of the published table of loads; empty where nobody has published it.
    pub published: &'static str,
    /// Operations a second at which all is to be well.
    pub goal: Option<f64>,
    /// Requests of an operation, one after the other: each may take 10 ms in the 99th percentile.
    pub trips: u32,
    /// Operations a second that a first probe offers.
    pub probe: f64,
    /// Whether a quick run has it.
    pub quick: bool,
    /// Prepares it.
    pub prepare: Prepare,
}

/// In the order of the report.
#[rustfmt::skip]
pub const TABLE: [Kind; 8] = [
    Kind { name: "client_credentials", published: "", goal: None, trips: 1, probe: 4_000.0, quick: true, prepare: client_credentials::tokens },
    Kind { name: "introspection", published: "introspection", goal: Some(59_000.0), trips: 1, probe: 8_000.0, quick: true, prepare: introspection::prepare },
    Kind { name: "refresh_token", published: "refresh_token", goal: None, trips: 1, probe: 2_000.0, quick: true, prepare: refresh::prepare },
    Kind { name: "token_exchange", published: "token_exchange", goal: Some(17_600.0), trips: 1, probe: 3_000.0, quick: true, prepare: exchange::prepare },
    Kind { name: "silent_login", published: "silent_auth", goal: Some(35_000.0), trips: 1, probe: 5_000.0, quick: true, prepare: person::silent_login },
    Kind { name: "userinfo", published: "userinfo", goal: Some(30_000.0), trips: 1, probe: 6_000.0, quick: true, prepare: person::userinfo },
    Kind { name: "email_code_login", published: "full_login_email_otp", goal: Some(1_000.0), trips: 5, probe: 100.0, quick: true, prepare: login::prepare },
    Kind { name: "jwks", published: "", goal: None, trips: 1, probe: 8_000.0, quick: false, prepare: client_credentials::jwks },
];

/// A form to a path of a node.
fn post(host: &str, path: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nhost: {host}\r\n{headers}content-type: application/x-www-form-urlencoded\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

fn get(host: &str, path: &str, headers: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: {host}\r\n{headers}\r\n").into_bytes()
}

/// A header line.
fn authorization(value: &str) -> String {
    format!("authorization: {value}\r\n")
}

/// Chances by a small generator of an actor's own: the same at each run.
struct Chance(u64);

impl Chance {
    fn of(number: usize) -> Chance {
        Chance((number as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 33) as usize) % bound.max(1)
    }
}
