//! How large a document may be.

/// Bounds of one document. All are inclusive.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// length of the text
    pub bytes: usize,
    /// arrays and objects inside each other; 1 is a flat object. At most [`MAX_DEPTH`] counts.
    pub depth: usize,
    /// object members and array elements, together, in the whole document
    pub members: usize,
}

/// Nesting beyond this is refused whatever the [`Limits`] say: reading recurses, and stacks are
/// finite. serde_json, beside which these files are read, draws the line here too.
pub const MAX_DEPTH: usize = 127;

impl Default for Limits {
    fn default() -> Self {
        Limits {
            bytes: 64 * 1024,
            depth: 16,
            members: 512,
        }
    }
}
