//! Every text that a strict parser must refuse, and those that it must not.

use signet_encoding::json::{JsonError, Kind, Limits, Reader, Value, parse, parse_object};

fn refused(text: &[u8]) -> JsonError {
    let error = parse(text, &Limits::default()).expect_err(&String::from_utf8_lossy(text));
    // Skipping a value holds it to the same rules as reading it.
    let mut reader = match Reader::new(text, &Limits::default()) {
        Ok(reader) => reader,
        Err(early) => return early,
    };
    let skipped = reader.skip().and_then(|()| reader.finish());
    assert_eq!(skipped, Err(error), "{}", String::from_utf8_lossy(text));
    error
}

fn accepted(text: &str) -> Value<'_> {
    parse(text.as_bytes(), &Limits::default()).expect(text)
}

#[test]
fn duplicate_members_are_refused_after_unescaping() {
    for text in [
        r#"{"a":1,"a":1}"#,
        r#"{"sub":"x","\u0073ub":"y"}"#,
        r#"{"x":{"a":1,"b":2,"a":3}}"#,
        r#"[{"":1,"":2}]"#,
        r#"{"\ud83d\ude00":1,"😀":2}"#,
    ] {
        assert_eq!(refused(text.as_bytes()), JsonError::Duplicate, "{text}");
    }
    accepted(r#"{"a":{"a":1},"A":1,"a ":2}"#);
}

#[test]
fn a_duplicate_is_found_among_many_members() {
    for count in [15, 16, 17, 40, 400] {
        for twin in [0, 7, count - 1] {
            let members: Vec<String> = (0..count).map(|i| format!("\"m{i}\":{i}")).collect();
            let text = format!("{{{}}}", members.join(","));
            assert_eq!(
                accepted(&text).as_object().map(|object| object.len()),
                Some(count)
            );
            let text = format!("{{{},\"m{twin}\":0}}", members.join(","));
            assert_eq!(
                refused(text.as_bytes()),
                JsonError::Duplicate,
                "{count} {twin}"
            );
        }
    }
}

#[test]
fn lone_surrogates_are_refused() {
    for text in [
        r#""\ud800""#,
        r#""\udc00""#,
        r#""\ud800\ud800""#,
        r#""\ud800x""#,
        r#""\ud800\n""#,
        r#""\udc00\ud800""#,
        r#""\ud83d\u0041""#,
        r#"{"\ud800":1}"#,
    ] {
        assert!(
            matches!(refused(text.as_bytes()), JsonError::Malformed(_)),
            "{text}"
        );
    }
    assert_eq!(
        accepted(r#""\uD83D\uDE00 \u00e9\/""#).as_str(),
        Some("😀 é/")
    );
}

#[test]
fn what_is_not_utf_8_is_refused() {
    for text in [
        &b"\"\xc0\x80\""[..],            // overlong NUL
        b"\"\xc1\xa1\"",                 // overlong 'a'
        b"\"\xe0\x80\xaf\"",             // overlong '/'
        b"\"\xf0\x80\x80\xaf\"",         // overlong '/', four bytes
        b"\"\xed\xa0\x80\"",             // a surrogate, encoded
        b"\"\xed\xa0\xbd\xed\xb8\x80\"", // a pair of them (CESU-8)
        b"\"\xf4\x90\x80\x80\"",         // above U+10FFFF
        b"\"\x80\"",
        b"\"\xff\"",
        b"\"\xe2\x82\"",
    ] {
        assert!(
            matches!(refused(text), JsonError::Malformed(_)),
            "{text:x?}"
        );
    }
}

#[test]
fn raw_control_characters_and_bad_escapes_are_refused() {
    for byte in 0..0x20u8 {
        assert!(matches!(
            refused(&[b'"', b'a', byte, b'"']),
            JsonError::Malformed(2)
        ));
    }
    for text in [
        r#""\x41""#,
        r#""\u004""#,
        r#""\u00g1""#,
        r#""\u+041""#,
        r#""\U0041""#,
        r#""\'""#,
        r#""\""#,
        r#"""#,
        r#""\u"#,
        r#""\0""#,
        "\"a",
        "'a'",
        "\"a\\",
    ] {
        assert!(
            matches!(refused(text.as_bytes()), JsonError::Malformed(_)),
            "{text}"
        );
    }
    assert_eq!(accepted("\"\\u0000\u{7f}\"").as_str(), Some("\0\u{7f}"));
}

#[test]
fn nothing_may_stand_around_the_value() {
    for text in [
        "",
        " ",
        "{} {}",
        "{}x",
        "{}\0",
        "\u{feff}{}",
        "{},",
        "1 2",
        "nulll",
        "{}//",
        "\u{a0}{}",
        "{}\u{b}",
        "\u{c}1",
    ] {
        assert!(
            matches!(refused(text.as_bytes()), JsonError::Malformed(_)),
            "{text:?}"
        );
    }
    accepted(" \t\r\n{ \"a\" : [ 1 , 2 ] , \"b\" : { } } \n");
}

#[test]
fn the_grammar_has_no_extras() {
    for text in [
        "{",
        "}",
        "[",
        "]",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{,}",
        "{a:1}",
        "{1:1}",
        "{\"a\" 1}",
        "tru",
        "True",
        "nul",
        "NaN",
        "Infinity",
        "-Infinity",
        "+1",
        "01",
        "-01",
        "1.",
        ".5",
        "-",
        "-.5",
        "1e",
        "1e+",
        "0x10",
        "1_000",
        "--1",
        "00",
        "[1}",
        "{\"a\":1]",
        "undefined",
        "/**/1",
    ] {
        assert!(
            matches!(refused(text.as_bytes()), JsonError::Malformed(_)),
            "{text}"
        );
    }
    for text in [
        "0",
        "-0",
        "0.0",
        "-0.0e-0",
        "1E+5",
        "10",
        "9007199254740993",
        "1e308",
        "null",
        "true",
        "[]",
        "{}",
        "\"\"",
    ] {
        accepted(text);
    }
}

#[test]
fn depth_members_and_bytes_are_bounded_inclusively() {
    let limits = Limits {
        bytes: 20,
        depth: 2,
        members: 4,
    };
    let read = |text: &str| parse(text.as_bytes(), &limits).map(drop);
    assert_eq!(read("[[1]]"), Ok(()));
    assert_eq!(read("[[[]]]"), Err(JsonError::Limit));
    assert_eq!(read("{\"a\":{\"b\":{}}}"), Err(JsonError::Limit));
    assert_eq!(read("[[],[],[],[]]"), Ok(()), "depth is given back");
    assert_eq!(read("[1,2,3,4]"), Ok(()));
    assert_eq!(read("[1,2,3,4,5]"), Err(JsonError::Limit));
    assert_eq!(read("{\"a\":[1,2],\"b\":1}"), Ok(()));
    assert_eq!(read("{\"a\":[1,2,3],\"b\":1}"), Err(JsonError::Limit));
    assert_eq!(read("\"345678901234567890\""), Ok(()));
    assert_eq!(read("\"3456789012345678901\""), Err(JsonError::Limit));
}

#[test]
fn a_generous_limit_does_not_overflow_the_stack() {
    let limits = Limits {
        bytes: usize::MAX,
        depth: usize::MAX,
        members: usize::MAX,
    };
    for bracket in ["[", "{\"a\":"] {
        let text = bracket.repeat(1_000_000);
        assert_eq!(parse(text.as_bytes(), &limits), Err(JsonError::Limit));
    }
}

#[test]
fn strings_are_borrowed_unless_they_hold_an_escape() {
    let text = br#"{"plain":"value","escap\u0065d":"val\u0075e"}"#;
    let mut reader = Reader::new(text, &Limits::default()).unwrap();
    let mut seen = Vec::new();
    reader
        .object(|reader, name| -> Result<(), JsonError> {
            let value = reader.string()?;
            seen.push((
                matches!(name, std::borrow::Cow::Borrowed(_)),
                matches!(value, std::borrow::Cow::Borrowed(_)),
            ));
            assert_eq!(value, "value");
            Ok(())
        })
        .unwrap();
    assert_eq!(seen, [(true, true), (false, false)]);
}

#[test]
fn a_member_that_the_schema_does_not_read_is_skipped_and_checked() {
    let read = |text: &str| {
        let mut reader = Reader::new(text.as_bytes(), &Limits::default()).unwrap();
        let mut found = None;
        reader.object(|reader, name| -> Result<(), JsonError> {
            if name == "wanted" {
                found = Some(reader.u64()?);
            }
            Ok(())
        })?;
        reader.finish().map(|()| found)
    };
    assert_eq!(read(r#"{"x":[{"y":1}],"wanted":7,"z":null}"#), Ok(Some(7)));
    assert_eq!(
        read(r#"{"x":[{"y":1,"y":2}],"wanted":7}"#),
        Err(JsonError::Duplicate)
    );
    assert_eq!(read(r#"{"wanted":"7"}"#), Err(JsonError::Type));
    assert_eq!(read(r#"{"wanted":7.0}"#), Err(JsonError::Type));
    assert_eq!(read(r#"[]"#), Err(JsonError::Type));
}

#[test]
fn looking_at_a_kind_is_not_reading() {
    let mut kinds = Vec::new();
    let mut reader = Reader::new(
        b"{ \"a\" : [ 1 , \"x\" ] , \"b\" : null }",
        &Limits::default(),
    )
    .unwrap();
    reader
        .object(|reader, _| -> Result<(), JsonError> {
            kinds.push(reader.kind()?);
            if kinds.len() == 1 {
                reader.array(|reader| -> Result<(), JsonError> {
                    kinds.push(reader.kind()?);
                    Ok(())
                })?;
            }
            Ok(())
        })
        .unwrap();
    reader.finish().unwrap();
    assert_eq!(kinds, [Kind::Array, Kind::Number, Kind::String, Kind::Null]);
}

#[test]
fn a_schema_that_reads_twice_is_an_error_not_a_confusion() {
    let mut reader = Reader::new(br#"{"a":1,"b":2}"#, &Limits::default()).unwrap();
    let result = reader.object(|reader, _| -> Result<(), JsonError> {
        reader.u64()?;
        reader.u64().map(drop)
    });
    assert!(matches!(result, Err(JsonError::Malformed(_))));
}

#[test]
fn kinds_are_told_by_the_first_byte() {
    for (text, kind) in [
        ("null", Kind::Null),
        (" true", Kind::Bool),
        ("-1", Kind::Number),
        ("\"\"", Kind::String),
        ("[]", Kind::Array),
        ("{}", Kind::Object),
    ] {
        assert_eq!(
            Reader::new(text.as_bytes(), &Limits::default())
                .unwrap()
                .kind(),
            Ok(kind)
        );
    }
}

#[test]
fn typed_members_tell_absent_from_wrong() {
    let object = parse_object(
        br#"{"s":"x","n":1,"b":true,"a":["x","y"],"m":["x",1],"z":null}"#,
        &Limits::default(),
    )
    .unwrap();
    assert_eq!(object.string("s"), Ok(Some("x")));
    assert_eq!(object.string("absent"), Ok(None));
    assert_eq!(object.string("n"), Err(JsonError::Type));
    assert_eq!(object.string("z"), Err(JsonError::Type));
    assert_eq!(object.u64("n"), Ok(Some(1)));
    assert_eq!(object.bool("b"), Ok(Some(true)));
    assert_eq!(object.strings("a"), Ok(Some(vec!["x", "y"])));
    assert_eq!(object.strings("m"), Err(JsonError::Type));
}
