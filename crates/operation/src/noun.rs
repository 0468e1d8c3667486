//! Kinds of records, as whoever shows them needs them: where they are, what a list shows of each,
//! and what can be written. Each is declared beside its operations; the command line reads it
//! there.
use crate::facts::SchemaOf;
use schemars::SchemaGenerator;

/// Where the API begins, below the issuer.
const ROOT: &str = "/admin/v1";

/// A kind of record.
#[derive(Clone, Copy, Debug)]
pub struct Noun {
    /// One of them, in words: `client`.
    pub name: &'static str,
    /// The path of all of them, below the issuer.
    pub list: &'static str,
    /// The member that names one.
    pub id: &'static str,
    /// Members that a list shows, in this order.
    pub columns: &'static [&'static str],
    /// The member that a list is sorted by, where the API's own order says nothing to a person.
    pub sorted_by: Option<&'static str>,
    /// Documents of what can be written.
    pub written: &'static [SchemaOf],
}

/// A member that can be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its value is a list.
    pub is_list: bool,
}

impl Noun {
    /// The path of all of them, below `/admin/v1`.
    pub fn path(&self) -> &'static str {
        self.list.strip_prefix(ROOT).unwrap_or(self.list)
    }

    /// Members that can be written, by the operations' own schemas.
    pub fn fields(&self) -> Vec<Field> {
        let mut generator = SchemaGenerator::default();
        let mut fields: Vec<Field> = Vec::new();
        for document in self.written {
            let schema = document(&mut generator);
            let properties = schema.get("properties").and_then(|p| p.as_object());
            for (name, member) in properties.into_iter().flatten() {
                // One type, or several of which one is null.
                let types = &member["type"];
                let is_list = types == "array"
                    || types
                        .as_array()
                        .is_some_and(|types| types.iter().any(|t| t == "array"));
                if fields.iter().all(|field| field.name != *name) {
                    let name = name.clone();
                    fields.push(Field { name, is_list });
                }
            }
        }
        fields
    }
}
