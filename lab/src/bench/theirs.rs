//! The peers that have a call, and the fastest way that each of them offers. Keys are set beforehand.

use tress_cipher::aes::Aes;
use tress_cipher::catalogue::{CIPHERS, Mode, Type};
#[cfg(feature = "aws-lc-rs")]
use tress_peers::aws_lc_rs;
#[cfg(feature = "ring")]
use tress_peers::ring;
use tress_peers::{Direction, Error, PeerCipher, cryptopp, gcrypt, ipsec_mb, openssl, pipo, rustcrypto};

use super::call::Call;
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

/// The peer's implementation of the call, for the peers that [`peers`] lists and those that have GCM.
pub(crate) fn peer_implementation(call: Call, contender: Contender) -> Result<Implementation, Error> {
    let by = match contender {
        Contender::OpenSsl | Contender::OpenSslGcm => for_each_message::<openssl::Cipher>,
        Contender::IpsecMb => return by_ipsec_mb(call),
        Contender::IpsecMbGcm => for_each_message::<ipsec_mb::Gcm>,
        Contender::Gcrypt => for_each_message::<gcrypt::Cipher>,
        #[cfg(feature = "aws-lc-rs")]
        Contender::AwsLcRs => for_each_message::<aws_lc_rs::Cipher>,
        #[cfg(feature = "aws-lc-rs")]
        Contender::AwsLcRsGcm => for_each_message::<aws_lc_rs::Gcm>,
        #[cfg(feature = "ring")]
        Contender::RingGcm => for_each_message::<ring::Gcm>,
        Contender::RustCrypto if call.mode == Mode::Ccm => for_each_message::<rustcrypto::Ccm>,
        Contender::RustCrypto if call.cipher.of == Type::Rc6 => for_each_message::<rustcrypto::Rc6>,
        Contender::RustCrypto => for_each_message::<rustcrypto::Cipher>,
        Contender::CryptoPp => for_each_message::<cryptopp::Rc6>,
        Contender::Pipo => for_each_message::<pipo::Cipher>,
        _ => return Err(Error::Refused("this cipher")),
    };
    by(call, contender)
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

/// One message after the other, each with its key and its nonce or initialisation vector. With GCM they are encrypted in
/// every direction.
fn for_each_message<C: PeerCipher + 'static>(call: Call, contender: Contender) -> Result<Implementation, Error> {
    let (mode, direction) = match contender.is_gcm() {
        true => (tress_peers::Mode::Gcm, Direction::Encrypt),
        false => (peer_mode(call.mode), call.direction),
    };
    let ciphers = call.keys().into_iter().map(|key| C::new(mode, direction, &key));
    let mut ciphers = ciphers.collect::<Result<Vec<_>, _>>()?;
    let (nonces, iv) = (call.nonces(), call.iv());
    Ok(Box::new(move |buffer| {
        let of_all = ciphers.len() - 1;
        let done = call.for_each_message(buffer, |number, data, tag| {
            let iv = if call.mode == Mode::Ccm { &nonces[number] } else { &iv[..] };
            ciphers[number.min(of_all)].apply(iv, data, tag)
        });
        done.map_err(contender.failed())
    }))
}

/// All messages as jobs of one batch.
fn by_ipsec_mb(call: Call) -> Result<Implementation, Error> {
    let (keys, nonces, iv) = (call.keys(), call.nonces(), call.iv());
    let message = |(number, (start, bytes)): (usize, (usize, usize))| ipsec_mb::BatchMessage {
        key: number.min(keys.len() - 1),
        iv: if call.mode == Mode::Ccm { &nonces[number] } else { &iv },
        start,
        bytes,
    };
    let messages: Vec<_> = call.offsets().enumerate().map(message).collect();
    let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    let mut batch = ipsec_mb::Batch::new(peer_mode(call.mode), call.direction, &keys, &messages)?;
    Ok(Box::new(move |buffer| batch.run(buffer).map_err(Contender::IpsecMb.failed())))
}
