//! The tests of this crate as one program, with one file per subject. A new file needs a line here.

mod commands_hostile;
mod container;
mod container_vectors;
mod damage;
mod every_bit;
mod formats;
mod pipeline;
mod pipeline_support;
mod streaming;
mod tree;
mod tree_hostile;
mod ways;
