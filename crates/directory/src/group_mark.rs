//! The row that tells one state of a group's members from another.
use signet_store::{Key, Op, Table};

/// Most groups whose members one change counts: it has a bounded number of rows. More at once are
/// an import, and what reads the members sees those.
const MAX_MARKS: usize = 24;

/// The row whose version tells one state of a group's members from another. No name has a space in
/// it, so it is none of a name.
pub(crate) fn mark_key(group_id: &str) -> Key {
    Key::new(Table::UserLookup, format!("members of {group_id}"))
}

/// What a change of an account's groups writes beside the account, so that of two who decide by the
/// members of a group the second sees that they changed.
pub(crate) fn group_marks(before: &[String], after: &[String]) -> Vec<Op> {
    let lost = before.iter().filter(|id| !after.contains(id));
    let got = after.iter().filter(|id| !before.contains(id));
    let changed = lost.chain(got).take(MAX_MARKS);
    let mark = |id: &String| Op::Put {
        key: mark_key(id),
        value: Vec::new(),
        end: None,
    };
    changed.map(mark).collect()
}
