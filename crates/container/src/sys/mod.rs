//! The one door to the disk. Every call on a file goes through [`System`], so that tests can make the n-th call fail
//! (`testing/faulty.rs`) and record the changes (`testing/recording.rs`).

mod folder;
mod system;
mod time;
mod tolerate;
mod types;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

pub use system::{Call, Change, Os, Place, System};
pub use time::FileTime;
pub use tolerate::on_note;
pub(crate) use tolerate::refuse_planted;
pub use types::{Attributed, Kind, Opening, Readers, Readiness, Special, Status};
#[cfg(unix)]
pub(crate) use unix::{is_in_user_space, is_unsupported, may_adopt};
#[cfg(windows)]
pub(crate) use windows::{is_in_user_space, is_unsupported, may_adopt};
