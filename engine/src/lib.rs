//! The load engine of Plimsoll: drives a database and measures it truly.
//!
//! `generators` draws keys and values, `protocol` makes and reads the bytes of MySQL's protocol,
//! `session` opens connections, `cql` does both for CQL's, `load` sends operations and records what
//! happens, `dataset` fills tables.
//! `spec` and `report` are the two halves of the contract with Python.

pub mod cql;
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
