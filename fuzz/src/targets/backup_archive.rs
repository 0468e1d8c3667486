//! Archives of backups. Rule: what is read has relative names alone, none of them twice, and is
//! written the same way again, byte for byte.

use std::collections::BTreeSet;
use std::io::Read;

use signet_archive::{Reader, Writer};

/// The input as an archive. Headers get the sum that they ought to have, so that what is behind it
/// is reached.
pub fn run(data: &[u8]) {
    let mut data = data.to_vec();
    for block in data.chunks_exact_mut(512) {
        if block[257..262] == *b"ustar" {
            block[148..156].fill(b' ');
            let sum: u64 = block.iter().map(|byte| u64::from(*byte)).sum();
            block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        }
    }
    let data = &data[..];
    let mut reader = Reader::new(data, data.len() as u64);
    let mut writer = Writer::new(Vec::new());
    let mut names = BTreeSet::new();
    loop {
        let entry = match reader.next_entry() {
            Ok(Some(entry)) => entry,
            Ok(None) => break,
            Err(_) => return,
        };
        assert!(entry.size <= data.len() as u64);
        let parts = || entry.name.split('/');
        assert!(parts().all(|part| !part.is_empty() && part != "." && part != ".."));
        assert!(names.insert(entry.name.clone()));
        let mut content = Vec::new();
        if reader.content().read_to_end(&mut content).is_err() {
            return;
        }
        writer.file(&entry, &mut &content[..]).expect("is written");
    }
    assert_eq!(writer.finish().expect("is written"), data);
}
