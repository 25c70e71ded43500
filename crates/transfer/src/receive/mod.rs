//! The receiver.

pub(crate) mod account;
pub(crate) mod admission;
pub(crate) mod folders;
pub(crate) mod incoming;
pub(crate) mod journal;
pub(crate) mod leftovers;
pub(crate) mod options;
pub(crate) mod owner;
pub(crate) mod quota;
pub(crate) mod receipt;
pub(crate) mod receiver;
pub(crate) mod requests;
pub(crate) mod server;
pub(crate) mod session;
pub(crate) mod store;
pub(crate) mod unreported;
