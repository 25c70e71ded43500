//! The structures of `intel-ipsec-mb.h` that a caller uses, with the fields that a caller uses.
//!
//! The offsets at the end, and those of [`RELEASES`], were printed by a C program with `offsetof` and the headers of
//! Debian (libipsec-mb-dev 1.3-2) and of the sources of 2.0.2 and of June 2026 (3.0.0-dev); gcc 12, x86-64. Only the
//! library creates a manager, so its first fields are enough here.

use std::ffi::{c_int, c_void};

/// The layout of one release. Offsets are in bytes, in `IMB_MGR` those of function pointers.
pub(super) struct Release {
    /// How its version begins.
    pub(super) version: &'static str,
    pub(super) library: &'static str,
    /// `gcm128_enc`; those for 192 and 256 bits follow.
    pub(super) gcm_encrypt: usize,
    /// `gcm128_pre`; those for 192 and 256 bits follow.
    pub(super) gcm_expand: usize,
    pub(super) get_next_burst: usize,
    pub(super) submit_burst_nocheck: usize,
    pub(super) submit_cipher_burst_nocheck: usize,
    /// Size of `IMB_JOB`, whose last fields may be missing in [`ImbJob`].
    pub(super) job_bytes: usize,
    /// `suite_id` in `IMB_JOB`, which bursts need, if the release has it.
    pub(super) suite: Option<usize>,
}

/// The releases that are known, newest first.
pub(super) const RELEASES: [Release; 3] = [
    Release {
        version: "3.0.",
        library: "libIPSec_MB.so.3",
        gcm_encrypt: 304,
        gcm_expand: 496,
        get_next_burst: 928,
        submit_burst_nocheck: 944,
        submit_cipher_burst_nocheck: 968,
        suite: Some(188),
        ..OLDEST
    },
    Release { version: "2.0.", library: "libIPSec_MB.so.2", job_bytes: 216, suite: Some(200), ..OLDEST },
    OLDEST,
];

const OLDEST: Release = Release {
    version: "1.3.",
    library: "libIPSec_MB.so.1",
    gcm_encrypt: 256,
    gcm_expand: 448,
    get_next_burst: 952,
    submit_burst_nocheck: 968,
    submit_cipher_burst_nocheck: 992,
    job_bytes: 200,
    suite: None,
};

/// `IMB_CIPHER_MODE`.
pub(super) const CIPHER_CBC: c_int = 1;
pub(super) const CIPHER_CNTR: c_int = 2;
pub(super) const CIPHER_CCM: c_int = 9;
pub(super) const CIPHER_ECB: c_int = 12;
/// `IMB_HASH_ALG`.
pub(super) const AUTH_NULL: c_int = 8;
pub(super) const AUTH_AES_CCM: c_int = 11;
/// `IMB_CIPHER_DIRECTION`.
pub(super) const DIR_ENCRYPT: c_int = 1;
pub(super) const DIR_DECRYPT: c_int = 2;
/// `IMB_CHAIN_ORDER`.
pub(super) const ORDER_CIPHER_HASH: c_int = 1;
pub(super) const ORDER_HASH_CIPHER: c_int = 2;
/// `IMB_MAX_BURST_SIZE`.
pub(super) const MAX_BURST: usize = 128;

/// `IMB_JOB` of 1.3. Later releases have other fields after `sgl_state`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct ImbJob {
    pub(super) enc_keys: *const c_void,
    pub(super) dec_keys: *const c_void,
    pub(super) key_len_in_bytes: u64,
    pub(super) src: *const u8,
    pub(super) dst: *mut u8,
    pub(super) cipher_start_src_offset_in_bytes: u64,
    pub(super) msg_len_to_cipher_in_bytes: u64,
    pub(super) hash_start_src_offset_in_bytes: u64,
    pub(super) msg_len_to_hash_in_bytes: u64,
    pub(super) iv: *const u8,
    pub(super) iv_len_in_bytes: u64,
    pub(super) auth_tag_output: *mut u8,
    pub(super) auth_tag_output_len_in_bytes: u64,
    /// The first two members of the union `u`, as CCM uses them. Its third word is for other algorithms.
    pub(super) ccm_aad: *const c_void,
    pub(super) ccm_aad_len_in_bytes: u64,
    pub(super) union_rest: u64,
    pub(super) status: c_int,
    pub(super) cipher_mode: c_int,
    pub(super) cipher_direction: c_int,
    pub(super) hash_alg: c_int,
    pub(super) chain_order: c_int,
    pub(super) user_data: *mut c_void,
    pub(super) user_data2: *mut c_void,
    pub(super) cipher_func: *const c_void,
    pub(super) hash_func: *const c_void,
    pub(super) sgl_state: c_int,
    pub(super) cipher_fields: *mut c_void,
}

pub(super) type JobFunction = Option<unsafe extern "C" fn(*mut ImbManager) -> *mut ImbJob>;
/// Takes the number of jobs and an array for pointers to them, which the call writes. Returns the number that it wrote.
pub(super) type BurstFunction = Option<unsafe extern "C" fn(*mut ImbManager, u32, *mut *mut ImbJob) -> u32>;
/// Takes an array of the caller's jobs, their number, `IMB_CIPHER_MODE`, `IMB_CIPHER_DIRECTION` and the bytes of a
/// key. Returns the number of completed jobs.
pub(super) type CipherBurst =
    Option<unsafe extern "C" fn(*mut ImbManager, *mut ImbJob, u32, c_int, c_int, c_int) -> u32>;
/// Takes the user key, and memory for expanded encryption keys and decryption keys.
pub(super) type ExpandKey = Option<unsafe extern "C" fn(*const c_void, *mut c_void, *mut c_void)>;

/// Takes a key, memory for a context, output, input, their length, a nonce of 12 bytes, associated data and its length, memory for the tag
/// and its length.
pub(super) type GcmFunction = Option<
    unsafe extern "C" fn(
        *const GcmKey,
        *mut GcmContext,
        *mut u8,
        *const u8,
        u64,
        *const u8,
        *const u8,
        u64,
        *mut u8,
        u64,
    ),
>;
/// Takes the user key, and memory for the expanded one.
pub(super) type GcmExpandKey = Option<unsafe extern "C" fn(*const c_void, *mut GcmKey)>;

/// `struct gcm_key_data`: 1008 bytes, 1264 in 2.0, 1280 in 3.0.
#[repr(C, align(64))]
pub(super) struct GcmKey(pub(super) [u8; 1280]);

/// `struct gcm_context_data`.
#[repr(C, align(64))]
pub(super) struct GcmContext(pub(super) [u8; 88]);

/// The first fields of `IMB_MGR`, which are the same in all releases.
#[repr(C)]
pub(super) struct ImbManager {
    pub(super) flags: u64,
    pub(super) features: u64,
    pub(super) reserved: [u64; 5],
    pub(super) used_arch: u32,
    pub(super) imb_errno: c_int,
    pub(super) get_next_job: JobFunction,
    pub(super) submit_job: JobFunction,
    pub(super) submit_job_nocheck: JobFunction,
    pub(super) get_completed_job: JobFunction,
    pub(super) flush_job: JobFunction,
    pub(super) queue_size: Option<unsafe extern "C" fn(*mut ImbManager) -> u32>,
    pub(super) keyexp_128: ExpandKey,
    pub(super) keyexp_192: ExpandKey,
    pub(super) keyexp_256: ExpandKey,
}

macro_rules! assert_offsets {
    ($of:ty: $($field:ident $offset:literal),*) => {
        #[cfg(target_arch = "x86_64")]
        const _: () = {
            $(assert!(std::mem::offset_of!($of, $field) == $offset);)*
        };
    };
}

assert_offsets! {
    ImbJob:
    key_len_in_bytes 16, src 24, dst 32, cipher_start_src_offset_in_bytes 40, msg_len_to_cipher_in_bytes 48,
    hash_start_src_offset_in_bytes 56, msg_len_to_hash_in_bytes 64, iv 72, iv_len_in_bytes 80, auth_tag_output 88,
    auth_tag_output_len_in_bytes 96, ccm_aad 104, ccm_aad_len_in_bytes 112, status 128, cipher_mode 132,
    cipher_direction 136, hash_alg 140, chain_order 144, user_data 152, user_data2 160, cipher_func 168,
    hash_func 176, sgl_state 184, cipher_fields 192
}
assert_offsets! {
    ImbManager:
    features 8, used_arch 56, imb_errno 60, get_next_job 64, submit_job 72, submit_job_nocheck 80,
    get_completed_job 88, flush_job 96, queue_size 104, keyexp_128 112, keyexp_192 120, keyexp_256 128
}
#[cfg(target_arch = "x86_64")]
const _: () = assert!(size_of::<ImbJob>() == 200 && align_of::<ImbJob>() == 8);
