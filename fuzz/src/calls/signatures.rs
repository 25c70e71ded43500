//! Calls with keys for signatures, and signatures.

use std::ptr::{null, null_mut};

use tress_c::tress_status::*;
use tress_c::*;

use super::memory::{CBytes, CText};
use super::{checked, checked_new, checked_on};
use crate::input::Input;

const SCHEMES: [&str; 6] =
    ["rsa-pss-sha256", "rsa-pkcs1-sha512", "dsa-sha256", "schnorr-sha256", "rsa-pss-sha256:20", "rsa-pss-sha256:"];
const KEY: &[u8] = include_bytes!("../../data/rsa-2048.pem");

/// A signing and a verifying key, or NULL.
pub(super) struct SignatureCalls {
    signing: *mut tress_signing_key,
    verifying: *mut tress_verifying_key,
}

impl Default for SignatureCalls {
    fn default() -> Self {
        Self { signing: null_mut(), verifying: null_mut() }
    }
}

impl Drop for SignatureCalls {
    fn drop(&mut self) {
        // SAFETY: each key is NULL or live, and is not used after this.
        unsafe {
            tress_signing_key_free(self.signing);
            tress_verifying_key_free(self.verifying);
        }
    }
}

impl SignatureCalls {
    pub(super) fn call(&mut self, input: &mut Input<'_>) {
        match input.byte() % 6 {
            0 => self.private(input),
            1 => self.public(input),
            2 => digest(input),
            3 => *self = Self::default(),
            _ => self.sign(input),
        }
    }

    /// Replaces the signing key.
    fn private(&mut self, input: &mut Input<'_>) {
        let scheme = CText::any(input, &SCHEMES);
        let mut file = KEY.to_vec();
        if input.byte() > 200 {
            file[input.below(KEY.len())] ^= input.byte();
        }
        let file = if input.byte() < 240 { CBytes::of(file) } else { CBytes::any(input, 100) };
        // Only kinds with known groups: generating an RSA key takes seconds.
        let kind = CText::any(input, &["dsa-2048", "schnorr-2048", "rsa-100", "rsa-1000000", ""]);
        // SAFETY: the old key is NULL or live and not used after this; texts are NULL or end with NUL. A run is NULL, or valid for its
        // length, or has a length above `isize::MAX`, which the library refuses before it reads.
        unsafe {
            tress_signing_key_free(self.signing);
            let status = match input.byte() % 4 {
                0 => tress_signing_key_generate(kind.pointer(), scheme.pointer(), &mut self.signing),
                _ => {
                    let passphrase = CText::any(input, &["tress"]);
                    tress_signing_key_read(
                        file.pointer(),
                        file.length(),
                        passphrase.pointer(),
                        scheme.pointer(),
                        &mut self.signing,
                    )
                }
            };
            checked_new(status, self.signing);
            assert_eq!(tress_signing_key_signature_bytes(self.signing) == 0, self.signing.is_null());
        }
    }

    /// Replaces the verifying key by that of the signing key.
    fn public(&mut self, input: &mut Input<'_>) {
        let scheme = CText::any(input, &SCHEMES);
        // SAFETY: handles, texts and runs are as in `private`; the buffer is freed after its data is used.
        unsafe {
            tress_verifying_key_free(self.verifying);
            let status = tress_signing_key_public(self.signing, &mut self.verifying);
            checked_on(self.signing, checked_new(status, self.verifying));
            let mut pem = null_mut();
            checked_on(self.verifying, checked_new(tress_verifying_key_pem(self.verifying, &mut pem), pem));
            if input.flag() {
                let (data, length) = (tress_buffer_data(pem), tress_buffer_length(pem));
                let mut again = null_mut();
                checked_new(tress_verifying_key_read(data, length, scheme.pointer(), &mut again), again);
                tress_verifying_key_free(again);
            }
            tress_buffer_free(pem);
            checked_on(self.signing, checked_new(tress_signing_key_pem(self.signing, &mut pem), pem));
            tress_buffer_free(pem);
        }
    }

    fn sign(&mut self, input: &mut Input<'_>) {
        let (message, mut room) = (CBytes::any(input, 100), CBytes::any(input, 300));
        let mut length = usize::MAX;
        // SAFETY: handles and runs are as in `private`.
        unsafe {
            let needed = tress_signing_key_signature_bytes(self.signing);
            let (at, capacity) = (room.pointer_mut(), room.length());
            let status = tress_sign(self.signing, message.pointer(), message.length(), at, capacity, &mut length);
            match checked_on(self.signing, status) {
                TRESS_OK => assert!(length <= needed && room.is_right()),
                TRESS_BUFFER => assert_eq!(length, needed),
                _ => return,
            }
            if status != TRESS_OK {
                return;
            }
            let mut key = null_mut();
            assert_eq!(checked(tress_signing_key_public(self.signing, &mut key)), TRESS_OK);
            let verify = |message: &CBytes| tress_verify(key, message.pointer(), message.length(), at, length);
            assert_eq!(checked(verify(&message)), TRESS_OK);
            let other = CBytes::of([message.bytes(), b"."].concat());
            assert_eq!(checked(verify(&other)), TRESS_MISMATCH);
            tress_verifying_key_free(key);
            checked_on(self.verifying, tress_verify(self.verifying, null(), 0, at, length));
        }
    }
}

fn digest(input: &mut Input<'_>) {
    let (scheme, message) = (CText::any(input, &SCHEMES), CBytes::any(input, 100));
    let mut room = CBytes::any(input, 70);
    let mut length = 0;
    // SAFETY: texts and runs are as in `SignatureCalls::private`.
    unsafe {
        let (at, capacity) = (room.pointer_mut(), room.length());
        let status =
            checked(tress_digest(scheme.pointer(), message.pointer(), message.length(), at, capacity, &mut length));
        assert!(status != TRESS_OK || matches!(length, 32 | 48 | 64) && length <= capacity);
        assert!(!scheme.is_null() || status == TRESS_NULL);
    }
}
