//! The receiver.

pub(crate) mod account;
pub(crate) mod admission;
pub(crate) mod folders;
pub(crate) mod incoming;
pub(crate) mod journal;
pub(crate) mod leftovers;
pub(crate) mod owner;
pub(crate) mod quota;
pub(crate) mod receipt;
pub(crate) mod receiver;
pub(crate) mod session;
pub(crate) mod store;
