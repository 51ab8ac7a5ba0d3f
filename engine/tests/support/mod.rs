//! The fake servers, one of each family, and loads against them, for the tests, the fuzzer and the
//! measurements of clients.

#![allow(dead_code, reason = "each program that includes this uses a part of it")]

pub mod answers;
pub mod cql_cluster;
pub mod cql_frames;
pub mod cql_server;
pub mod loads;
pub mod mysql_packets;
pub mod mysql_server;
pub mod postgres_messages;
pub mod postgres_server;
pub mod serving;
