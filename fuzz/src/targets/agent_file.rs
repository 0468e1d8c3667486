//! Identity files. Rule: what is read is the one encoding of the file, and no parameters out of
//! bounds reach Argon2.

use signet_agent::file::IdentityFile;

/// One input.
pub fn run(data: &[u8]) {
    if let Ok(file) = IdentityFile::parse(data) {
        assert_eq!(file.to_bytes(), data, "one file, one encoding");
    }
}
