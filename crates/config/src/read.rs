//! Reading the file: every unknown key with its line and the nearest known name, every value of a
//! wrong type, and every fault of meaning, all at once. What is wrong is taken out and the rest
//! read on, so that nobody mends a file fault by fault.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::Value as Json;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    check,
    fault::{Fault, nearest},
    model::Config,
    settings,
};
pub use crate::place::line_of;
use crate::place::{FORMER, beside, locate, offset, place, position, take_out, take_out_where};
pub use crate::shape::{schema, shapes};
use crate::stand_in::{self, Missing};

/// Unknown keys and values of a wrong type that are named at once.
const MAX_PROBLEMS: usize = 500;

/// Something wrong with the file. `line` and `column` count from 1; 0 where the fault is not at one
/// place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Of its first character.
    pub line: usize,
    /// Of its first character, in characters.
    pub column: usize,
    /// Where in the structure: `clients[1].redirect_uris[0]`. Empty for syntax errors.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// The known name that was probably meant.
    pub suggestion: Option<String>,
}

impl Problem {
    /// One that is at no place of the file.
    pub fn nowhere(message: String) -> Problem {
        Problem {
            line: 0,
            column: 0,
            path: String::new(),
            message,
            suggestion: None,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}, column {}: ", self.line, self.column)?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)?;
        if let Some(name) = &self.suggestion {
            write!(f, "; did you mean \"{name}\"?")?;
        }
        Ok(())
    }
}

/// A configuration that passed every check, and where it came from: relative paths start at `base`.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// What it says.
    pub config: Config,
    /// The file's directory.
    pub base: PathBuf,
}

/// Reads and checks a file. `secrets`: also read every secret that it refers to.
pub fn load(file: &Path, secrets: bool) -> Result<Loaded, Vec<Problem>> {
    let text = std::fs::read_to_string(file)
        .map_err(|e| vec![Problem::nowhere(format!("cannot be read: {e}"))])?;
    let base = match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    };
    let config = parse(&text, &base, secrets)?;
    Ok(Loaded { config, base })
}

/// As [`load`], from text; a relative `data_dir` starts at `base`, as every other path does.
pub fn parse(text: &str, base: &Path, secrets: bool) -> Result<Config, Vec<Problem>> {
    let (root, unreadable) = DeTable::parse_recoverable(text);
    let mut problems: Vec<Problem> = unreadable.iter().map(|e| from_toml(text, e)).collect();
    // What stands on such a line was read as something else.
    let unreadable: Vec<usize> = problems.iter().map(|problem| problem.line).collect();
    let schema = schema();
    let mut found = Vec::new();
    unknown_keys(text, root.get_ref(), &schema, &schema, "", &mut found);
    let mut rest = root.clone();
    let mut gone = Vec::new();
    let is_unreadable = |at| unreadable.contains(&position(text, at).0);
    take_out_where(rest.get_mut(), &is_unreadable, "", &mut gone);
    for problem in &found {
        let at = offset(text, problem.line, problem.column);
        let taken = take_out(rest.get_mut(), at, "");
        // It may be what is missing now.
        let meant = taken.as_deref().zip(problem.suggestion.as_deref());
        gone.extend(meant.map(|(taken, name)| beside(taken, name)));
        gone.extend(taken);
    }
    problems.extend(found);
    let config = types(
        text,
        (root.get_ref(), rest),
        &schema,
        &mut gone,
        &mut problems,
    );
    if let Some(mut config) = config {
        config.data_dir = base.join(&config.data_dir);
        let faults = check::check(&config, base, secrets);
        if problems.is_empty() && faults.is_empty() {
            return Ok(config);
        }
        let own = |fault: &&Fault| {
            let is_written = place(root.get_ref(), &fault.path).is_some_and(|(_, whole)| whole);
            !gone.iter().any(|gone| may_follow(fault, gone, is_written))
        };
        problems.extend(faults.iter().filter(own).map(|fault| {
            let (line, column) = locate(text, root.get_ref(), &fault.path);
            Problem {
                line,
                column,
                path: fault.path.clone(),
                message: fault.message.clone(),
                suggestion: None,
            }
        }));
    }
    let mut seen = Vec::new();
    problems.retain(|problem| {
        let is_derived = unreadable.contains(&problem.line) && seen.contains(&problem.line);
        seen.push(problem.line);
        !is_derived
    });
    problems.sort_by_key(|p| (p.line, p.column));
    Err(problems)
}

/// What a file says over another configuration: tables are laid over tables, and whatever else it
/// has takes the place of what was there. `fixed`: settings that it may not have, and what has them
/// instead.
///
/// # Errors
/// What is wrong with the file, as [`parse`] says it; the lines are its own.
pub fn over(
    under: &Config,
    text: &str,
    base: &Path,
    fixed: &[(&str, &str)],
) -> Result<Config, Vec<Problem>> {
    let (root, _) = DeTable::parse_recoverable(text);
    let has = |name: &str| root.get_ref().iter().any(|(key, _)| *key.get_ref() == name);
    let problems = fixed
        .iter()
        .filter(|(name, _)| has(name))
        .map(|(name, by)| {
            let (line, column) = locate(text, root.get_ref(), name);
            Problem {
                line,
                column,
                path: (*name).to_owned(),
                message: format!("is said by {by} here"),
                suggestion: None,
            }
        });
    let mut problems: Vec<Problem> = problems.collect();
    // By itself first, with what every file needs: so each mistake has its line.
    let needed = [
        ("issuer", "issuer = \"https://localhost\"\n"),
        (
            "listeners",
            "listeners = [{ address = \"127.0.0.1:1\", protocol = \"http\" }]\n",
        ),
    ];
    let needed = needed.iter().filter(|(name, _)| !has(name));
    let before: String = needed.map(|(_, line)| *line).collect();
    let lines = before.lines().count();
    if let Err(own) = parse(&format!("{before}{text}"), base, true) {
        problems.extend(own.into_iter().map(|problem| Problem {
            line: problem.line.saturating_sub(lines),
            ..problem
        }));
    }
    if !problems.is_empty() {
        problems.sort_by_key(|p| (p.line, p.column));
        return Err(problems);
    }
    let own = toml::from_str::<Json>(text).map_err(|e| vec![from_toml(text, &e)])?;
    let mut whole = settings::values(under);
    lay_over(&mut whole, own);
    let wrong = |message: String| vec![Problem::nowhere(message)];
    serde_json::from_value(whole).map_err(|e| wrong(e.to_string()))
}

fn lay_over(under: &mut Json, over: Json) {
    match (under, over) {
        (Json::Object(under), Json::Object(over)) => {
            for (name, value) in over {
                // A former name is taken for the present one.
                let former = FORMER.iter().find(|(former, _)| *former == name);
                let name = former.map_or(name, |(_, now)| (*now).to_owned());
                lay_over(under.entry(name).or_insert(Json::Null), value);
            }
        }
        (under, over) => *under = over,
    }
}

/// Whether a fault may come of what was taken out of the file: it is about that very place, or
/// about the table that it stood in, unless that is the whole file. What the file says in that
/// table is wrong by itself, unless the fault names what was taken out.
fn may_follow(fault: &Fault, gone: &str, is_written: bool) -> bool {
    let (table, name) = gone.rsplit_once('.').unwrap_or(("", gone));
    if fault.path == gone {
        return true;
    }
    if table.is_empty() || !fault.path.starts_with(table) {
        return false;
    }
    fault.path == table || !is_written || fault.message.contains(name)
}

/// The configuration, where the types are right or are so without what is wrong. Every value of a
/// wrong type is named, not only the first: it is taken out, and the rest is read again.
fn types(
    text: &str,
    (root, mut rest): (&DeTable<'_>, Spanned<DeTable<'_>>),
    schema: &Json,
    gone: &mut Vec<String>,
    problems: &mut Vec<Problem>,
) -> Option<Config> {
    // Each turn takes a value out, so the file's own length bounds this; nobody reads more than a
    // page of faults.
    while problems.len() < MAX_PROBLEMS {
        // What has to be there and is not is said, unless it was taken out; the rest is read on.
        for Missing { table, name } in stand_in::fill(rest.get_mut(), schema) {
            let own = match &*table {
                "" => name.clone(),
                table => format!("{table}.{name}"),
            };
            let is_taken = |gone: &String| {
                let (of, _) = gone.rsplit_once('.').unwrap_or(("", gone));
                *gone == own || (of == table && !of.is_empty())
            };
            if !gone.iter().any(is_taken) {
                let (line, column) = locate(text, root, &table);
                problems.push(Problem {
                    line: line.max(1),
                    column: column.max(1),
                    path: table,
                    message: format!("missing field `{name}`"),
                    suggestion: None,
                });
            }
            gone.push(own);
        }
        let error = match Config::deserialize(toml::Deserializer::from(rest.clone())) {
            Ok(config) => return Some(config),
            Err(error) => error,
        };
        // What is missing now may be what was taken out; if it was missing before, it is said when
        // the rest is mended.
        if error.message().starts_with("missing field") && !gone.is_empty() {
            return None;
        }
        let problem = from_toml(text, &error);
        if problems.contains(&problem) {
            return None;
        }
        problems.push(problem);
        let taken = error
            .span()
            .and_then(|span| take_out(rest.get_mut(), span.start, ""));
        gone.push(taken?);
    }
    None
}

fn from_toml(text: &str, error: &toml::de::Error) -> Problem {
    let (line, column) = error
        .span()
        .map_or((0, 0), |span| position(text, span.start));
    Problem {
        line,
        column,
        path: String::new(),
        message: error.message().to_owned(),
        suggestion: unknown_variant(error.message()),
    }
}

/// serde's message for an enum value that does not exist lists those that do.
fn unknown_variant(message: &str) -> Option<String> {
    let rest = message.strip_prefix("unknown variant `")?;
    let (found, rest) = rest.split_once('`')?;
    let known: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
    nearest(found, known.into_iter())
}

/// Walks the file beside its schema. A table whose schema closes its members reports each member it
/// does not name.
fn unknown_keys(
    text: &str,
    table: &DeTable<'_>,
    schema: &Json,
    root: &Json,
    path: &str,
    problems: &mut Vec<Problem>,
) {
    let shapes = shapes(schema, root);
    let closed = shapes
        .iter()
        .any(|s| s["additionalProperties"] == Json::Bool(false));
    for (key, value) in table {
        let name = key.get_ref().as_ref();
        let here = if path.is_empty() {
            name.to_owned()
        } else {
            format!("{path}.{name}")
        };
        let former = FORMER.iter().find(|(former, _)| *former == here);
        let now = former.map_or(name, |(_, now)| now);
        match shapes.iter().find_map(|s| s["properties"].get(now)) {
            Some(member) => inside(text, value, member, root, &here, problems),
            None if closed => {
                let (line, column) = position(text, key.span().start);
                let known = shapes
                    .iter()
                    .filter_map(|s| s["properties"].as_object())
                    .flat_map(|p| p.keys().map(String::as_str));
                problems.push(Problem {
                    line,
                    column,
                    path: path.to_owned(),
                    message: format!("unknown key \"{name}\""),
                    suggestion: nearest(name, known),
                });
            }
            None => {}
        }
    }
}

fn inside(
    text: &str,
    value: &Spanned<DeValue<'_>>,
    schema: &Json,
    root: &Json,
    path: &str,
    problems: &mut Vec<Problem>,
) {
    match value.get_ref() {
        DeValue::Table(table) => unknown_keys(text, table, schema, root, path, problems),
        DeValue::Array(array) => {
            let Some(items) = shapes(schema, root)
                .into_iter()
                .find_map(|s| s.get("items"))
            else {
                return;
            };
            for (index, item) in array.iter().enumerate() {
                inside(
                    text,
                    item,
                    items,
                    root,
                    &format!("{path}[{index}]"),
                    problems,
                );
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "issuer = \"https://id.example\"\n[[listeners]]\naddress = \"127.0.0.1:8080\"\nprotocol = \"http\"\n";

    fn problems(text: &str) -> Vec<Problem> {
        parse(text, Path::new("."), true).err().unwrap_or_default()
    }

    #[test]
    fn a_small_file_is_enough() {
        assert_eq!(problems(GOOD), []);
    }

    #[test]
    fn a_file_is_laid_over_a_configuration_table_by_table() {
        let under = parse(GOOD, Path::new("."), true).unwrap();
        let laid = |text: &str| over(&under, text, Path::new("."), &[("data_dir", "--data-dir")]);
        let config = laid("[lifetimes]\ncode = \"30s\"\n[[realms]]\nname = \"acme\"\n").unwrap();
        assert_eq!(config.issuer, "https://id.example");
        assert_eq!(config.lifetimes.code.0, 30);
        assert_eq!(config.lifetimes.access_token.0, 600);
        assert_eq!(config.realms.len(), 1);
        let wrong = laid("\n[lifetimes]\ncod = 3\n").unwrap_err();
        assert_eq!(
            (wrong[0].line, wrong[0].suggestion.as_deref()),
            (3, Some("code"))
        );
        let wrong = laid("data_dir = \"/x\"\n[lifetimes]\ncod = 3\ncode = \n").unwrap_err();
        assert_eq!(
            wrong[0].to_string(),
            "line 1, column 1: data_dir: is said by --data-dir here"
        );
        assert_eq!(lines(&wrong), [1, 3, 4], "{wrong:?}");
    }

    #[test]
    fn relative_paths_start_at_the_files_directory() {
        let data_dir = |line: &str| {
            let text = format!("{line}\n{GOOD}");
            parse(&text, Path::new("/etc/signet"), true)
                .unwrap()
                .data_dir
        };
        assert_eq!(
            data_dir("data_dir = \"data\""),
            Path::new("/etc/signet/data")
        );
        assert_eq!(
            data_dir("data_dir = \"/srv/signet\""),
            Path::new("/srv/signet")
        );
        assert_eq!(data_dir(""), Path::new("/var/lib/signet"));
    }

    #[test]
    fn every_unknown_key_is_named_with_its_line_and_a_suggestion() {
        let text = format!(
            "isuer = 1\n{GOOD}\n[lifetimes]\naccess_tokn = 3\n[[clients]]\nclient_id = \"a\"\nredirect_uri = []\n"
        );
        let found = problems(&text);
        let lines: Vec<_> = found
            .iter()
            .map(|p| (p.line, p.suggestion.as_deref()))
            .collect();
        assert_eq!(
            lines,
            [
                (1, Some("issuer")),
                (8, Some("access_token")),
                (11, Some("redirect_uris"))
            ]
        );
        assert_eq!(found[2].path, "clients[0]");
        assert_eq!(
            found[0].to_string(),
            "line 1, column 1: unknown key \"isuer\"; did you mean \"issuer\"?"
        );
    }

    #[test]
    fn an_unknown_value_of_a_choice_is_named_with_a_suggestion() {
        let found = problems(&GOOD.replace("\"http\"", "\"htps\""));
        assert_eq!(found[0].line, 4);
        assert_eq!(found[0].suggestion.as_deref(), Some("https"));
    }

    #[test]
    fn a_wrong_type_is_named_with_its_line() {
        let found = problems(&format!("{GOOD}[limits]\nconnections = \"many\"\n"));
        assert_eq!(found[0].line, 6, "{found:?}");
    }

    #[test]
    fn every_value_of_a_wrong_type_is_named_at_once() {
        let found = problems(&format!(
            "{GOOD}[limits]\nconnections = \"many\"\n[log]\nlevel = 5\n[store]\nengine = \"oracle\"\n[lifetimes]\ncode = true\n"
        ));
        let lines: Vec<usize> = found.iter().map(|p| p.line).collect();
        assert_eq!(lines, [6, 8, 10, 12], "{found:?}");
    }

    #[test]
    fn mistakes_of_every_kind_are_named_at_once() {
        let found = problems(&format!(
            "{GOOD}[lifetimes]\naccess_tokn = 3\ncode = \"soon\"\n[log]\nlevel = 5\n[[clients]]\nclient_id = \"a\"\ntoken_endpoint_auth_method = \"none\"\nredirect_uris = [\"not a uri\"]\n[[clients]]\nclient_id = \"b\"\nredirect_uri = [\"https://b.example/\"]\ngrant_types = [\"authorization_code\"]\n"
        ));
        let lines: Vec<usize> = found.iter().map(|p| p.line).collect();
        // The second client has no redirect URI because its key is misspelt: one fault, not two.
        assert_eq!(lines, [6, 7, 9, 13, 16], "{found:?}");
    }

    /// Lines of the problems of a file, each once.
    fn lines(found: &[Problem]) -> Vec<usize> {
        let mut lines: Vec<usize> = found.iter().map(|problem| problem.line).collect();
        lines.dedup();
        lines
    }

    #[test]
    fn what_has_to_be_there_and_is_not_hides_nothing() {
        // Misspelt, of no known protocol, no length of time, no URI.
        let text = "isuer = \"https://id.example\"\n[[listeners]]\nadress = \"127.0.0.1:8080\"\nprotocol = \"htps\"\n\
                    [lifetimes]\ncode = \"soon\"\n[[clients]]\nclient_id = \"a\"\ntoken_endpoint_auth_method = \"none\"\n\
                    redirect_uris = [\"not a uri\"]\n[[users]]\nemail = \"a@b.example\"\n";
        let found = problems(text);
        assert_eq!(lines(&found), [1, 3, 4, 6, 10, 11], "{found:?}");
        let said: Vec<Option<&str>> = found.iter().map(|p| p.suggestion.as_deref()).collect();
        let expected = [
            Some("issuer"),
            Some("address"),
            Some("https"),
            None,
            None,
            None,
        ];
        assert_eq!(said, expected);
        assert_eq!(
            found[5].to_string(),
            "line 11, column 1: users[0]: missing field `username`"
        );
    }

    #[test]
    fn what_cannot_be_read_hides_no_other_mistake() {
        let found = problems(&format!(
            "{GOOD}[lifetimes]\ncode = \"1m\"\ncode = \"2m\"\nid_token =\naccess_tokn = 3\n[log]\nlevel = = 5\n\
             [keys]\nid_token = \"HS256\"\n[limits]\nconnections = \"many\"\n"
        ));
        assert_eq!(lines(&found), [7, 8, 9, 11, 13, 15], "{found:?}");
    }

    #[test]
    fn a_value_that_is_wrong_by_itself_is_named_beside_a_key_that_is_misspelt() {
        let found = problems(&format!(
            "{GOOD}[lifetimes]\naccess_tokn = 3\ncode = \"9h\"\n[audit]\ninterval = 3\nsegment_age = \"1s\"\n"
        ));
        assert_eq!(lines(&found), [6, 7, 9, 10], "{found:?}");
    }

    /// Every setting, with every kind of mistake that its type and range allow, all in one file at
    /// a time: as many files as there are kinds.
    #[test]
    fn every_kind_of_mistake_of_every_setting_is_named_in_one_run() {
        let mut wrong_by_kind: Vec<Vec<(&str, String)>> = vec![Vec::new(); 3];
        for one in crate::explain::explain("").expect("all") {
            let path = one.setting.path;
            if one.path != path || path == "issuer" || path == "listeners" {
                continue;
            }
            let name = path.rsplit('.').next().unwrap_or(path);
            let is_number = one.shape.starts_with("a number");
            let is_duration = one.shape.starts_with("a length of time");
            let is_list = one.shape == "a list";
            // Of another type; misspelt, or no element of a choice; out of the range.
            let other_type = match is_list || one.shape.starts_with("a text") {
                true => "7".to_owned(),
                false => "\"soon\"".to_owned(),
            };
            wrong_by_kind[0].push((path, format!("{name} = {other_type}")));
            wrong_by_kind[1].push((path, format!("{name}x = 1")));
            let beyond = one.setting.range().map(|range| match range.most {
                Some(most) => most + 1,
                None => range.least - 1,
            });
            let last = match beyond {
                Some(beyond) if is_duration => format!("{name} = \"{beyond}s\""),
                Some(beyond) if is_number => format!("{name} = {beyond}"),
                _ => format!("{name} = [[[]]]"),
            };
            wrong_by_kind[2].push((path, last));
        }
        // Each setting has another kind in each file.
        for turn in 0..3 {
            let planted = (0..wrong_by_kind[0].len()).map(|at| &wrong_by_kind[(at + turn) % 3][at]);
            let mut planted: Vec<&(&str, String)> = planted.collect();
            // Single settings and lists first, then table by table.
            planted.sort_by_key(|(path, _)| path.rsplit_once('.').map(|(table, _)| table));
            let mut text = "issuer = \"https://id.example\"\n".to_owned();
            let (mut table, mut expected) = (None, Vec::new());
            for (path, line) in planted {
                let own = path.rsplit_once('.').map(|(table, _)| table);
                if own != table {
                    text.push_str(&format!("[{}]\n", own.unwrap_or_default()));
                    table = own;
                }
                text.push_str(line);
                text.push('\n');
                expected.push((text.lines().count(), *path));
            }
            text.push_str("[[listeners]]\naddress = \"127.0.0.1:8080\"\nprotocol = \"http\"\n");
            let found = problems(&text);
            for (line, path) in &expected {
                let named = found.iter().filter(|problem| problem.line == *line).count();
                assert_eq!(named, 1, "{path}, line {line} of\n{text}\n{found:#?}");
            }
            assert_eq!(found.len(), expected.len(), "{text}\n{found:#?}");
        }
    }

    #[test]
    fn a_secret_that_stands_in_the_file_is_never_repeated() {
        for wrong in [
            "hunter2",
            "\"hunter2",
            "\"hunter2\"",
            "{ value = \"hunter2\" }",
            "{ file = [\"hunter2\"] }",
            "{ env = \"A\", file = \"hunter2\" }",
            "[\"hunter2\"]",
        ] {
            for text in [
                format!(
                    "{GOOD}[mail]\nfrom = \"a@b.c\"\n[mail.smtp]\nhost = \"h\"\nusername = \"u\"\npassword = {wrong}\n"
                ),
                format!("{GOOD}[[clients]]\nclient_id = \"a\"\nclient_secrets = [{wrong}]\n"),
                format!("{GOOD}[[users]]\nusername = \"u\"\npassword = {wrong}\n"),
            ] {
                let found = problems(&text);
                assert!(!found.is_empty(), "{text}");
                for problem in found {
                    assert!(!problem.to_string().contains("hunter2"), "{problem}");
                    assert!(problem.line > 0, "{problem:?}");
                }
            }
        }
    }

    #[test]
    fn a_fault_of_meaning_speaks_the_files_words() {
        let found = problems(&format!(
            "{GOOD}[lifetimes]\nrefresh_token = \"1d\"\nrefresh_idle = \"2d\"\n[keys]\nid_token = \"HS256\"\nrotate_after = \"5m\"\n"
        ));
        let said: Vec<String> = found.iter().map(ToString::to_string).collect();
        let said = said.join("\n");
        for words in [
            "lifetimes.refresh_idle: is longer than lifetimes.refresh_token",
            "ES256, ES384",
            "keys.publish_ahead",
        ] {
            assert!(said.contains(words), "{words}: {said}");
        }
        assert!(!said.contains("refresh_idle_lifetime"), "{said}");
    }

    #[test]
    fn a_fault_of_meaning_is_found_in_the_file() {
        let found = problems(&format!(
            "{GOOD}[[clients]]\nclient_id = \"a\"\nredirect_uris = [\n \"https://ok.example/\",\n \"not a uri\",\n]\nclient_secrets = [{{ env = \"SIGNET_TEST_UNSET\" }}]\n"
        ));
        assert!(
            found
                .iter()
                .any(|p| p.line == 9 && p.path == "clients[0].redirect_uris[1]"),
            "{found:?}"
        );
        assert!(
            found
                .iter()
                .any(|p| p.path == "clients[0].client_secrets[0]"),
            "{found:?}"
        );
    }

    #[test]
    fn a_name_without_resemblance_gets_no_suggestion() {
        assert_eq!(
            problems(&format!("zzzzzzzz = 1\n{GOOD}"))[0].suggestion,
            None
        );
    }
}
