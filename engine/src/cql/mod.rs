//! CQL's native protocol, version 4, without compression: Apache Cassandra and its relatives.
//!
//! After `native_protocol_v4.spec`. Version 5 adds checksums around frames, which cost time and say
//! nothing that TCP does not; servers from Cassandra 2.2 to 5 speak version 4.
//!
//! `frames`, `request`, `prepared`, `codes` and `streams` make and read its bytes, without input or
//! output; `login` opens a session; `wire` and `inserter` are what `load` and `dataset` use.

pub mod codes;
pub mod frames;
pub mod inserter;
pub mod login;
pub mod prepared;
pub mod request;
pub mod streams;
pub mod wire;
