//! The audit trail: what is recorded, what of it survives, and that nobody can change it unseen.

use signet_agent::identity::VerifiedDocument;
use signet_agent::log::Checkpoint;
use signet_agent::{Refusal, Suite};
use signet_audit::line::Frame;
use signet_audit::segment::{Found, Segment, frames};
use signet_audit::verify::{Broken, Signatures, Verified, Verifier};
use signet_audit::{
    Action, Audit, AuditError, AuditOptions, Counted, Event, NodeId, Opened, Places, carrying,
    read, with_record,
};
use signet_crypto::seal::{Keyring, SealingKey};
use signet_store::{Change, Key, Layer, MemoryStore, Op, Store, Table};
use std::{
    io::Read,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

use crate::support::{TestClock, block_on};

const NOW: u64 = 1_800_000_000;
/// Where the node's records wait in the store.
const PENDING: &[u8] = b"pending:node-1";

/// A store, its sealing keys and a directory: what outlives a process.
struct Place {
    directory: tempfile::TempDir,
    store: Arc<MemoryStore>,
    keyring: Keyring,
    sealing: SealingKey,
    clock: Arc<TestClock>,
}

impl Place {
    fn new() -> Place {
        let sealing = SealingKey::generate();
        Place {
            directory: tempfile::tempdir().unwrap(),
            store: Arc::new(MemoryStore::new()),
            keyring: Keyring::new(sealing.clone(), Vec::new()),
            sealing,
            clock: Arc::default(),
        }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn try_open(&self, options: AuditOptions) -> Result<(Audit, Opened), AuditError> {
        let store = self.store.clone();
        block_on(Audit::open(
            options,
            store,
            &self.keyring,
            self.clock.clone(),
        ))
    }

    fn open(&self) -> (Audit, Opened) {
        self.try_open(self.options()).unwrap()
    }

    fn options(&self) -> AuditOptions {
        AuditOptions {
            interval: Duration::from_millis(10),
            ..AuditOptions::new(self.path())
        }
    }

    fn lines(&self) -> Vec<serde_json::Value> {
        let lines = read::lines(&self.segments(), Some(0), usize::MAX).unwrap();
        lines.iter().map(|line| line.to_json()).collect()
    }

    fn actions(&self) -> Vec<String> {
        let lines = self.lines();
        lines
            .iter()
            .map(|l| l["action"].as_str().unwrap().to_owned())
            .collect()
    }

    fn count_of(&self, action: &str) -> usize {
        self.actions().iter().filter(|a| *a == action).count()
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for segment in self.segments() {
            segment.open().unwrap().read_to_end(&mut bytes).unwrap();
        }
        bytes
    }

    fn segments(&self) -> Vec<Segment> {
        Places::new(self.path()).segments().unwrap()
    }

    fn last_segment(&self) -> PathBuf {
        self.segments().pop().unwrap().path
    }
}

fn event(subject: &str) -> Event<'_> {
    Event::new(Action::LOGIN, NOW * 1000).subject(subject)
}

/// Waits until the log has so many lines.
fn until(audit: &Audit, lines: u64) {
    let started = std::time::Instant::now();
    while audit.figures().0 < lines {
        assert!(
            started.elapsed() < Duration::from_secs(60),
            "{:?}",
            audit.figures()
        );
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A log of four batches and ten lines, closed.
fn small() -> (Place, VerifiedDocument) {
    let place = Place::new();
    let (audit, _) = place.open();
    let document = audit.document().unwrap().clone();
    for batch in 0..3 {
        let had = audit.figures().0;
        for name in ["alice", "bob", "carol"].iter().take(3 - batch) {
            audit.record(event(name));
        }
        until(&audit, had + 3 - batch as u64);
    }
    audit.close();
    (place, document)
}

fn verify_with(
    bytes: &[u8],
    expected: Option<&VerifiedDocument>,
    known: Option<&Checkpoint>,
) -> Result<Verified, Broken> {
    let mut verifier = Verifier::new(expected.cloned(), known.cloned(), Signatures::All);
    for found in frames(bytes) {
        match found {
            Found::Frame(frame, _) => verifier.frame(&frame)?,
            Found::Torn => {
                return Err(Broken::at(
                    verifier.next_line(),
                    Refusal::LogUnsigned,
                    "torn",
                ));
            }
            Found::Broken(reason) => {
                return Err(Broken::at(verifier.next_line(), reason, "no frame"));
            }
        }
    }
    verifier.finish()
}

/// The frames of a log, each with its bytes.
fn cut(bytes: &[u8]) -> Vec<(Frame, Vec<u8>)> {
    let (mut all, mut from) = (Vec::new(), 0);
    for found in frames(bytes) {
        let Found::Frame(frame, end) = found else {
            panic!("a whole log");
        };
        all.push((*frame, bytes[from..end].to_vec()));
        from = end;
    }
    all
}

fn join(parts: &[(Frame, Vec<u8>)]) -> Vec<u8> {
    parts.iter().flat_map(|(_, bytes)| bytes.clone()).collect()
}

fn lines_of(parts: &[(Frame, Vec<u8>)]) -> Vec<usize> {
    let is_line = |at: &usize| matches!(parts[*at].0, Frame::Line(_));
    (0..parts.len()).filter(is_line).collect()
}

#[test]
fn a_log_verifies_as_it_was_written() {
    let (place, document) = small();
    let verified = verify_with(&place.bytes(), Some(&document), None).unwrap();
    assert_eq!((verified.first, verified.lines, verified.gaps), (0, 8, 0));
    assert!(verified.checkpoints >= 4);
    assert_eq!(
        place.actions().first().map(String::as_str),
        Some("audit.start")
    );
    assert_eq!(
        place.actions().last().map(String::as_str),
        Some("audit.stop")
    );
}

#[test]
fn one_changed_byte_is_found_wherever_it_is() {
    let (place, document) = small();
    let good = place.bytes();
    for at in 0..good.len() {
        for flip in [0x01, 0x80] {
            let mut changed = good.clone();
            changed[at] ^= flip;
            assert!(
                verify_with(&changed, Some(&document), None).is_err(),
                "byte {at} ^ {flip:#x}"
            );
        }
    }
}

#[test]
fn a_log_that_was_cut_right_behind_a_head_does_not_verify() {
    let (place, document) = small();
    let parts = cut(&place.bytes());
    let broken = verify_with(&parts[0].1, Some(&document), None).unwrap_err();
    assert_eq!((broken.reason, broken.line), (Refusal::LogUnsigned, 0));
    // Nor does one with a checkpoint twice, over no record.
    let last = parts.last().unwrap().clone();
    let twice = [&*parts, &[last]].concat();
    let broken = verify_with(&join(&twice), Some(&document), None).unwrap_err();
    assert_eq!(broken.reason, Refusal::ChainBroken);
}

/// A generator of its own, so that every run tries the same.
struct Draws(u64);

impl Draws {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }
}

#[test]
fn whatever_is_done_to_the_bytes_only_the_log_or_a_signed_beginning_of_it_verifies() {
    let (place, document) = small();
    let good = place.bytes();
    let (mut ends, mut from) = (Vec::new(), 0);
    for (frame, bytes) in cut(&good) {
        from += bytes.len();
        if matches!(frame, Frame::Checkpoint(_)) {
            ends.push(from);
        }
    }
    let mut draws = Draws(0x5eed);
    for _ in 0..4000 {
        let mut bytes = good.clone();
        for _ in 0..=draws.below(3) {
            let at = draws.below(bytes.len().max(1)).min(bytes.len());
            let length = draws.below(200).min(bytes.len() - at);
            match draws.below(5) {
                0 => bytes.truncate(at),
                1 => drop(bytes.drain(at..at + length)),
                2 => {
                    let other = draws.below(good.len());
                    let piece = good[other..(other + length).min(good.len())].to_vec();
                    drop(bytes.splice(at..at, piece));
                }
                3 => {
                    let other = draws.below(good.len());
                    let piece = good[other..(other + length).min(good.len())].to_vec();
                    drop(bytes.splice(at..at + length, piece));
                }
                _ => bytes.insert(at, u8::try_from(draws.below(256)).unwrap()),
            }
        }
        if verify_with(&bytes, Some(&document), None).is_ok() {
            let is_beginning = good.starts_with(&bytes) && ends.contains(&bytes.len());
            assert!(is_beginning, "{} bytes", bytes.len());
        }
    }
}

#[test]
fn a_changed_line_is_named() {
    let (place, document) = small();
    let parts = cut(&place.bytes());
    for at in lines_of(&parts) {
        let mut changed = parts.clone();
        let Frame::Line(line) = &parts[at].0 else {
            unreachable!()
        };
        // The last byte of its content.
        *changed[at].1.last_mut().unwrap() ^= 1;
        let broken = verify_with(&join(&changed), Some(&document), None).unwrap_err();
        assert_eq!(broken.reason, Refusal::ContentMismatch);
        assert_eq!(broken.line, line.receipt.index);
    }
}

#[test]
fn one_missing_line_is_found_and_named() {
    let (place, document) = small();
    let parts = cut(&place.bytes());
    for at in lines_of(&parts) {
        let Frame::Line(line) = &parts[at].0 else {
            unreachable!()
        };
        let mut changed = parts.clone();
        changed.remove(at);
        let broken = verify_with(&join(&changed), Some(&document), None).unwrap_err();
        assert_eq!(broken.reason, Refusal::ChainBroken, "{at}");
        // Where the checkpoint comes next, the batch is named.
        assert!(broken.line <= line.receipt.index, "{at}: {broken}");
    }
}

#[test]
fn lines_in_another_order_and_lines_put_in_are_found() {
    let (place, document) = small();
    let parts = cut(&place.bytes());
    let lines = lines_of(&parts);
    for pair in lines.windows(2) {
        let mut changed = parts.clone();
        changed.swap(pair[0], pair[1]);
        assert!(
            verify_with(&join(&changed), Some(&document), None).is_err(),
            "{pair:?}"
        );
    }
    for at in &lines {
        for place in 1..parts.len() {
            let mut changed = parts.clone();
            changed.insert(place, parts[*at].clone());
            assert!(
                verify_with(&join(&changed), Some(&document), None).is_err(),
                "{at} {place}"
            );
        }
    }
}

#[test]
fn batches_in_another_order_and_missing_batches_are_found() {
    let (place, document) = small();
    let parts = cut(&place.bytes());
    let mut batches: Vec<Vec<(Frame, Vec<u8>)>> = vec![Vec::new()];
    for part in &parts {
        let ends = matches!(part.0, Frame::Checkpoint(_));
        batches.last_mut().unwrap().push(part.clone());
        if ends {
            batches.push(Vec::new());
        }
    }
    batches.retain(|batch| !batch.is_empty());
    assert!(batches.len() >= 4);
    for i in 0..batches.len() {
        for j in i + 1..batches.len() {
            let mut changed = batches.clone();
            changed.swap(i, j);
            assert!(verify_with(&join(&changed.concat()), Some(&document), None).is_err());
        }
        if i + 1 < batches.len() {
            let mut changed = batches.clone();
            changed.remove(i);
            assert!(
                verify_with(&join(&changed.concat()), Some(&document), None).is_err(),
                "{i}"
            );
        }
    }
    // A checkpoint of another place.
    let signed: Vec<usize> = (0..parts.len())
        .filter(|at| matches!(parts[*at].0, Frame::Checkpoint(_)))
        .collect();
    let mut changed = parts.clone();
    changed[signed[0]] = parts[signed[1]].clone();
    assert!(verify_with(&join(&changed), Some(&document), None).is_err());
}

#[test]
fn a_cut_off_end_is_found_by_a_checkpoint_that_was_kept() {
    let (place, document) = small();
    let parts = cut(&place.bytes());
    let kept = verify_with(&place.bytes(), Some(&document), None)
        .unwrap()
        .last
        .unwrap();
    let first_batch = parts
        .iter()
        .position(|(frame, _)| matches!(frame, Frame::Checkpoint(_)))
        .unwrap();
    let short = join(&parts[..=first_batch]);
    // Without it the shorter log is as good as any, and nobody can know better.
    let verified = verify_with(&short, Some(&document), None).unwrap();
    assert!(!verified.known_checked);
    let broken = verify_with(&short, Some(&document), Some(&kept)).unwrap_err();
    assert_eq!(
        (broken.reason, broken.line),
        (Refusal::LogTruncated, verified.lines)
    );
    let whole = verify_with(&place.bytes(), Some(&document), Some(&kept)).unwrap();
    assert!(whole.known_checked);
    // An older one holds too: the log continues it.
    let older = verified.last.unwrap();
    assert!(
        verify_with(&place.bytes(), Some(&document), Some(&older))
            .unwrap()
            .known_checked
    );
    // Lines without a checkpoint are none of the log's.
    let unsigned = join(&parts[..parts.len() - 1]);
    let broken = verify_with(&unsigned, Some(&document), None).unwrap_err();
    assert_eq!(broken.reason, Refusal::LogUnsigned);
}

#[test]
fn a_log_of_another_key_is_refused() {
    let (place, document) = small();
    let (other, stranger) = small();
    let broken = verify_with(&other.bytes(), Some(&document), None).unwrap_err();
    assert_eq!(broken.reason, Refusal::WrongSigner);
    // Signed by another identity over the right root, in the right identity's name.
    let mut parts = cut(&place.bytes());
    let at = parts
        .iter()
        .position(|(frame, _)| matches!(frame, Frame::Checkpoint(_)))
        .unwrap();
    let Frame::Checkpoint(real) = &parts[at].0 else {
        unreachable!()
    };
    let keys = signet_agent::SigningKeys::generate(Suite::Ed25519).unwrap();
    let signer = signet_agent::object::Signer {
        by: real.by,
        keys: &keys,
    };
    let forged = Checkpoint::sign_root(real.size, real.root, &signer, real.at).unwrap();
    let mut body = signet_cbor::Encoder::new();
    body.array(2).uint(2).bytes(&forged.to_bytes());
    let mut frame = signet_cbor::Encoder::new();
    frame.bytes(&body.finish());
    parts[at].1 = frame.finish();
    let broken = verify_with(&join(&parts), Some(&document), None).unwrap_err();
    assert_eq!(broken.reason, Refusal::SignatureInvalid);
    // A kept checkpoint of the other identity's log is none of this one.
    let kept = verify_with(&other.bytes(), Some(&stranger), None)
        .unwrap()
        .last
        .unwrap();
    let broken = verify_with(&place.bytes(), Some(&document), Some(&kept)).unwrap_err();
    assert_eq!(broken.reason, Refusal::WrongSigner);
}

#[test]
fn what_finds_the_queue_full_is_counted_in_the_log() {
    const EVENTS: u64 = 80_000;
    let place = Place::new();
    let options = AuditOptions {
        interval: Duration::from_secs(3600),
        ..place.options()
    };
    let (audit, _) = place.try_open(options).unwrap();
    let before = audit.figures().0;
    for _ in 0..EVENTS {
        audit.record(event("alice"));
    }
    audit.close();
    let lines = place.lines();
    let gaps: Vec<_> = lines
        .iter()
        .filter(|l| l["error"] == "queue_full")
        .collect();
    let lost: u64 = gaps.iter().map(|gap| gap["count"].as_u64().unwrap()).sum();
    assert!(lost > 0);
    let kept = lines.iter().filter(|l| l["action"] == "login").count() as u64;
    assert_eq!(kept + lost, EVENTS);
    assert!(audit.figures().0 > before + kept);
    let verified = verify_with(&place.bytes(), None, None).unwrap();
    assert_eq!(verified.gaps, gaps.len() as u64);
}

fn insert(name: &str) -> Change {
    Change::new(Op::Insert {
        key: Key::new(Table::Client, name),
        value: b"record".to_vec(),
        end: None,
    })
}

fn pending(place: &Place) -> usize {
    let rows = place.store.partition(Table::Audit, PENDING, b"", 100, NOW);
    block_on(rows).unwrap().len()
}

#[test]
fn a_state_change_commits_together_with_its_line() {
    let place = Place::new();
    let store = carrying(place.store.clone(), &NodeId::default());
    let change = |name| store.commit(insert(name), NOW);
    let (done, was_carried) = block_on(with_record(event("alice"), change("a")));
    assert!(done.unwrap().is_done() && was_carried);
    assert_eq!(pending(&place), 1);
    // What is refused changes nothing, and says nothing.
    let (done, was_carried) = block_on(with_record(event("bob"), change("a")));
    assert!(!done.unwrap().is_done() && !was_carried);
    assert_eq!(pending(&place), 1);
    // Removing what is there carries, too; what is not there does not.
    let gone = Key::new(Table::Client, "a");
    assert!(block_on(with_record(event("carol"), store.take(&gone, NOW))).1);
    assert!(!block_on(with_record(event("dave"), store.take(&gone, NOW))).1);
    assert_eq!(pending(&place), 2);
    // The process ended before anything of it was in the log: the next one has it.
    let (audit, _) = place.open();
    assert_eq!(pending(&place), 0);
    audit.close();
    let lines = place.lines();
    let who: Vec<_> = lines.iter().filter_map(|l| l["subject"].as_str()).collect();
    assert_eq!(who, ["alice", "carol"]);
}

#[test]
fn an_act_within_an_act_has_both_lines_and_what_stands_apart_has_none() {
    let place = Place::new();
    let store = carrying(place.store.clone(), &NodeId::default());
    let inner = with_record(event("inner"), store.commit(insert("a"), NOW));
    let ((_, inner), outer) = block_on(with_record(event("outer"), inner));
    assert!(inner && outer);
    assert_eq!(pending(&place), 2);
    let apart = signet_audit::outside_act(store.commit(insert("b"), NOW));
    let (done, was_carried) = block_on(with_record(event("outer"), apart));
    assert!(done.unwrap().is_done() && !was_carried);
    assert_eq!(pending(&place), 2);
}

#[test]
fn a_failed_act_is_recorded_as_refused_and_a_done_one_once() {
    let place = Place::new();
    let (audit, _) = place.open();
    let store = audit.recorded(place.store.clone());
    let act = |name: &'static str, fails: bool| {
        let store = store.clone();
        let work = async move {
            store.commit(insert(name), NOW).await.unwrap();
            if fails { Err(()) } else { Ok(()) }
        };
        block_on(audit.act(event(name), work, |()| "conflict")).is_ok()
    };
    assert!(act("one", false));
    assert!(!act("two", true));
    // Nothing changes: a decision like others.
    assert!(act("one", false));
    audit.close();
    let lines = place.lines();
    let of = |name: &str| -> Vec<String> {
        let own = lines.iter().filter(|l| l["subject"] == name);
        own.map(|l| format!("{} {}", l["decision"], l["error"]))
            .collect()
    };
    assert_eq!(of("one"), ["\"allowed\" null", "\"allowed\" null"]);
    assert_eq!(of("two"), ["\"allowed\" null", "\"denied\" \"conflict\""]);
    assert_eq!(pending(&place), 0);
    verify_with(&place.bytes(), None, None).unwrap();
}

#[test]
fn a_line_that_was_logged_and_not_yet_taken_from_the_store_is_not_logged_again() {
    let place = Place::new();
    let (audit, _) = place.open();
    audit.close();
    let store = carrying(place.store.clone(), &NodeId::default());
    block_on(with_record(event("alice"), store.commit(insert("a"), NOW)))
        .0
        .unwrap();
    let head = Key::with_sort(Table::Audit, "head", "node-1");
    let old_head = block_on(place.store.get(&head, NOW)).unwrap().unwrap();
    let rows = block_on(place.store.partition(Table::Audit, PENDING, b"", 9, NOW)).unwrap();
    let (audit, _) = place.open();
    audit.close();
    assert_eq!(place.count_of("login"), 1);
    // As if the process had stopped between the flush of the log and the store's answer.
    for (key, row) in rows.into_iter().chain([(head, old_head)]) {
        let put = Op::Put {
            key,
            value: row.value,
            end: None,
        };
        block_on(place.store.commit(Change::new(put), NOW)).unwrap();
    }
    let (audit, opened) = place.open();
    audit.close();
    assert_eq!(opened.gaps, Vec::<&str>::new());
    assert_eq!(place.count_of("login"), 1);
    assert_eq!(pending(&place), 0);
}

#[test]
fn a_batch_that_was_being_written_is_set_aside_and_the_gap_shows() {
    let (place, document) = small();
    let path = place.last_segment();
    let good = std::fs::read(&path).unwrap();
    // Every way in which the last batch can be half there.
    let parts = cut(&good);
    let last = lines_of(&parts).pop().unwrap();
    let before = join(&parts[..last]).len();
    for end in [before + 1, before + 40, good.len() - 100, good.len() - 1] {
        let copy = Place::new();
        std::fs::write(copy.path().join(path.file_name().unwrap()), &good[..end]).unwrap();
        let copy = Place {
            store: place.store.clone(),
            keyring: Keyring::new(place.sealing.clone(), Vec::new()),
            sealing: place.sealing.clone(),
            ..copy
        };
        // The store had not yet heard of it either.
        let head = Key::with_sort(Table::Audit, "head", "node-1");
        block_on(
            copy.store
                .commit(Change::new(Op::Delete { key: head }), NOW),
        )
        .unwrap();
        let (audit, opened) = copy.open();
        audit.close();
        assert_eq!(opened.gaps, ["crash"], "{end}");
        let verified = verify_with(&copy.bytes(), Some(&document), None).unwrap();
        assert_eq!(verified.gaps, 1);
        let aside = std::fs::read_dir(copy.path()).unwrap();
        let aside = aside.filter(|e| {
            e.as_ref()
                .unwrap()
                .path()
                .extension()
                .is_some_and(|x| x == "cut")
        });
        assert_eq!(aside.count(), 1);
    }
}

#[test]
fn lines_that_were_cut_off_while_the_server_was_down_are_missed_at_its_start() {
    let (place, document) = small();
    let path = place.last_segment();
    let parts = cut(&std::fs::read(&path).unwrap());
    let first_batch = parts
        .iter()
        .position(|(frame, _)| matches!(frame, Frame::Checkpoint(_)))
        .unwrap();
    std::fs::write(&path, join(&parts[..=first_batch])).unwrap();
    let (audit, opened) = place.open();
    assert_eq!(opened.gaps, ["truncated"]);
    audit.record(event("later"));
    audit.close();
    // The trail continues where it was, and says so; what is missing is named.
    let broken = verify_with(&place.bytes(), Some(&document), None).unwrap_err();
    assert_eq!((broken.reason, broken.line), (Refusal::ChainBroken, 1));
    assert!(
        broken.place.contains("lines 1 to 7 are missing"),
        "{broken}"
    );
    // A segment that is gone altogether, likewise.
    for segment in place.segments() {
        std::fs::remove_file(segment.path).unwrap();
    }
    let (audit, opened) = place.open();
    assert_eq!(opened.gaps, ["truncated"]);
    audit.close();
    // No record says that they left in order: what is left of the log is not taken for the whole.
    let broken = verify_with(&place.bytes(), Some(&document), None).unwrap_err();
    assert_eq!(
        (broken.reason, broken.line),
        (Refusal::ChainStartMissing, 0)
    );
}

#[test]
fn a_rewritten_segment_is_noticed_at_the_start_and_stays_to_be_found() {
    let (place, document) = small();
    let path = place.last_segment();
    let mut bytes = std::fs::read(&path).unwrap();
    let parts = cut(&bytes);
    let line = lines_of(&parts)[3];
    let end_of_its_content = join(&parts[..=line]).len() - 1;
    bytes[end_of_its_content] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let (audit, opened) = place.open();
    audit.close();
    assert_eq!(opened.gaps, ["unreadable"]);
    assert!(opened.broken.is_some());
    // Closed, it may be compressed; what is in it stays.
    let mut kept = Vec::new();
    let first = place.segments().remove(0);
    first.open().unwrap().read_to_end(&mut kept).unwrap();
    assert_eq!(kept, bytes);
    assert!(verify_with(&place.bytes(), Some(&document), None).is_err());
}

#[test]
fn another_servers_directory_is_refused() {
    let (place, _) = small();
    let other = Place::new();
    let refused = other.try_open(place.options()).err();
    assert!(
        matches!(refused, Some(AuditError::Foreign(_))),
        "{refused:?}"
    );
    let sealed = Place {
        keyring: Keyring::new(SealingKey::generate(), Vec::new()),
        ..place
    };
    let refused = sealed.try_open(sealed.options()).err();
    assert!(matches!(refused, Some(AuditError::Sealed)), "{refused:?}");
}

#[test]
fn segments_follow_each_other_and_none_may_be_missing() {
    let place = Place::new();
    let options = AuditOptions {
        segment_bytes: 2048,
        ..place.options()
    };
    let (audit, _) = place.try_open(options.clone()).unwrap();
    let document = audit.document().unwrap().clone();
    for round in 0..12 {
        let had = audit.figures().0;
        audit.record(event("alice"));
        audit.record(event("bob"));
        until(&audit, had + 2);
        if round == 6 {
            assert!(place.segments().len() > 1);
        }
    }
    audit.close();
    let (audit, opened) = place.try_open(options).unwrap();
    audit.close();
    assert_eq!(opened.gaps, Vec::<&str>::new());
    let segments = place.segments();
    assert!(segments.len() > 2);
    let whole = verify_with(&place.bytes(), Some(&document), None).unwrap();
    // Lines by index, across segments.
    let some = read::lines(&place.segments(), Some(3), 10).unwrap();
    let indexes: Vec<u64> = some.iter().map(|line| line.receipt.index).collect();
    assert_eq!(indexes, (3..13).collect::<Vec<_>>());
    let last = read::lines(&place.segments(), None, 11).unwrap();
    assert_eq!(last.last().unwrap().receipt.index, whole.lines - 1);
    assert_eq!(last.len(), 11);
    // One that is missing is found: in the middle, and at the beginning, where no record says that
    // it left.
    let keep = |without: usize| -> Vec<u8> {
        let mut bytes = Vec::new();
        for (at, segment) in segments.iter().enumerate() {
            if at != without {
                segment.open().unwrap().read_to_end(&mut bytes).unwrap();
            }
        }
        bytes
    };
    let broken = verify_with(&keep(1), Some(&document), None).unwrap_err();
    assert_eq!(
        (broken.reason, broken.line),
        (Refusal::ChainBroken, segments[1].first)
    );
    let broken = verify_with(&keep(0), Some(&document), whole.last.as_ref()).unwrap_err();
    assert_eq!(
        (broken.reason, broken.line),
        (Refusal::ChainStartMissing, 0)
    );
}

#[test]
fn a_disk_that_refuses_costs_no_line() {
    let place = Place::new();
    let options = AuditOptions {
        segment_bytes: 1,
        ..place.options()
    };
    let (audit, _) = place.try_open(options).unwrap();
    let had = audit.figures().0;
    // Every batch begins a segment, and here none can be made.
    let aside = place.path().with_extension("aside");
    std::fs::rename(place.path(), &aside).unwrap();
    let store = audit.recorded(place.store.clone());
    audit.record(event("alice"));
    block_on(with_record(event("bob"), store.commit(insert("a"), NOW)))
        .0
        .unwrap();
    let started = std::time::Instant::now();
    while audit.is_writing() {
        assert!(started.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(2));
    }
    std::fs::rename(&aside, place.path()).unwrap();
    until(&audit, had + 2);
    audit.close();
    assert!(audit.is_writing());
    let lines = place.lines();
    let who: Vec<_> = lines.iter().filter_map(|l| l["subject"].as_str()).collect();
    // Of one moment a change comes first.
    assert_eq!(who, ["bob", "alice"]);
    assert_eq!(verify_with(&place.bytes(), None, None).unwrap().gaps, 0);
}

/// A store that says that its disk is full.
struct Full {
    inner: Arc<MemoryStore>,
    full: AtomicBool,
}

impl Layer for Full {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }
    fn is_full(&self) -> bool {
        self.full.load(SeqCst)
    }
}

#[test]
fn on_a_full_disk_refusals_go_first_and_changes_are_recorded() {
    let place = Place::new();
    let store = Arc::new(Full {
        inner: place.store.clone(),
        full: AtomicBool::new(true),
    });
    let clock = place.clock.clone();
    let opened = Audit::open(place.options(), store.clone(), &place.keyring, clock);
    let (audit, _) = block_on(opened).unwrap();
    let started = std::time::Instant::now();
    while !audit.is_full() {
        assert!(started.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(2));
    }
    let had = audit.figures().0;
    for number in 0..30 {
        let name = format!("caller-{number}");
        audit.record(event(&name).refused("invalid_client"));
    }
    audit.record(event("alice"));
    let recorded = audit.recorded(store.clone());
    block_on(with_record(event("bob"), recorded.commit(insert("a"), NOW)))
        .0
        .unwrap();
    until(&audit, had + 1);
    // The change is in the log, and takes no room in the store; the decision waits.
    assert_eq!(place.count_of("login"), 1);
    store.full.store(false, SeqCst);
    until(&audit, had + 3);
    audit.close();
    let lines = place.lines();
    let who: Vec<_> = lines.iter().filter_map(|l| l["subject"].as_str()).collect();
    assert_eq!(who, ["bob", "alice"]);
    let gap = lines.iter().find(|l| l["action"] == "audit.gap").unwrap();
    assert_eq!(
        (&gap["error"], &gap["count"]),
        (&"disk_full".into(), &30.into())
    );
}

#[test]
fn what_is_asked_often_is_counted_for_each_caller() {
    let place = Place::new();
    let (audit, _) = place.open();
    for _ in 0..3 {
        audit.count(Counted::Introspection, "api", true);
    }
    audit.count(Counted::Introspection, "api", false);
    audit.count(Counted::AdminRead, "root", true);
    audit.close();
    let lines = place.lines();
    let found: Vec<String> = lines
        .iter()
        .filter(|line| line["count"].is_u64())
        .map(|l| {
            format!(
                "{} {} {}{} {}",
                l["action"], l["operation"], l["client_id"], l["subject"], l["count"]
            )
        })
        .collect();
    let expected = [
        "\"token.introspect\" \"active\" \"api\"null 3",
        "\"token.introspect\" \"inactive\" \"api\"null 1",
        "\"admin.read\" \"answered\" null\"root\" 1",
    ];
    assert_eq!(found, expected);
}

#[test]
fn what_is_repeated_without_a_secret_is_counted_and_its_first_change_is_a_record() {
    const ACTS: u64 = 2000;
    let place = Place::new();
    let (audit, _) = place.open();
    let store = audit.recorded(place.store.clone());
    let revoked = Key::new(Table::Once, b"revoked".as_slice());
    let size = |place: &Place| {
        let files = std::fs::read_dir(place.path()).unwrap();
        files
            .map(|file| file.unwrap().metadata().unwrap().len())
            .sum::<u64>()
    };
    let before = size(&place);
    for at in 0..ACTS {
        let at_ms = 1000 + at;
        audit.record_counted(Event::new(Action::PUSHED, at_ms).client("web"));
        // Once it changes something; from then on it has been done.
        let event = Event::new(Action::REVOKE, at_ms).client("web");
        let work = async {
            if store.get(&revoked, 1).await?.is_none() {
                let insert = Op::Insert {
                    key: revoked.clone(),
                    value: Vec::new(),
                    end: Some(1_000_000),
                };
                store.commit(Change::new(insert), 1).await?;
            }
            Ok::<_, signet_store::StoreError>(())
        };
        block_on(audit.act_counted(event, work, |_| "temporarily_unavailable")).unwrap();
    }
    audit.close();
    let each = size(&place).saturating_sub(before) / (2 * ACTS);
    assert!(each < 20, "{each} bytes an act");
    let of = |action: &str| -> Vec<Option<u64>> {
        let lines = place.lines();
        let lines = lines.iter().filter(|line| line["action"] == action);
        lines.map(|line| line["count"].as_u64()).collect()
    };
    assert_eq!(of("token.revoke"), [None, Some(ACTS - 1)]);
    assert_eq!(of("authorization.push"), [Some(ACTS)]);
}

#[cfg(unix)]
#[test]
fn the_identitys_document_is_its_owners_alone_whatever_it_was_before() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let path = place.path().join("identity.json");
    let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    let (audit, _) = place.open();
    audit.close();
    assert_eq!(mode(), 0o600);
    // As an older version made it, and as nobody should have left it.
    for text in [std::fs::read_to_string(&path).unwrap(), "{}".to_owned()] {
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
        let (audit, _) = place.open();
        audit.close();
        assert_eq!(mode(), 0o600);
    }
}
