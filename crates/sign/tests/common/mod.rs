//! Shared by the tests of this crate.
#![allow(dead_code, unreachable_pub, reason = "every test program uses a part of it")]

#[path = "../../../modular/tests/common/freed.rs"]
pub mod freed;
pub mod openssl;
pub mod vectors;
