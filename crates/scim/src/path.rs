//! Paths of patches (RFC 7644 section 3.5.2): `emails[type eq "work"].value`.
use crate::{
    attribute::{AttributePath, MAX_PATH_BYTES, is_name},
    error::{Error, Kind},
    filter::{self, Filter},
};

/// What a patch is about.
#[derive(Clone, PartialEq, Debug)]
pub struct Target {
    /// The attribute; its part, where the path has no filter.
    pub attribute: AttributePath,
    /// Which of its values.
    pub filter: Option<Filter>,
    /// A part of each of these.
    pub part: Option<String>,
}

impl Target {
    /// Reads the `path` of a patch.
    ///
    /// # Errors
    /// [`Kind::InvalidPath`], or [`Kind::InvalidFilter`] of what stands in brackets.
    pub fn parse(text: &str) -> Result<Target, Error> {
        let invalid = || Error::new(Kind::InvalidPath, "this is no path of a patch");
        if text.len() > MAX_PATH_BYTES {
            return Err(invalid());
        }
        let Some((before, rest)) = text.split_once('[') else {
            return Ok(Target {
                attribute: AttributePath::parse(text)?,
                filter: None,
                part: None,
            });
        };
        let (inside, behind) = rest.rsplit_once(']').ok_or_else(invalid)?;
        let attribute = AttributePath::parse(before)?;
        if attribute.part.is_some() {
            return Err(invalid());
        }
        let part = match behind {
            "" => None,
            behind => {
                let part = behind.strip_prefix('.').filter(|part| is_name(part));
                Some(part.ok_or_else(invalid)?.to_owned())
            }
        };
        Ok(Target {
            attribute,
            filter: Some(filter::parse(inside)?),
            part,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_as_the_specification_writes_them() {
        let path = AttributePath::parse("name.familyName").unwrap();
        assert_eq!(
            (path.name.as_str(), path.part.as_deref()),
            ("name", Some("familyName"))
        );
        let path =
            AttributePath::parse("urn:ietf:params:scim:schemas:core:2.0:User:name.givenName")
                .unwrap();
        assert_eq!(
            path.schema.as_deref(),
            Some("urn:ietf:params:scim:schemas:core:2.0:User")
        );
        assert_eq!(
            (path.name.as_str(), path.part.as_deref()),
            ("name", Some("givenName"))
        );
        let target = Target::parse(r#"addresses[type eq "work"].street"#).unwrap();
        assert_eq!(target.attribute.name, "addresses");
        assert_eq!(target.part.as_deref(), Some("street"));
        assert!(target.filter.is_some());
        let target = Target::parse(r#"members[value eq "a]b"]"#).unwrap();
        assert_eq!(target.part, None);
        assert!(AttributePath::parse("$ref").is_ok());
        for bad in [
            "",
            ".",
            "a.",
            "a.b.c",
            "1a",
            "a b",
            "x:y",
            "a[",
            "a]",
            "a[x eq 1].",
            "a[x eq 1]b",
            "a.b[x eq 1]",
        ] {
            assert!(Target::parse(bad).is_err(), "{bad}");
        }
        assert!(AttributePath::parse(&"a".repeat(MAX_PATH_BYTES + 1)).is_err());
    }
}
