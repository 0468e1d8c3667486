//! Reading a directory whole, and every mistake that can be seen without a server.
use crate::directory::{Directory, NAMING, Object, base_name, kind_of};
use crate::mistake::Mistake;
use crate::node::{Data, Member, Node, member, to_object};
use crate::secrets::SecretPlace;
use crate::{read, schema};
use signet_admin::{DECLARED, Declared, MAX_DECLARED};
use signet_config::fault::nearest;
use signet_config::realms::{by_name, wrong_settings};
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Most files of a directory
pub const MAX_FILES: usize = 1000;
/// Deepest folder of a directory
const MAX_DEPTH: usize = 16;
/// Largest file of a directory, in bytes
const MAX_FILE_BYTES: u64 = 4 << 20;

/// Reads a directory, or one file.
pub(crate) fn directory(path: &Path) -> Directory {
    let mut directory = Directory {
        name: base_name(path),
        objects: Vec::new(),
        mistakes: Vec::new(),
    };
    let Found {
        files, mistakes, ..
    } = Found::below(path);
    directory.mistakes = mistakes;
    let shown = path.display().to_string();
    match files.len() {
        0 => directory.mistakes.push(
            Mistake::new(&shown, 0, "there is no *.toml in this directory")
                .suggest("signet export writes one"),
        ),
        1..=MAX_FILES => {}
        _ => directory.mistakes.push(Mistake::new(
            &shown,
            0,
            "a directory has at most 1000 files",
        )),
    }
    for file in files.iter().take(MAX_FILES) {
        take(file, &mut directory);
    }
    together(&mut directory, &shown);
    directory
}

/// Finds what is wrong with objects beside each other.
pub(crate) fn together(directory: &mut Directory, shown: &str) {
    if directory.objects.len() > MAX_DECLARED {
        let what = format!("a directory declares at most {MAX_DECLARED} objects");
        directory.mistakes.push(Mistake::new(shown, 0, what));
    }
    twice(directory);
    circles(directory);
}

/// Another number where the files of a directory are others, or were written again.
pub(crate) fn fingerprint(path: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    for file in Found::below(path).files {
        // Of what a link leads to: where it leads elsewhere, that is another file.
        let metadata = std::fs::metadata(&file).ok();
        let figures = metadata.map(|of| {
            let (changed, nanoseconds) = (of.ctime(), of.ctime_nsec());
            (
                of.dev(),
                of.ino(),
                of.len(),
                of.mtime_nsec(),
                changed,
                nanoseconds,
            )
        });
        (file, figures).hash(&mut hasher);
    }
    hasher.finish()
}

/// What there is below a directory.
#[derive(Default)]
pub(crate) struct Found {
    /// The files that declare.
    pub(crate) files: Vec<PathBuf>,
    /// The folders that they may be in.
    pub(crate) folders: Vec<PathBuf>,
    mistakes: Vec<Mistake>,
}

impl Found {
    /// Below a directory, or the one file.
    pub(crate) fn below(path: &Path) -> Found {
        let mut found = Found::default();
        if path.is_dir() {
            found.find(path, 0);
            // One order, whatever the file system's is.
            found.files.sort();
        } else {
            found.files.push(path.to_owned());
        }
        found
    }

    fn find(&mut self, folder: &Path, depth: usize) {
        let shown = folder.display().to_string();
        if depth > MAX_DEPTH {
            let what = "folders are at most 16 deep";
            return self.mistakes.push(Mistake::new(&shown, 0, what));
        }
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                let what = format!("cannot be read: {error}");
                return self.mistakes.push(Mistake::new(&shown, 0, what));
            }
        };
        self.folders.push(folder.to_owned());
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            // Editors keep theirs there, and so does what mounts a ConfigMap: a name without a full
            // stop links into it.
            if name.starts_with('.') {
                continue;
            }
            if path.is_dir() {
                self.find(&path, depth + 1);
            } else if name.ends_with(".toml") || name.ends_with(".json") {
                self.files.push(path);
            }
        }
    }
}

fn take(file: &Path, directory: &mut Directory) {
    let shown = file.display().to_string();
    let size = std::fs::metadata(file).map(|metadata| metadata.len());
    let text = match size {
        Ok(size) if size > MAX_FILE_BYTES => Err("is larger than 4 MiB".to_owned()),
        _ => std::fs::read_to_string(file).map_err(|error| format!("cannot be read: {error}")),
    };
    let text = match text {
        Ok(text) => text,
        Err(why) => return directory.mistakes.push(Mistake::new(&shown, 0, why)),
    };
    let members = match read::parse(&shown, &text) {
        Ok(members) => members,
        Err((line, what)) => {
            return directory.mistakes.push(Mistake::new(&shown, line, what));
        }
    };
    let is_naming = file.file_name().is_some_and(|name| name == NAMING);
    let base = file.parent().unwrap_or(Path::new("."));
    for one in members {
        if is_naming && one.name == "directory" {
            match one.value.text().filter(|name| is_name(name)) {
                Some(name) => name.clone_into(&mut directory.name),
                None => directory.mistakes.push(Mistake::new(
                    &shown,
                    one.line,
                    "directory must be 1 to 64 letters, digits and any of -._",
                )),
            }
            continue;
        }
        let Some(declared) = kind_of(&one.name) else {
            let tables = DECLARED.iter().map(|declared| declared.table);
            let what = format!("unknown kind of object \"{}\"", one.name);
            let mistake = Mistake::new(&shown, one.line, what);
            directory
                .mistakes
                .push(mistake.meant(nearest(&one.name, tables)));
            continue;
        };
        let Data::List(items) = one.value.data else {
            let what = format!("{} is a list of tables", one.name);
            let mistake = Mistake::new(&shown, one.line, what);
            directory
                .mistakes
                .push(mistake.suggest(format!("write [[{}]]", one.name)));
            continue;
        };
        for item in items {
            let places = |node: &Node| SecretPlace::read(node, base);
            let (object, mistakes) = object(declared, &shown, places, item);
            directory.mistakes.extend(mistakes);
            directory.objects.extend(object);
        }
    }
}

pub(crate) fn is_name(name: &str) -> bool {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"-._".contains(&b);
    (1..=64).contains(&name.len()) && name.bytes().all(fits)
}

/// An object, as far as it has a name, and what is wrong with it.
///
/// `place`: how the member that is a secret is read; what is wrong with it, and what to write.
pub(crate) fn object(
    declared: &'static Declared,
    file: &str,
    place: impl Fn(&Node) -> Result<SecretPlace, (String, String)>,
    node: Node,
) -> (Option<Object>, Vec<Mistake>) {
    let Data::Table(mut members) = node.data else {
        let what = format!("{} is a list of tables", declared.table);
        return (None, vec![Mistake::new(file, node.line, what)]);
    };
    let line = node.line;
    let mut mistakes = Vec::new();
    let secret = declared.secret.and_then(|name| {
        let at = members.iter().position(|member| member.name == name)?;
        Some(members.remove(at))
    });
    let name = member(&members, declared.id).and_then(|name| name.value.text());
    let mut object = Object {
        declared,
        name: name.unwrap_or_default().to_owned(),
        file: file.to_owned(),
        line,
        members: Vec::new(),
        secret: None,
        broken: false,
    };
    if let Some(Member { name, line, value }) = secret {
        match place(&value) {
            Ok(place) => {
                if let Err(why) = place.look() {
                    mistakes.push(object.mistake(line, format!("{name}: {why}")));
                }
                object.secret = Some((place, line));
            }
            Err((what, instead)) => {
                let mistake = object.mistake(line, format!("{name}: {what}"));
                mistakes.push(mistake.suggest(instead));
            }
        }
    }
    for needed in std::iter::once(&declared.id).chain(declared.needs) {
        if member(&members, needed).is_none() {
            let what = format!("a {} without {needed}", declared.kind());
            let mistake = object.mistake(line, what);
            mistakes.push(mistake.suggest(format!("add {needed} = \"...\"")));
        }
    }
    let schema = declared.schema();
    schema::members(&object, &members, &schema, &schema, &mut mistakes);
    if declared.table == "realms" {
        settings(&object, &members, &mut mistakes);
    }
    object.members = members;
    object.broken = !mistakes.is_empty();
    let object = (!object.name.is_empty()).then_some(object);
    (object, mistakes)
}

/// Settings of a realm that are wrong whatever the server's configuration is.
fn settings(object: &Object, members: &[Member], mistakes: &mut Vec<Mistake>) {
    let Some(settings) = member(members, "settings") else {
        return;
    };
    let Data::Table(tables) = &settings.value.data else {
        // The schema says so.
        return;
    };
    for one in tables {
        let named = by_name(&to_object(std::slice::from_ref(one)));
        let wrong = wrong_settings(&named).into_iter();
        mistakes.extend(wrong.map(|what| object.mistake(one.line, what)));
    }
}

/// Two objects of one kind and name.
fn twice(directory: &mut Directory) {
    let mut first: BTreeMap<(&'static str, String), String> = BTreeMap::new();
    for object in &mut directory.objects {
        let key = (object.declared.kind(), object.name.clone());
        let here = object.place();
        match first.get(&key) {
            None => drop(first.insert(key, here)),
            Some(there) => {
                let what = format!("a second {} \"{}\"", key.0, key.1);
                let mistake = object.mistake(object.line, what);
                let mistake = mistake.suggest(format!("the first is at {there}"));
                object.broken = true;
                directory.mistakes.push(mistake);
            }
        }
    }
}

/// Tables whose objects may name another one of them, and the member that does.
const UPWARDS: [(&str, &str); 2] = [("groups", "parent"), ("realms", "like")];

/// Objects that name themselves through others: one mistake for each circle.
fn circles(directory: &mut Directory) {
    for (table, upwards) in UPWARDS {
        circles_of(directory, table, upwards);
    }
}

fn circles_of(directory: &mut Directory, table: &str, upwards: &str) {
    let parent = |object: &Object| {
        let parent = member(&object.members, upwards)?.value.text()?;
        Some(parent.to_owned())
    };
    let of_table = directory.objects.iter();
    let of_table = of_table.filter(|object| object.declared.table == table);
    let parents: HashMap<String, String> = of_table
        .filter_map(|object| Some((object.name.clone(), parent(object)?)))
        .collect();
    let mut seen: Vec<String> = Vec::new();
    for object in &mut directory.objects {
        if object.declared.table != table {
            continue;
        }
        let mut way = vec![object.name.clone()];
        while let Some(next) = way.last().and_then(|last| parents.get(last)) {
            if *next == object.name || way.len() > parents.len() {
                break;
            }
            way.push(next.clone());
        }
        let closes = way.last().and_then(|last| parents.get(last));
        if closes != Some(&object.name) {
            continue;
        }
        object.broken = true;
        if !seen.contains(&object.name) {
            seen.extend(way.iter().cloned());
            way.push(object.name.clone());
            let what = format!("{upwards}: a circle of {table}: {}", way.join(", "));
            let mistake = object.mistake(object.line_of(upwards), what);
            let mistake = mistake.suggest("take one of them out of the other");
            directory.mistakes.push(mistake);
        }
    }
}
