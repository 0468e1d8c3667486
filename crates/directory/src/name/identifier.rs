//! What a new user name may be made of: the IdentifierClass of RFC 8264, the rule for right-to-left
//! scripts, and one script.

use icu_normalizer::ComposingNormalizerBorrowed;
use icu_properties::CodePointMapData;
use icu_properties::props::{BidiClass, GeneralCategory, Script};
use icu_properties::script::ScriptWithExtensions;

const NFC: ComposingNormalizerBorrowed<'static> = ComposingNormalizerBorrowed::new_nfc();
const NFKC: ComposingNormalizerBorrowed<'static> = ComposingNormalizerBorrowed::new_nfkc();

/// Whether a text, as it was typed, is a string of the IdentifierClass (RFC 8264 section 4.2) after
/// the width mapping of RFC 8265 section 3.3.2. Characters whose context decides (section 4.2.2)
/// are refused.
pub(super) fn is_identifier(text: &str) -> bool {
    let categories = CodePointMapData::<GeneralCategory>::new();
    text.chars().all(|c| {
        let mut bytes = [0; 4];
        let own = c.encode_utf8(&mut bytes);
        let mapped = NFKC.normalize(own);
        // RFC 8264 section 9.17 (HasCompat): but for full-width and half-width forms, which are
        // mapped, such characters are refused.
        let has_width = ('\u{ff01}'..='\u{ffee}').contains(&c);
        (has_width || mapped == NFC.normalize(own))
            && mapped.chars().all(|c| is_valid(c, categories.get(c)))
    })
}

fn is_valid(c: char, category: GeneralCategory) -> bool {
    use GeneralCategory as Gc;
    match c {
        // Section 9.11 (ASCII7).
        '!'..='~' => true,
        // Section 9.6 (Exceptions).
        '\u{6fd}' | '\u{6fe}' | '\u{f0b}' | '\u{3007}' => true,
        '\u{640}' | '\u{7fa}' | '\u{302e}' | '\u{302f}' | '\u{3031}'..='\u{3035}' | '\u{303b}' => {
            false
        }
        // Section 9.1 (LetterDigits).
        _ => [
            Gc::LowercaseLetter,
            Gc::UppercaseLetter,
            Gc::OtherLetter,
            Gc::DecimalNumber,
            Gc::ModifierLetter,
            Gc::NonspacingMark,
            Gc::SpacingMark,
        ]
        .contains(&category),
    }
}

/// The Bidi Rule (RFC 5893 section 2), which RFC 8265 section 3.3.2 asks of names with
/// right-to-left characters.
pub(super) fn keeps_direction(text: &str) -> bool {
    use BidiClass as B;
    let map = CodePointMapData::<BidiClass>::new();
    let classes: Vec<BidiClass> = text.chars().map(|c| map.get(c)).collect();
    let any = |wanted: &[BidiClass]| classes.iter().any(|class| wanted.contains(class));
    if !any(&[B::RightToLeft, B::ArabicLetter, B::ArabicNumber]) {
        return true;
    }
    // What begins from the left has nothing that goes to the left (conditions 1 and 5).
    let begins = classes.first();
    if !begins.is_some_and(|class| [B::RightToLeft, B::ArabicLetter].contains(class)) {
        return false;
    }
    let ends = classes.iter().rfind(|class| **class != B::NonspacingMark);
    let may_end = [
        B::RightToLeft,
        B::ArabicLetter,
        B::EuropeanNumber,
        B::ArabicNumber,
    ];
    // Conditions 2, 3 and 4.
    !any(&[B::LeftToRight])
        && ends.is_some_and(|class| may_end.contains(class))
        && !(any(&[B::EuropeanNumber]) && any(&[B::ArabicNumber]))
}

/// The writing systems that a character belongs to: its scripts, and those sets of scripts that one
/// language writes together (UTS 39 section 5.1).
fn systems(scripts: impl Iterator<Item = Script>) -> Vec<(Option<Script>, u8)> {
    const JAPANESE: u8 = 1;
    const KOREAN: u8 = 2;
    const BOPOMOFO: u8 = 3;
    let mut all = Vec::new();
    for script in scripts {
        all.push((Some(script), 0));
        let more: &[u8] = if script == Script::Han {
            &[JAPANESE, KOREAN, BOPOMOFO]
        } else if [Script::Hiragana, Script::Katakana].contains(&script) {
            &[JAPANESE]
        } else if script == Script::Hangul {
            &[KOREAN]
        } else if script == Script::Bopomofo {
            &[BOPOMOFO]
        } else {
            &[]
        };
        all.extend(more.iter().map(|system| (None, *system)));
    }
    all
}

/// Whether all letters are of one writing system (UTS 39 section 5.1): digits and marks that all
/// share are of any.
pub(super) fn has_one_script(text: &str) -> bool {
    let map = ScriptWithExtensions::new();
    let mut shared: Option<Vec<(Option<Script>, u8)>> = None;
    for c in text.chars() {
        let scripts = map.get_script_extensions_val(c);
        if scripts.contains(&Script::Common) || scripts.contains(&Script::Inherited) {
            continue;
        }
        let own = systems(scripts.iter());
        let still = match shared {
            None => own,
            Some(mut known) => {
                known.retain(|system| own.contains(system));
                known
            }
        };
        if still.is_empty() {
            return false;
        }
        shared = Some(still);
    }
    true
}
