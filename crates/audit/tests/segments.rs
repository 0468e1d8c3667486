//! Closed segments: compressed, archived, removed by rule; and that no record is lost or there
//! twice, whenever the process ends.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use signet_agent::Refusal;
use signet_agent::log::Checkpoint;
use signet_audit::read::{self, Frames, Local};
use signet_audit::segment::{Form, Segment};
use signet_audit::verify::{Broken, Left, Signatures, Verified, Verifier};
use signet_audit::{
    Action, Audit, AuditOptions, Event, Keep, NodeId, Opened, Places, carrying, with_record,
};
use signet_crypto::seal::{Keyring, SealingKey};
use signet_store::{Change, Key, MemoryStore, Op, SqliteStore, Store, Table, sqlite};

use crate::support::{TestClock, block_on};

const NOW: u64 = 1_800_000_000;
/// So few bytes that some batches fill a segment, and more than the record of one that leaves.
const SMALL: u64 = 3000;

/// A store, its sealing key and the two directories: what outlives a process.
struct Place {
    root: tempfile::TempDir,
    store: Arc<MemoryStore>,
    sealing: SealingKey,
}

impl Place {
    fn new() -> Place {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("archive")).unwrap();
        Place {
            root,
            store: Arc::new(MemoryStore::new()),
            sealing: SealingKey::generate(),
        }
    }

    fn live(&self) -> PathBuf {
        self.root.path().join("audit")
    }

    fn archive(&self) -> PathBuf {
        self.root.path().join("archive")
    }

    fn options(&self) -> AuditOptions {
        AuditOptions {
            interval: Duration::from_millis(2),
            segment_bytes: SMALL,
            ..AuditOptions::new(self.live())
        }
    }

    fn archiving(&self) -> AuditOptions {
        let mut options = self.options();
        options.places.archive = Some(self.archive());
        options
    }

    fn removing(&self) -> AuditOptions {
        AuditOptions {
            keep: Keep {
                bytes: Some(4 * SMALL),
                time: None,
            },
            ..self.options()
        }
    }

    fn open(&self, options: AuditOptions) -> (Audit, Opened) {
        let keyring = Keyring::new(self.sealing.clone(), Vec::new());
        let clock = Arc::new(TestClock);
        block_on(Audit::open(options, self.store.clone(), &keyring, clock)).unwrap()
    }

    /// Writes so many batches of one record each, and closes.
    fn write(&self, options: AuditOptions, batches: usize) -> Opened {
        let (audit, opened) = self.open(options);
        for number in 0..batches {
            let had = audit.figures().0;
            audit.record(login(&format!("person-{number}")));
            until(|| audit.figures().0 > had);
        }
        audit.close();
        opened
    }

    fn segments(&self, archive: bool) -> Vec<Segment> {
        let archive = archive.then(|| self.archive());
        match read::local(&self.live(), archive.as_deref(), None).unwrap() {
            Local::Segments(segments) => segments,
            Local::Exported(file) => panic!("{file:?}"),
        }
    }

    fn verify(&self, archive: bool, known: Option<&Checkpoint>) -> Result<Verified, Broken> {
        verify(&self.segments(archive), known)
    }
}

fn login(subject: &str) -> Event<'_> {
    Event::new(Action::LOGIN, NOW * 1000).subject(subject)
}

fn until(holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn verify(segments: &[Segment], known: Option<&Checkpoint>) -> Result<Verified, Broken> {
    let mut verifier = Verifier::new(None, known.cloned(), Signatures::All);
    for segment in segments {
        let mut frames = Frames::new(segment.open().unwrap());
        while let Some(frame) = frames.next_frame().unwrap() {
            verifier.frame(&frame)?;
        }
    }
    verifier.finish()
}

/// Subjects of the logins, in order; every index is there once.
fn people(segments: &[Segment]) -> Vec<String> {
    let lines = read::lines(segments, Some(0), usize::MAX).unwrap();
    for pair in lines.windows(2) {
        assert_eq!(pair[0].receipt.index + 1, pair[1].receipt.index);
    }
    let logins = lines.iter().filter(|line| line.receipt.action == "login");
    logins
        .map(|line| line.content.members["subject"].as_str().unwrap().to_owned())
        .collect()
}

fn expected(batches: usize) -> Vec<String> {
    (0..batches).map(|n| format!("person-{n}")).collect()
}

#[test]
fn a_closed_segment_is_compressed_and_reads_and_verifies_as_before() {
    let place = Place::new();
    let (audit, _) = place.open(place.options());
    for number in 0..24 {
        let had = audit.figures().0;
        audit.record(login(&format!("person-{number}")));
        until(|| audit.figures().0 > had);
    }
    let all_but_the_last_are_compressed = || {
        let segments = place.segments(false);
        let (last, closed) = segments.split_last().unwrap();
        last.form == Form::Plain && closed.iter().all(|s| s.form == Form::Compressed)
    };
    until(all_but_the_last_are_compressed);
    audit.close();
    let segments = place.segments(false);
    assert!(segments.len() > 3, "{segments:?}");
    let verified = verify(&segments, None).unwrap();
    assert_eq!((verified.first, verified.gaps), (0, 0));
    assert_eq!(verified.node, NodeId::default());
    assert_eq!(people(&segments), expected(24));
    // The last ones are found from the end, too, and say whose they are.
    let last = read::lines(&segments, None, 9).unwrap();
    assert_eq!(last.len(), 9);
    assert!(last.iter().all(|l| l.content.members["node"] == "node-1"));
    // A byte of the compressed form is a byte of the log.
    let path = &segments[1].path;
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).unwrap();
    let read = segments[1]
        .open()
        .and_then(|mut s| s.read_to_end(&mut Vec::new()));
    assert!(read.is_err());
}

#[test]
fn a_segment_is_closed_by_its_age() {
    let place = Place::new();
    let options = AuditOptions {
        segment_bytes: 1 << 20,
        segment_age: Duration::from_millis(30),
        ..place.options()
    };
    let (audit, _) = place.open(options);
    for number in 0..3 {
        std::thread::sleep(Duration::from_millis(40));
        let had = audit.figures().0;
        audit.record(login(&format!("person-{number}")));
        until(|| audit.figures().0 > had);
    }
    audit.close();
    assert!(place.segments(false).len() >= 3);
    assert_eq!(people(&place.segments(false)), expected(3));
    place.verify(false, None).unwrap();
}

#[test]
fn closed_segments_go_to_the_archive_and_the_log_verifies_across_it() {
    let place = Place::new();
    let (audit, _) = place.open(place.archiving());
    for number in 0..24 {
        let had = audit.figures().0;
        audit.record(login(&format!("person-{number}")));
        until(|| audit.figures().0 > had);
    }
    until(|| fs::read_dir(place.archive()).unwrap().count() >= 3);
    until(|| place.segments(false).len() <= 2);
    audit.close();
    let kept = place.verify(true, None).unwrap();
    assert_eq!((kept.first, kept.left), (0, None));
    assert_eq!(people(&place.segments(true)), expected(24));
    // Without the archive the beginning is missing, and a record says where it went.
    let alone = place.verify(false, None).unwrap();
    assert!(alone.first > 0);
    assert_eq!(alone.left, Some(Left::Archived));
    assert_eq!(alone.lines, kept.lines);
    // The next process continues, and a checkpoint from before still holds across both.
    place.write(place.archiving(), 3);
    let known = kept.last.as_ref();
    assert!(place.verify(true, known).unwrap().known_checked);
    // A segment of the archive that is missing, or another than the first of the live ones, is
    // found.
    let archived = fs::read_dir(place.archive()).unwrap();
    let mut archived: Vec<PathBuf> = archived.map(|e| e.unwrap().path()).collect();
    archived.sort();
    fs::remove_file(&archived[1]).unwrap();
    let broken = place.verify(true, None).unwrap_err();
    assert_eq!(broken.reason, Refusal::ChainBroken);
}

#[test]
fn an_archive_that_is_not_there_is_not_made_and_nothing_is_lost() {
    let place = Place::new();
    let mut options = place.options();
    options.places.archive = Some(place.root.path().join("not-mounted"));
    place.write(options, 16);
    assert!(!place.root.path().join("not-mounted").exists());
    assert_eq!(people(&place.segments(false)), expected(16));
    assert_eq!(place.verify(false, None).unwrap().first, 0);
}

#[test]
fn a_beginning_that_was_removed_by_rule_is_accepted_with_its_record_and_no_other() {
    let place = Place::new();
    let (audit, _) = place.open(place.removing());
    let mut number = 0;
    while place
        .live()
        .join("node-1.00000000000000000000.audit")
        .exists()
        || place.segments(false)[0].first == 0
        || number < 20
    {
        let had = audit.figures().0;
        audit.record(login(&format!("person-{number}")));
        until(|| audit.figures().0 > had);
        number += 1;
        assert!(number < 2000);
    }
    audit.close();
    let verified = place.verify(false, None).unwrap();
    assert!(verified.first > 0);
    assert_eq!(verified.left, Some(Left::Removed));
    let bytes: u64 = place
        .segments(false)
        .iter()
        .map(|s| s.bytes().unwrap())
        .sum();
    assert!(bytes < 8 * SMALL, "{bytes}");
    // The record names the segment, and what the log was when it ended.
    let lines = read::lines(&place.segments(false), Some(0), usize::MAX).unwrap();
    let removed = lines
        .iter()
        .rev()
        .find(|l| l.receipt.action == "audit.remove");
    let segment = &removed.unwrap().content.members["segment"];
    assert_eq!(segment["last"], verified.first - 1);
    // One segment more than the records say, by hand: refused.
    let oldest = place.segments(false).remove(0);
    fs::remove_file(&oldest.path).unwrap();
    let broken = place.verify(false, None).unwrap_err();
    assert_eq!(
        (broken.reason, broken.line),
        (Refusal::ChainStartMissing, 0)
    );
}

#[test]
fn a_process_that_ends_between_any_two_steps_loses_no_record_and_has_none_twice() {
    let copy = |from: &Path, to: &Path| {
        for entry in fs::read_dir(from).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
    };
    let zst = |segment: &Segment| -> (PathBuf, Vec<u8>) {
        let mut plain = Vec::new();
        segment.open().unwrap().read_to_end(&mut plain).unwrap();
        let path = PathBuf::from(format!("{}.zst", segment.path.display()));
        (path, zstd::stream::encode_all(&*plain, 3).unwrap())
    };
    // What is on the disk when the process ends after each step, made from what was there before
    // it.
    type Step = fn(&Place, &Segment, &(PathBuf, Vec<u8>));
    let steps: &[(&str, Step)] = &[
        (
            "half a compressed file without a name",
            |_, _, (path, bytes)| {
                fs::write(format!("{}.tmp", path.display()), &bytes[..bytes.len() / 2]).unwrap();
            },
        ),
        ("a whole one without a name", |_, _, (path, bytes)| {
            fs::write(format!("{}.tmp", path.display()), bytes).unwrap();
        }),
        ("both forms", |_, _, (path, bytes)| {
            fs::write(path, bytes).unwrap()
        }),
        ("the compressed form alone", |_, segment, (path, bytes)| {
            fs::write(path, bytes).unwrap();
            fs::remove_file(&segment.path).unwrap();
        }),
        (
            "half a copy in the archive",
            |place, segment, (path, bytes)| {
                fs::write(path, bytes).unwrap();
                fs::remove_file(&segment.path).unwrap();
                let name = path.file_name().unwrap().to_str().unwrap();
                let copy = place.archive().join(format!("{name}.tmp"));
                fs::write(copy, &bytes[..bytes.len() / 2]).unwrap();
            },
        ),
        ("a copy in the archive", |place, segment, (path, bytes)| {
            fs::write(path, bytes).unwrap();
            fs::remove_file(&segment.path).unwrap();
            fs::write(place.archive().join(path.file_name().unwrap()), bytes).unwrap();
        }),
    ];
    for (name, step) in steps {
        let place = Place::new();
        // No keeper works here: nothing is closed until the segments are there.
        let (audit, _) = place.open(AuditOptions {
            segment_bytes: u64::MAX,
            ..place.options()
        });
        audit.record(login("person-0"));
        audit.close();
        let original = place.segments(false).remove(0);
        let compressed = zst(&original);
        // A second segment, of which the first is the closed one.
        let aside = tempfile::tempdir().unwrap();
        copy(&place.live(), aside.path());
        let (audit, _) = place.open(AuditOptions {
            segment_bytes: 1,
            ..place.options()
        });
        audit.record(login("person-1"));
        audit.close();
        let first = |form: &str| place.live().join(format!("node-1.{:020}.audit{form}", 0));
        let _ = fs::remove_file(first(".zst"));
        copy_one(aside.path(), &original.path);
        step(&place, &original, &compressed);
        let before = place.verify(true, None);
        let before = before.unwrap_or_else(|broken| panic!("{name}: {broken}"));
        assert_eq!(people(&place.segments(true)), expected(2), "{name}");
        // The next process ends what was begun.
        let options = AuditOptions {
            segment_bytes: 1,
            ..place.archiving()
        };
        let (audit, opened) = place.open(options);
        assert_eq!(opened.gaps, Vec::<&str>::new(), "{name}");
        let name_of = |path: &Path| path.file_name().unwrap().to_owned();
        let archived = place.archive().join(name_of(&compressed.0));
        until(|| archived.exists() && !first("").exists() && !first(".zst").exists());
        audit.close();
        assert_eq!(people(&place.segments(true)), expected(2), "{name}");
        let after = place.verify(true, before.last.as_ref()).unwrap();
        assert!(after.known_checked && after.first == 0, "{name}");
        for directory in [place.live(), place.archive()] {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                assert_ne!(path.extension(), Some("tmp".as_ref()), "{name}: {path:?}");
            }
        }
    }
}

fn copy_one(from: &Path, to: &Path) {
    fs::copy(from.join(to.file_name().unwrap()), to).unwrap();
}

#[test]
fn a_segment_whose_leaving_was_recorded_goes_without_a_second_record() {
    let place = Place::new();
    place.write(place.options(), 16);
    let first = place.segments(false).remove(0);
    let aside = tempfile::tempdir().unwrap();
    fs::copy(
        &first.path,
        aside.path().join(first.path.file_name().unwrap()),
    )
    .unwrap();
    let (audit, _) = place.open(place.archiving());
    until(|| !first.path.exists());
    audit.close();
    let recorded = |place: &Place| {
        let lines = read::lines(&place.segments(true), Some(0), usize::MAX).unwrap();
        let left = lines
            .iter()
            .filter_map(|l| l.content.members.get("segment"));
        left.map(|s| s["first"].as_u64().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(recorded(&place)[0], 0);
    // As if the process had stopped between the record and the removal of the file.
    copy_one(aside.path(), &first.path);
    let (audit, _) = place.open(place.archiving());
    until(|| !first.path.exists());
    audit.close();
    let all = recorded(&place);
    assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "{all:?}");
}

#[test]
fn a_segment_that_was_being_begun_is_no_part_of_the_log_and_no_obstacle() {
    let place = Place::new();
    place.write(place.options(), 16);
    let before = place.verify(false, None).unwrap();
    let path = place
        .live()
        .join(format!("node-1.{:020}.audit", before.lines));
    // Its file was made, and nothing, or half a head, was written.
    let mut head = Vec::new();
    let last = place.segments(false).pop().unwrap();
    last.open().unwrap().read_to_end(&mut head).unwrap();
    fs::write(&path, b"").unwrap();
    assert_eq!(place.write(place.options(), 1).gaps, Vec::<&str>::new());
    let lines = place.verify(false, before.last.as_ref()).unwrap().lines;
    let path = place.live().join(format!("node-1.{lines:020}.audit"));
    fs::write(&path, &head[..100]).unwrap();
    assert_eq!(place.write(place.options(), 1).gaps, Vec::<&str>::new());
    let after = place.verify(false, before.last.as_ref()).unwrap();
    assert!(after.lines > lines && after.known_checked);
    assert!(
        place
            .live()
            .join(format!("node-1.{lines:020}-0.cut"))
            .exists()
    );
}

const DIRECTORY: &str = "SIGNET_AUDIT_CRASH_DIRECTORY";

fn sqlite(directory: &Path) -> Arc<SqliteStore> {
    let store = SqliteStore::open(&directory.join("store"), sqlite::Options::default());
    Arc::new(store.unwrap())
}

fn sealing() -> SealingKey {
    SealingKey {
        id: [7; 4],
        key: signet_crypto::Secret::new([7; 32]),
        opens: signet_crypto::seal::Opens::All,
    }
}

/// Not a rule: the body of the child process. Without [`DIRECTORY`] it does nothing.
#[test]
fn child() {
    let Some(directory) = std::env::var_os(DIRECTORY) else {
        return;
    };
    let directory = PathBuf::from(directory);
    let store = sqlite(&directory);
    let options = AuditOptions {
        interval: Duration::from_millis(2),
        segment_bytes: SMALL,
        ..AuditOptions::at(Places {
            directory: directory.join("audit"),
            archive: Some(directory.join("archive")),
        })
    };
    let keyring = Keyring::new(sealing(), Vec::new());
    let opened = Audit::open(options, store.clone(), &keyring, Arc::new(TestClock));
    let (audit, _) = block_on(opened).unwrap();
    let recorded = audit.recorded(store);
    for number in 0.. {
        // One random name for each run: no two processes write the same.
        let name = format!("{}-{number}", std::process::id());
        let insert = Change::new(Op::Insert {
            key: Key::new(Table::Client, &*name),
            value: b"record".to_vec(),
            end: None,
        });
        let work = recorded.commit(insert, NOW);
        let (done, _) = block_on(with_record(login(&name), work));
        assert!(done.unwrap().is_done());
        let line = format!("\ndone {name}\n");
        std::io::stdout().write_all(line.as_bytes()).unwrap();
        audit.record(login("somebody"));
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_kill_at_any_moment_loses_no_record_of_a_change_and_has_none_twice() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("archive")).unwrap();
    let mut done = Vec::new();
    for round in 0..8_u64 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "segments::child",
                "--exact",
                "--nocapture",
                "--test-threads=1",
            ])
            .env(DIRECTORY, root.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = child.stdout.take().unwrap();
        let reader = std::thread::spawn(move || {
            let lines = BufReader::new(output).lines().map_while(Result::ok);
            let said = lines.filter_map(|l| l.strip_prefix("done ").map(str::to_owned));
            said.collect::<Vec<_>>()
        });
        std::thread::sleep(Duration::from_millis(150 + 37 * round));
        // SIGKILL on Unix.
        child.kill().unwrap();
        child.wait().unwrap();
        done.extend(reader.join().unwrap());
    }
    assert!(done.len() > 50, "the child did too little: {}", done.len());
    // One more start takes in what the last kill left in the store.
    let store = sqlite(root.path());
    let places = Places {
        directory: root.path().join("audit"),
        archive: Some(root.path().join("archive")),
    };
    let keyring = Keyring::new(sealing(), Vec::new());
    let options = AuditOptions::at(places.clone());
    let opened = Audit::open(options, store, &keyring, Arc::new(TestClock));
    block_on(opened).unwrap().0.close();
    let segments = places.segments().unwrap();
    assert!(segments.len() > 3);
    let verified = verify(&segments, None).unwrap();
    assert_eq!((verified.first, verified.left), (0, None));
    let mut said = people(&segments);
    said.retain(|name| name != "somebody");
    let count = said.len();
    said.sort();
    said.dedup();
    assert_eq!(said.len(), count, "a record is there twice");
    for name in &done {
        assert!(said.binary_search(name).is_ok(), "{name} is missing");
    }
    // What was not answered may have been done: the record and the change are there together.
    let again = sqlite(root.path());
    for name in &said {
        let row = block_on(again.get(&Key::new(Table::Client, &**name), NOW)).unwrap();
        assert!(row.is_some(), "{name} has a record and no change");
    }
}

#[test]
fn a_node_keeps_its_name_and_writes_no_other_nodes_log() {
    let place = Place::new();
    let named = |name: &str| AuditOptions {
        node: Some(NodeId::parse(name).unwrap()),
        ..place.options()
    };
    let store = carrying(place.store.clone(), &NodeId::parse("west").unwrap());
    let insert = Change::new(Op::Insert {
        key: Key::new(Table::Client, "a"),
        value: b"record".to_vec(),
        end: None,
    });
    let (done, _) = block_on(with_record(login("alice"), store.commit(insert, NOW)));
    assert!(done.unwrap().is_done());
    place.write(named("west"), 1);
    let segment = place.segments(false).remove(0);
    assert_eq!(segment.node.as_str(), "west");
    assert_eq!(people(&place.segments(false)), ["alice", "person-0"]);
    let stored = block_on(signet_audit::stored_node(&*place.store, NOW)).unwrap();
    assert_eq!(stored.as_str(), "west");
    // Without a name it stays what it was; with another one it is refused.
    place.write(place.options(), 1);
    let keyring = Keyring::new(place.sealing.clone(), Vec::new());
    let clock = Arc::new(TestClock);
    let other = Audit::open(named("east"), place.store.clone(), &keyring, clock);
    let refused = block_on(other).err().unwrap().to_string();
    assert!(
        refused.contains("west") && refused.contains("east"),
        "{refused}"
    );
    // Another node's segments in the same directory are another log.
    let other = Place::new();
    other.write(
        AuditOptions {
            node: Some(NodeId::parse("east").unwrap()),
            ..other.options()
        },
        1,
    );
    for segment in other.segments(false) {
        copy_one(
            &other.live(),
            &place.live().join(segment.path.file_name().unwrap()),
        );
    }
    let several = read::local(&place.live(), None, None).unwrap_err();
    assert!(several.to_string().contains("several nodes"), "{several}");
    for name in ["west", "east"] {
        let node = NodeId::parse(name).unwrap();
        let Local::Segments(own) = read::local(&place.live(), None, Some(&node)).unwrap() else {
            panic!("segments");
        };
        assert_eq!(verify(&own, None).unwrap().node, node);
        // Its identity, which the other does not have, signed its name: renaming its file makes it
        // no other's.
        let both: Vec<Segment> = place_of(&place).segments().unwrap();
        assert_eq!(
            verify(&both, None).unwrap_err().reason,
            Refusal::WrongSigner
        );
    }
    place.write(place.options(), 1);
}

#[test]
fn nodes_of_one_store_have_a_name_each_from_their_own_directories() {
    let place = Place::new();
    let keyring = Keyring::new(place.sealing.clone(), Vec::new());
    let open = |directory: &Path, name: Option<&str>| {
        let options = AuditOptions {
            node: name.map(|name| NodeId::parse(name).unwrap()),
            shared_store: true,
            interval: std::time::Duration::from_millis(1),
            ..AuditOptions::new(directory)
        };
        let opened = Audit::open(options, place.store.clone(), &keyring, Arc::new(TestClock));
        block_on(opened).map(|(audit, _)| audit)
    };
    let directories = [0, 1, 2].map(|_| tempfile::tempdir().unwrap());
    let [one, two, three] = [0, 1, 2].map(|at: usize| directories[at].path());
    let first = open(one, Some("west")).unwrap();
    let second = open(two, Some("east")).unwrap();
    assert_eq!(first.node().unwrap().as_str(), "west");
    assert_ne!(
        first.document().unwrap().id(),
        second.document().unwrap().id()
    );
    // Each takes its own records into its own log.
    for (audit, person) in [(&first, "alice"), (&second, "bob")] {
        let store = audit.recorded(place.store.clone());
        let insert = Change::new(Op::Insert {
            key: Key::new(Table::Client, person),
            value: b"record".to_vec(),
            end: None,
        });
        let (done, _) = block_on(with_record(login(person), store.commit(insert, NOW)));
        assert!(done.unwrap().is_done());
    }
    // Neither of two processes, nor of two directories, has the name of another.
    let refused = open(one, None).err().unwrap().to_string();
    assert!(refused.contains("in use"), "{refused}");
    let refused = open(three, Some("west")).err().unwrap().to_string();
    assert!(refused.contains("west"), "{refused}");
    first.close();
    second.close();
    for (directory, name, person) in [(one, "west", "alice"), (two, "east", "bob")] {
        let segments = Places::new(directory).segments().unwrap();
        assert_eq!(verify(&segments, None).unwrap().node.as_str(), name);
        assert_eq!(people(&segments), [person]);
    }
    drop((first, second));
    // The same directory is the same node, whatever is wanted; also where the first one crashed.
    let again = open(one, Some("other")).err().unwrap().to_string();
    assert!(again.contains("west") && again.contains("other"), "{again}");
    assert_eq!(open(one, None).unwrap().node().unwrap().as_str(), "west");
    // A name that was released is free, and without one it is made up.
    let east = NodeId::parse("east").unwrap();
    block_on(signet_audit::release_node(&*place.store, &east, NOW)).unwrap();
    let fourth = tempfile::tempdir().unwrap();
    let made_up = open(fourth.path(), None).unwrap().node().unwrap().clone();
    assert!(made_up.as_str().starts_with("node-") && made_up != east);
    let said = signet_audit::node_of_directory(fourth.path()).unwrap();
    assert_eq!(said, Some(made_up));
}

fn place_of(place: &Place) -> Places {
    Places::new(place.live())
}
