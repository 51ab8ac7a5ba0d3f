//! One connection to a server: opened, authenticated, its statements prepared.

pub mod auth;
pub mod connect;
pub mod link;
pub mod mysql;
pub mod tls;
