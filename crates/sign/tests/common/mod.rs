//! What the tests share.
#![allow(dead_code, unreachable_pub, reason = "every test program uses a part of it")]

pub mod openssl;
pub mod vectors;
