//! The MySQL protocol's bytes: pure functions and state machines, no input or output.

pub mod answer;
pub mod frames;
pub mod packets;
