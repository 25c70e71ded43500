//! draft
#![allow(dead_code)]
mod program;
