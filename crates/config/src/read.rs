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
    settings::{self, SETTINGS},
};

/// Unknown keys and values of a wrong type that are named at once.
const MAX_PROBLEMS: usize = 50;

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
    let root = DeTable::parse(text).map_err(|e| vec![from_toml(text, &e)])?;
    let mut problems = Vec::new();
    let schema = schema();
    unknown_keys(text, root.get_ref(), &schema, &schema, "", &mut problems);
    let mut rest = root.clone();
    let mut gone = Vec::new();
    for problem in &problems {
        let at = offset(text, problem.line, problem.column);
        gone.extend(take_out(rest.get_mut(), at, ""));
    }
    let config = types(text, rest, &mut gone, &mut problems);
    if let Some(mut config) = config {
        config.data_dir = base.join(&config.data_dir);
        let faults = check::check(&config, base, secrets);
        if problems.is_empty() && faults.is_empty() {
            return Ok(config);
        }
        // What is missing beside something that was taken out may be just that.
        let own = |fault: &&Fault| !gone.iter().any(|gone| may_follow(&fault.path, gone));
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
    let root = DeTable::parse(text).map_err(|e| vec![from_toml(text, &e)])?;
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
    let problems: Vec<Problem> = problems.collect();
    if !problems.is_empty() {
        return Err(problems);
    }
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
    parse(&format!("{before}{text}"), base, true).map_err(|mut problems| {
        for problem in &mut problems {
            problem.line = problem.line.saturating_sub(lines);
        }
        problems
    })?;
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
/// about the table that it stood in, unless that is the whole file.
fn may_follow(fault: &str, gone: &str) -> bool {
    let table = gone.rsplit_once('.').map_or("", |(table, _)| table);
    fault == gone || (!table.is_empty() && fault.starts_with(table))
}

/// The JSON Schema of the file, from the types.
pub fn schema() -> Json {
    let mut schema = schemars::schema_for!(Config).to_value();
    bound(&mut schema);
    schema
}

/// Puts what the rows of the settings know into the schema: ranges, owners, and when a change
/// counts.
fn bound(schema: &mut Json) {
    for setting in SETTINGS {
        let (table, member) = setting.path.rsplit_once('.').unwrap_or(("", setting.path));
        let mut at = String::new();
        for name in table.split('.').filter(|name| !name.is_empty()) {
            at = format!("{at}/properties/{name}");
            // A table of the file is a type of its own, which it refers to.
            if let Some(node) = schema.pointer(&at) {
                let refers = shapes(node, schema)
                    .into_iter()
                    .find_map(|one| one["$ref"].as_str()?.strip_prefix('#'));
                at = refers.map_or(at, str::to_owned);
            }
        }
        let Some(node) = schema.pointer_mut(&format!("{at}/properties/{member}")) else {
            continue;
        };
        if let Some(range) = setting.range() {
            node["minimum"] = if range.or_zero { 0 } else { range.least }.into();
            if let Some(most) = range.most {
                node["maximum"] = most.into();
            }
        }
        node["x-owner"] = setting.owner.name().into();
        node["x-takes-effect"] = setting.takes_effect.name().into();
    }
}

/// The configuration, where the types are right or are so without what is wrong. Every value of a
/// wrong type is named, not only the first: it is taken out, and the rest is read again.
fn types(
    text: &str,
    mut root: Spanned<DeTable<'_>>,
    gone: &mut Vec<String>,
    problems: &mut Vec<Problem>,
) -> Option<Config> {
    // Each turn takes a value out, so the file's own length bounds this; nobody reads more than a
    // page of faults.
    while problems.len() < MAX_PROBLEMS {
        let error = match Config::deserialize(toml::Deserializer::from(root.clone())) {
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
            .and_then(|span| take_out(root.get_mut(), span.start, ""));
        gone.push(taken?);
    }
    None
}

/// Takes the innermost value at this place of the text out, and gives its path. None: there is no
/// such value.
fn take_out(table: &mut DeTable<'_>, at: usize, path: &str) -> Option<String> {
    let mut here = None;
    for (key, value) in table.iter_mut() {
        let holds = value.span().contains(&at) || key.span().contains(&at);
        let name = key.get_ref().as_ref();
        let own = match path {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        };
        let taken = match value.get_mut() {
            DeValue::Table(inner) => take_out(inner, at, &own),
            DeValue::Array(items) => items.iter_mut().enumerate().find_map(|(i, item)| {
                let DeValue::Table(inner) = item.get_mut() else {
                    return None;
                };
                take_out(inner, at, &format!("{own}[{i}]"))
            }),
            _ => None,
        };
        if taken.is_some() {
            return taken;
        }
        if holds {
            here = Some((key.clone(), own));
        }
    }
    let (key, own) = here?;
    table.remove(&key).map(|_| own)
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

fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let line = before.iter().filter(|b| **b == b'\n').count() + 1;
    let column = before.iter().rev().take_while(|b| **b != b'\n').count() + 1;
    (line, column)
}

fn offset(text: &str, line: usize, column: usize) -> usize {
    let before = text.split_inclusive('\n').take(line.saturating_sub(1));
    before.map(str::len).sum::<usize>() + column.saturating_sub(1)
}

/// Former names, which go on to be read: the name, and what it is called now. If both are written,
/// the error says that one is there twice.
const FORMER: &[(&str, &str)] = &[("guessing", "login_limits")];

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

/// The alternatives of a schema: itself, what it refers to, and what it offers to choose from.
pub fn shapes<'s>(schema: &'s Json, root: &'s Json) -> Vec<&'s Json> {
    let mut found = vec![schema];
    let mut next = 0;
    // Bounded by the schema itself, which does not refer to itself.
    while let Some(shape) = found.get(next).copied() {
        next += 1;
        if let Some(target) = shape["$ref"].as_str().and_then(|r| r.strip_prefix('#')) {
            found.extend(root.pointer(target));
        }
        for choice in ["anyOf", "oneOf", "allOf"] {
            found.extend(shape[choice].as_array().into_iter().flatten());
        }
    }
    found
}

/// The line of a file that gives a setting; none where it does not, or is no TOML.
pub fn line_of(text: &str, path: &str) -> Option<usize> {
    let root = DeTable::parse(text).ok()?;
    let mut names = path.split('.');
    let mut table = root.get_ref();
    loop {
        let name = names.next()?;
        let former = FORMER.iter().find(|(_, now)| *now == name);
        let former = former.map(|(former, _)| *former);
        let (key, value) = table.iter().find(|(key, _)| {
            let key: &str = key.get_ref();
            key == name || Some(key) == former
        })?;
        match value.get_ref().as_table() {
            Some(inner) if names.clone().next().is_some() => table = inner,
            _ => return Some(position(text, key.span().start).0),
        }
    }
}

/// Line and column of `clients[1].redirect_uris[0]`, or of the nearest part of it that the file
/// has.
fn locate(text: &str, root: &DeTable<'_>, path: &str) -> (usize, usize) {
    let mut offset = None;
    let mut table = Some(root);
    'segments: for segment in path.split('.') {
        let mut parts = segment.split(['[', ']']).filter(|p| !p.is_empty());
        let Some(name) = parts.next() else { break };
        let Some((key, value)) =
            table.and_then(|t| t.iter().find(|(k, _)| k.get_ref().as_ref() == name))
        else {
            break;
        };
        offset = Some(key.span().start);
        let mut value = value;
        for index in parts {
            let item = index
                .parse::<usize>()
                .ok()
                .and_then(|i| value.get_ref().get(i));
            let Some(item) = item else { break 'segments };
            offset = Some(item.span().start);
            value = item;
        }
        table = value.get_ref().as_table();
    }
    offset.map_or((0, 0), |o| position(text, o))
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
        let wrong = laid("data_dir = \"/x\"\n").unwrap_err();
        assert_eq!(
            wrong[0].to_string(),
            "line 1, column 1: data_dir: is said by --data-dir here"
        );
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

    #[test]
    fn a_secret_that_stands_in_the_file_is_never_repeated() {
        for wrong in [
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
