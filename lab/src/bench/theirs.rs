//! The peers that have a call, and the fastest way that each of them offers. Keys are set beforehand.

use tress_cipher::aes::Aes;
use tress_cipher::catalogue::{CIPHERS, Mode, Type};
#[cfg(feature = "aws-lc-rs")]
use tress_peers::aws_lc_rs;
#[cfg(feature = "ring")]
use tress_peers::ring;
use tress_peers::{Direction, Error, cryptopp, gcrypt, ipsec_mb, openssl, pipo, rustcrypto};

use super::call::{Call, NONCE_BYTES, TAG_BYTES};
use super::work::Contender;

/// Processes all messages of a call with one library.
pub(crate) type Implementation = Box<dyn FnMut(&mut [u8]) -> Result<(), super::Error>>;

/// The peers that have the call, installed or not.
pub(crate) fn peers(call: &Call) -> Vec<Contender> {
    let cipher = call.cipher;
    // A cipher with two names, such as rijndael-128-128 and aes-128, is compared under the first one.
    if CIPHERS.iter().find(|one| (one.of, one.key_bytes) == (cipher.of, cipher.key_bytes)) != Some(cipher) {
        return Vec::new();
    }
    let is_ccm = call.mode == Mode::Ccm;
    let of_cipher: &[Contender] = match cipher.of {
        Type::Rijndael128 if Aes::KEY_BYTES.contains(&cipher.key_bytes) => {
            &[Contender::OpenSsl, Contender::IpsecMb, Contender::Gcrypt, Contender::RustCrypto, Contender::AwsLcRs]
        }
        Type::Rc6 if !is_ccm => &[Contender::RustCrypto, Contender::CryptoPp],
        Type::Pipo if call.mode != Mode::Cbc => &[Contender::Pipo],
        _ => &[],
    };
    let has = |contender: &Contender| match contender {
        Contender::IpsecMb if matches!(call.mode, Mode::Cbc | Mode::Ccm) => {
            call.message_bytes <= ipsec_mb::MAX_MESSAGE_BYTES && !(is_ccm && cipher.key_bytes == 24)
        }
        Contender::AwsLcRs => !is_ccm,
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

/// Encryption of each message with a library's GCM.
macro_rules! gcm {
    ($call:expr, $contender:expr, $library:ident) => {
        for_each_message($call, $contender, $library::Gcm::new, |cipher, nonce, data, tag| {
            cipher.encrypt(nonce, b"", data, tag)
        })
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
pub(crate) fn peer_implementation(call: Call, contender: Contender) -> Result<Implementation, Error> {
    let (direction, mode) = (call.direction, peer_mode(call.mode));
    match (contender, call.mode) {
        (Contender::OpenSsl, Mode::Ccm) => {
            let new = |key: &[u8]| openssl::Ccm::new(key, NONCE_BYTES, TAG_BYTES, direction);
            for_each_message(call, contender, new, ccm!(call))
        }
        (Contender::OpenSslGcm, _) => gcm!(call, contender, openssl),
        (Contender::IpsecMbGcm, _) => gcm!(call, contender, ipsec_mb),
        (Contender::OpenSsl, _) => {
            let new = |key: &[u8]| openssl::Cipher::new(mode, key, direction);
            for_each_message(call, contender, new, |cipher, iv, data, _| cipher.apply(iv, data))
        }
        (Contender::Gcrypt, Mode::Ccm) => {
            for_each_message(call, contender, |key| gcrypt::Cipher::new(mode, key), ccm!(call))
        }
        (Contender::Gcrypt, _) => {
            let new = |key: &[u8]| gcrypt::Cipher::new(mode, key);
            for_each_message(call, contender, new, move |cipher, iv, data, _| cipher.apply(direction, iv, data))
        }
        #[cfg(feature = "aws-lc-rs")]
        (Contender::AwsLcRs, _) => {
            let new = |key: &[u8]| aws_lc_rs::Cipher::new(mode, key, direction);
            for_each_message(call, contender, new, |cipher, iv, data, _| cipher.apply(iv, data))
        }
        #[cfg(feature = "aws-lc-rs")]
        (Contender::AwsLcRsGcm, _) => gcm!(call, contender, aws_lc_rs),
        #[cfg(feature = "ring")]
        (Contender::RingGcm, _) => gcm!(call, contender, ring),
        (Contender::IpsecMb, _) => by_ipsec_mb(call),
        (Contender::RustCrypto, Mode::Ccm) => for_each_message(call, contender, rustcrypto::Ccm::new, ccm!(call)),
        (Contender::RustCrypto, _) if call.cipher.of == Type::Rc6 => {
            for_each_message(call, contender, rustcrypto::Rc6::new, rustcrypto!(call))
        }
        (Contender::RustCrypto, _) => for_each_message(call, contender, rustcrypto::Cipher::new, rustcrypto!(call)),
        (Contender::CryptoPp, _) => {
            let new = |key: &[u8]| cryptopp::Rc6::new(mode, direction, key);
            for_each_message(call, contender, new, |cipher, iv, data, _| {
                cipher.apply(iv.try_into().unwrap_or(&[0; 16]), data)
            })
        }
        // The crate takes the key with each call.
        (Contender::Pipo, _) => {
            for_each_message(
                call,
                contender,
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
fn peer_mode(mode: Mode) -> tress_peers::Mode {
    match mode {
        Mode::Ecb => tress_peers::Mode::Ecb,
        Mode::Cbc => tress_peers::Mode::Cbc,
        Mode::Ctr => tress_peers::Mode::Ctr,
        Mode::Ccm => tress_peers::Mode::Ccm,
    }
}

/// One message after the other, each with its key and its nonce or initialisation vector.
fn for_each_message<K: 'static>(
    call: Call,
    contender: Contender,
    new: impl Fn(&[u8]) -> Result<K, Error>,
    one: impl Fn(&mut K, &[u8], &mut [u8], &mut [u8]) -> Result<(), Error> + 'static,
) -> Result<Implementation, Error> {
    let mut keys = call.keys().iter().map(|key| new(key)).collect::<Result<Vec<_>, _>>()?;
    let (nonces, iv) = (call.nonces(), call.iv());
    Ok(Box::new(move |buffer| {
        let of_all = keys.len() - 1;
        let done = call.for_each_message(buffer, |number, data, tag| {
            let iv = if call.mode == Mode::Ccm { &nonces[number] } else { &iv[..] };
            one(&mut keys[number.min(of_all)], iv, data, tag)
        });
        done.map_err(contender.failed())
    }))
}

/// All messages as jobs of one batch.
fn by_ipsec_mb(call: Call) -> Result<Implementation, Error> {
    let (keys, nonces, iv) = (call.keys(), call.nonces(), call.iv());
    let tag_bytes = if call.mode == Mode::Ccm { TAG_BYTES } else { 0 };
    let message = |(number, (start, bytes)): (usize, (usize, usize))| ipsec_mb::BatchMessage {
        key: number.min(keys.len() - 1),
        iv: if call.mode == Mode::Ccm { &nonces[number] } else { &iv },
        aad: b"",
        start,
        bytes,
        tag_bytes,
    };
    let messages: Vec<_> = call.offsets().enumerate().map(message).collect();
    let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    let mut batch = ipsec_mb::Batch::new(peer_mode(call.mode), call.direction, &keys, &messages)?;
    Ok(Box::new(move |buffer| batch.run(buffer).map_err(Contender::IpsecMb.failed())))
}
