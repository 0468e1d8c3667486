//! What a parser found wrong with a document, in words for whoever wrote it: the member, and what
//! was probably meant. Values are never repeated; one of them may be a password.
use serde_path_to_error::Error;

/// Fewer known names than this are all listed.
const FEW: usize = 8;

/// The words for an error of the document's parser.
pub fn of(error: &Error<serde_json::Error>) -> String {
    let place = error.path().to_string();
    let inner = error.inner();
    if inner.is_syntax() || inner.is_eof() {
        return format!("not JSON: line {}, column {}", inner.line(), inner.column());
    }
    let text = inner.to_string();
    let text = text.split(" at line ").next().unwrap_or_default();
    for (start, kind) in [
        ("unknown field `", "member"),
        ("unknown variant `", "value"),
    ] {
        if let Some((found, rest)) = text.strip_prefix(start).and_then(|t| t.split_once('`')) {
            let known: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
            let said = match kind {
                // A misspelt name is no secret.
                "member" => unknown(kind, found, &known),
                _ => format!("expected {}", list(&known)),
            };
            // The path of an unknown member is where it would have been.
            return match kind {
                "value" => at(&place, &said),
                _ => said,
            };
        }
    }
    if let Some((_, expected)) = text.rsplit_once("expected ") {
        return at(&place, &format!("expected {}", plain(expected)));
    }
    if let Some(name) = text.strip_prefix("missing field ") {
        return format!("the member {} is missing", name.trim_matches('`'));
    }
    at(&place, text)
}

/// A name that is not known, and the one that was probably meant.
pub fn unknown(kind: &str, found: &str, known: &[&str]) -> String {
    let clean: String = found.chars().filter(|c| !c.is_control()).take(64).collect();
    let nearest = known
        .iter()
        .map(|k| (strsim::damerau_levenshtein(&clean, k), *k))
        .filter(|(distance, k)| *distance <= 1 + k.len().max(clean.len()) / 3)
        .min_by_key(|(distance, _)| *distance);
    // `name` for `client_name`: the end of one known name is what people leave the beginning of.
    let ends = |k: &&&str| {
        k.strip_suffix(&*clean)
            .is_some_and(|head| head.ends_with('_'))
    };
    let mut matching = known.iter().filter(ends);
    let meant = match (nearest, matching.next(), matching.next()) {
        (_, Some(one), None) => Some(*one),
        (Some((_, near)), _, _) => Some(near),
        (None, Some(one), Some(_)) => Some(*one),
        (None, None, _) => None,
    };
    match meant {
        Some(meant) => format!("unknown {kind} \"{clean}\"; did you mean \"{meant}\"?"),
        None if known.is_empty() => format!("unknown {kind} \"{clean}\": no {kind} is accepted"),
        None if known.len() <= FEW => {
            format!("unknown {kind} \"{clean}\": there are {}", list(known))
        }
        None => format!("unknown {kind} \"{clean}\""),
    }
}

fn at(place: &str, said: &str) -> String {
    match place {
        "." | "" | "?" => said.to_owned(),
        place => format!("{place}: {said}"),
    }
}

fn list(names: &[&str]) -> String {
    names.join(", ")
}

/// Rust's names of types are nobody's words.
fn plain(expected: &str) -> &str {
    match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number",
        "i64" | "f64" => "a number",
        "a string" | "string" => "a text",
        "a sequence" | "sequence" => "a list",
        "a map" | "map" => "an object",
        "a boolean" | "boolean" => "true or false",
        other if other.starts_with("struct ") => "an object",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Default, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    #[allow(dead_code)]
    struct Document {
        client_name: Option<String>,
        resources: Vec<String>,
        access_token_lifetime: Option<u64>,
        password: Option<String>,
        enabled: bool,
    }

    fn said(text: &str) -> String {
        let mut reader = serde_json::Deserializer::from_str(text);
        let error = serde_path_to_error::deserialize::<_, Document>(&mut reader).unwrap_err();
        of(&error)
    }

    #[test]
    fn a_member_is_named_with_the_one_that_was_meant() {
        for (text, words) in [
            (
                r#"{"name":"x"}"#,
                "unknown member \"name\"; did you mean \"client_name\"?",
            ),
            (
                r#"{"resorces":[]}"#,
                "unknown member \"resorces\"; did you mean \"resources\"?",
            ),
            (
                r#"{"access_token_lifetime":"x"}"#,
                "access_token_lifetime: expected a whole number",
            ),
            (
                r#"{"resources":"https://a/"}"#,
                "resources: expected a list",
            ),
            (r#"{"enabled":1}"#, "enabled: expected true or false"),
        ] {
            assert_eq!(said(text), words, "{text}");
        }
        assert!(said("{\"enabled\":").starts_with("not JSON"));
    }

    #[test]
    fn a_value_is_never_repeated() {
        for text in [
            r#"{"password":["hunter2"]}"#,
            r#"{"enabled":"hunter2"}"#,
            r#""hunter2""#,
        ] {
            assert!(!said(text).contains("hunter2"), "{text}: {}", said(text));
        }
    }
}
