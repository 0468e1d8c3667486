//! Distinguished names as strings (RFC 4514).

use x509_parser::{
    asn1_rs::{Any, Tag, ToDer},
    x509::X509Name,
};

use super::CertificateError;

/// RFC 4514 section 3, the table of attribute types that have a short name.
const SHORT_NAMES: [(&str, &str); 9] = [
    ("2.5.4.3", "CN"),
    ("2.5.4.7", "L"),
    ("2.5.4.8", "ST"),
    ("2.5.4.10", "O"),
    ("2.5.4.11", "OU"),
    ("2.5.4.6", "C"),
    ("2.5.4.9", "STREET"),
    ("0.9.2342.19200300.100.1.25", "DC"),
    ("0.9.2342.19200300.100.1.1", "UID"),
];

/// The string of a name: relative names from the last to the first, joined by commas without
/// spaces.
pub(super) fn rfc4514(name: &X509Name<'_>) -> Result<String, CertificateError> {
    let relative: Vec<_> = name.iter_rdn().collect();
    let mut out = String::new();
    for (i, relative) in relative.into_iter().rev().enumerate() {
        if i > 0 {
            out.push(',');
        }
        for (j, attribute) in relative.iter().enumerate() {
            if j > 0 {
                out.push('+');
            }
            let oid = attribute.attr_type().to_id_string();
            let short = SHORT_NAMES.iter().find(|(id, _)| *id == oid);
            let text = short.and_then(|_| text(attribute.attr_value()));
            out.push_str(short.map_or(oid.as_str(), |(_, short)| short));
            out.push('=');
            match text {
                Some(text) => push_escaped(&mut out, &text),
                // Section 2.4: a dotted type, or a value without a string, is the hexadecimal form
                // of its encoding.
                None => push_hexadecimal(&mut out, attribute.attr_value())?,
            }
        }
    }
    Ok(out)
}

fn text(value: &Any<'_>) -> Option<String> {
    match value.tag() {
        Tag::Utf8String | Tag::PrintableString | Tag::Ia5String | Tag::NumericString => {
            String::from_utf8(value.data.to_vec()).ok()
        }
        Tag::BmpString => {
            let (units, []) = value.data.as_chunks::<2>() else {
                return None;
            };
            char::decode_utf16(units.iter().map(|unit| u16::from_be_bytes(*unit)))
                .collect::<Result<_, _>>()
                .ok()
        }
        _ => None,
    }
}

/// RFC 4514 section 2.4.
fn push_escaped(out: &mut String, value: &str) {
    let last = value.chars().count().saturating_sub(1);
    for (i, character) in value.chars().enumerate() {
        match character {
            '"' | '+' | ',' | ';' | '<' | '>' | '\\' => {
                out.push('\\');
                out.push(character);
            }
            '#' if i == 0 => out.push_str("\\#"),
            ' ' if i == 0 || i == last => out.push_str("\\ "),
            '\0' => out.push_str("\\00"),
            _ => out.push(character),
        }
    }
}

fn push_hexadecimal(out: &mut String, value: &Any<'_>) -> Result<(), CertificateError> {
    let der = value.to_der_vec().map_err(|_| CertificateError)?;
    out.push('#');
    for byte in der {
        for nibble in [byte >> 4, byte & 0x0f] {
            // A nibble is below 16.
            out.extend(char::from_digit(nibble.into(), 16));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(value: &str) -> String {
        let mut out = String::new();
        push_escaped(&mut out, value);
        out
    }

    #[test]
    fn special_characters_are_escaped_as_rfc_4514_says() {
        // The examples of RFC 4514 section 4, and the corners of section 2.4.
        assert_eq!(
            escaped("James \"Jim\" Smith, III"),
            "James \\\"Jim\\\" Smith\\, III"
        );
        assert_eq!(escaped("# a#"), "\\# a#");
        assert_eq!(escaped(" a "), "\\ a\\ ");
        assert_eq!(escaped(" "), "\\ ");
        assert_eq!(escaped("a+b;c<d>e\\f=g"), "a\\+b\\;c\\<d\\>e\\\\f=g");
        assert_eq!(escaped("Lu\u{10d}i\u{107}\0"), "Lu\u{10d}i\u{107}\\00");
        assert_eq!(escaped(""), "");
    }
}
