//! Calls with recipients, identities, and containers in memory, pushed, read and as files.

use std::ffi::{CString, c_int, c_void};
use std::os::unix::ffi::OsStrExt as _;
use std::ptr::null_mut;

use tress_c::tress_status::*;
use tress_c::*;

use super::memory::{CBytes, CText};
use super::{checked, checked_new, checked_on};
use crate::input::Input;
use crate::temp_folder;

/// From the container vectors. This key protects nothing.
const IDENTITY: &str = "AGE-SECRET-KEY-1GQ9778VQXMMJVE8SK7J6VT8UJ4HDQAJUVSFCWCM02D8GEWQ72PVQ2Y5J33";
const RECIPIENTS: [&str; 4] = [
    "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p",
    "# nobody",
    "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8q",
    "ssh-ed25519 AAAA",
];

/// One handle of each kind, or NULL, and the data that they use.
pub(super) struct ContainerCalls {
    recipients: *mut tress_recipients,
    identities: *mut tress_identities,
    encryptor: *mut tress_encryptor,
    decryptor: *mut tress_decryptor,
    reader: *mut tress_reader,
    /// The plaintext of the last whole container.
    plain: Vec<u8>,
    /// The last whole container. A reader reads from it, so it does not move while there is a reader.
    sealed: Vec<u8>,
    /// The output of the encryptor and of the decryptor.
    written: Box<LimitedSink>,
    opened: Box<LimitedSink>,
    pushed: Vec<u8>,
}

/// Collects the output of a limited number of calls, then fails.
#[derive(Default)]
struct LimitedSink {
    bytes: Vec<u8>,
    calls_left: usize,
}

unsafe extern "C" fn write(context: *mut c_void, data: *const u8, length: usize) -> c_int {
    // SAFETY: the context is a sink that no other code uses during the call, and the library passes the length of its data.
    let (sink, data) = unsafe { (&mut *context.cast::<LimitedSink>(), std::slice::from_raw_parts(data, length)) };
    assert!(!data.is_empty());
    let Some(left) = sink.calls_left.checked_sub(1) else { return 1 };
    sink.calls_left = left;
    sink.bytes.extend_from_slice(data);
    0
}

unsafe extern "C" fn read_at(
    context: *mut c_void,
    offset: u64,
    to: *mut u8,
    capacity: usize,
    length: *mut usize,
) -> c_int {
    // SAFETY: the context is a container that does not change, and the library passes the size of its buffer.
    let (sealed, to) = unsafe { (&*context.cast::<Vec<u8>>(), std::slice::from_raw_parts_mut(to, capacity)) };
    let rest = &sealed[sealed.len().min(offset as usize)..];
    // Short reads are allowed.
    let count = rest.len().min(to.len()).min(5000);
    to[..count].copy_from_slice(&rest[..count]);
    // SAFETY: the library passes a valid pointer.
    unsafe { length.write(count) };
    0
}

impl Default for ContainerCalls {
    fn default() -> Self {
        Self {
            recipients: tress_recipients_new(),
            identities: tress_identities_new(),
            encryptor: null_mut(),
            decryptor: null_mut(),
            reader: null_mut(),
            plain: Vec::new(),
            sealed: Vec::new(),
            written: Box::default(),
            opened: Box::default(),
            pushed: Vec::new(),
        }
    }
}

impl Drop for ContainerCalls {
    fn drop(&mut self) {
        // SAFETY: each handle is NULL or live, and is not used after this.
        unsafe {
            tress_recipients_free(self.recipients);
            tress_identities_free(self.identities);
            tress_encryptor_free(self.encryptor);
            tress_decryptor_free(self.decryptor);
            tress_reader_free(self.reader);
        }
    }
}

impl ContainerCalls {
    pub(super) fn call(&mut self, input: &mut Input<'_>) {
        match input.byte() % 12 {
            0 | 1 => self.add_recipients(input),
            2 | 3 => self.add_identities(input),
            4 | 5 => self.whole(input),
            6 => self.push(input),
            7 => self.finish(),
            8 => self.pull(input),
            9 => self.read(input),
            10 => self.files(input),
            _ => pair(input),
        }
    }

    fn add_recipients(&mut self, input: &mut Input<'_>) {
        let text = CText::any(input, &RECIPIENTS);
        let key = if input.byte() < 200 { CBytes::of(input.message(16)) } else { CBytes::any(input, 33) };
        // SAFETY: the set is NULL or live; texts are NULL or end with NUL. A run is NULL, or valid for its length, or has a length
        // above `isize::MAX`, which the library refuses before it reads.
        unsafe {
            let set = self.recipients;
            match input.byte() % 8 {
                0..=3 => drop(checked_on(set, tress_recipients_add(set, text.pointer()))),
                4 | 5 => drop(checked_on(set, tress_recipients_add_key(set, key.pointer(), key.length()))),
                6 => {
                    // An empty passphrase: any other takes a second to use.
                    assert_ne!(checked_on(set, tress_recipients_add_passphrase(set, c"".as_ptr())), TRESS_OK);
                }
                _ => {
                    tress_recipients_free(set);
                    self.recipients = if input.flag() { null_mut() } else { tress_recipients_new() };
                }
            }
        }
    }

    fn add_identities(&mut self, input: &mut Input<'_>) {
        let text = if input.byte() < 200 { CBytes::of(IDENTITY.into()) } else { CBytes::any(input, 80) };
        let key = if input.byte() < 200 { CBytes::of(input.message(16)) } else { CBytes::any(input, 33) };
        let passphrase = CText::any(input, &["", "tress"]);
        // SAFETY: handles, texts and runs are as in `add_recipients`.
        unsafe {
            let set = self.identities;
            match input.byte() % 8 {
                0..=3 => {
                    let _ =
                        checked_on(set, tress_identities_add(set, text.pointer(), text.length(), passphrase.pointer()));
                }
                4 | 5 => drop(checked_on(set, tress_identities_add_key(set, key.pointer(), key.length()))),
                6 => drop(checked_on(set, tress_identities_add_passphrase(set, passphrase.pointer()))),
                _ => {
                    tress_identities_free(set);
                    self.identities = if input.flag() { null_mut() } else { tress_identities_new() };
                }
            }
        }
    }

    /// Encrypts and decrypts a container in memory.
    fn whole(&mut self, input: &mut Input<'_>) {
        let (aead, name) =
            (CText::any(input, &["aes-128-ccm", "aes-256-ccm", "aes"]), CText::any(input, &["a", "a/b", ""]));
        let format = CText::any(input, &["tress", "age", "cobblestone-128", "zip"]);
        let plain = CBytes::any(input, 40_000);
        let options = tress_options {
            threads: input.below(3),
            aead: aead.pointer(),
            name: name.pointer(),
            replace: 0,
            range: 0,
            range_start: 0,
            range_end: 0,
            format: format.pointer(),
            armor: i32::from(input.byte() / 250),
            reserved: [0, u64::from(input.byte() / 250)],
        };
        let (mut sealed, mut opened) = (null_mut(), null_mut());
        // SAFETY: handles, texts and runs are as in `add_recipients`; the reader of the last container is freed before its bytes.
        unsafe {
            let options = if input.flag() { &raw const options } else { std::ptr::null() };
            let status = tress_encrypt(plain.pointer(), plain.length(), self.recipients, options, &mut sealed);
            if checked_new(status, sealed) == TRESS_OK {
                assert!(plain.is_right() && !self.recipients.is_null());
                tress_reader_free(self.reader);
                self.reader = null_mut();
                self.sealed = bytes(sealed);
                self.plain = plain.bytes().to_vec();
                if input.byte() > 220 {
                    let at = input.below(self.sealed.len());
                    self.sealed[at] ^= input.byte();
                }
                let status = tress_decrypt(self.sealed.as_ptr(), self.sealed.len(), self.identities, 1, &mut opened);
                let status = checked_on(self.identities, checked_new(status, opened));
                assert!(status != TRESS_OK || bytes(opened) == self.plain, "wrong bytes");
            }
            tress_buffer_free(sealed);
            tress_buffer_free(opened);
        }
    }

    /// Pushes data into the encryptor, which is created if there is none.
    fn push(&mut self, input: &mut Input<'_>) {
        let data = CBytes::any(input, 30_000);
        // SAFETY: handles, texts and runs are as in `add_recipients`; the sink lives as long as the handle.
        unsafe {
            if self.encryptor.is_null() {
                *self.written = LimitedSink { bytes: Vec::new(), calls_left: input.below(20) };
                self.pushed.clear();
                let context = (&raw mut *self.written).cast();
                let function: tress_write = if input.byte() < 250 { Some(write) } else { None };
                let status =
                    tress_encryptor_new(self.recipients, std::ptr::null(), function, context, &mut self.encryptor);
                checked_on(self.recipients, checked_new(status, self.encryptor));
            }
            let status = tress_encryptor_push(self.encryptor, data.pointer(), data.length());
            if checked_on(self.encryptor, status) == TRESS_OK {
                self.pushed.extend_from_slice(data.bytes());
            }
        }
    }

    /// Ends the encryptor, whose output must be a container.
    fn finish(&mut self) {
        let mut opened = null_mut();
        // SAFETY: handles are NULL or live, and the data is valid for its length.
        unsafe {
            let status = checked_on(self.encryptor, tress_encryptor_finish(self.encryptor));
            assert_ne!(checked_on(self.encryptor, tress_encryptor_finish(self.encryptor)), TRESS_OK);
            if status == TRESS_OK {
                let sealed = &self.written.bytes;
                let status = tress_decrypt(sealed.as_ptr(), sealed.len(), self.identities, 1, &mut opened);
                let status = checked_on(self.identities, checked_new(status, opened));
                assert!(status != TRESS_OK || bytes(opened) == self.pushed, "wrong bytes");
                tress_buffer_free(opened);
            }
            tress_encryptor_free(self.encryptor);
            self.encryptor = null_mut();
        }
    }

    /// Pushes the last container into a decryptor in pieces, in some runs not to its end.
    fn pull(&mut self, input: &mut Input<'_>) {
        // SAFETY: handles are NULL or live; pieces are valid for their lengths, and the sink lives as long as the handle.
        unsafe {
            if self.decryptor.is_null() {
                *self.opened = LimitedSink { bytes: Vec::new(), calls_left: input.below(20) };
                let context = (&raw mut *self.opened).cast();
                let status =
                    tress_decryptor_new(self.identities, input.below(3), Some(write), context, &mut self.decryptor);
                checked_on(self.identities, checked_new(status, self.decryptor));
            }
            let mut rest = &self.sealed[..];
            for _ in 0..input.below(5) {
                let piece = rest.split_off(..input.below(0x8000).min(rest.len())).unwrap_or_default();
                checked_on(self.decryptor, tress_decryptor_push(self.decryptor, piece.as_ptr(), piece.len()));
            }
            let kind = tress_decryptor_is_tree(self.decryptor);
            assert!(matches!(kind, -1 | 0) && (kind == 0 || tress_decryptor_name(self.decryptor).is_null()));
            if input.flag() {
                checked_on(self.decryptor, tress_decryptor_push(self.decryptor, rest.as_ptr(), rest.len()));
                let status = checked_on(self.decryptor, tress_decryptor_finish(self.decryptor));
                assert!(status != TRESS_OK || self.opened.bytes == self.plain, "wrong bytes");
                tress_decryptor_free(self.decryptor);
                self.decryptor = null_mut();
            }
            // A decryptor that continues with the bytes of another container refuses them. Its earlier output was verified.
        }
    }

    /// Reads at an offset of the last container.
    fn read(&mut self, input: &mut Input<'_>) {
        let mut room = CBytes::any(input, 20_000);
        let mut length = usize::MAX;
        // SAFETY: handles and runs are as in `add_recipients`; the container does not move while there is a reader.
        unsafe {
            if self.reader.is_null() {
                let context = (&raw mut self.sealed).cast();
                let source =
                    tress_source { read_at: Some(read_at), context, length: self.sealed.len() as u64, reserved: 0 };
                let status = tress_reader_open(&source, self.identities, input.below(3), &mut self.reader);
                checked_on(self.identities, checked_new(status, self.reader));
            }
            let offset = input.below(50_000) as u64;
            let (at, capacity) = (room.pointer_mut(), room.length());
            let status = checked_on(self.reader, tress_reader_read_at(self.reader, offset, at, capacity, &mut length));
            if status == TRESS_OK {
                let from = self.plain.len().min(offset as usize);
                assert!(room.bytes()[..length] == self.plain[from..from + length], "wrong bytes");
                assert_eq!(length, room.bytes().len().min(self.plain.len() - from));
                assert_eq!(tress_reader_length(self.reader), self.plain.len() as u64);
            }
            // The reader points into this state, so it must not outlive the container, which the next call may replace.
            tress_reader_free(self.reader);
            self.reader = null_mut();
        }
    }

    /// Encrypts and decrypts a file, some of them cancelled.
    fn files(&mut self, input: &mut Input<'_>) {
        let folder = temp_folder::emptied();
        let path = |name: &str| CString::new(folder.join(name).as_os_str().as_bytes()).expect("no NUL");
        let (plain, sealed, opened) = (path("plain"), path("sealed"), path("opened"));
        std::fs::write(folder.join("plain"), &self.pushed).expect("a file");
        let mut report = tress_report { bytes_in: 0, bytes_out: 0, chunks: 0, elapsed_ns: 0, reserved: [0; 4] };
        // SAFETY: handles are NULL or live, and paths end with NUL.
        unsafe {
            let control = tress_control_new();
            if input.byte() > 220 {
                tress_control_cancel(control);
            }
            let null = std::ptr::null();
            let status = tress_encrypt_file(
                plain.as_ptr(),
                sealed.as_ptr(),
                self.recipients,
                null,
                if input.flag() { control } else { null_mut() },
                &mut report,
            );
            let names =
                if checked_on(self.recipients, status) == TRESS_OK { &["plain", "sealed"][..] } else { &["plain"] };
            assert_eq!(temp_folder::names(folder), names);
            let status = tress_rewrap_file(sealed.as_ptr(), self.identities, self.recipients, control, null_mut());
            assert!(checked(status) != TRESS_OK || names.len() == 2);
            let status = checked(tress_decrypt_file(
                sealed.as_ptr(),
                opened.as_ptr(),
                self.identities,
                null,
                control,
                &mut report,
            ));
            match status {
                TRESS_OK => assert!(std::fs::read(folder.join("opened")).ok().as_ref() == Some(&self.pushed)),
                _ => assert_eq!(temp_folder::names(folder), names),
            }
            assert!(tress_control_done_bytes(control) <= tress_control_total_bytes(control).max(1 << 20));
            tress_control_free(control);
        }
    }
}

/// Creates a key pair. Writing and reading it must give the same pair.
fn pair(input: &mut Input<'_>) {
    let text = CText::any(input, &[IDENTITY, "# nobody", "AGE-SECRET-KEY-1"]);
    let (mut pair, mut again) = (null_mut(), null_mut());
    // SAFETY: texts are NULL or end with NUL. The strings of a pair are used before the pair is freed.
    unsafe {
        let status = match input.flag() {
            true => tress_keypair_parse(text.pointer(), &mut pair),
            false => tress_keypair_generate(&mut pair),
        };
        checked_new(status, pair);
        let identity = tress_keypair_identity(pair);
        assert_eq!(identity.is_null(), pair.is_null());
        if !pair.is_null() {
            assert_eq!(checked_new(tress_keypair_parse(identity, &mut again), again), TRESS_OK);
            let recipient = |pair| std::ffi::CStr::from_ptr(tress_keypair_recipient(pair));
            assert_eq!(recipient(again), recipient(pair));
        }
        tress_keypair_free(pair);
        tress_keypair_free(again);
    }
}

/// Copies the contents of a buffer.
///
/// # Safety
/// `buffer` must be NULL or live.
unsafe fn bytes(buffer: *const tress_buffer) -> Vec<u8> {
    // SAFETY: the caller guarantees the buffer, whose data is valid for its length.
    unsafe {
        let (data, length) = (tress_buffer_data(buffer), tress_buffer_length(buffer));
        if data.is_null() { Vec::new() } else { std::slice::from_raw_parts(data, length).to_vec() }
    }
}
