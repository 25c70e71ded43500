//! `tress._tress`, the native module of the Python package `tress`. It wraps `tress-container`, `tress-cipher`, `tress-sign` and
//! `tress-plan` with Python's types, buffers, exceptions and signals.
//!
//! Long work runs without the global interpreter lock. Only `memory` contains unsafe code.
#![deny(unsafe_code)]

mod aead;
mod arguments;
mod cobblestone;
mod container;
mod errors;
mod files;
mod keys;
mod many;
mod memory;
mod plan;
mod push;
mod reader;
mod signing;
mod tree;
mod work;

/// The native part of `tress`. Import `tress` instead.
#[pyo3::pymodule(gil_used = true)]
mod _tress {
    #[pymodule_export]
    use crate::aead::{AesCcm, ChaChaPoly, PyAead};
    #[pymodule_export]
    use crate::cobblestone::{
        Cobblestone128Decryptor, Cobblestone128Encryptor, Cobblestone256Decryptor, Cobblestone256Encryptor,
    };
    #[pymodule_export]
    use crate::container::{decrypt, decrypt_into, encrypt, encrypt_into, plain_size, rewrap_head, sealed_size};
    #[pymodule_export]
    use crate::files::{decrypt_file, encrypt_file, inspect, rewrap_file};
    #[pymodule_export]
    use crate::keys::{CobblestoneKey, KeyPair, Passphrase, RawKey};
    #[pymodule_export]
    use crate::many::{decrypt_many, encrypt_many};
    #[pymodule_export]
    use crate::plan::plan;
    #[pymodule_export]
    use crate::push::{Decryptor, Encryptor};
    #[pymodule_export]
    use crate::reader::Reader;
    #[pymodule_export]
    use crate::signing::{PrivateKey, PublicKey};
    #[pymodule_export]
    use crate::tree::{MemberReader, Tree};

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
