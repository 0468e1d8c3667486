//! Declarations as custom resources of Kubernetes: their definitions are made of the table that
//! directories are read by, and what a namespace has is made into the same declarations.
//!
//! Nothing is installed in a cluster but the definitions. A plain client of its API lists the
//! objects of a namespace, reads the Secrets that they name, and says in the `status` of each how
//! it went.
mod api;
mod cluster;
mod definitions;
mod news;
mod resources;
mod status;
mod yaml;

pub(crate) use cluster::{Cluster, Found, InCluster};
pub(crate) use definitions::all as definitions;
pub(crate) use news::RETRY;
pub(crate) use yaml::documents as yaml;
