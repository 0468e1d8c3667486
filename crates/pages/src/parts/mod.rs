//! What pages are made of.
pub(crate) mod brand;
pub(crate) mod button;
pub(crate) mod face;
pub(crate) mod icon;
pub(crate) mod layout;
pub(crate) mod links;
pub(crate) mod moment;
pub(crate) mod password_field;
pub(crate) mod row;
pub(crate) mod script;
pub(crate) mod style;
