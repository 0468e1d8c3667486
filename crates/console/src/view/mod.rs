//! From plain data to HTML.
pub(crate) mod chart;
pub(crate) mod fields;
pub(crate) mod shell;
pub(crate) mod table;
pub(crate) mod timeline;
pub(crate) mod values;
