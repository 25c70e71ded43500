//! Reads and writes the DER structures that keys and signatures need.
//!
//! Crate `der` reads them, and accepts only DER: no BER, no leading zeros, no trailing bytes. Object identifiers are compared as bytes,
//! because the arcs of `const-oid` have at most 32 bits, and ours for Schnorr contains a UUID.

use der::asn1::{AnyRef, OctetStringRef, UintRef};
use der::{Decode, Encode as _, Reader, SliceReader, Tag, Tagged};
use pkcs1::RsaPssParamsOwned;
use zeroize::Zeroizing;

use crate::Hash;

/// 1.2.840.113549.1.1.1
pub(crate) const RSA_ENCRYPTION: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01";
/// 1.2.840.113549.1.1.10
pub(crate) const RSASSA_PSS: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0a";
/// 1.2.840.113549.1.1.8
const MGF1: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x08";
/// 1.2.840.10040.4.1
pub(crate) const DSA: &[u8] = b"\x2a\x86\x48\xce\x38\x04\x01";
/// 2.25.291587402850360139111841252861270852275: the version 5 UUID of `https://github.com/tress-crypto/tress/schnorr-sha256`. ITU-T X.667
/// allows anyone to use such an arc.
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

impl<'a> Algorithm<'a> {
    fn read(reader: &mut SliceReader<'a>) -> der::Result<Self> {
        reader.sequence(|reader| -> der::Result<_> {
            let identifier = AnyRef::decode(reader)?;
            identifier.tag().assert_eq(Tag::ObjectIdentifier)?;
            let parameters = if reader.is_finished() { None } else { Some(AnyRef::decode(reader)?) };
            Ok(Self { identifier: identifier.value(), parameters })
        })
    }
}

/// Reads a PrivateKeyInfo or a OneAsymmetricKey (RFC 5958). The latter's public key and attributes are skipped.
pub(crate) fn private_key_info(bytes: &[u8]) -> der::Result<(Algorithm<'_>, &[u8])> {
    let mut reader = SliceReader::new(bytes)?;
    let read = reader.sequence(|reader| -> der::Result<_> {
        let version = u8::decode(reader)?;
        if version > 1 {
            return Err(Tag::Integer.value_error().into());
        }
        let algorithm = Algorithm::read(reader)?;
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
    })?;
    reader.finish()?;
    Ok(read)
}

/// Reads a SubjectPublicKeyInfo (RFC 5280, 4.1.2.7).
pub(crate) fn subject_public_key_info(bytes: &[u8]) -> der::Result<(Algorithm<'_>, &[u8])> {
    let mut reader = SliceReader::new(bytes)?;
    let read = reader.sequence(|reader| -> der::Result<_> {
        let algorithm = Algorithm::read(reader)?;
        let key = der::asn1::BitStringRef::decode(reader)?;
        Ok((algorithm, key.as_bytes().ok_or_else(|| Tag::BitString.value_error())?))
    })?;
    reader.finish()?;
    Ok(read)
}

/// Reads a sequence of exactly N non-negative numbers.
pub(crate) fn numbers<const N: usize>(bytes: &[u8]) -> der::Result<[&[u8]; N]> {
    let mut reader = SliceReader::new(bytes)?;
    let mut numbers: [&[u8]; N] = [&[]; N];
    reader.sequence(|reader| -> der::Result<()> {
        for number in &mut numbers {
            *number = UintRef::decode(reader)?.as_bytes();
        }
        Ok(())
    })?;
    reader.finish()?;
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

/// Reads RSASSA-PSS-params (RFC 8017, appendix A.2.3): the hash function, which must be the same for message and MGF1, and the salt's
/// length. `None` for other functions, such as SHA-1, which is the default for omitted fields.
pub(crate) fn pss_parameters(parameters: AnyRef<'_>) -> der::Result<Option<(Hash, usize)>> {
    let encoded = parameters.to_der()?;
    let read = RsaPssParamsOwned::from_der(&encoded)?;
    let of = |identifier: &[u8]| {
        [Hash::Sha256, Hash::Sha384, Hash::Sha512].into_iter().find(|hash| hash_identifier(*hash) == identifier)
    };
    let hash = of(read.hash.oid.as_bytes());
    let mask = read.mask_gen.parameters.as_ref().filter(|_| read.mask_gen.oid.as_bytes() == MGF1);
    let mask_hash = mask.and_then(|mask| of(mask.oid.as_bytes()));
    Ok(hash.filter(|_| mask_hash == hash).map(|hash| (hash, usize::from(read.salt_len))))
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
