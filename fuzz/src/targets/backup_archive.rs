//! Archives of backups. Rule: what is read has relative names alone, none of them twice, and is
//! written the same way again, byte for byte.

use std::collections::BTreeSet;
use std::io::Read;

use signet_archive::{Reader, Writer};

/// The input as an archive.
pub fn run(data: &[u8]) {
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
