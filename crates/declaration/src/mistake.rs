//! What is wrong with a directory: one line each.
use serde_json::{Value, json};
use std::fmt;

/// A mistake and its place. `line` counts from 1; 0: the whole of it, or what has no lines.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Mistake {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) what: String,
    pub(crate) suggestion: Option<String>,
}

impl Mistake {
    pub(crate) fn new(file: &str, line: usize, what: impl Into<String>) -> Mistake {
        Mistake {
            file: file.to_owned(),
            line,
            what: what.into(),
            suggestion: None,
        }
    }

    pub(crate) fn suggest(mut self, suggestion: impl Into<String>) -> Mistake {
        self.suggestion = Some(suggestion.into());
        self
    }

    /// A name that is not known, and the one that was probably meant.
    pub(crate) fn meant(mut self, name: Option<String>) -> Mistake {
        self.suggestion = name.map(|name| format!("did you mean \"{name}\"?"));
        self
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({
            "file": self.file, "line": self.line, "message": self.what,
            "suggestion": self.suggestion,
        })
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // One line, whatever stands in the file.
        let clean = |text: &str| -> String {
            let shown = |c: char| if c.is_control() { '\u{fffd}' } else { c };
            text.chars().map(shown).collect()
        };
        write!(f, "{}", clean(&self.file))?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        write!(f, ": {}", clean(&self.what))?;
        match &self.suggestion {
            Some(suggestion) => write!(f, "; {}", clean(suggestion)),
            None => Ok(()),
        }
    }
}
