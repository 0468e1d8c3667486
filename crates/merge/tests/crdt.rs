//! The laws of records: whatever order fragments come in, how often, and whatever is lost before a
//! later one arrives, the same fragments give the same record, the same bytes and the same answers.
use proptest::prelude::*;
use signet_merge::{
    crdt::{MAX_ELEMENT_BYTES, MAX_MEMBER_BYTES, MAX_RECORD_BYTES, MAX_VALUE_BYTES, Record},
    hlc::{Hlc, Stamp},
};
use signet_store::NodeId;

const MEMBERS: [&str; 2] = ["one", "two"];
const ELEMENTS: [&[u8]; 3] = [b"x", b"y", b""];

fn node(index: usize) -> NodeId {
    NodeId::parse(["a", "b", "c"][index]).expect("a name")
}

fn stamp(ms: u64, writer: usize) -> Stamp {
    Stamp {
        ms,
        seq: 0,
        node: node(writer),
    }
}

/// One edit of one writer; `hears` says whose fragments it has merged before it writes.
#[derive(Clone, Debug)]
struct Edit {
    writer: usize,
    what: u8,
    member: usize,
    element: usize,
    skew_ms: u64,
    hears: Option<usize>,
}

fn edit() -> impl Strategy<Value = Edit> {
    (
        0..3_usize,
        0..10_u8,
        0..2_usize,
        0..3_usize,
        0..40_u64,
        prop::option::of(0..3_usize),
    )
        .prop_map(|(writer, what, member, element, skew_ms, hears)| Edit {
            writer,
            what,
            member,
            element,
            skew_ms,
            hears,
        })
}

/// Three writers that edit on their own and sometimes hear each other: all fragments, and what each
/// writer has at the end.
fn run(edits: &[Edit]) -> (Vec<Record>, Vec<Record>) {
    let mut states = vec![Record::new(); 3];
    let clocks: Vec<Hlc> = (0..3).map(|index| Hlc::new(node(index))).collect();
    let mut fragments = Vec::new();
    for (at, edit) in edits.iter().enumerate() {
        if let Some(other) = edit.hears {
            let theirs = states[other].clone();
            states[edit.writer].merge(&theirs);
            if let Some(newest) = theirs.newest() {
                clocks[edit.writer]
                    .observe(newest, newest.ms)
                    .expect("not ahead");
            }
        }
        let stamp = clocks[edit.writer].now(at as u64 + edit.skew_ms);
        let state = &mut states[edit.writer];
        let before = state.clone();
        let (member, element) = (MEMBERS[edit.member], ELEMENTS[edit.element]);
        match edit.what {
            0 => state.create(&stamp),
            1 => state.delete(&stamp),
            2 => state.set(member, Some(element.to_vec()), &stamp),
            3 => state.set(member, None, &stamp),
            4 | 5 => state.add(member, element, &stamp),
            6 => {
                state.remove(member, element);
            }
            7 => state.allow(member, element, &stamp),
            8 => state.deny(member, element, &stamp),
            _ => state.renew(&stamp),
        }
        let fragment = state.difference(&before);
        let mut again = before;
        again.merge(&fragment);
        assert_eq!(again, *state, "a fragment carries the whole change");
        fragments.push(fragment);
    }
    (fragments, states)
}

fn joined<'a>(records: impl IntoIterator<Item = &'a Record>) -> Record {
    let mut all = Record::new();
    for record in records {
        all.merge(record);
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn merging_is_associative_commutative_and_idempotent(
        edits in prop::collection::vec(edit(), 0..24),
        cut in any::<prop::sample::Index>(),
    ) {
        let (fragments, states) = run(&edits);
        let at = cut.index(fragments.len() + 1);
        let (a, b, c) = (joined(&fragments[..at]), joined(&fragments[at..]), &states[0]);

        let ab_c = joined([&joined([&a, &b]), c]);
        let a_bc = joined([&a, &joined([&b, c])]);
        prop_assert_eq!(&ab_c, &a_bc);
        prop_assert_eq!(joined([&a, &b]), joined([&b, &a]));
        let mut twice = a.clone();
        prop_assert!(!twice.merge(&a));
        prop_assert_eq!(&twice, &a);
    }

    #[test]
    fn order_repetition_loss_and_late_arrival_end_in_the_same_record(
        edits in prop::collection::vec(edit(), 1..24),
        order in prop::collection::vec(any::<prop::sample::Index>(), 0..64),
    ) {
        let (fragments, states) = run(&edits);
        // Some come in any order and repeatedly; then, late, each comes at least once.
        let mut heard = Record::new();
        for index in &order {
            heard.merge(index.get(&fragments));
        }
        for fragment in fragments.iter().rev() {
            heard.merge(fragment);
        }
        let all = joined(&fragments);
        prop_assert_eq!(&heard, &all);
        prop_assert_eq!(heard.to_bytes(), all.to_bytes());
        // Fragments lost on the way are made good by any writer's state.
        prop_assert_eq!(&joined(&states), &all);
    }

    #[test]
    fn the_fragments_that_a_record_still_says_are_the_record(
        edits in prop::collection::vec(edit(), 0..24),
    ) {
        let (fragments, _) = run(&edits);
        let all = joined(&fragments);
        prop_assert_eq!(joined(fragments.iter().filter(|f| all.still_says(f))), all);
    }

    #[test]
    fn a_record_has_one_encoding(edits in prop::collection::vec(edit(), 0..24)) {
        let (fragments, states) = run(&edits);
        for record in fragments.iter().chain(&states) {
            let bytes = record.to_bytes();
            prop_assert_eq!(&Record::from_bytes(&bytes).expect("canonical"), record);
        }
    }

    #[test]
    fn what_is_read_from_changed_bytes_is_written_the_same(
        edits in prop::collection::vec(edit(), 0..12),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = joined(&run(&edits).0).to_bytes();
        for (index, value) in changes {
            let at = index.index(bytes.len());
            bytes[at] = value;
        }
        if let Ok(record) = Record::from_bytes(&bytes) {
            prop_assert_eq!(record.to_bytes(), bytes);
        }
    }

    #[test]
    fn what_counts_is_never_from_before_the_newest_creation_or_deletion(
        edits in prop::collection::vec(edit(), 0..24),
    ) {
        let (fragments, _) = run(&edits);
        let all = joined(&fragments);
        for member in MEMBERS {
            if let Some(written) = all.written(member) {
                prop_assert!(all.created().is_none_or(|created| written >= created));
                prop_assert!(all.deleted().is_none_or(|deleted| written > deleted));
            }
        }
    }
}

#[test]
fn two_writers_who_add_at_the_same_time_both_win() {
    let (mut a, mut b) = (Record::new(), Record::new());
    a.add("uris", b"one", &stamp(5, 0));
    b.add("uris", b"two", &stamp(5, 1));
    a.merge(&b);
    assert_eq!(a.elements("uris").collect::<Vec<_>>(), [b"one", b"two"]);
}

#[test]
fn an_add_that_the_remover_had_not_seen_stays() {
    let mut start = Record::new();
    start.add("uris", b"x", &stamp(1, 0));
    let (mut a, mut b) = (start.clone(), start);
    a.add("uris", b"x", &stamp(2, 0));
    assert!(b.remove("uris", b"x"));
    a.merge(&b);
    assert_eq!(a.elements("uris").count(), 1);
    // Who has seen both adds removes both.
    a.remove("uris", b"x");
    b.merge(&a);
    assert_eq!(b.elements("uris").count(), 0);
    assert!(!b.remove("uris", b"x"));
}

#[test]
fn a_denial_that_the_allowing_writer_had_not_seen_stays() {
    let mut start = Record::new();
    start.allow("roles", b"admin", &stamp(1, 0));
    let (mut a, mut b) = (start.clone(), start);
    a.allow("roles", b"admin", &stamp(9, 0));
    b.deny("roles", b"admin", &stamp(2, 1));
    a.merge(&b);
    assert_eq!(a.allowed("roles").count(), 0);
    a.allow("roles", b"admin", &stamp(10, 0));
    b.merge(&a);
    assert_eq!(b.allowed("roles").count(), 1);
}

#[test]
fn the_later_write_of_a_register_wins_in_either_order() {
    let (mut a, mut b) = (Record::new(), Record::new());
    a.set("name", Some(b"old".to_vec()), &stamp(5, 1));
    b.set("name", None, &stamp(6, 0));
    let mut other = b.clone();
    other.merge(&a);
    a.merge(&b);
    assert_eq!(a, other);
    assert_eq!(a.register("name"), None);
    assert_eq!(a.written("name"), Some(&stamp(6, 0)));
}

#[test]
fn a_deletion_wins_over_edits_that_are_not_later() {
    let mut a = Record::new();
    a.create(&stamp(1, 0));
    let mut b = a.clone();
    a.delete(&stamp(5, 0));
    b.set("name", Some(b"edited meanwhile".to_vec()), &stamp(4, 1));
    a.merge(&b);
    assert!(!a.lives());
    assert_eq!(a.register("name"), None);
}

#[test]
fn nothing_from_before_a_deletion_comes_back_with_a_later_creation() {
    let mut a = Record::new();
    a.create(&stamp(1, 0));
    a.set("secret", Some(b"old".to_vec()), &stamp(1, 0));
    a.add("uris", b"https://old.example", &stamp(1, 0));
    a.allow("roles", b"admin", &stamp(1, 0));
    let late = a.clone();
    a.delete(&stamp(5, 0));
    // Somebody who had not heard of the deletion edits after it.
    let mut unaware = late.clone();
    unaware.set("name", Some(b"unaware".to_vec()), &stamp(6, 1));
    a.create(&stamp(7, 0));
    a.set("name", Some(b"new".to_vec()), &stamp(7, 0));
    a.merge(&late);
    a.merge(&unaware);
    assert!(a.lives());
    assert_eq!(
        a.registers().collect::<Vec<_>>(),
        [("name", b"new".as_slice())]
    );
    assert_eq!(a.elements("uris").count() + a.allowed("roles").count(), 0);
}

#[test]
fn renewing_forgets_what_was_removed_and_keeps_the_values() {
    let mut a = Record::new();
    a.create(&stamp(1, 0));
    a.set("name", Some(b"Shop".to_vec()), &stamp(1, 0));
    for index in 0..1_000_u64 {
        let uri = index.to_be_bytes();
        a.add("uris", &uri, &stamp(2 + index, 0));
        if index > 0 {
            a.remove("uris", &uri);
        }
    }
    let large = a.to_bytes().len();
    a.renew(&stamp(5_000, 0));
    assert!(a.to_bytes().len() * 100 < large);
    assert_eq!(a.register("name"), Some(b"Shop".as_slice()));
    assert_eq!(a.elements("uris").collect::<Vec<_>>(), [[0; 8]]);
}

#[test]
fn what_is_larger_than_the_limits_is_not_read() {
    let with = |edit: &dyn Fn(&mut Record)| {
        let mut record = Record::new();
        edit(&mut record);
        Record::from_bytes(&record.to_bytes()).is_ok()
    };
    let at = stamp(1, 0);
    for (over, fits) in [(0, true), (1, false)] {
        let name = "m".repeat(MAX_MEMBER_BYTES + over);
        assert_eq!(with(&|r| r.set(&name, None, &at)), fits);
        let value = vec![0; MAX_VALUE_BYTES + over];
        assert_eq!(with(&|r| r.set("m", Some(value.clone()), &at)), fits);
        let element = vec![0; MAX_ELEMENT_BYTES + over];
        assert_eq!(with(&|r| r.add("m", &element, &at)), fits);
    }
    let two = vec![0; MAX_RECORD_BYTES / 2];
    assert!(!with(&|r| {
        r.set("m", Some(two.clone()), &at);
        r.set("n", Some(two.clone()), &at);
    }));
}

#[test]
fn states_that_are_not_settled_are_not_read() {
    // {0: created at 5, 2: [["m", written at 4, null]]}: the write does not count.
    let bytes = b"\xa2\x00\x83\x05\x00\x61a\x02\x81\x83\x61m\x83\x04\x00\x61a\xf6";
    assert_eq!(
        Record::from_bytes(bytes),
        Err(signet_cbor::Error::NotCanonical)
    );
    let mut counts = bytes.to_vec();
    let at = counts.len() - 5;
    counts[at] = 5;
    assert!(Record::from_bytes(&counts).is_ok());
}
