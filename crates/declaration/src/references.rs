//! Names of other objects: what neither the directory nor the server has is a mistake.
use crate::directory::{Directory, Object};
use crate::mistake::Mistake;
use crate::node::{Data, Member, member};
use signet_config::fault::nearest;
use signet_oauth::scope::PRIVILEGED;
use std::collections::BTreeSet;

/// What there is at a server: kinds and names.
pub(crate) type Known = BTreeSet<(String, String)>;

/// A name that an object has: its line, and what it names.
struct Reference {
    line: usize,
    member: &'static str,
    kind: &'static str,
    name: String,
}

fn texts(member: &Member) -> Vec<(usize, &str)> {
    match &member.value.data {
        Data::List(items) => {
            let items = items.iter();
            items
                .filter_map(|item| Some((item.line, item.text()?)))
                .collect()
        }
        Data::Table(_) | Data::Leaf(_) => {
            let text = member.value.text();
            text.map(|text| (member.line, text)).into_iter().collect()
        }
    }
}

fn references(object: &Object) -> Vec<Reference> {
    let mut found = Vec::new();
    for (path, kind) in object.declared.refers {
        let mut members = object.members.as_slice();
        let mut names = path.split('.').peekable();
        let mut last = None;
        while let Some(name) = names.next() {
            last = member(members, name);
            match last.map(|member| &member.value.data) {
                Some(Data::Table(inner)) if names.peek().is_some() => members = inner,
                _ => break,
            }
        }
        for (line, text) in last.map(texts).unwrap_or_default() {
            let named: Vec<&str> = match (*kind, *path) {
                ("scope", _) => text
                    .split_ascii_whitespace()
                    .filter(|name| !PRIVILEGED.contains(name))
                    .collect(),
                // A role of a client: CLIENT_ID/NAME.
                ("client", "name") => text
                    .rsplit_once('/')
                    .map(|(id, _)| id)
                    .into_iter()
                    .collect(),
                _ => vec![text],
            };
            found.extend(named.into_iter().map(|name| Reference {
                line,
                member: path,
                kind,
                name: name.to_owned(),
            }));
        }
    }
    found
}

/// Finds names that nothing has. Objects that name what is broken are broken, too: the server is
/// not asked about them.
pub(crate) fn check(directory: &mut Directory, known: &Known) {
    let is_known = |kind: &str, name: &str| known.contains(&(kind.to_owned(), name.to_owned()));
    let mut mistakes: Vec<Mistake> = Vec::new();
    let mut broken = Vec::new();
    for (at, object) in directory.objects.iter().enumerate() {
        for one in references(object) {
            if is_known(one.kind, &one.name) || directory.find(one.kind, &one.name).is_some() {
                continue;
            }
            let own = directory.objects.iter();
            let own = own.filter(|other| other.declared.kind() == one.kind);
            let all = own.map(|other| other.name.as_str());
            let at_server = known.iter().filter(|(kind, _)| kind == one.kind);
            let all = all.chain(at_server.map(|(_, name)| name.as_str()));
            let (member, kind, name) = (one.member, one.kind, &one.name);
            let what = format!("{member}: there is no {kind} \"{name}\"");
            let mistake = object.mistake(one.line, what);
            mistakes.push(mistake.meant(nearest(name, all)));
            broken.push(at);
        }
    }
    directory.mistakes.extend(mistakes);
    for at in broken {
        directory.objects[at].broken = true;
    }
    loop {
        let waits = directory.objects.iter().position(|object| {
            !object.broken
                && references(object).iter().any(|one| {
                    let declared = directory.find(one.kind, &one.name);
                    declared.is_some_and(|declared| declared.broken)
                        && !is_known(one.kind, &one.name)
                })
        });
        match waits {
            Some(at) => directory.objects[at].broken = true,
            None => return,
        }
    }
}
