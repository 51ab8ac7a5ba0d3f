//! The PostgreSQL protocol, version 3.0: PostgreSQL, Aurora, and what else speaks it.
//!
//! `frames`, `answer`, `errors`, `types`, `request`, `literals` and `copy` make and read its bytes,
//! without input or output; `channel`, `scram`, `handshake` and `login` open a session; `wire` and
//! `inserter` are what `load` and `dataset` use.

pub mod answer;
pub mod channel;
pub mod copy;
pub mod errors;
pub mod frames;
pub mod handshake;
pub mod inserter;
pub mod literals;
pub mod login;
pub mod request;
pub mod scram;
pub mod types;
pub mod wire;
