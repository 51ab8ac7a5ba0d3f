//! The MySQL protocol: MySQL, MariaDB and the clouds' relatives of both.
//!
//! `packets`, `frames` and `answer` make and read its bytes, without input or output; `channel`,
//! `handshake` and `login` open a session; `wire` and `inserter` are what `load` and `dataset` use.

pub mod answer;
pub mod channel;
pub mod frames;
pub mod handshake;
pub mod inserter;
pub mod login;
pub mod packets;
pub mod wire;
