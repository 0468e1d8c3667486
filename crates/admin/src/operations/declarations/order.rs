//! In which order the objects of a kind are tried.
use super::kinds::Kind;
use super::model::Object;
use signet_registry::kinds::RecordKind;
use std::collections::HashMap;

/// The member that names another object of the kind, which has to be there first.
const fn upwards(kind: RecordKind) -> Option<&'static str> {
    match kind {
        RecordKind::Group => Some("parent"),
        RecordKind::Realm => Some("like"),
        // A new kind of record touches no file that has nothing to say of it.
        _ => None,
    }
}

/// The objects of a kind, so that one comes after the one that it names; and those that name each
/// other in a circle.
pub(super) fn in_order<'a>(
    kind: &Kind,
    objects: &'a [Object],
) -> (Vec<&'a Object>, Vec<&'a Object>) {
    let of_kind = objects
        .iter()
        .filter(|one| one.kind == kind.declared.kind());
    let mut of_kind: Vec<&Object> = of_kind.collect();
    of_kind.sort_by(|a, b| a.name.cmp(&b.name));
    let Some(member) = upwards(kind.record) else {
        return (of_kind, Vec::new());
    };
    let named = |object: &Object| object.members.get(member)?.as_str().map(str::to_owned);
    let parents: HashMap<String, Option<String>> = of_kind
        .iter()
        .map(|object| (object.name.clone(), named(object)))
        .collect();
    let ways = |object: &Object| {
        let up = |name: &String| parents.get(name).cloned().flatten();
        let ways = std::iter::successors(Some(object.name.clone()), up);
        ways.take(parents.len() + 2).count()
    };
    of_kind.sort_by_cached_key(|object| ways(object));
    of_kind
        .into_iter()
        .partition(|object| ways(object) <= parents.len() + 1)
}
