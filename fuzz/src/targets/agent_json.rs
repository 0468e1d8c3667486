//! JSON files of agents. Rule: what is read is what is written again, and reading does not panic.

use signet_agent::json::File;

/// One input.
pub fn run(data: &[u8]) {
    let Ok(file) = File::read(data) else {
        return;
    };
    // The message itself may be no object yet: that shows when it is asked for.
    if let Ok(text) = file.write() {
        let again = File::read(text.as_bytes()).expect("what was written can be read");
        assert_eq!(again.message, file.message);
        assert_eq!(again.content, file.content);
        assert_eq!(again.disclosures, file.disclosures);
    }
}
