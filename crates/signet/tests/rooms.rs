//! No circle of imports between the files of a crate, no crowded folder, and no arrow up between
//! crates.
//!
//! A file imports what lies below it, and nothing that imports it, so each can be read alone. Read
//! from the code's text, without tests, comments and strings: paths that begin with `crate`,
//! `self`, `super` or a child's name, in a `use` or in the code, followed through re-exports to the
//! file that has the item. What a child takes from the files above it is no arrow: a table and its
//! rows lie so. Insides of macros are not seen.
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// Most files and folders side by side.
const MAX_SIBLINGS: usize = 25;

/// Most lines of a crate of the upper floors, tests beside the code among them.
const MAX_LINES: usize = 10_000;

/// A module's path below the crate's root.
type Module = Vec<String>;
/// Who imports whom.
type Arrows = BTreeMap<Module, BTreeSet<Module>>;

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

/// The paths of a `use` tree, without what they are renamed to.
fn leaves(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((before, group)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or(tree);
        return vec![path.split_whitespace().collect()];
    };
    let group = group.trim_end();
    let group = group.strip_suffix('}').unwrap_or(group);
    let (mut found, mut depth, mut start) = (Vec::new(), 0usize, 0);
    for (at, c) in group.char_indices().chain([(group.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let part = &group[start..at];
                if !part.trim().is_empty() {
                    let inner = leaves(part).into_iter();
                    found.extend(inner.map(|leaf| format!("{}{leaf}", before.trim())));
                }
                start = at + 1;
            }
            _ => {}
        }
    }
    found
}

/// What a file imports, and what it re-exports.
#[derive(Default)]
struct Names {
    paths: Vec<String>,
    shown: Vec<String>,
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn names(code: &str) -> Names {
    let mut names = Names::default();
    let mut rest = String::new();
    for statement in code.split_inclusive(';') {
        let start = statement.rfind("use ").filter(|at| {
            let before = statement[..*at].trim_end();
            let line = before.rsplit('\n').next().unwrap_or("").trim();
            line.is_empty() || line.starts_with("pub")
        });
        let Some(at) = start else {
            rest.push_str(statement);
            continue;
        };
        let (before, tree) = statement.split_at(at);
        let tree = tree["use ".len()..].trim_end_matches(';');
        let line = before.rsplit('\n').next().unwrap_or("");
        let found = leaves(tree);
        match line.trim().starts_with("pub") {
            true => names.shown.extend(found),
            false => names.paths.extend(found),
        }
        rest.push_str(before);
    }
    let mut word = String::new();
    for c in rest.chars().chain([' ']) {
        if is_word(c) || c == ':' {
            word.push(c);
            continue;
        }
        let path = word.trim_end_matches(':');
        if path.contains("::") && !path.starts_with(':') {
            names.paths.push(path.to_owned());
        }
        word.clear();
    }
    names
}

/// A crate's modules, with what they import and re-export.
struct Tree(BTreeMap<Module, Names>);

impl Tree {
    fn read(src: &Path) -> Tree {
        let mut found = Vec::new();
        files(src, &mut found);
        let files = found.into_iter().map(|file| {
            let relative = file.strip_prefix(src).expect("is below").to_owned();
            let text = fs::read_to_string(&file).expect("is read");
            (relative.to_string_lossy().into_owned(), text)
        });
        Tree::of(files)
    }

    fn of(files: impl IntoIterator<Item = (String, String)>) -> Tree {
        let mut modules = BTreeMap::new();
        for (file, text) in files {
            let mut module: Module = file
                .trim_end_matches(".rs")
                .split('/')
                .map(str::to_owned)
                .collect();
            let is_test = |part: &String| part == "tests" || part == "testing";
            if module.iter().any(is_test) || module[0] == "main" {
                continue;
            }
            if matches!(module.last().map(String::as_str), Some("mod" | "lib")) {
                module.pop();
            }
            modules.insert(module, names(&code(&text)));
        }
        Tree(modules)
    }

    /// A path below the root, as the module `at` says it.
    fn absolute(&self, at: &[String], path: &str) -> Option<Module> {
        let parts: Vec<&str> = path.split("::").filter(|part| *part != "*").collect();
        let climbed = parts.iter().take_while(|part| **part == "super").count();
        let (base, below) = match parts[0] {
            "crate" => (&[][..], &parts[1..]),
            "self" => (at, &parts[1..]),
            "super" => (at.get(..at.len().checked_sub(climbed)?)?, &parts[climbed..]),
            name => {
                let child = [at, &[name.to_owned()]].concat();
                self.0.contains_key(&child).then_some(())?;
                (at, &parts[..])
            }
        };
        let below = below.iter().filter(|part| **part != "self");
        Some(
            base.iter()
                .cloned()
                .chain(below.map(|part| (*part).to_owned()))
                .collect(),
        )
    }

    /// The module that has the item of a path, through re-exports.
    fn home(&self, path: &[String], follow: usize) -> Option<Module> {
        let known = (0..=path.len())
            .rev()
            .find(|len| self.0.contains_key(&path[..*len]))?;
        let (module, rest) = path.split_at(known);
        let shown = rest.first().filter(|_| follow > 0).and_then(|name| {
            let all = self.0[module].shown.iter();
            let mut named = all.filter(|shown| shown.rsplit("::").next() == Some(name));
            let to = self.absolute(module, named.next()?)?;
            let to = [to, rest[1..].to_vec()].concat();
            (to != path).then_some(to)
        });
        match shown {
            Some(to) => self.home(&to, follow - 1),
            None => Some(module.to_vec()),
        }
    }

    fn arrows(&self) -> Arrows {
        let mut arrows = Arrows::new();
        for (module, names) in &self.0 {
            let below = names.paths.iter().filter_map(|path| {
                let to = self.home(&self.absolute(module, path)?, 8)?;
                (!module.starts_with(&to)).then_some(to)
            });
            arrows.insert(module.clone(), below.collect());
        }
        arrows
    }
}

/// Takes away modules that import no other of those left, again and again: what stays lies in a
/// circle, or above one.
fn tied(mut arrows: Arrows) -> BTreeSet<String> {
    loop {
        let free: Vec<Module> = arrows
            .iter()
            .filter(|(_, below)| below.iter().all(|module| !arrows.contains_key(module)))
            .map(|(module, _)| module.clone())
            .collect();
        if free.is_empty() {
            break;
        }
        for module in free {
            arrows.remove(&module);
        }
    }
    // Those above a circle are imported by no other of those left.
    loop {
        let imported: BTreeSet<Module> = arrows.values().flatten().cloned().collect();
        let before = arrows.len();
        arrows.retain(|module, _| imported.contains(module));
        if arrows.len() == before {
            return arrows.into_keys().map(|module| module.join("/")).collect();
        }
    }
}

/// The source folders of all crates, by their names.
fn sources() -> BTreeMap<String, PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let entries = fs::read_dir(crates).expect("the crates");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let sources: BTreeMap<String, PathBuf> = paths
        .filter(|path| path.join("src").is_dir())
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy();
            (name.into_owned(), path.join("src"))
        })
        .collect();
    assert!(sources.len() >= 30, "{} crates were read", sources.len());
    sources
}

#[test]
fn no_file_lies_in_a_circle_of_imports() {
    let mut arrows = 0;
    for (name, src) in sources() {
        let found = Tree::read(&src).arrows();
        arrows += found.values().map(BTreeSet::len).sum::<usize>();
        let circle = tied(found);
        assert!(
            circle.is_empty(),
            "files of {name} import each other in a circle: {circle:?}"
        );
    }
    assert!(arrows > 2000, "{arrows} arrows were read");
}

/// Folders below `folder` with too much in them.
fn crowded(folder: &Path, found: &mut Vec<String>) {
    let mut siblings = BTreeSet::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        if path.is_dir() {
            if name != "tests" {
                crowded(&path, found);
                siblings.insert(name);
            }
        } else if let Some(stem) = name.strip_suffix(".rs")
            && !matches!(stem, "lib" | "mod" | "main" | "tests")
        {
            siblings.insert(stem.to_owned());
        }
    }
    if siblings.len() > MAX_SIBLINGS {
        found.push(format!("{}: {}", folder.display(), siblings.len()));
    }
}

#[test]
fn no_folder_has_more_siblings_than_a_reader_keeps_in_mind() {
    let mut found = Vec::new();
    for src in sources().values() {
        crowded(src, &mut found);
    }
    assert_eq!(found, [""; 0]);
}

#[test]
fn no_crate_of_the_upper_floors_grows_into_one_room_for_everything() {
    let sources = sources();
    for name in ["realm", "request", "federation", "login", "admin", "server"] {
        let mut found = Vec::new();
        files(&sources[name], &mut found);
        let lines = found
            .iter()
            .map(|file| fs::read_to_string(file).expect("is read").lines().count());
        let lines: usize = lines.sum();
        assert!(lines <= MAX_LINES, "{name} has {lines} lines: cut it");
    }
}

fn tree(files: &[(&str, &str)]) -> Tree {
    let owned = files
        .iter()
        .map(|(file, text)| ((*file).to_owned(), (*text).to_owned()));
    Tree::of(owned)
}

#[test]
fn a_circle_is_seen_however_it_is_written() {
    let other = ("b.rs", "use crate::a::X;");
    for one in [
        "use crate::b::Y;",
        "use super::b::Y;",
        "use crate::{c, b::{self, Y}};",
        "use crate::{\n    b::{Y as Z},\n};",
        "fn f(x: crate::b::Y) {}",
        "fn f() { super::b::y() }",
        "use crate::Y;",
        "use crate::shelf::Y;",
        "use super::shelf::inner::Y;",
    ] {
        let files = [
            ("lib.rs", "mod a; mod b; mod shelf; pub use b::Y;"),
            ("a.rs", one),
            other,
            ("c.rs", ""),
            ("shelf/mod.rs", "pub mod inner; pub use inner::Y;"),
            ("shelf/inner.rs", "pub(crate) use crate::b::Y;"),
        ];
        let circle = tied(tree(&files).arrows());
        let both = BTreeSet::from(["a".to_owned(), "b".to_owned()]);
        assert_eq!(circle, both, "{one}");
    }
}

#[test]
fn what_is_no_import_of_another_file_is_no_arrow() {
    let other = ("b.rs", "use crate::a::X;");
    for one in [
        "// use crate::b::Y;",
        "fn f() -> &'static str { \"crate::b::Y\" }",
        "use other::b::Y;",
        "fn f() {}\n#[cfg(test)]\nmod tests { use crate::b::Y; }",
    ] {
        let circle = tied(tree(&[("a.rs", one), other]).arrows());
        assert_eq!(circle, BTreeSet::new(), "{one}");
    }
    // A table and its rows.
    let rows = [
        (
            "a/mod.rs",
            "mod row; pub trait Row {} const ALL: &[&dyn Row] = &[&row::One];",
        ),
        ("a/row.rs", "use super::Row;"),
    ];
    assert_eq!(tied(tree(&rows).arrows()), BTreeSet::new());
    // Children of one folder.
    let children = [
        ("a/mod.rs", "mod one; mod two;"),
        ("a/one.rs", "use super::two::Y;"),
        ("a/two.rs", "use super::one::X;"),
    ];
    let circle = tied(tree(&children).arrows());
    assert_eq!(
        circle,
        BTreeSet::from(["a/one".to_owned(), "a/two".to_owned()])
    );
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
