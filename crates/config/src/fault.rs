//! What is wrong with a configuration, and where.
use signet_crypto::Algorithm;
use signet_oauth::scope::ScopeSet;

/// A fault and its place: `clients[1].redirect_uris[0]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The member.
    pub path: String,
    /// What is wrong with it.
    pub message: String,
}

/// What can be named where an algorithm is asked for.
const ALGORITHMS: [&str; 9] = [
    "ES256",
    "ES384",
    "ES512",
    "EdDSA",
    "RS256",
    "PS256",
    "ML-DSA-44",
    "ML-DSA-65",
    "ML-DSA-87",
];

/// Collects faults; a value that could not be made is `None`, and the caller goes on to find the
/// next fault.
#[derive(Default)]
pub struct Faults(pub Vec<Fault>);

impl Faults {
    /// One at a place.
    pub fn add(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.0.push(Fault {
            path: path.into(),
            message: message.into(),
        });
    }
    /// The algorithm of this name, unless it is unknown or symmetric: that is a fault.
    pub fn algorithm(&mut self, path: &str, name: &str) -> Option<Algorithm> {
        let found = Algorithm::from_name(name).filter(|a| !a.is_symmetric());
        if found.is_none() {
            self.add(
                path,
                format!(
                    "\"{name}\" is not a signature algorithm that the server has: {}",
                    ALGORITHMS.join(", ")
                ),
            );
        }
        found
    }
    /// The algorithm of this name, if one is named.
    pub fn algorithm_of(&mut self, path: String, name: Option<&String>) -> Option<Algorithm> {
        self.algorithm(&path, name?)
    }
    /// These names as a set.
    pub fn scopes(&mut self, path: &str, names: &[String]) -> ScopeSet {
        match ScopeSet::parse(&names.join(" ")) {
            Ok(set) if names.iter().all(|n| !n.contains(' ')) => set,
            _ => {
                self.add(path, "a scope is 1 to 128 visible ASCII characters without quote, space and backslash");
                ScopeSet::default()
            }
        }
    }
}

/// How a secret that must stay readable is sealed: (client_id, secret).
pub type Seal<'a> = &'a dyn Fn(&str, &[u8]) -> Option<Vec<u8>>;

/// The known name that a misspelt one is probably meant to be.
pub fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<String> {
    known
        .map(|k| (strsim::damerau_levenshtein(name, k), k))
        .filter(|(distance, k)| *distance <= 1 + k.len().max(name.len()) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, k)| k.to_owned())
}
