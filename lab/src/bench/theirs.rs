//! The peers that have a call, and the fastest way that each of them offers. Keys are set beforehand.

use tress_cipher::{
    aes::Aes,
    catalogue::{CIPHERS, Mode, Type},
};
#[cfg(feature = "aws-lc-rs")]
use tress_peers::aws_lc_rs;
#[cfg(feature = "ring")]
use tress_peers::ring;
use tress_peers::{Direction, Error, cryptopp, gcrypt, ipsec_mb, openssl, pipo, rustcrypto};

use super::{
    call::{Call, NONCE_BYTES, TAG_BYTES},
    work::Who,
};

/// Processes all messages of a call with one library.
pub(crate) type Party = Box<dyn FnMut(&mut [u8]) -> Result<(), super::Error>>;

/// The peers that have the call, installed or not.
pub(crate) fn peers(call: &Call) -> Vec<Who> {
    let cipher = call.cipher;
    // A cipher with two names, such as rijndael-128-128 and aes-128, is compared under the first one.
    if CIPHERS.iter().find(|one| (one.of, one.key_bytes) == (cipher.of, cipher.key_bytes)) != Some(cipher) {
        return Vec::new();
    }
    let is_ccm = call.mode == Mode::Ccm;
    let of_cipher: &[Who] = match cipher.of {
        Type::Rijndael128 if Aes::KEY_BYTES.contains(&cipher.key_bytes) => {
            &[Who::OpenSsl, Who::IpsecMb, Who::Gcrypt, Who::RustCrypto, Who::AwsLcRs]
        }
        Type::Rc6 if !is_ccm => &[Who::RustCrypto, Who::CryptoPp],
        Type::Pipo if call.mode != Mode::Cbc => &[Who::Pipo],
        _ => &[],
    };
    let has = |who: &Who| match who {
        Who::IpsecMb if matches!(call.mode, Mode::Cbc | Mode::Ccm) => {
            call.message_bytes <= ipsec_mb::MAX_MESSAGE_BYTES && !(is_ccm && cipher.key_bytes == 24)
        }
        Who::AwsLcRs => !is_ccm,
        _ => true,
    };
    of_cipher.iter().copied().filter(has).collect()
}

/// One message with CCM.
macro_rules! ccm {
    ($call:expr) => {
        move |cipher, nonce, data, tag| match $call.direction {
            Direction::Encrypt => cipher.encrypt(nonce, b"", data, tag),
            Direction::Decrypt => cipher.decrypt(nonce, b"", data, tag),
        }
    };
}

/// One message in another mode, by RustCrypto.
macro_rules! rustcrypto {
    ($call:expr) => {
        move |cipher, iv, data, _| match $call.mode {
            Mode::Ecb => cipher.ecb($call.direction, data),
            Mode::Cbc => cipher.cbc($call.direction, iv, data),
            Mode::Ctr | Mode::Ccm => cipher.ctr(iv, data),
        }
    };
}

/// The peer's implementation of the call, for the peers that [`peers`] lists and those that have GCM.
pub(crate) fn theirs(call: Call, who: Who) -> Result<Party, Error> {
    let (direction, mode) = (call.direction, named(call.mode));
    match (who, call.mode) {
        (Who::OpenSsl, Mode::Ccm) => {
            let new = |key: &[u8]| openssl::Ccm::new(key, NONCE_BYTES, TAG_BYTES, direction);
            each(call, who, new, ccm!(call))
        }
        (Who::OpenSsl, _) => {
            let new = |key: &[u8]| openssl::Cipher::new(mode, key, direction);
            each(call, who, new, |cipher, iv, data, _| cipher.apply(iv, data))
        }
        (Who::Gcrypt, Mode::Ccm) => each(call, who, |key| gcrypt::Cipher::new(mode, key), ccm!(call)),
        (Who::Gcrypt, _) => {
            let new = |key: &[u8]| gcrypt::Cipher::new(mode, key);
            each(call, who, new, move |cipher, iv, data, _| cipher.apply(direction, iv, data))
        }
        #[cfg(feature = "aws-lc-rs")]
        (Who::AwsLcRs, _) => {
            let new = |key: &[u8]| aws_lc_rs::Cipher::new(mode, key, direction);
            each(call, who, new, |cipher, iv, data, _| cipher.apply(iv, data))
        }
        #[cfg(feature = "aws-lc-rs")]
        (Who::AwsLcRsGcm, _) => {
            each(call, who, aws_lc_rs::Gcm::new, |cipher, nonce, data, tag| cipher.encrypt(nonce, b"", data, tag))
        }
        #[cfg(feature = "ring")]
        (Who::RingGcm, _) => {
            each(call, who, ring::Gcm::new, |cipher, nonce, data, tag| cipher.encrypt(nonce, b"", data, tag))
        }
        (Who::IpsecMb, _) => by_ipsec_mb(call),
        (Who::RustCrypto, Mode::Ccm) => each(call, who, rustcrypto::Aead::ccm, ccm!(call)),
        (Who::RustCrypto, _) if call.cipher.of == Type::Rc6 => each(call, who, rustcrypto::Rc6::new, rustcrypto!(call)),
        (Who::RustCrypto, _) => each(call, who, rustcrypto::Cipher::new, rustcrypto!(call)),
        (Who::CryptoPp, _) => {
            let new = |key: &[u8]| cryptopp::Rc6::new(mode, direction, key);
            each(call, who, new, |cipher, iv, data, _| cipher.apply(iv.try_into().unwrap_or(&[0; 16]), data))
        }
        // The crate takes the key with each call.
        (Who::Pipo, _) => {
            each(
                call,
                who,
                |key| Ok(key.to_vec()),
                move |key, iv, data, _| match iv.try_into() {
                    Ok(counter) => pipo::ctr(key, counter, data),
                    // ECB has no initialisation vector.
                    Err(_) => pipo::ecb(key, direction, data),
                },
            )
        }
        _ => Err(Error::Refused("this cipher")),
    }
}

/// The peers' name of a mode.
fn named(mode: Mode) -> tress_peers::Mode {
    match mode {
        Mode::Ecb => tress_peers::Mode::Ecb,
        Mode::Cbc => tress_peers::Mode::Cbc,
        Mode::Ctr => tress_peers::Mode::Ctr,
        Mode::Ccm => tress_peers::Mode::Ccm,
    }
}

/// One message after the other, each with its key and its nonce or initialisation vector.
fn each<K: 'static>(
    call: Call,
    who: Who,
    new: impl Fn(&[u8]) -> Result<K, Error>,
    one: impl Fn(&mut K, &[u8], &mut [u8], &mut [u8]) -> Result<(), Error> + 'static,
) -> Result<Party, Error> {
    let mut keys = call.keys().iter().map(|key| new(key)).collect::<Result<Vec<_>, _>>()?;
    let (nonces, iv) = (call.nonces(), call.iv());
    Ok(Box::new(move |buffer| {
        let of_all = keys.len() - 1;
        let done = call.each(buffer, |number, data, tag| {
            let iv = if call.mode == Mode::Ccm { &nonces[number] } else { &iv[..] };
            one(&mut keys[number.min(of_all)], iv, data, tag)
        });
        done.map_err(who.failed())
    }))
}

/// All messages as jobs of one batch.
fn by_ipsec_mb(call: Call) -> Result<Party, Error> {
    let (keys, nonces, iv) = (call.keys(), call.nonces(), call.iv());
    let tag_bytes = if call.mode == Mode::Ccm { TAG_BYTES } else { 0 };
    let message = |(number, (start, bytes)): (usize, (usize, usize))| ipsec_mb::Message {
        key: number.min(keys.len() - 1),
        iv: if call.mode == Mode::Ccm { &nonces[number] } else { &iv },
        aad: b"",
        start,
        bytes,
        tag_bytes,
    };
    let messages: Vec<_> = call.places().enumerate().map(message).collect();
    let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    let mut batch = ipsec_mb::Batch::new(named(call.mode), call.direction, &keys, &messages)?;
    Ok(Box::new(move |buffer| batch.run(buffer).map_err(Who::IpsecMb.failed())))
}
