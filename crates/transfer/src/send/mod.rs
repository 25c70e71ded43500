//! The sender.

pub(crate) mod dial;
pub(crate) mod ledger;
pub(crate) mod opened;
pub(crate) mod options;
pub(crate) mod outgoing;
pub(crate) mod rate;
pub(crate) mod sender;
pub(crate) mod source;
pub(crate) mod stages;
pub(crate) mod steering;
pub(crate) mod throttle;
pub(crate) mod trace;
pub(crate) mod walk;
