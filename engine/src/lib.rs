//! The load engine of Plimsoll: drives a MySQL-protocol database and measures it truly.
//!
//! `generators` draws keys and values, `protocol` makes and reads the protocol's bytes, `session`
//! opens connections, `load` sends operations and records what happens, `dataset` fills tables.
//! `spec` and `report` are the two halves of the contract with Python.

pub mod dataset;
pub mod error;
pub mod generators;
pub mod histogram;
pub mod load;
pub mod protocol;
pub mod report;
pub mod session;
pub mod spec;

#[cfg(feature = "python")]
mod python;
