//! HKDF-Expand (RFC 5869, section 2.3) with any hash of crate `sha2`.
//!
//! Crate `hkdf` rejects a pseudorandom key shorter than the hash, as the RFC requires for the output of HKDF-Extract. C2SP
//! chunked-encryption@v1 expands a uniformly random input key of the AEAD's length, 16 or 32 bytes. So this is a short implementation with
//! `hmac`.

use hmac::{KeyInit, Mac};
use zeroize::{Zeroize as _, Zeroizing};

/// Fills `output`, at most 255 hashes long, from `key` and the concatenation of the parts of `info`, with HMAC in `M`.
pub(super) fn hkdf_expand<M: Mac + KeyInit + Clone>(key: &[u8], info: &[&[u8]], output: &mut [u8]) {
    let keyed = <M as KeyInit>::new_from_slice(key).expect("HMAC takes a key of any length");
    let mut previous = Zeroizing::new(Vec::new());
    for (index, block) in output.chunks_mut(M::output_size()).enumerate() {
        let mut mac = keyed.clone();
        Mac::update(&mut mac, &previous);
        for part in info {
            Mac::update(&mut mac, part);
        }
        let number = u8::try_from(index + 1).expect("HKDF-Expand gives at most 255 blocks");
        Mac::update(&mut mac, &[number]);
        let mut hash = mac.finalize().into_bytes();
        previous.clear();
        previous.extend_from_slice(&hash);
        hash.as_mut_slice().zeroize();
        block.copy_from_slice(&previous[..block.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
    }

    fn check(key: &str, info: &str, expected: &str) {
        let (info, expected) = (bytes(info), bytes(expected));
        let mut output = vec![0; expected.len()];
        let middle = info.len() / 2;
        hkdf_expand::<hmac::Hmac<sha2::Sha256>>(&bytes(key), &[&info[..middle], &info[middle..]], &mut output);
        assert_eq!(output, expected);
    }

    /// RFC 5869, appendix A.1 to A.3 (the SHA-256 cases).
    #[test]
    fn rfc_5869() {
        check(
            "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5",
            "f0f1f2f3f4f5f6f7f8f9",
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865",
        );
        check(
            "06a6b88c5853361a06104c9ceb35b45cef760014904671014a193f40c15fc244",
            &(0xb0..=0xff_u8).map(|byte| format!("{byte:02x}")).collect::<String>(),
            "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c\
             59045a99cac7827271cb41c65e590e09da3275600c2f09b8367793a9aca3db71\
             cc30c58179ec3e87c14c01d5c1f3434f1d87",
        );
        check(
            "19ef24a32c717b167f33a91d6f648bdf96596776afdb6377ac434c1c293ccb04",
            "",
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8",
        );
    }
}
