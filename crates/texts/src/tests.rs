//! What holds for all texts: each that is used is there, in every language, with the same
//! variables.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::catalogue::SOURCES;
use super::{Arg, LANGUAGES, Language, Wishes};

/// Ids whose last part is a name of something else, so that no source has them whole.
const PUT_TOGETHER: [&str; 3] = ["scope-", "time-month-", "console-kind-"];

/// Id and text of each message of a language.
fn messages(tag: &str) -> BTreeMap<String, String> {
    let found = SOURCES.iter().find(|(found, _)| *found == tag);
    let (_, files) = found.unwrap();
    let mut all = BTreeMap::new();
    for file in *files {
        let mut id = None;
        for line in file.lines() {
            let new = line
                .split_once(" =")
                .filter(|_| line.starts_with(|c: char| c.is_ascii_alphabetic()));
            if let Some((name, text)) = new {
                let before = all.insert(name.to_owned(), text.to_owned());
                assert_eq!(before, None, "{tag}: {name} is there twice");
                id = Some(name.to_owned());
            } else if let Some(id) = &id
                && line.starts_with([' ', '}'])
            {
                let text: &mut String = all.get_mut(id).unwrap();
                text.push('\n');
                text.push_str(line);
            }
        }
    }
    all
}

/// The languages that have texts.
fn written() -> impl Iterator<Item = Language> {
    let has = |language: &Language| SOURCES.iter().any(|(tag, _)| *tag == language.tag());
    LANGUAGES.into_iter().filter(has)
}

/// Every `$name` of a text.
fn variables(text: &str) -> BTreeSet<&str> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    text.split('$')
        .skip(1)
        .map(|rest| rest.split(|c| !is_name(c)).next().unwrap_or_default())
        .collect()
}

/// The sources of the crates that the filter takes; of all but this one.
fn sources(of: impl Fn(&Path) -> bool) -> Vec<(PathBuf, String)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = std::fs::read_dir(crates)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|folder| *folder != Path::new(env!("CARGO_MANIFEST_DIR")) && of(folder))
        .map(|folder| folder.join("src"))
        .filter(|folder| folder.is_dir())
        .collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    found
}

/// The literal that follows each occurrence of `before`, where one does.
fn literals<'a>(text: &'a str, before: &str) -> Vec<&'a str> {
    let after = text.split(before).skip(1);
    let quoted = |rest: &'a str| rest.trim_start().strip_prefix('"')?.split('"').next();
    after.filter_map(quoted).collect()
}

#[test]
fn every_id_that_the_sources_name_is_a_text() {
    let english = messages("en");
    let named = [
        ".text(",
        ".with(",
        "t.html(",
        "Notice::Error(",
        "Notice::Done(",
        "Failure::Invalid(",
        "Failure::Expired(",
        "Failure::Wrong(",
        "label:",
        "again:",
        "wrong:",
        "expired:",
    ];
    let mut found = 0;
    // Elsewhere these words begin other things.
    let shows_texts = |folder: &Path| {
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml"));
        manifest.is_ok_and(|manifest| manifest.contains("signet-texts."))
    };
    for (path, text) in sources(shows_texts) {
        // What stands below is a test's own.
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        for before in named {
            for id in literals(text, before) {
                // `wrong: ""`: never shown.
                assert!(
                    id.is_empty() || english.contains_key(id),
                    "{}: {before} {id:?} is no text",
                    path.display()
                );
                found += 1;
            }
        }
    }
    assert!(found > 100, "{found}: the search finds the sources");
}

#[test]
fn every_text_is_used() {
    // An error may carry a text's name up from a crate that shows none.
    let (sources, english) = (sources(|_| true), messages("en"));
    for id in english.keys() {
        let quoted = format!("\"{id}\"");
        // One text may stand in another.
        let set_in = format!("{{ {id} }}");
        if english.values().any(|text| text.contains(&set_in)) {
            continue;
        }
        assert!(
            PUT_TOGETHER.iter().any(|start| id.starts_with(start))
                || sources.iter().any(|(_, text)| text.contains(&quoted)),
            "nothing uses {id}"
        );
    }
}

#[test]
fn every_language_has_every_text_with_the_same_variables() {
    let english = messages("en");
    let mut wrong = Vec::new();
    for language in written() {
        let tag = language.tag();
        let texts = messages(tag);
        for (id, text) in &english {
            match texts.get(id) {
                None => wrong.push(format!("{tag}: {id} is missing")),
                Some(theirs) if variables(theirs) != variables(text) => {
                    wrong.push(format!("{tag}: {id} has other variables"));
                }
                Some(_) => {}
            }
        }
        for id in texts.keys().filter(|id| !english.contains_key(*id)) {
            wrong.push(format!("{tag}: {id} is no English text"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_text_can_be_shown_whatever_its_number() {
    for language in written() {
        let inner = "minutes".to_owned();
        for (id, text) in messages(language.tag()) {
            for number in [0, 1, 2, 3, 5, 11, 21, 100] {
                let names: Vec<String> = variables(&text).into_iter().map(str::to_owned).collect();
                let args: Vec<(&'static str, Arg<'_>)> = names
                    .iter()
                    // Of the text that stands in others.
                    .chain([&inner])
                    .map(|name| (&*name.clone().leak(), Arg::Number(number)))
                    .collect();
                let shown = language.with(&id, &args);
                let tag = language.tag();
                assert!(!shown.is_empty() && shown != id, "{tag}: {id}");
                assert!(!shown.contains(['{', '}']), "{tag}: {id}: {shown}");
            }
        }
    }
}

#[test]
fn the_table_and_the_folders_are_the_same_languages() {
    for (tag, _) in SOURCES {
        assert_eq!(Language::of_tag(tag).map(Language::tag), Some(*tag));
    }
    assert_eq!(Language::default(), Language::ENGLISH);
    assert_eq!(Language::ENGLISH.tag(), "en");
}

fn tag_of(wishes: Wishes<'_>) -> &'static str {
    wishes.choose().tag()
}

#[test]
fn the_menu_then_the_request_then_the_person_then_the_browser_choose() {
    let mut wishes = Wishes {
        menu: Language::of_tag("fr"),
        request: Language::of_tag("de-AT"),
        person: Some("it_IT.UTF-8"),
        accept: Some("ja"),
    };
    assert_eq!(tag_of(wishes), "fr");
    wishes.menu = None;
    assert_eq!(tag_of(wishes), "de");
    wishes.request = None;
    assert_eq!(tag_of(wishes), "it");
    wishes.person = Some("tlh");
    assert_eq!(tag_of(wishes), "ja");
    wishes.accept = Some("tlh");
    assert_eq!(tag_of(wishes), "en");
}

#[test]
fn the_browsers_weights_count() {
    let of = |accept| {
        tag_of(Wishes {
            accept: Some(accept),
            ..Wishes::default()
        })
    };
    assert_eq!(of("de-CH,de;q=0.9,en;q=0.8"), "de");
    assert_eq!(of("en;q=0.3, pl;q=0.7, xx"), "pl");
    assert_eq!(of("de;q=0, en;q=0.1"), "en");
    assert_eq!(of("zh-TW"), "zh");
    for hostile in ["", ",,,;;;", "de;q=NaN", "de;q=-1", "de;q=9", "*", "é"] {
        assert_eq!(of(hostile), "en", "{hostile}");
    }
}

#[test]
fn plurals_are_the_languages_own() {
    let of = |minutes: u64| {
        let name = ("name", Arg::Text("x"));
        Language::ENGLISH.with("login-code-about", &[name, ("minutes", minutes.into())])
    };
    assert!(of(1).ends_with("1 minute."), "{}", of(1));
    assert!(of(2).ends_with("2 minutes."), "{}", of(2));
}

#[test]
fn what_is_nowhere_is_shown_as_it_is() {
    assert_eq!(Language::ENGLISH.text("No such text."), "No such text.");
    assert_eq!(Language::ENGLISH.find("nothing"), None);
}
