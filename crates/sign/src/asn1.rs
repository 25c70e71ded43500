//! DER of the few structures that keys and signatures need.
//!
//! Reading is `der`'s, which takes nothing but DER: no BER, no leading zeros, nothing left over. Object identifiers are
//! compared as bytes, because `const-oid`'s have arcs of 32 bits at most and ours for Schnorr is made of a UUID.

use der::asn1::{AnyRef, OctetStringRef, UintRef};
use der::{Decode, Reader, SliceReader, Tag, Tagged};
use zeroize::Zeroizing;

/// 1.2.840.113549.1.1.1
pub(crate) const RSA_ENCRYPTION: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01";
/// 1.2.840.10040.4.1
pub(crate) const DSA: &[u8] = b"\x2a\x86\x48\xce\x38\x04\x01";
/// 2.25.291587402850360139111841252861270852275: the UUID of version 5 for
/// `https://github.com/tress-crypto/tress/schnorr-sha256` (ITU-T X.667 gives everyone such an arc).
pub(crate) const SCHNORR: &[u8] = b"\x69\x83\xb6\xdd\xd8\xba\xa0\xc6\xda\xe4\x87\x97\xd3\x9b\xd6\xdd\xbc\xc2\x85\x33";

/// Tags that are written (X.690, 8).
pub(crate) const INTEGER: u8 = 0x02;
pub(crate) const BIT_STRING: u8 = 0x03;
pub(crate) const OCTET_STRING: u8 = 0x04;
pub(crate) const NULL: u8 = 0x05;
pub(crate) const OBJECT_IDENTIFIER: u8 = 0x06;
pub(crate) const SEQUENCE: u8 = 0x30;

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

/// A PrivateKeyInfo, or a OneAsymmetricKey, whose public key and attributes are looked over (RFC 5958).
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

/// A SubjectPublicKeyInfo (RFC 5280, 4.1.2.7).
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

/// A sequence of exactly this many numbers that are not negative.
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

/// One number that is not negative.
pub(crate) fn number(bytes: &[u8]) -> der::Result<&[u8]> {
    Ok(UintRef::from_der(bytes)?.as_bytes())
}

/// Tag, length, content.
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

/// A sequence of what is encoded already.
pub(crate) fn encode_sequence(parts: &[&[u8]]) -> Zeroizing<Vec<u8>> {
    let content = Zeroizing::new(parts.concat());
    encode(SEQUENCE, &content)
}

/// A number of big-endian bytes, with or without leading zeros. The time shows how many there are.
pub(crate) fn encode_number(bytes: &[u8]) -> Zeroizing<Vec<u8>> {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let mut content = Zeroizing::new(Vec::with_capacity(bytes.len() + 1));
    if bytes.get(zeros).is_none_or(|first| *first >= 0x80) {
        content.push(0);
    }
    content.extend_from_slice(&bytes[zeros..]);
    encode(INTEGER, &content)
}

/// A sequence of numbers.
pub(crate) fn encode_numbers(numbers: &[&[u8]]) -> Zeroizing<Vec<u8>> {
    let encoded: Vec<_> = numbers.iter().map(|number| encode_number(number)).collect();
    encode_sequence(&encoded.iter().map(|number| number.as_slice()).collect::<Vec<_>>())
}
