//! Sending a load and measuring it.

pub mod clock;
pub mod connection;
pub mod events;
pub mod open_loop;
pub mod operation;
pub mod pacing;
pub mod plan;
pub mod record;
pub mod reopen;
pub mod run;
pub mod seconds;
pub mod sending;
pub mod summary;
pub mod waiting;
pub mod worker;
