//! Filters (RFC 7644 section 3.4.2.2): read within bounds, and tried on a resource.
use crate::{
    attribute::AttributePath,
    error::{Error, Kind},
    member,
};
use serde_json::{Map, Value};
use std::{cmp::Ordering, fmt};

/// The longest filter, in bytes.
pub const MAX_FILTER_BYTES: usize = 4096;
/// How deep a filter may nest: parentheses, `not` and brackets.
pub const MAX_DEPTH: usize = 8;
/// Most comparisons of one filter.
pub const MAX_TERMS: usize = 32;

/// How values are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operator {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Has it in it.
    Co,
    /// Begins with it.
    Sw,
    /// Ends with it.
    Ew,
    /// Greater.
    Gt,
    /// Greater, or equal.
    Ge,
    /// Less.
    Lt,
    /// Less, or equal.
    Le,
}

impl Operator {
    const ALL: [(&'static str, Operator); 9] = [
        ("eq", Operator::Eq),
        ("ne", Operator::Ne),
        ("co", Operator::Co),
        ("sw", Operator::Sw),
        ("ew", Operator::Ew),
        ("gt", Operator::Gt),
        ("ge", Operator::Ge),
        ("lt", Operator::Lt),
        ("le", Operator::Le),
    ];

    fn named(name: &str) -> Option<Operator> {
        let mut all = Operator::ALL.iter();
        all.find(|(own, _)| own.eq_ignore_ascii_case(name))
            .map(|(_, operator)| *operator)
    }

    fn name(self) -> &'static str {
        let mut all = Operator::ALL.iter();
        all.find(|(_, operator)| *operator == self)
            .map_or("eq", |(name, _)| name)
    }
}

/// A filter.
#[derive(Clone, PartialEq, Debug)]
pub enum Filter {
    /// Both hold.
    And(Box<Filter>, Box<Filter>),
    /// One holds.
    Or(Box<Filter>, Box<Filter>),
    /// It does not hold.
    Not(Box<Filter>),
    /// The attribute has a value.
    Present(AttributePath),
    /// A value compares so.
    Compare(AttributePath, Operator, Value),
    /// One of the attribute's values fulfils a filter of its own.
    Values(AttributePath, Box<Filter>),
}

fn invalid(detail: &str) -> Error {
    Error::new(Kind::InvalidFilter, detail)
}

/// Reads a filter.
///
/// # Errors
/// [`Kind::InvalidFilter`]: not one, or beyond a bound.
pub fn parse(text: &str) -> Result<Filter, Error> {
    if text.len() > MAX_FILTER_BYTES {
        return Err(invalid("the filter is too long"));
    }
    let mut parser = Parser {
        rest: text,
        terms: 0,
    };
    let filter = parser.any(0)?;
    parser.space();
    match parser.rest {
        "" => Ok(filter),
        _ => Err(invalid("something stands behind the filter")),
    }
}

struct Parser<'a> {
    rest: &'a str,
    terms: usize,
}

impl<'a> Parser<'a> {
    fn space(&mut self) {
        self.rest = self.rest.trim_start_matches(' ');
    }

    fn take(&mut self, mark: char) -> bool {
        self.space();
        match self.rest.strip_prefix(mark) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// The next word, up to a space or a bracket.
    fn word(&mut self) -> &'a str {
        self.space();
        let end = self.rest.find([' ', '(', ')', '[', ']']);
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        word
    }

    /// A word that joins, if it is the next one.
    fn joins(&mut self, name: &str) -> bool {
        let before = self.rest;
        if self.word().eq_ignore_ascii_case(name) {
            return true;
        }
        self.rest = before;
        false
    }

    fn any(&mut self, depth: usize) -> Result<Filter, Error> {
        let mut filter = self.all(depth)?;
        while self.joins("or") {
            filter = Filter::Or(Box::new(filter), Box::new(self.all(depth)?));
        }
        Ok(filter)
    }

    fn all(&mut self, depth: usize) -> Result<Filter, Error> {
        let mut filter = self.one(depth)?;
        while self.joins("and") {
            filter = Filter::And(Box::new(filter), Box::new(self.one(depth)?));
        }
        Ok(filter)
    }

    fn inside(&mut self, depth: usize, end: char) -> Result<Filter, Error> {
        if depth == MAX_DEPTH {
            return Err(invalid("the filter is nested too deep"));
        }
        let filter = self.any(depth + 1)?;
        match self.take(end) {
            true => Ok(filter),
            false => Err(invalid("a bracket is not closed")),
        }
    }

    fn one(&mut self, depth: usize) -> Result<Filter, Error> {
        if self.take('(') {
            return self.inside(depth, ')');
        }
        let word = self.word();
        if word.eq_ignore_ascii_case("not") {
            if !self.take('(') {
                return Err(invalid("`not` is followed by parentheses"));
            }
            return Ok(Filter::Not(Box::new(self.inside(depth, ')')?)));
        }
        self.terms += 1;
        if self.terms > MAX_TERMS {
            return Err(invalid("the filter has too many comparisons"));
        }
        let path = AttributePath::parse(word).map_err(|_| invalid("an attribute is expected"))?;
        // Nothing may stand between a name and its brackets.
        if let Some(rest) = self.rest.strip_prefix('[') {
            self.rest = rest;
            let inside = self.inside(depth, ']')?;
            return Ok(Filter::Values(path, Box::new(inside)));
        }
        let operator = self.word();
        if operator.eq_ignore_ascii_case("pr") {
            return Ok(Filter::Present(path));
        }
        let operator =
            Operator::named(operator).ok_or_else(|| invalid("there is no such operator"))?;
        let value = self.value()?;
        Ok(Filter::Compare(path, operator, value))
    }

    /// A value of JSON: text, number, `true`, `false`, `null`.
    fn value(&mut self) -> Result<Value, Error> {
        self.space();
        let wrong =
            || invalid("a value is a text in quotation marks, a number, true, false or null");
        if self.rest.starts_with('"') {
            let mut escaped = false;
            let end = self.rest.char_indices().skip(1).find(|(_, c)| {
                let ends = *c == '"' && !escaped;
                escaped = *c == '\\' && !escaped;
                ends
            });
            let (end, _) = end.ok_or_else(wrong)?;
            let (text, rest) = self.rest.split_at(end + 1);
            self.rest = rest;
            return serde_json::from_str(text).map_err(|_| wrong());
        }
        let word = self.word();
        let value: Value = serde_json::from_str(word).map_err(|_| wrong())?;
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(value),
            Value::String(_) | Value::Array(_) | Value::Object(_) => Err(wrong()),
        }
    }
}

impl fmt::Display for Filter {
    /// As it could be read again.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |path: &AttributePath| {
            let schema = path.schema.as_ref().map(|s| format!("{s}:"));
            let part = path.part.as_ref().map(|p| format!(".{p}"));
            let (schema, part) = (schema.unwrap_or_default(), part.unwrap_or_default());
            format!("{schema}{}{part}", path.name)
        };
        match self {
            Filter::And(a, b) => write!(f, "({a} and {b})"),
            Filter::Or(a, b) => write!(f, "({a} or {b})"),
            Filter::Not(a) => write!(f, "not ({a})"),
            Filter::Present(path) => write!(f, "{} pr", name(path)),
            Filter::Compare(path, operator, value) => {
                write!(f, "{} {} {value}", name(path), operator.name())
            }
            Filter::Values(path, inside) => write!(f, "{}[{inside}]", name(path)),
        }
    }
}

/// Attributes whose case counts (RFC 7643 section 3.1 and 4: `caseExact`). `of`: the attribute that
/// the path is a part of, within brackets.
fn is_exact(path: &AttributePath, of: Option<&AttributePath>) -> bool {
    let exact = ["id", "externalId", "value", "$ref", "version"];
    let last = path.part.as_ref().unwrap_or(&path.name);
    // An address is compared without case: only ids of members and groups are exact.
    let of_people = ["emails", "phoneNumbers", "addresses"];
    exact.iter().any(|name| name.eq_ignore_ascii_case(last))
        && !of_people
            .iter()
            .any(|name| name.eq_ignore_ascii_case(&of.unwrap_or(path).name))
}

impl Filter {
    /// Whether a resource, or a value of a multi-valued attribute, fulfils it.
    pub fn holds(&self, object: &Map<String, Value>) -> bool {
        self.holds_within(object, None)
    }

    /// `of`: the attribute whose value the object is, within brackets.
    fn holds_within(&self, object: &Map<String, Value>, of: Option<&AttributePath>) -> bool {
        match self {
            Filter::And(a, b) => a.holds_within(object, of) && b.holds_within(object, of),
            Filter::Or(a, b) => a.holds_within(object, of) || b.holds_within(object, of),
            Filter::Not(inside) => !inside.holds_within(object, of),
            Filter::Present(path) => values(object, path).iter().any(|value| is_there(value)),
            Filter::Compare(path, operator, wanted) => {
                let found = values(object, path);
                let exact = is_exact(path, of);
                match operator {
                    // Not equal is what equal is not, of all values together.
                    Operator::Ne => !found
                        .iter()
                        .any(|v| compares(v, Operator::Eq, wanted, exact)),
                    Operator::Eq if wanted.is_null() => !found.iter().any(|v| is_there(v)),
                    Operator::Eq
                    | Operator::Co
                    | Operator::Sw
                    | Operator::Ew
                    | Operator::Gt
                    | Operator::Ge
                    | Operator::Lt
                    | Operator::Le => found.iter().any(|v| compares(v, *operator, wanted, exact)),
                }
            }
            Filter::Values(path, inside) => {
                let found = elements(object, path);
                found.iter().any(|value| match value {
                    Value::Object(object) => inside.holds_within(object, Some(path)),
                    // RFC 7643 section 2.4: a simple value is as if it were `value`.
                    simple => {
                        let object = Map::from_iter([("value".to_owned(), (*simple).clone())]);
                        inside.holds_within(&object, Some(path))
                    }
                })
            }
        }
    }

    /// The text that an attribute must be equal to, whatever else there is: a look-up by it finds
    /// everything that the filter holds for.
    pub fn equals(&self, name: &str) -> Option<&str> {
        match self {
            Filter::Compare(path, Operator::Eq, Value::String(text))
                if path.part.is_none() && path.name.eq_ignore_ascii_case(name) =>
            {
                Some(text)
            }
            Filter::And(a, b) => a.equals(name).or_else(|| b.equals(name)),
            Filter::Compare(..)
            | Filter::Or(..)
            | Filter::Not(_)
            | Filter::Present(_)
            | Filter::Values(..) => None,
        }
    }

    /// As [`Filter::equals`], of a part of one value of an attribute: `emails.value eq "x"`,
    /// `emails[value eq "x"]`, and `emails eq "x"` where the part is `value`, which an attribute
    /// without a part stands for.
    pub fn equals_part(&self, name: &str, part: &str) -> Option<&str> {
        match self {
            Filter::Compare(path, Operator::Eq, Value::String(text)) => {
                let own = path.part.as_deref().unwrap_or("value");
                let is_it = path.name.eq_ignore_ascii_case(name) && own.eq_ignore_ascii_case(part);
                is_it.then_some(text)
            }
            Filter::Values(path, inner) if path.name.eq_ignore_ascii_case(name) => {
                inner.equals(part)
            }
            Filter::And(a, b) => a
                .equals_part(name, part)
                .or_else(|| b.equals_part(name, part)),
            Filter::Compare(..)
            | Filter::Or(..)
            | Filter::Not(_)
            | Filter::Present(_)
            | Filter::Values(..) => None,
        }
    }
}

fn is_there(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(object) => !object.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    }
}

/// The values of an attribute, each as it is.
fn elements<'a>(object: &'a Map<String, Value>, path: &AttributePath) -> Vec<&'a Value> {
    let of_schema = path.schema.as_deref();
    let object = match of_schema.and_then(|schema| member(object, schema)) {
        Some(Value::Object(extension)) => extension,
        Some(_) | None => object,
    };
    match member(object, &path.name) {
        None => Vec::new(),
        Some(Value::Array(list)) => list.iter().collect(),
        Some(one) => vec![one],
    }
}

/// The values that a path names. Of a complex attribute without a part, its `value`, where it has
/// one.
fn values<'a>(object: &'a Map<String, Value>, path: &AttributePath) -> Vec<&'a Value> {
    let each = elements(object, path);
    let part = |value: &'a Value| -> Option<&'a Value> {
        match (value, &path.part) {
            (Value::Object(object), Some(part)) => member(object, part),
            (Value::Object(object), None) => Some(member(object, "value").unwrap_or(value)),
            (_, Some(_)) => None,
            (simple, None) => Some(simple),
        }
    };
    each.into_iter().filter_map(part).collect()
}

fn compares(value: &Value, operator: Operator, wanted: &Value, exact: bool) -> bool {
    match (value, wanted) {
        (Value::String(one), Value::String(other)) => {
            let (one, other) = match exact {
                true => (one.clone(), other.clone()),
                false => (one.to_lowercase(), other.to_lowercase()),
            };
            match operator {
                Operator::Co => one.contains(&other),
                Operator::Sw => one.starts_with(&other),
                Operator::Ew => one.ends_with(&other),
                Operator::Eq
                | Operator::Ne
                | Operator::Gt
                | Operator::Ge
                | Operator::Lt
                | Operator::Le => ordered(one.cmp(&other), operator),
            }
        }
        (Value::Number(one), Value::Number(other)) => {
            let order = one.as_f64().zip(other.as_f64());
            order
                .and_then(|(one, other)| one.partial_cmp(&other))
                .is_some_and(|order| ordered(order, operator))
        }
        // RFC 7644 table 3: booleans have no order.
        (Value::Bool(one), Value::Bool(other)) => operator == Operator::Eq && one == other,
        _ => false,
    }
}

fn ordered(order: Ordering, operator: Operator) -> bool {
    match operator {
        Operator::Eq => order.is_eq(),
        Operator::Ne => order.is_ne(),
        Operator::Gt => order.is_gt(),
        Operator::Ge => order.is_ge(),
        Operator::Lt => order.is_lt(),
        Operator::Le => order.is_le(),
        Operator::Co | Operator::Sw | Operator::Ew => false,
    }
}
