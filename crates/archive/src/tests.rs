use std::io::{self, Read};

use proptest::prelude::*;

use super::header::{BLOCK, check_name};
use super::*;

fn entry(name: &str, size: usize) -> Entry {
    Entry {
        name: name.to_owned(),
        mode: 0o600,
        modified: 1_795_300_000,
        size: size as u64,
    }
}

fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new());
    for (name, mut content) in files.iter().copied() {
        let entry = entry(name, content.len());
        writer.file(&entry, &mut content).expect("is written");
    }
    writer.finish().expect("is written")
}

type Files = Vec<(Entry, Vec<u8>)>;

fn read(bytes: &[u8]) -> Result<Files, ArchiveError> {
    let mut reader = Reader::new(bytes, bytes.len() as u64);
    let mut files = Vec::new();
    while let Some(entry) = reader.next_entry()? {
        let mut content = Vec::new();
        reader.content().read_to_end(&mut content)?;
        files.push((entry, content));
    }
    Ok(files)
}

/// A header with these fields, its sum right: what somebody else's program might write.
fn forged(change: impl FnOnce(&mut [u8; BLOCK])) -> Vec<u8> {
    let mut block = entry("data/a", 0).header().expect("a header");
    change(&mut block);
    block[148..156].copy_from_slice(b"        ");
    let sum: u64 = block.iter().map(|byte| u64::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    [&block[..], &[0; 2 * BLOCK]].concat()
}

#[test]
fn files_are_read_as_they_were_written() {
    let long = format!("data/{}/{}", "d".repeat(90), "f".repeat(95));
    let large = vec![7; 3 * BLOCK];
    let files: [(&str, &[u8]); 4] = [
        ("backup.json", b"{}"),
        ("data/empty", b""),
        (&long, b"x"),
        ("data/large", &large),
    ];
    let found = read(&archive(&files)).expect("is read");
    let found: Vec<(&str, &[u8])> = found
        .iter()
        .map(|(entry, content)| (entry.name.as_str(), content.as_slice()))
        .collect();
    assert_eq!(found, files);
}

#[test]
fn another_program_reads_it() {
    let long = format!("data/{}/{}", "d".repeat(90), "f".repeat(95));
    let bytes = archive(&[("backup.json", b"{}"), (&long, b"x")]);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.tar");
    std::fs::write(&file, bytes).expect("is written");
    let listed = std::process::Command::new("tar")
        .arg("-tf")
        .arg(&file)
        .output()
        .expect("tar runs");
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert_eq!(listed, format!("backup.json\n{long}\n"));
}

#[test]
fn a_size_beyond_eight_gibibytes_has_its_own_form() {
    let large = Entry {
        size: 1 << 40,
        ..entry("data/signet.db", 0)
    };
    let header = large.header().expect("a header");
    assert_eq!(Entry::parse(&header), Some(large));
}

#[test]
fn hostile_names_are_refused() {
    for name in [
        "",
        "/etc/passwd",
        "../up",
        "data/../../up",
        "data/.",
        "data//a",
        "data/a/",
        "data\\a",
        "data/a\nb",
        &"n".repeat(101),
        &format!("{}/a", "d".repeat(160)),
        &format!("data/{}", "long/".repeat(60)),
    ] {
        assert!(check_name(name).is_err(), "{name:?}");
        assert!(entry(name, 0).header().is_err(), "{name:?}");
    }
    let escape = forged(|block| block[..10].copy_from_slice(b"../../root"));
    assert!(matches!(read(&escape), Err(ArchiveError::Header)));
}

#[test]
fn whatever_is_no_file_is_refused() {
    for kind in [b'1', b'2', b'3', b'5', b'x', b'L'] {
        let bytes = forged(|block| {
            block[156] = kind;
            block[157..161].copy_from_slice(b"/etc");
        });
        assert!(matches!(read(&bytes), Err(ArchiveError::Kind(_))));
    }
    // A mode with more than the nine bits, an owner, a name behind the name.
    for (at, bytes) in [(100, &b"0004755"[..]), (108, b"0000001"), (20, b"x")] {
        let bytes = forged(|block| block[at..at + bytes.len()].copy_from_slice(bytes));
        assert!(matches!(read(&bytes), Err(ArchiveError::Header)), "{at}");
    }
}

#[test]
fn two_files_of_one_name_or_a_file_as_a_directory_are_refused() {
    for files in [
        [("data/a", b""), ("data/a", b"")],
        [("data/a", b""), ("data/a/b", b"")],
        [("data/a/b", b""), ("data/a", b"")],
    ] {
        let files = files.map(|(name, content)| (name, &content[..]));
        assert!(matches!(
            read(&archive(&files)),
            Err(ArchiveError::Twice(_))
        ));
    }
}

#[test]
fn a_size_that_the_archive_cannot_have_is_refused_before_anything_is_read() {
    let bytes = forged(|block| block[124..135].copy_from_slice(b"77777777777"));
    assert!(matches!(read(&bytes), Err(ArchiveError::Size(_))));
}

#[test]
fn what_is_cut_off_or_longer_is_refused() {
    let whole = archive(&[("backup.json", b"{}"), ("data/a", &[1; 700])]);
    for end in 0..whole.len() {
        assert!(read(&whole[..end]).is_err(), "{end}");
    }
    let longer = [&whole[..], b"\0"].concat();
    assert!(matches!(read(&longer), Err(ArchiveError::Behind)));
    let mut filled = whole.clone();
    filled[BLOCK + 5] = 1;
    assert!(matches!(read(&filled), Err(ArchiveError::Filling)));
}

#[test]
fn a_file_that_shrinks_while_it_is_read_is_an_error() {
    let mut writer = Writer::new(Vec::new());
    let error = writer.file(&entry("data/a", 5), &mut &b"1234"[..]);
    assert_eq!(
        error.expect_err("is refused").kind(),
        io::ErrorKind::UnexpectedEof
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_files_come_back(files in proptest::collection::btree_map("[a-z][a-z0-9.-]{0,60}(/[a-z]{1,40}x){0,2}", proptest::collection::vec(any::<u8>(), 0..1500), 0..6)) {
        let conflict = files.keys().any(|one| files.keys().any(|other| other.starts_with(&format!("{one}/"))));
        let given: Vec<(&str, &[u8])> = files.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
        match read(&archive(&given)) {
            Ok(found) => {
                prop_assert!(!conflict);
                let found: Vec<(&str, &[u8])> = found.iter().map(|(entry, content)| (entry.name.as_str(), content.as_slice())).collect();
                prop_assert_eq!(found, given);
            }
            Err(error) => prop_assert!(conflict, "{}", error),
        }
    }

    #[test]
    fn a_changed_byte_is_seen_or_is_content(at in 0..4 * BLOCK, flip in 1..=255u8) {
        let whole = archive(&[("backup.json", b"{}"), ("data/a", &[1; 300])]);
        let mut changed = whole.clone();
        let at = at % whole.len();
        changed[at] ^= flip;
        if let Ok(found) = read(&changed) {
            // The header's sum covers the header: only contents may differ, which the encryption
            // around it covers.
            let names: Vec<&str> = found.iter().map(|(entry, _)| entry.name.as_str()).collect();
            prop_assert_eq!(names, ["backup.json", "data/a"]);
        }
    }

    #[test]
    fn what_is_read_is_written_the_same_way(blocks in proptest::collection::vec(any::<u8>(), 0..3000)) {
        if let Ok(found) = read(&blocks) {
            let mut writer = Writer::new(Vec::new());
            for (entry, content) in &found {
                writer.file(entry, &mut &content[..]).expect("is written");
            }
            prop_assert_eq!(writer.finish().expect("is written"), blocks);
        }
    }
}
