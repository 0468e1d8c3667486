//! What is demanded by path: groups, scopes, or no login at all.
//!
//! The gate and the application may read one path in two ways: `/admin`, `//admin`, `/%61dmin` and
//! `/x/../admin` are one place for some servers. So a path that can be read in more ways than one
//! is held to the demands of each reading, and is never exempt from the login.

use signet_verify::{Claims, Refusal};

/// A rule for everything under a path.
#[derive(Clone, Debug, Default)]
pub struct PathRule {
    /// Where it begins: `/admin` is `/admin` itself and everything under `/admin/`.
    pub path: String,
    /// Whether no login is needed.
    pub open: bool,
    /// One of these must be among the person's groups, where any is named.
    pub groups: Vec<String>,
    /// The session must have all of these.
    pub scopes: Vec<String>,
}

/// All rules.
#[derive(Clone, Debug, Default)]
pub struct Paths(Vec<PathRule>);

/// The claim that has a person's groups.
pub(crate) const GROUPS: &str = "groups";

impl Paths {
    /// Checked rules.
    ///
    /// # Errors
    /// A sentence for each mistake.
    pub fn new(rules: Vec<PathRule>) -> Result<Paths, Vec<String>> {
        let mut mistakes = Vec::new();
        for (at, rule) in rules.iter().enumerate() {
            let path = &rule.path;
            if !path.starts_with('/') || !is_plain(path) {
                mistakes.push(format!(
                    "paths: {path:?} is no plain path: it begins with / and has no %, //, dot segments, ; or \\"
                ));
            }
            if rule.open && !(rule.groups.is_empty() && rule.scopes.is_empty()) {
                mistakes.push(format!(
                    "paths: {path:?} is open and demands groups or scopes: one of the two"
                ));
            }
            if !rule.open && rule.groups.is_empty() && rule.scopes.is_empty() {
                mistakes.push(format!("paths: {path:?} demands nothing and is not open"));
            }
            if rules[..at]
                .iter()
                .any(|other| trimmed(&other.path) == trimmed(path))
            {
                mistakes.push(format!("paths: {path:?} is there twice"));
            }
        }
        match mistakes.is_empty() {
            true => Ok(Paths(rules)),
            false => Err(mistakes),
        }
    }

    /// Whether any rule reads groups.
    pub(crate) fn reads_groups(&self) -> bool {
        self.0.iter().any(|rule| !rule.groups.is_empty())
    }

    /// Whether this path needs no login. `path`: as the client sent it, without its query.
    pub(crate) fn is_open(&self, path: &str) -> bool {
        // The longest rule counts: a closed place within an open one is closed.
        let rules = self.0.iter().filter(|rule| covers(&rule.path, path));
        let longest = rules.max_by_key(|rule| trimmed(&rule.path).len());
        let is_so_spelt = |rule: &PathRule| path.starts_with(trimmed(&rule.path));
        is_plain(path) && longest.is_some_and(|rule| rule.open && is_so_spelt(rule))
    }

    /// Holds a session to the rules of every reading of a path.
    ///
    /// # Errors
    /// [`Refusal::Scope`] for a missing scope, [`Refusal::Rule`] for a missing group.
    pub(crate) fn hold(&self, path: &str, claims: &Claims) -> Result<(), Refusal> {
        if self.0.iter().all(|rule| rule.open) {
            return Ok(());
        }
        let read = (!is_plain(path)).then(|| normalized(path));
        for rule in self.0.iter().filter(|rule| !rule.open) {
            let concerns = match &read {
                None => covers(&rule.path, path),
                // A path that nothing can be made of may be anything.
                Some(None) => true,
                Some(Some(normal)) => covers(&rule.path, path) || covers(&rule.path, normal),
            };
            if !concerns {
                continue;
            }
            if !rule.scopes.iter().all(|scope| claims.has_scope(scope)) {
                return Err(Refusal::Scope);
            }
            if !rule.groups.is_empty() && !is_member(claims, &rule.groups) {
                return Err(Refusal::Rule);
            }
        }
        Ok(())
    }
}

fn is_member(claims: &Claims, groups: &[String]) -> bool {
    let Some(of_person) = claims.get(GROUPS) else {
        return false;
    };
    let names = of_person.as_array().unwrap_or_default().iter();
    names
        .filter_map(|name| name.as_str())
        .any(|name| groups.iter().any(|group| group == name))
}

fn trimmed(path: &str) -> &str {
    path.trim_end_matches('/')
}

/// Whether a rule's path is this path, or above it. Letters count in either case: some servers
/// think so.
fn covers(rule: &str, path: &str) -> bool {
    let rule = trimmed(rule);
    let Some(start) = path.as_bytes().get(..rule.len()) else {
        return false;
    };
    start.eq_ignore_ascii_case(rule.as_bytes())
        && matches!(path.as_bytes().get(rule.len()), None | Some(b'/'))
}

/// Whether there is one way to read a path.
fn is_plain(path: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~!$&'()*+,=:@".contains(&byte);
    path.bytes().all(known)
        && !path.contains("//")
        && !path
            .split('/')
            .any(|segment| segment == "." || segment == "..")
}

/// Most rounds of percent-decoding: a text that was encoded more often is not one that a browser
/// made.
const ROUNDS: usize = 4;

/// The path as the most lenient server would read it; none where nothing can be made of it.
fn normalized(path: &str) -> Option<String> {
    let mut text = path.to_owned();
    for _ in 0..ROUNDS {
        let decoded = signet_http::percent::percent_decode(&text)?;
        if decoded.chars().any(char::is_control) {
            return None;
        }
        if decoded == text {
            return Some(resolved(&text));
        }
        text = decoded;
    }
    None
}

fn resolved(path: &str) -> String {
    let path = path.replace('\\', "/");
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        // Parameters of a segment (RFC 3986 section 3.3), which servlets take off.
        let segment = segment.split(';').next().unwrap_or("");
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            other => segments.push(other),
        }
    }
    let mut out = String::with_capacity(path.len());
    for segment in segments {
        out.push('/');
        out.push_str(segment);
    }
    if out.is_empty() {
        out.push('/');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(path: &str, open: bool, groups: &[&str], scopes: &[&str]) -> PathRule {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        PathRule {
            path: path.to_owned(),
            open,
            groups: owned(groups),
            scopes: owned(scopes),
        }
    }

    fn paths() -> Paths {
        Paths::new(vec![
            rule("/public/", true, &[], &[]),
            rule("/public/private", false, &["staff"], &[]),
            rule("/admin", false, &["admins", "root"], &[]),
            rule("/write", false, &[], &["orders:write"]),
        ])
        .unwrap()
    }

    fn person(groups: &str, scope: &str) -> Claims {
        let json = format!(r#"{{"sub":"a","scope":"{scope}","groups":{groups}}}"#);
        Claims::vouched(json.into_bytes()).unwrap()
    }

    #[test]
    fn a_path_is_open_where_its_longest_rule_says_so() {
        let paths = paths();
        for open in ["/public", "/public/", "/public/logo.png"] {
            assert!(paths.is_open(open), "{open}");
        }
        for closed in [
            "/",
            "/publicity",
            "/PUBLIC/logo.png",
            "/public/PRIVATE",
            "/public/private",
            "/public/private/x",
            "/public//private",
            "/public/../admin",
            "/public/%2e%2e/admin",
            "/public/..%2fadmin",
            "/public/a;b",
            "/public\\..\\admin",
            "",
        ] {
            assert!(!paths.is_open(closed), "{closed}");
        }
    }

    #[test]
    fn every_spelling_of_a_path_is_held_to_its_demands() {
        let paths = paths();
        let nobody = person("[\"users\"]", "openid");
        let admin = person("[\"users\",\"root\"]", "openid");
        for path in [
            "/admin",
            "/admin/",
            "/admin/x",
            "/ADMIN/x",
            "//admin",
            "/x/../admin",
            "/./admin",
            "/%61dmin",
            "/%2561dmin/x",
            "/x%2f..%2fadmin",
            "/x\\..\\admin",
            "/admin;x=1/y",
            "/admin%00",
            "/%252525252561dmin",
            "/%zz",
        ] {
            let refused = paths.hold(path, &nobody);
            assert!(refused.is_err(), "{path}");
        }
        for path in ["/admin", "//admin/x", "/%61dmin"] {
            assert_eq!(paths.hold(path, &admin), Ok(()), "{path}");
        }
        for path in ["/", "/administration", "/x/admin", "/caf%C3%A9", "/a%20b"] {
            assert_eq!(paths.hold(path, &nobody), Ok(()), "{path}");
        }
    }

    #[test]
    fn scopes_and_groups_are_demanded() {
        let paths = paths();
        let writer = person("[]", "openid orders:write");
        assert_eq!(paths.hold("/write/1", &writer), Ok(()));
        assert_eq!(
            paths.hold("/write", &person("[]", "openid")),
            Err(Refusal::Scope)
        );
        assert_eq!(paths.hold("/admin", &writer), Err(Refusal::Rule));
        assert_eq!(
            paths.hold("/admin", &person("\"admins\"", "")),
            Err(Refusal::Rule)
        );
        let without = Claims::vouched(br#"{"sub":"a"}"#.to_vec()).unwrap();
        assert_eq!(paths.hold("/admin", &without), Err(Refusal::Rule));
    }

    #[test]
    fn every_mistake_is_named() {
        let mistakes = Paths::new(vec![
            rule("admin", false, &["a"], &[]),
            rule("/a%20b", false, &["a"], &[]),
            rule("/b", true, &["a"], &[]),
            rule("/c", false, &[], &[]),
            rule("/d", true, &[], &[]),
            rule("/d/", true, &[], &[]),
        ])
        .unwrap_err();
        assert_eq!(mistakes.len(), 5, "{mistakes:?}");
    }
}
