//! Reads and writes the DER structures that keys and signatures need.
//!
//! Crate `der` reads them, and accepts only DER: no BER, no leading zeros, no trailing bytes. Object identifiers are compared as bytes,
//! because the arcs of `const-oid` have at most 32 bits, and ours for Schnorr contains a UUID.

use der::asn1::{AnyRef, BitStringRef, OctetStringRef, UintRef};
use der::{Decode, DecodeValue, Header, Reader, Sequence, Tag, TagMode, TagNumber, Tagged};
use zeroize::Zeroizing;

use crate::Hash;

/// 1.2.840.113549.1.1.1
pub(crate) const RSA_ENCRYPTION: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01";
/// 1.2.840.113549.1.1.10
pub(crate) const RSASSA_PSS: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0a";
/// 1.2.840.113549.1.1.8
const MGF1: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x08";
/// 1.3.14.3.2.26
pub(crate) const SHA1: &[u8] = b"\x2b\x0e\x03\x02\x1a";
/// 1.2.840.113549.1.5.12, .13, and 1.3.6.1.4.1.11591.4.11
pub(crate) const PBKDF2: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x05\x0c";
pub(crate) const PBES2: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x05\x0d";
pub(crate) const SCRYPT: &[u8] = b"\x2b\x06\x01\x04\x01\xda\x47\x04\x0b";
/// 1.2.840.113549.2 and 2.16.840.1.101.3.4.1: the number of an HMAC or an AES follows.
pub(crate) const HMAC: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x02";
pub(crate) const AES: &[u8] = b"\x60\x86\x48\x01\x65\x03\x04\x01";
/// 1.2.840.10040.4.1
pub(crate) const DSA: &[u8] = b"\x2a\x86\x48\xce\x38\x04\x01";
/// 2.25.291587402850360139111841252861270852275: the version 5 UUID of the name `https://github.com/tress-crypto/tress/schnorr-sha256`,
/// which is no page. ITU-T X.667 allows anyone to use such an arc.
pub(crate) const SCHNORR: &[u8] = b"\x69\x83\xb6\xdd\xd8\xba\xa0\xc6\xda\xe4\x87\x97\xd3\x9b\xd6\xdd\xbc\xc2\x85\x33";

/// The tags that are written (X.690, 8).
pub(crate) const INTEGER: u8 = 0x02;
pub(crate) const BIT_STRING: u8 = 0x03;
pub(crate) const OCTET_STRING: u8 = 0x04;
pub(crate) const NULL: u8 = 0x05;
pub(crate) const OBJECT_IDENTIFIER: u8 = 0x06;
pub(crate) const SEQUENCE: u8 = 0x30;
/// Explicit context tag with number 0; the number is added.
const CONTEXT: u8 = 0xa0;

/// The default salt length, which RSASSA-PSS-params omits.
const DEFAULT_SALT_BYTES: usize = 20;

/// An AlgorithmIdentifier (RFC 5280, 4.1.1.2).
pub(crate) struct Algorithm<'a> {
    pub(crate) identifier: &'a [u8],
    pub(crate) parameters: Option<AnyRef<'a>>,
}

impl Sequence<'_> for Algorithm<'_> {}

impl<'a> DecodeValue<'a> for Algorithm<'a> {
    type Error = der::Error;

    fn decode_value<R: Reader<'a>>(reader: &mut R, header: Header) -> der::Result<Self> {
        AnyRef::decode_value(reader, header)?.sequence(|reader| -> der::Result<_> {
            let identifier = AnyRef::decode(reader)?;
            identifier.tag().assert_eq(Tag::ObjectIdentifier)?;
            Ok(Self { identifier: identifier.value(), parameters: Option::<AnyRef<'_>>::decode(reader)? })
        })
    }
}

/// Reads a PrivateKeyInfo or a OneAsymmetricKey (RFC 5958). The latter's public key and attributes are skipped.
pub(crate) fn private_key_info(bytes: &[u8]) -> der::Result<(Algorithm<'_>, &[u8])> {
    AnyRef::from_der(bytes)?.sequence(|reader| {
        let version = u8::decode(reader)?;
        if version > 1 {
            return Err(Tag::Integer.value_error().into());
        }
        let algorithm = Algorithm::decode(reader)?;
        let key = <&OctetStringRef>::decode(reader)?.as_bytes();
        let mut least = 0;
        while !reader.is_finished() {
            let number = match AnyRef::decode(reader)?.tag() {
                Tag::ContextSpecific { number, .. } => number.value(),
                other => return Err(other.unexpected_error(None).into()),
            };
            if number < least || number > u32::from(version) {
                return Err(Tag::Sequence.value_error().into());
            }
            least = number + 1;
        }
        Ok((algorithm, key))
    })
}

/// Reads a SubjectPublicKeyInfo (RFC 5280, 4.1.2.7).
pub(crate) fn subject_public_key_info(bytes: &[u8]) -> der::Result<(Algorithm<'_>, &[u8])> {
    let (algorithm, key) = algorithm_and::<BitStringRef<'_>>(bytes)?;
    Ok((algorithm, key.as_bytes().ok_or_else(|| Tag::BitString.value_error())?))
}

/// Reads an EncryptedPrivateKeyInfo (RFC 5958, section 3).
pub(crate) fn encrypted_private_key_info(bytes: &[u8]) -> der::Result<(Algorithm<'_>, &[u8])> {
    algorithm_and::<&OctetStringRef>(bytes).map(|(algorithm, data)| (algorithm, data.as_bytes()))
}

fn algorithm_and<'a, T: Decode<'a, Error = der::Error>>(bytes: &'a [u8]) -> der::Result<(Algorithm<'a>, T)> {
    AnyRef::from_der(bytes)?.sequence(|reader| Ok((Algorithm::decode(reader)?, T::decode(reader)?)))
}

/// Reads a sequence of exactly N non-negative numbers.
pub(crate) fn numbers<const N: usize>(bytes: &[u8]) -> der::Result<[&[u8]; N]> {
    let mut numbers: [&[u8]; N] = [&[]; N];
    AnyRef::from_der(bytes)?.sequence(|reader| {
        numbers.iter_mut().try_for_each(|number| UintRef::decode(reader).map(|read| *number = read.as_bytes()))
    })?;
    Ok(numbers)
}

/// Reads one non-negative number.
pub(crate) fn number(bytes: &[u8]) -> der::Result<&[u8]> {
    Ok(UintRef::from_der(bytes)?.as_bytes())
}

/// 2.16.840.1.101.3.4.2, followed by the number of the hash function (RFC 8017, appendix B.1).
const fn hash_identifier(hash: Hash) -> &'static [u8] {
    match hash {
        Hash::Sha256 => b"\x60\x86\x48\x01\x65\x03\x04\x02\x01",
        Hash::Sha384 => b"\x60\x86\x48\x01\x65\x03\x04\x02\x02",
        Hash::Sha512 => b"\x60\x86\x48\x01\x65\x03\x04\x02\x03",
    }
}

/// The hash function with this identifier.
pub(crate) fn hash_of(identifier: &[u8]) -> Option<Hash> {
    [Hash::Sha256, Hash::Sha384, Hash::Sha512].into_iter().find(|hash| hash_identifier(*hash) == identifier)
}

/// Reads RSASSA-PSS-params (RFC 8017, appendix A.2.3): the identifiers of the hash functions for the message and for MGF1, which is empty
/// for another function than MGF1, and the salt's length. Omitted fields have their default, SHA-1 and 20.
pub(crate) fn pss_parameters(parameters: AnyRef<'_>) -> der::Result<(&[u8], &[u8], usize)> {
    parameters.sequence(|reader| {
        let hash = reader.context_specific::<Algorithm<'_>>(TagNumber(0), TagMode::Explicit)?;
        let mask = reader.context_specific::<Algorithm<'_>>(TagNumber(1), TagMode::Explicit)?;
        let salt = reader.context_specific::<u32>(TagNumber(2), TagMode::Explicit)?;
        if reader.context_specific::<u8>(TagNumber(3), TagMode::Explicit)?.is_some_and(|trailer| trailer != 1) {
            return Err(Tag::Integer.value_error().into());
        }
        let mask_hash = match mask {
            None => SHA1,
            Some(Algorithm { identifier: MGF1, parameters: Some(hash) }) => {
                hash.decode_as::<Algorithm<'_>>()?.identifier
            }
            Some(_) => &[],
        };
        Ok((
            hash.map_or(SHA1, |hash| hash.identifier),
            mask_hash,
            salt.map_or(DEFAULT_SALT_BYTES, |salt| salt as usize),
        ))
    })
}

/// Encodes RSASSA-PSS-params, with NULL as the hash function's parameters (RFC 4055, 2.1).
pub(crate) fn encode_pss_parameters(hash: Hash, salt_bytes: usize) -> Zeroizing<Vec<u8>> {
    let hash = encode_sequence(&[&encode(OBJECT_IDENTIFIER, hash_identifier(hash)), &encode(NULL, &[])]);
    let mask = encode_sequence(&[&encode(OBJECT_IDENTIFIER, MGF1), &hash]);
    let salt = match salt_bytes {
        // DER omits default values.
        DEFAULT_SALT_BYTES => Zeroizing::new(Vec::new()),
        bytes => encode(CONTEXT + 2, &encode_number(&bytes.to_be_bytes())),
    };
    encode_sequence(&[&encode(CONTEXT, &hash), &encode(CONTEXT + 1, &mask), &salt])
}

/// Encodes tag, length and content.
pub(crate) fn encode(tag: u8, content: &[u8]) -> Zeroizing<Vec<u8>> {
    let length = content.len().to_be_bytes();
    let length = &length[length.iter().take_while(|byte| **byte == 0).count()..];
    let mut encoded = Zeroizing::new(Vec::with_capacity(content.len() + length.len() + 2));
    encoded.push(tag);
    if content.len() >= 0x80 {
        encoded.push(0x80 | length.len() as u8);
        encoded.extend_from_slice(length);
    } else {
        encoded.push(content.len() as u8);
    }
    encoded.extend_from_slice(content);
    encoded
}

/// Encodes a sequence of parts that are encoded already.
pub(crate) fn encode_sequence(parts: &[&[u8]]) -> Zeroizing<Vec<u8>> {
    let content = Zeroizing::new(parts.concat());
    encode(SEQUENCE, &content)
}

/// Encodes a number from big-endian bytes, with or without leading zeros. The time reveals the number of leading zeros.
pub(crate) fn encode_number(bytes: &[u8]) -> Zeroizing<Vec<u8>> {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let mut content = Zeroizing::new(Vec::with_capacity(bytes.len() + 1));
    if bytes.get(zeros).is_none_or(|first| *first >= 0x80) {
        content.push(0);
    }
    content.extend_from_slice(&bytes[zeros..]);
    encode(INTEGER, &content)
}

/// Encodes a sequence of numbers.
pub(crate) fn encode_numbers(numbers: &[&[u8]]) -> Zeroizing<Vec<u8>> {
    let encoded: Vec<_> = numbers.iter().map(|number| encode_number(number)).collect();
    encode_sequence(&encoded.iter().map(|number| number.as_slice()).collect::<Vec<_>>())
}
