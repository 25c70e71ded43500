//! Arguments of a caller in C: pointers with lengths, and texts.

use std::ffi::{CString, c_char};

use crate::input::Input;

/// Bytes, with the pointer and the length that the caller passes for them.
pub(super) struct CBytes {
    bytes: Vec<u8>,
    kind: PassedAs,
}

#[derive(Clone, Copy, PartialEq)]
enum PassedAs {
    Right,
    Null,
    Absurd,
}

impl CBytes {
    /// A run with the right pointer and length.
    pub(super) fn of(bytes: Vec<u8>) -> Self {
        Self { bytes, kind: PassedAs::Right }
    }

    /// A run of up to `most` bytes, sometimes passed as NULL or with an absurd length.
    pub(super) fn any(input: &mut Input<'_>, most: usize) -> Self {
        let kind = match input.byte() {
            250..=252 => PassedAs::Null,
            253.. => PassedAs::Absurd,
            _ => PassedAs::Right,
        };
        let length = input.below(most + 1);
        Self { bytes: input.message(length), kind }
    }

    /// Whether pointer and length match the bytes.
    pub(super) fn is_right(&self) -> bool {
        self.kind == PassedAs::Right || self.kind == PassedAs::Null && self.bytes.is_empty()
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn pointer(&self) -> *const u8 {
        if self.kind == PassedAs::Null { std::ptr::null() } else { self.bytes.as_ptr() }
    }

    pub(super) fn pointer_mut(&mut self) -> *mut u8 {
        if self.kind == PassedAs::Null { std::ptr::null_mut() } else { self.bytes.as_mut_ptr() }
    }

    pub(super) fn length(&self) -> usize {
        if self.kind == PassedAs::Absurd { isize::MAX as usize + 1 + self.bytes.len() } else { self.bytes.len() }
    }
}

/// A text that ends with NUL, or NULL.
pub(super) struct CText(Option<CString>);

impl CText {
    /// One of these texts; sometimes NULL, bytes of the input, or invalid UTF-8.
    pub(super) fn any(input: &mut Input<'_>, known: &[&str]) -> Self {
        let bytes = match input.byte() {
            240..=245 => return Self(None),
            246..=250 => input.take(9).to_vec(),
            251.. => b"\xff\xfe".to_vec(),
            number => known[usize::from(number) % known.len()].as_bytes().to_vec(),
        };
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        Self(CString::new(&bytes[..end]).ok())
    }

    pub(super) fn pointer(&self) -> *const c_char {
        self.0.as_ref().map_or(std::ptr::null(), |text| text.as_ptr())
    }

    pub(super) fn is_null(&self) -> bool {
        self.0.is_none()
    }
}
