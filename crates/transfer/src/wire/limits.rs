//! Times and numbers that both ends keep to.

use std::time::Duration;

/// Buffers of one data connection, at either end, 512 KiB each.
pub(crate) const STREAM_BUFFERS: usize = 4;

/// Time limit of a handshake.
pub(crate) const HANDSHAKE_TIME: Duration = Duration::from_secs(10);
/// How long the peer may send nothing, or accept nothing, before the connection counts as lost.
pub const STALL_TIME: Duration = Duration::from_secs(30);
/// A sender waits this many stall times for progress towards an answer: the receiver may first have to sync much data.
pub(crate) const ANSWER_STALLS: u32 = 10;
/// How often a sender sends a ping.
pub(crate) const PING_INTERVAL: Duration = Duration::from_secs(1);
/// Time to notify a sender that its session ends.
pub(crate) const END_TIME: Duration = Duration::from_secs(2);
