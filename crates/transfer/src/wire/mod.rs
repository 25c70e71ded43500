//! What both ends agree on: messages, the encryption of connections, keys of files, ranges, names.

pub(crate) mod batch;
pub(crate) mod epoch;
pub(crate) mod limits;
pub(crate) mod link;
pub(crate) mod message;
pub(crate) mod names;
pub(crate) mod noise;
pub(crate) mod ranges;
pub(crate) mod resolver;
pub(crate) mod ticket;
