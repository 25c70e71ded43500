//! Calls with ciphers, modes and jobs.

use std::ptr::{null, null_mut};

use tress_c::tress_status::*;
use tress_c::*;

use super::memory::{CBytes, CText};
use super::{checked, checked_new, checked_on};
use crate::input::Input;

/// Creates a cipher, makes some calls with it, and frees it.
pub(super) fn call(input: &mut Input<'_>) {
    let mut cipher = null_mut();
    let names = ["aes-128", "aes-256", "rijndael-256-192", "rc6-192", "pipo-128", "aes-512", ""];
    let lengths = [16, 32, 24, 24, 16, 64, 16];
    let which = input.below(names.len());
    let (name, backend) =
        (CText::any(input, &names[which..=which]), CText::any(input, &["portable", "reference", "?"]));
    let key = if input.byte() < 230 { CBytes::of(input.message(lengths[which])) } else { CBytes::any(input, 40) };
    // SAFETY: texts are NULL or end with NUL. A run is NULL, or valid for its length, or has a length above `isize::MAX`, which the
    // library refuses before it reads.
    unsafe {
        let status = match input.flag() {
            true => tress_cipher_new(name.pointer(), key.pointer(), key.length(), &mut cipher),
            false => tress_cipher_new_with_backend(
                name.pointer(),
                backend.pointer(),
                key.pointer(),
                key.length(),
                &mut cipher,
            ),
        };
        checked_new(status, cipher);
        assert_eq!(tress_cipher_block_bytes(cipher) == 0, cipher.is_null());
        assert_eq!(tress_cipher_name(cipher).is_null(), cipher.is_null());
        assert_eq!(tress_cipher_backend(cipher).is_null(), cipher.is_null());
    }
    match input.byte() % 4 {
        0 => jobs(input, cipher),
        1 => ccm(input, cipher),
        _ => blocks(input, cipher),
    }
    // SAFETY: the cipher is NULL or live, and is not used after this.
    unsafe { tress_cipher_free(cipher) };
}

fn blocks(input: &mut Input<'_>, cipher: *mut tress_cipher) {
    // SAFETY: the cipher is NULL or live.
    let block = unsafe { tress_cipher_block_bytes(cipher) };
    let iv = if input.byte() < 230 { CBytes::of(input.message(block)) } else { CBytes::any(input, 40) };
    let mut data = CBytes::any(input, 300);
    if input.byte() < 200 && block > 0 && data.is_right() {
        data = CBytes::of(data.bytes()[..data.bytes().len() / block * block].to_vec());
    }
    let plain = data.bytes().to_vec();
    let (at, length) = (data.pointer_mut(), data.length());
    // SAFETY: the cipher is NULL or live; runs are as in `call`, and do not overlap.
    unsafe {
        let (there, back) = match input.byte() % 3 {
            0 => (tress_ecb_encrypt(cipher, at, at, length), tress_ecb_decrypt as *const () as usize),
            1 => (tress_cbc_encrypt(cipher, iv.pointer(), iv.length(), at, at, length), 1),
            _ => (tress_ctr(cipher, iv.pointer(), iv.length(), at, at, length), 2),
        };
        if checked_on(cipher, there) != TRESS_OK {
            assert!(data.bytes() == plain, "changed in place by a failure");
            return;
        }
        let back = match back {
            1 => tress_cbc_decrypt(cipher, iv.pointer(), iv.length(), at, at, length),
            2 => tress_ctr(cipher, iv.pointer(), iv.length(), at, at, length),
            _ => tress_ecb_decrypt(cipher, at, at, length),
        };
        assert_eq!(checked(back), TRESS_OK);
        assert!(data.bytes() == plain);
        let mut message = usize::MAX;
        let status = checked(tress_pkcs7_unpad(at, length, input.below(300), &mut message));
        assert_eq!(status == TRESS_OK, message < length.max(1));
        assert!(tress_pkcs7_padding(length, input.below(300)) <= 255);
    }
}

fn ccm(input: &mut Input<'_>, cipher: *mut tress_cipher) {
    let (nonce, aad) = (CBytes::any(input, 16), CBytes::any(input, 40));
    let (data, mut tag) = (CBytes::any(input, 200), CBytes::any(input, 17));
    let mut sealed = vec![0xa5; data.bytes().len()];
    let mut opened = sealed.clone();
    // SAFETY: the cipher is NULL or live; runs are as in `call`, and do not overlap.
    unsafe {
        let status = tress_ccm_encrypt(
            cipher,
            nonce.pointer(),
            nonce.length(),
            aad.pointer(),
            aad.length(),
            data.pointer(),
            sealed.as_mut_ptr(),
            data.length(),
            tag.pointer_mut(),
            tag.length(),
        );
        if checked_on(cipher, status) != TRESS_OK {
            assert!(sealed.iter().all(|byte| matches!(byte, 0 | 0xa5)), "something of the message is left");
            return;
        }
        let decrypt = |tag: &CBytes, opened: &mut [u8]| {
            checked(tress_ccm_decrypt(
                cipher,
                nonce.pointer(),
                nonce.length(),
                aad.pointer(),
                aad.length(),
                sealed.as_ptr(),
                opened.as_mut_ptr(),
                sealed.len(),
                tag.pointer(),
                tag.length(),
            ))
        };
        assert_eq!(decrypt(&tag, &mut opened), TRESS_OK);
        let mut forged = tag.bytes().to_vec();
        forged[input.below(tag.bytes().len())] ^= 1 << input.below(8);
        assert_eq!(decrypt(&CBytes::of(forged), &mut opened), TRESS_AUTHENTICATION);
        assert!(opened.iter().all(|byte| *byte == 0));
        assert_eq!(decrypt(&tag, &mut opened), TRESS_OK);
        assert!(opened == data.bytes());
    }
}

/// Encrypts and decrypts jobs of this cipher, some of them without a cipher or with invalid arguments.
fn jobs(input: &mut Input<'_>, cipher: *mut tress_cipher) {
    struct Parts {
        nonce: CBytes,
        data: CBytes,
        tag: CBytes,
        plain: Vec<u8>,
        has_cipher: bool,
    }
    // One byte selects the tags to forge. It comes first, because jobs use up most inputs.
    let forging = usize::from(input.byte());
    let mut parts: Vec<Parts> = (0..input.below(40))
        .map(|at| {
            let nonce = if input.byte() < 220 {
                let mut nonce = input.message(12).to_vec();
                // Otherwise nonces may repeat.
                if forging % 4 < 3 {
                    nonce[0] = at as u8;
                }
                CBytes::of(nonce)
            } else {
                CBytes::any(input, 16)
            };
            let data = CBytes::any(input, 300);
            let tag = if input.byte() < 220 { CBytes::of(vec![0; 16]) } else { CBytes::any(input, 17) };
            Parts { nonce, plain: data.bytes().to_vec(), data, tag, has_cipher: input.byte() < 240 }
        })
        .collect();
    let count = parts.len();
    let mut jobs: Vec<tress_ccm_job> = parts
        .iter_mut()
        .map(|parts| tress_ccm_job {
            cipher: if parts.has_cipher { cipher } else { null() },
            nonce: parts.nonce.pointer(),
            nonce_length: parts.nonce.length(),
            aad: null(),
            aad_length: 0,
            input: parts.data.pointer_mut(),
            output: parts.data.pointer_mut(),
            length: parts.data.length(),
            tag: parts.tag.pointer(),
            tag_output: parts.tag.pointer_mut(),
            tag_length: parts.tag.length(),
            reserved: 0,
            status: TRESS_STATE,
        })
        .collect();
    let mut failed = usize::MAX;
    // SAFETY: the cipher and the runs of each job are as in `blocks`. There are `count` jobs; the absurd number is refused before
    // any job is read.
    unsafe {
        let absurd = checked(tress_ccm_encrypt_jobs(jobs.as_mut_ptr(), usize::MAX / 8, &mut failed));
        assert_eq!(absurd, TRESS_LENGTH);
        let status = checked(tress_ccm_encrypt_jobs(jobs.as_mut_ptr(), count, &mut failed));
        let done: Vec<bool> = jobs.iter().map(|job| job.status == TRESS_OK).collect();
        assert_eq!(failed, done.iter().filter(|done| !**done).count());
        assert_eq!(status == TRESS_OK, failed == 0);
        let is_forged = |at: usize| forging % 2 == 1 && (at + forging).is_multiple_of(3);
        let forged: Vec<bool> = done.iter().enumerate().map(|(at, done)| *done && is_forged(at)).collect();
        for (job, _) in jobs.iter().zip(&forged).filter(|(_, forged)| **forged) {
            *job.tag_output ^= 1;
        }
        let status = checked(tress_ccm_decrypt_jobs(jobs.as_mut_ptr(), count, null_mut()));
        let all = done.iter().zip(&forged).all(|(done, forged)| *done && !forged);
        assert_eq!(status == TRESS_OK, all);
        for (((job, parts), done), forged) in jobs.iter().zip(&parts).zip(done).zip(forged) {
            match (done, forged) {
                (true, true) => {
                    assert_eq!(job.status, TRESS_AUTHENTICATION);
                    assert!(parts.data.bytes().iter().all(|byte| *byte == 0));
                }
                (true, false) => {
                    assert_eq!(job.status, TRESS_OK);
                    assert!(parts.data.bytes() == parts.plain);
                }
                _ => assert!(!matches!(job.status, TRESS_OK | TRESS_INTERNAL)),
            }
            assert!(parts.has_cipher || job.status == TRESS_NULL || job.status == TRESS_LENGTH);
        }
    }
}
