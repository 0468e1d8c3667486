//! Text that people read before they approve something: bounded, and without what cannot be seen.

use crate::error::{Refusal, Result, ensure};

/// Characters that have no shape of their own, or change where their neighbours stand: the general
/// categories Cf, Zl and Zp, and the property `Default_Ignorable_Code_Point` (Unicode Character
/// Database 17.0, UnicodeData.txt and DerivedCoreProperties.txt). With them two texts look alike
/// and are not, or one reads backwards (UTS 39, section 5).
const UNSEEN: [(u32, u32); 26] = [
    (0x00ad, 0x00ad),
    (0x034f, 0x034f),
    (0x0600, 0x0605),
    (0x061c, 0x061c),
    (0x06dd, 0x06dd),
    (0x070f, 0x070f),
    (0x0890, 0x0891),
    (0x08e2, 0x08e2),
    (0x115f, 0x1160),
    (0x17b4, 0x17b5),
    (0x180b, 0x180f),
    (0x200b, 0x200f),
    (0x2028, 0x2029),
    (0x202a, 0x202e),
    (0x2060, 0x206f),
    (0x3164, 0x3164),
    (0xfe00, 0xfe0f),
    (0xfeff, 0xfeff),
    (0xffa0, 0xffa0),
    (0xfff0, 0xfffb),
    (0x1_10bd, 0x1_10bd),
    (0x1_10cd, 0x1_10cd),
    (0x1_3430, 0x1_343f),
    (0x1_bca0, 0x1_bca3),
    (0x1_d173, 0x1_d17a),
    (0xe_0000, 0xe_0fff),
];

/// Whether a character can be seen where it stands: it is no control, and has a shape of its own.
pub fn is_seen(c: char) -> bool {
    let code = u32::from(c);
    let unseen = UNSEEN
        .binary_search_by(|(first, last)| {
            if *last < code {
                std::cmp::Ordering::Less
            } else if *first > code {
                std::cmp::Ordering::Greater
            } else {
                std::cmp::Ordering::Equal
            }
        })
        .is_ok();
    !c.is_control() && !unseen
}

/// Text for people or machines: bounded, and every character of it can be seen.
///
/// # Errors
/// [`Refusal::InvalidValue`].
pub fn check_text(text: &str, most_bytes: usize) -> Result<()> {
    let good = text.len() <= most_bytes && text.chars().all(is_seen);
    ensure(good, Refusal::InvalidValue)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_ascends() {
        assert!(UNSEEN.iter().all(|(first, last)| first <= last));
        assert!(UNSEEN.windows(2).all(|pair| pair[0].1 < pair[1].0));
    }

    #[test]
    fn what_cannot_be_seen_is_refused() {
        for bad in [
            "a\u{202e}txt.live",
            "\u{200b}",
            "bank\u{feff}",
            "x\u{2028}y",
            "x\u{2029}y",
            "\u{2066}x",
            "x\u{3164}",
            "x\u{ad}y",
            "x\u{e0041}",
            "x\u{fe0f}",
            "a\nb",
            "\u{7f}",
            "\u{85}",
        ] {
            assert_eq!(check_text(bad, 64), Err(Refusal::InvalidValue), "{bad:?}");
        }
        for good in [
            "",
            "Zo\u{eb}",
            "\u{65e5}\u{672c}\u{8a9e}",
            "\u{5d0}\u{5d1}",
            "two words",
            "\u{1f600}",
        ] {
            assert_eq!(check_text(good, 64), Ok(()), "{good:?}");
        }
        assert_eq!(check_text("abc", 2), Err(Refusal::InvalidValue));
    }
}
