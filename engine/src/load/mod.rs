//! Sending a load and measuring it.

pub mod clock;
pub mod connection;
pub mod operation;
pub mod pacing;
pub mod record;
pub mod reopen;
pub mod run;
pub mod seconds;
pub mod summary;
pub mod worker;
