//! The load engine of Plimsoll: drives a database and measures it truly.
//!
//! `generators` draws keys and values, `session` opens connections, `load` sends operations and
//! records what happens, `dataset` fills tables; none of them knows a family of databases. Each
//! family has a folder (`mysql`, `cql`, `postgres`) that implements their traits, and `family` chooses one.
//! `spec` and `report` are the two halves of the contract with Python.

pub mod cql;
pub mod dataset;
pub mod error;
pub mod family;
pub mod fold;
pub mod generators;
pub mod histogram;
pub mod load;
pub mod mysql;
pub mod postgres;
pub mod report;
pub mod session;
pub mod spec;

#[cfg(feature = "python")]
mod python;
