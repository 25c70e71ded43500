//! The internal error type. `errors` converts the errors of containers and signatures to it.

use std::fmt;

use crate::status::tress_status::{self, *};

/// Why a call failed: the status code, and a message if there is more to say than the code's text.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: tress_status,
    detail: Option<String>,
}

impl Failure {
    pub(crate) fn with_detail(status: tress_status, detail: impl Into<String>) -> Self {
        Self { status, detail: Some(detail.into()) }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.detail {
            Some(detail) => f.write_str(detail),
            None => f.write_str(self.status.text().to_str().unwrap_or_default()),
        }
    }
}

impl From<tress_status> for Failure {
    fn from(status: tress_status) -> Self {
        Self { status, detail: None }
    }
}

impl From<tress_cipher::Error> for Failure {
    fn from(error: ::tress_cipher::Error) -> Self {
        Self { status: cipher_status(error), detail: None }
    }
}

impl From<std::collections::TryReserveError> for Failure {
    fn from(_: std::collections::TryReserveError) -> Self {
        TRESS_MEMORY.into()
    }
}

pub(crate) fn cipher_status(error: ::tress_cipher::Error) -> tress_status {
    use ::tress_cipher::Error;
    match error {
        Error::KeyLength => TRESS_KEY_LENGTH,
        Error::NonceLength => TRESS_NONCE_LENGTH,
        Error::TagLength => TRESS_TAG_LENGTH,
        Error::NonceRepeated { .. } => TRESS_NONCE_REPEATED,
        Error::IvLength => TRESS_IV_LENGTH,
        Error::DataLength => TRESS_DATA_LENGTH,
        Error::MessageTooLong => TRESS_MESSAGE_TOO_LONG,
        Error::CounterExhausted => TRESS_COUNTER_EXHAUSTED,
        Error::Authentication => TRESS_AUTHENTICATION,
        Error::Padding => TRESS_PADDING,
        Error::BackendUnavailable(_) => TRESS_BACKEND_UNAVAILABLE,
        _ => TRESS_INTERNAL,
    }
}
