//! Writes key files: PKCS #8 and SubjectPublicKeyInfo.

use pem_rfc7468::LineEnding;
use zeroize::Zeroizing;

use super::{PrivateKey, PublicKey};
use crate::asn1::{self, encode, encode_number, encode_numbers, encode_sequence};
use crate::discrete::Group;
use crate::{integer, rsa};

impl PrivateKey {
    /// Encodes the key as PKCS #8 in DER.
    #[must_use]
    pub fn to_der(&self) -> Zeroizing<Vec<u8>> {
        let (algorithm, key) = match self {
            Self::Rsa(key) => {
                let public = key.public_key();
                let private = key.private_values();
                let (modulus, exponent) = (public.modulus(), public.exponent().to_be_bytes());
                let mut numbers: Vec<&[u8]> = vec![&[0], &modulus, &exponent];
                numbers.extend(private.iter().map(|number| number.as_slice()));
                (rsa_algorithm(public), encode_numbers(&numbers))
            }
            Self::Dsa(key) => (algorithm(asn1::DSA, key.public_key().group()), encode_number(&key.scalar())),
            Self::Schnorr(key) => (algorithm(asn1::SCHNORR, key.public_key().group()), encode_number(&key.scalar())),
        };
        encode_sequence(&[&encode_number(&[0]), &algorithm, &encode(asn1::OCTET_STRING, &key)])
    }

    /// Encodes the key as PKCS #8 in PEM.
    #[must_use]
    pub fn to_pem(&self) -> Zeroizing<String> {
        Zeroizing::new(pem("PRIVATE KEY", &self.to_der()))
    }
}

impl PublicKey {
    /// Encodes the key as SubjectPublicKeyInfo in DER.
    #[must_use]
    pub fn to_der(&self) -> Vec<u8> {
        let (algorithm, key) = match self {
            Self::Rsa(key) => (rsa_algorithm(key), encode_numbers(&[&key.modulus(), &key.exponent().to_be_bytes()])),
            Self::Dsa(key) => (algorithm(asn1::DSA, key.group()), encode_number(&key.to_bytes())),
            Self::Schnorr(key) => (algorithm(asn1::SCHNORR, key.group()), encode_number(&key.to_bytes())),
        };
        // The bit string has no unused bits.
        let bits = [&[0], key.as_slice()].concat();
        encode_sequence(&[&algorithm, &encode(asn1::BIT_STRING, &bits)]).to_vec()
    }

    /// Encodes the key as SubjectPublicKeyInfo in PEM.
    #[must_use]
    pub fn to_pem(&self) -> String {
        pem("PUBLIC KEY", &self.to_der())
    }
}

fn rsa_algorithm(key: &rsa::PublicKey) -> Zeroizing<Vec<u8>> {
    let (identifier, parameters) = match key.identifier() {
        rsa::RsaIdentifier::Any => (asn1::RSA_ENCRYPTION, encode(asn1::NULL, &[])),
        rsa::RsaIdentifier::Pss => (asn1::RSASSA_PSS, Zeroizing::new(Vec::new())),
        rsa::RsaIdentifier::PssWith { hash, least_salt_bytes } => {
            (asn1::RSASSA_PSS, asn1::encode_pss_parameters(hash, least_salt_bytes))
        }
    };
    encode_sequence(&[&encode(asn1::OBJECT_IDENTIFIER, identifier), &parameters])
}

fn algorithm(identifier: &[u8], group: &Group) -> Zeroizing<Vec<u8>> {
    let bytes = group.element_bytes();
    let [p, q, g] = [group.p().as_limbs(), group.q().as_limbs(), group.g()].map(|n| integer::to_bytes(n, bytes));
    encode_sequence(&[&encode(asn1::OBJECT_IDENTIFIER, identifier), &encode_numbers(&[&p, &q, &g])])
}

fn pem(label: &str, der: &[u8]) -> String {
    pem_rfc7468::encode_string(label, LineEnding::LF, der).expect("labels are PEM's, and keys are short")
}
