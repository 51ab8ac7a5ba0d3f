//! CQL's native protocol, version 4, without compression: Apache Cassandra and its relatives.
//!
//! After `native_protocol_v4.spec`. Version 5 adds checksums around frames, which cost time and say
//! nothing that TCP does not; servers from Cassandra 2.2 to 5 speak version 4.
//!
//! `frames`, `request`, `prepared`, `rows`, `codes`, `streams` and `token` make and read its bytes, without input or
//! output; `login` opens a session; `discovery` asks for a cluster's nodes; `wire` and `inserter` are what `load` and `dataset` use.

pub mod codes;
pub mod discovery;
pub mod frames;
pub mod inserter;
pub mod login;
pub mod prepared;
pub mod request;
pub mod rows;
pub mod streams;
pub mod token;
pub mod wire;
