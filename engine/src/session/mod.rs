//! One connection to a server, of any family: reached, encrypted where asked, logged in.

pub mod connect;
pub mod link;
pub mod tls;
pub mod trust;
