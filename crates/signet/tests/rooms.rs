//! No circle of imports between the rooms of a crate.
//!
//! A room is a file or a folder directly under `src`. It imports what lies below it, and nothing
//! that imports it, so each can be read alone. Read from the code's text: paths that begin with
//! `crate::`, or with as many `super::` as lead to the root; without tests and comments. What goes
//! through a re-export of the crate's root is not seen.
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

type Rooms = BTreeMap<String, BTreeSet<String>>;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// The code without its tests, comments and strings.
fn code(text: &str) -> String {
    let text = text.split("\n#[cfg(test)]").next().unwrap_or(text);
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or(line);
        // Every second piece between quotation marks is a string's.
        for piece in line.split('"').step_by(2) {
            out.push_str(piece);
            out.push(' ');
        }
        out.push('\n');
    }
    out
}

fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    &text[..end.unwrap_or(text.len())]
}

/// The first names of a path, or of a group of paths in braces.
fn first_names(path: &str) -> Vec<&str> {
    let Some(group) = path.strip_prefix('{') else {
        return vec![identifier(path)];
    };
    let (mut names, mut depth, mut at_start) = (Vec::new(), 0usize, true);
    for (at, c) in group.char_indices() {
        match c {
            '}' if depth == 0 => break,
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => at_start = true,
            c if depth == 0 && at_start && !c.is_whitespace() => {
                names.push(identifier(&group[at..]));
                at_start = false;
            }
            _ => {}
        }
    }
    names
}

/// Every name that the code says at the crate's root. `depth`: how many `super::` lead there.
fn names_at_root(code: &str, depth: usize) -> BTreeSet<String> {
    let to_root = "super::".repeat(depth);
    let mut names = BTreeSet::new();
    for root in ["crate::", &*to_root] {
        for (at, _) in code.match_indices(root) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| c == ':' || c == '_' || c.is_ascii_alphanumeric()) {
                continue;
            }
            let names_here = first_names(code[at + root.len()..].trim_start());
            names.extend(names_here.into_iter().map(str::to_owned));
        }
    }
    names
}

fn rooms(src: &Path) -> Rooms {
    let mut found = Vec::new();
    files(src, &mut found);
    let mut rooms = Rooms::new();
    for file in found {
        let relative = file.strip_prefix(src).expect("is below");
        let parts: Vec<String> = relative
            .iter()
            .map(|part| part.to_string_lossy().trim_end_matches(".rs").to_owned())
            .collect();
        let is_test = |part: &String| part == "tests" || part.ends_with("_tests");
        if parts.iter().any(is_test) || matches!(&*parts[0], "lib" | "main") {
            continue;
        }
        let depth = parts.iter().filter(|part| *part != "mod").count();
        let text = fs::read_to_string(&file).expect("is read");
        let mut names = names_at_root(&code(&text), depth);
        names.remove(&parts[0]);
        rooms.entry(parts[0].clone()).or_default().extend(names);
    }
    let all: BTreeSet<String> = rooms.keys().cloned().collect();
    for below in rooms.values_mut() {
        below.retain(|name| all.contains(name));
    }
    rooms
}

/// Takes away rooms that import no other of those left, again and again: what stays lies in a
/// circle, or above one.
fn tied(mut rooms: Rooms) -> BTreeSet<String> {
    loop {
        let free: Vec<String> = rooms
            .iter()
            .filter(|(_, below)| below.iter().all(|name| !rooms.contains_key(name)))
            .map(|(name, _)| name.clone())
            .collect();
        if free.is_empty() {
            break;
        }
        for name in free {
            rooms.remove(&name);
        }
    }
    // Those above a circle are imported by no other of those left.
    loop {
        let imported: BTreeSet<String> = rooms.values().flatten().cloned().collect();
        let before = rooms.len();
        rooms.retain(|name, _| imported.contains(name));
        if rooms.len() == before {
            return rooms.into_keys().collect();
        }
    }
}

#[test]
fn no_room_lies_in_a_circle_of_imports() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut seen = 0;
    for entry in fs::read_dir(crates).expect("the crates") {
        let path = entry.expect("an entry").path();
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let src = path.join("src");
        if !src.is_dir() {
            continue;
        }
        seen += 1;
        let circle = tied(rooms(&src));
        assert!(
            circle.is_empty(),
            "rooms of {name} import each other in a circle: {circle:?}"
        );
    }
    assert!(seen >= 12, "{seen} crates were read");
}

#[test]
fn a_circle_is_seen_however_it_is_written() {
    let of = |list: &[(&str, &str, usize)]| -> Rooms {
        let all: BTreeSet<String> = list.iter().map(|(name, ..)| (*name).to_owned()).collect();
        list.iter()
            .map(|(name, text, depth)| {
                let names = names_at_root(&code(text), *depth);
                let names = names.into_iter().filter(|n| all.contains(n) && n != name);
                ((*name).to_owned(), names.collect())
            })
            .collect()
    };
    let circle: BTreeSet<String> = ["a", "b"].map(str::to_owned).into();
    for (one, other, depth) in [
        ("use crate::b::X;", "use crate::a::Y;", 1),
        (
            "use crate::{\n    c::{Z, a},\n    b::X,\n};",
            "fn f(x: crate::a::Y) {}",
            1,
        ),
        ("use super::b::X;", "use super::{a, c};", 1),
        ("use super::super::b;", "use crate::a;", 2),
    ] {
        let rooms = of(&[
            ("a", one, depth),
            ("b", other, 1),
            ("c", "", 1),
            ("top", "use crate::a;", 1),
        ]);
        assert_eq!(tied(rooms), circle, "{one} {other}");
    }
    for (one, other) in [
        ("use crate::b::X;", "// use crate::a::Y;"),
        ("use crate::b::X;", "let text = \"crate::a::Y\";"),
        (
            "use crate::b::X;",
            "\n#[cfg(test)]\nmod tests { use crate::a::Y; }",
        ),
        ("use crate::b::X;", "use super::c::a;"),
    ] {
        let rooms = of(&[("a", one, 1), ("b", other, 1), ("c", "", 1)]);
        assert_eq!(tied(rooms), BTreeSet::new(), "{other}");
    }
}

/// The crates that a manifest names under `[dependencies]`, without the prefix.
fn dependencies(manifest: &str) -> Vec<&str> {
    let section = manifest.split("\n[").find_map(|section| {
        let section = section.trim_start_matches('[');
        section.strip_prefix("dependencies]")
    });
    let lines = section.unwrap_or_default().lines();
    lines
        .filter_map(|line| line.strip_prefix("signet-"))
        .filter_map(|line| line.split(['.', ' ', '=']).next())
        .collect()
}

#[test]
fn every_crate_depends_on_lower_floors_only_as_the_architecture_page_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("ARCHITECTURE.md")).expect("the page");
    let floors: BTreeMap<&str, u32> = page
        .lines()
        .filter_map(|line| {
            let (floor, rest) = line.strip_prefix("| ")?.split_once(" | `signet")?;
            let (_, name) = rest.split_once("(crates/")?;
            Some((name.split_once(')')?.0, floor.parse().ok()?))
        })
        .collect();
    let mut arrows = 0;
    for entry in fs::read_dir(root.join("crates")).expect("the crates") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy();
        let Ok(manifest) = fs::read_to_string(path.join("Cargo.toml")) else {
            continue;
        };
        let own = floors
            .get(&*name)
            .unwrap_or_else(|| panic!("{name} has no floor"));
        for below in dependencies(&manifest) {
            let floor = floors
                .get(below)
                .unwrap_or_else(|| panic!("{below} has no floor"));
            assert!(
                floor < own,
                "{name} (floor {own}) depends on {below} (floor {floor})"
            );
            arrows += 1;
        }
    }
    assert!(arrows > 50, "{arrows} arrows were read");
}
