//! What the pages are made of: kinds of records and operations, fields, forms.
pub(crate) mod catalog;
pub(crate) mod conflict;
pub(crate) mod fields;
pub(crate) mod form;
