//! A sender that follows a script, and connections with faults.

pub(crate) mod any_sender;
#[cfg(test)]
pub(crate) mod link_fail_nth;
#[cfg(test)]
pub(crate) mod link_faulty;
