//! Which resources, and what of them (RFC 7644 sections 3.4.2 and 3.9).
use super::answer::Refusal;
use serde_json::{Map, Value, json};
use signet_oauth::params::Params;
use signet_scim::{
    filter::{self, Filter},
    member,
    project::Projection,
};

/// Resources of a page, where the client does not say.
const PAGE: usize = 100;
/// Most resources of a page of SCIM
pub(super) const MAX_RESULTS: usize = 200;

/// A query.
#[derive(Debug, Default)]
pub(super) struct Query {
    pub(super) filter: Option<Filter>,
    pub(super) projection: Projection,
    /// From 1.
    start: usize,
    count: usize,
}

impl Query {
    /// One that asks for everything of one resource.
    pub(super) fn all() -> Query {
        Query {
            start: 1,
            count: PAGE,
            ..Query::default()
        }
    }

    /// # Errors
    /// What cannot be read.
    pub(super) fn of_params(params: &Params) -> Result<Query, Refusal> {
        let number = |name: &str, default: i64| match params.get(name) {
            None => Ok(default),
            Some(text) => text
                .parse()
                .map_err(|_| Refusal::value(format!("{name} is a whole number"))),
        };
        let list = |name: &str| -> Vec<String> {
            let text = params.get(name).unwrap_or_default();
            let names = text.split(',').map(str::trim).filter(|n| !n.is_empty());
            names.map(str::to_owned).collect()
        };
        Query::new(
            params.get("filter"),
            &list("attributes"),
            &list("excludedAttributes"),
            number("startIndex", 1)?,
            number("count", i64::try_from(PAGE).unwrap_or(i64::MAX))?,
        )
    }

    /// The message of a search by POST.
    ///
    /// # Errors
    /// What cannot be read.
    pub(super) fn of_body(body: &Map<String, Value>) -> Result<Query, Refusal> {
        let number = |name: &str, default: i64| match member(body, name) {
            None | Some(Value::Null) => Ok(default),
            Some(value) => value
                .as_i64()
                .ok_or_else(|| Refusal::value(format!("{name} is a whole number"))),
        };
        let list = |name: &str| -> Vec<String> {
            let list = member(body, name).and_then(Value::as_array);
            let names = list.into_iter().flatten().filter_map(Value::as_str);
            names.map(str::to_owned).collect()
        };
        Query::new(
            member(body, "filter").and_then(Value::as_str),
            &list("attributes"),
            &list("excludedAttributes"),
            number("startIndex", 1)?,
            number("count", i64::try_from(PAGE).unwrap_or(i64::MAX))?,
        )
    }

    fn new(
        filter: Option<&str>,
        only: &[String],
        without: &[String],
        start: i64,
        count: i64,
    ) -> Result<Query, Refusal> {
        Ok(Query {
            filter: filter.map(filter::parse).transpose()?,
            projection: Projection::new(only, without)?,
            // RFC 7644 section 3.4.2.4: less than 1 is 1, and a negative count is 0.
            start: usize::try_from(start).unwrap_or(1).max(1),
            count: usize::try_from(count).unwrap_or(0).min(MAX_RESULTS),
        })
    }

    /// Whether a resource is asked for.
    pub(super) fn holds(&self, resource: &Map<String, Value>) -> bool {
        self.filter
            .as_ref()
            .is_none_or(|filter| filter.holds(resource))
    }
}

/// A page that fills while resources are gone through in a fixed order.
pub(super) struct Filling<'q> {
    query: &'q Query,
    total: usize,
    page: Vec<Value>,
}

impl<'q> Filling<'q> {
    pub(super) const fn new(query: &'q Query) -> Filling<'q> {
        Filling {
            query,
            total: 0,
            page: Vec::new(),
        }
    }

    /// Whether the page has all that it will have: what comes now is counted.
    pub(super) fn is_full(&self) -> bool {
        self.total + 1 >= self.query.start && self.page.len() >= self.query.count
    }

    /// Counts resources that are all asked for, and are on no page before this one's end.
    pub(super) fn count(&mut self, resources: usize) {
        self.total += resources;
    }

    /// Takes a resource, which is only made where it has to be looked at.
    pub(super) fn take_with(&mut self, resource: impl FnOnce() -> Map<String, Value>) {
        let is_before = self.total + 1 < self.query.start;
        match self.query.filter.is_none() && (is_before || self.is_full()) {
            true => self.total += 1,
            false => self.take(resource()),
        }
    }

    /// Takes a resource, if it is asked for.
    pub(super) fn take(&mut self, mut resource: Map<String, Value>) {
        if !self.query.holds(&resource) {
            return;
        }
        self.total += 1;
        if self.total >= self.query.start && self.page.len() < self.query.count {
            super::answer::plain(&mut resource);
            self.query.projection.apply(&mut resource);
            self.page.push(Value::Object(resource));
        }
    }

    /// The message.
    pub(super) fn message(self) -> Value {
        json!({
            "schemas": ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
            "totalResults": self.total,
            "startIndex": self.query.start,
            "itemsPerPage": self.page.len(),
            "Resources": self.page,
        })
    }
}
