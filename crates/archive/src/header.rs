//! An entry's header: one block of POSIX `ustar`.

/// Bytes of a block: headers are one, contents are filled up to whole ones.
pub(crate) const BLOCK: usize = 512;

/// Longest name of a file in a backup, in bytes.
pub const MAX_NAME_BYTES: usize = 250;

/// Bytes of the name's last and first field.
const NAME: usize = 100;
const PREFIX: usize = 155;

/// One file of an archive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Its relative path.
    pub name: String,
    /// Who may do what with it: the nine lowest bits of its mode.
    pub mode: u32,
    /// When it was changed, Unix seconds.
    pub modified: u64,
    /// Bytes of its content.
    pub size: u64,
}

/// Why a name can be no file's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "a name is a relative path of {MAX_NAME_BYTES} bytes at most, without empty parts, . and .., backslashes and control characters"
)]
pub struct InvalidName;

/// Whether a file of an archive may have this name.
///
/// # Errors
/// [`InvalidName`].
pub fn check_name(name: &str) -> Result<(), InvalidName> {
    let is_part = |part: &str| {
        let plain = |c: char| !c.is_control() && c != '\\';
        !part.is_empty() && part != "." && part != ".." && part.chars().all(plain)
    };
    match name.len() <= MAX_NAME_BYTES && name.split('/').all(is_part) && split(name).is_some() {
        true => Ok(()),
        false => Err(InvalidName),
    }
}

/// The name's two fields: the shortest first one whose rest fits.
fn split(name: &str) -> Option<(&str, &str)> {
    if name.len() <= NAME {
        return Some(("", name));
    }
    let mut cuts = name.match_indices('/').map(|(at, _)| name.split_at(at));
    let (prefix, rest) = cuts.find(|(_, rest)| rest.len() <= NAME + 1)?;
    (prefix.len() <= PREFIX).then_some((prefix, &rest[1..]))
}

impl Entry {
    /// Its header.
    ///
    /// # Errors
    /// [`InvalidName`].
    pub(crate) fn header(&self) -> Result<[u8; BLOCK], InvalidName> {
        check_name(&self.name)?;
        let (prefix, name) = split(&self.name).ok_or(InvalidName)?;
        let mut block = [0; BLOCK];
        let mut at = 0;
        let mut field = |width: usize, bytes: &[u8]| {
            block[at..at + bytes.len()].copy_from_slice(bytes);
            at += width;
        };
        field(NAME, name.as_bytes());
        field(8, octal(u64::from(self.mode & 0o777), 7).as_bytes());
        // Whose the files are is for who restores them.
        field(8, octal(0, 7).as_bytes());
        field(8, octal(0, 7).as_bytes());
        field(12, &number(self.size));
        field(12, &number(self.modified));
        // The sum is of a header with spaces in its place.
        field(8, b"        ");
        field(1, b"0");
        field(NAME, b"");
        field(8, b"ustar\x0000");
        field(32, b"");
        field(32, b"");
        field(8, octal(0, 7).as_bytes());
        field(8, octal(0, 7).as_bytes());
        field(PREFIX, prefix.as_bytes());
        let sum: u64 = block.iter().map(|byte| u64::from(*byte)).sum();
        block[148..154].copy_from_slice(octal(sum, 6).as_bytes());
        block[154] = 0;
        Ok(block)
    }

    /// Reads a header. None: it is not the one that would have been written for what it says.
    pub(crate) fn parse(block: &[u8; BLOCK]) -> Option<Entry> {
        let name = text(&block[..NAME])?;
        let prefix = text(&block[345..345 + PREFIX])?;
        let entry = Entry {
            name: match prefix {
                "" => name.to_owned(),
                prefix => format!("{prefix}/{name}"),
            },
            mode: u32::try_from(read_octal(&block[100..107])?).ok()?,
            modified: read_number(&block[136..148])?,
            size: read_number(&block[124..136])?,
        };
        let written = entry.header().ok()?;
        (written == *block).then_some(entry)
    }
}

fn octal(number: u64, digits: usize) -> String {
    format!("{number:0digits$o}")
}

/// Eleven octal digits, or, of more, eight bytes behind a mark: what GNU's and others' `tar` read.
fn number(value: u64) -> [u8; 12] {
    let mut field = [0; 12];
    if value < 1 << 33 {
        field[..11].copy_from_slice(octal(value, 11).as_bytes());
    } else {
        field[0] = 0x80;
        field[4..].copy_from_slice(&value.to_be_bytes());
    }
    field
}

fn read_number(field: &[u8]) -> Option<u64> {
    match field.first()? {
        0x80 => Some(u64::from_be_bytes(field.get(4..12)?.try_into().ok()?)),
        _ => read_octal(field.get(..11)?),
    }
}

fn read_octal(digits: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(digits).ok()?;
    u64::from_str_radix(text, 8).ok()
}

/// The text of a field, up to the first zero.
fn text(field: &[u8]) -> Option<&str> {
    let end = field.iter().position(|byte| *byte == 0);
    std::str::from_utf8(&field[..end.unwrap_or(field.len())]).ok()
}

/// What a header of another kind asks for, for the error.
pub(crate) fn kind_of(block: &[u8; BLOCK]) -> Option<&'static str> {
    match block[156] {
        b'1' | b'2' => Some("a link"),
        b'3' | b'4' | b'6' => Some("a device"),
        b'5' => Some("a directory"),
        b'x' | b'g' | b'L' | b'K' => Some("an extension"),
        _ => None,
    }
}
