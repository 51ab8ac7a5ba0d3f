//! Sending a load and measuring it.

pub mod alarm;
pub mod clock;
pub mod cluster;
pub mod lane;
pub mod open_loop;
pub mod operation;
pub mod pacing;
pub mod plan;
pub mod polling;
pub mod record;
pub mod reopen;
pub mod ring;
pub mod run;
pub mod seconds;
pub mod summary;
pub mod waiting;
pub mod wire;
pub mod worker;
