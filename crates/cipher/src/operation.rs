//! The operations of a cipher, as data. The code of each is an `Operation` in the file of its mode, in `modes` or `lanes`. This file
//! does not depend on that code, so modes can depend on [`crate::BlockCipher`].

use crate::block::Block;
#[cfg(feature = "lanes")]
use crate::engine::LaneMemory;
use crate::engine::{CcmCore, CipherDirection, Core};

/// ECB over whole blocks.
pub struct Ecb<'a> {
    pub(crate) data: &'a mut [u8],
    pub(crate) direction: CipherDirection,
}

/// CBC encryption of whole blocks; `chain` is the initialisation vector.
pub struct OneCbcEncrypt<'a, B> {
    pub(crate) chain: B,
    pub(crate) data: &'a mut [u8],
}

/// CBC decryption of one message.
pub struct OneCbcDecrypt<'a, B> {
    pub(crate) chain: B,
    pub(crate) data: &'a mut [u8],
}

/// CTR; `counter` is the first counter block.
pub struct Ctr<'a, B> {
    pub(crate) counter: B,
    pub(crate) data: &'a mut [u8],
}

/// The input to the MAC of CCM before the message: B_0 and the associated data (SP 800-38C appendix A.2).
#[derive(Clone, Copy)]
pub(crate) struct CcmHeader<'a> {
    pub(crate) b0: Block,
    pub(crate) aad: &'a [u8],
}

/// CCM of one message. The output is its full tag.
pub struct OneCcm<'a> {
    pub(crate) header: &'a CcmHeader<'a>,
    pub(crate) data: &'a mut [u8],
    pub(crate) direction: CipherDirection,
}

/// A message of CBC that runs in a lane.
#[cfg(feature = "lanes")]
pub(crate) struct CbcLaneJob<'a, C: Core> {
    pub(crate) cipher: &'a C,
    pub(crate) iv: C::Block,
    pub(crate) data: &'a mut [u8],
    pub(crate) pending: bool,
    pub(crate) next: usize,
}

/// A message of CCM that runs in a lane.
#[cfg(feature = "lanes")]
pub(crate) struct CcmLaneJob<'a, C> {
    pub(crate) cipher: &'a C,
    pub(crate) header: CcmHeader<'a>,
    pub(crate) data: &'a mut [u8],
    pub(crate) tag: CcmTag<'a>,
    pub(crate) next: usize,
    /// Whether the tag is right; `None` until the job has run.
    pub(crate) is_authentic: Option<bool>,
}

/// The tag of a job: a buffer to write it to, or the received tag to compare with.
#[cfg(feature = "lanes")]
pub(crate) enum CcmTag<'a> {
    Write(&'a mut [u8]),
    Check(&'a [u8]),
}

#[cfg(feature = "lanes")]
impl CcmTag<'_> {
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        match self {
            CcmTag::Write(tag) => tag.len(),
            CcmTag::Check(tag) => tag.len(),
        }
    }
}

/// CBC encryption of many messages in lanes. `shared`: all jobs have the same key.
#[cfg(feature = "lanes")]
pub struct CbcLanesEncrypt<'j, 'a, C: Core> {
    pub(crate) lane_jobs: &'j mut [CbcLaneJob<'a, C>],
    pub(crate) shared: bool,
    pub(crate) memory: &'j LaneMemory,
}

/// CCM of many messages in lanes. Each direction is compiled separately.
#[cfg(feature = "lanes")]
pub struct CcmLanes<'j, 'a, C, const DECRYPTS: bool> {
    pub(crate) lane_jobs: &'j mut [CcmLaneJob<'a, C>],
    pub(crate) shared: bool,
    pub(crate) memory: &'j LaneMemory,
}

/// The modes and lanes of a cipher. They are compiled in this crate, once for each cipher, and not in every crate that uses them.
pub trait Modes: Core {
    fn ecb(&self, operation: Ecb<'_>);
    fn cbc_encrypt(&self, operation: OneCbcEncrypt<'_, Self::Block>);
    fn cbc_decrypt(&self, operation: OneCbcDecrypt<'_, Self::Block>);
    fn ctr(&self, operation: Ctr<'_, Self::Block>);
    #[cfg(feature = "lanes")]
    fn cbc_lanes(&self, operation: CbcLanesEncrypt<'_, '_, Self>);
}

/// CCM of a cipher, compiled once as those of [`Modes`].
pub trait CcmModes: Modes + CcmCore {
    fn ccm(&self, operation: OneCcm<'_>) -> Block;
    #[cfg(feature = "lanes")]
    fn ccm_lanes_encrypt(&self, operation: CcmLanes<'_, '_, Self, false>);
    #[cfg(feature = "lanes")]
    fn ccm_lanes_decrypt(&self, operation: CcmLanes<'_, '_, Self, true>);
}

/// Implements [`Modes`] for a type, and with `ccm` also [`CcmModes`]. The type has no parameters: generic code would be compiled in the
/// crates that use it.
macro_rules! compile_modes {
    (ccm $core:ty) => {
        $crate::operation::compile_modes!($core);

        impl $crate::operation::CcmModes for $core {
            fn ccm(&self, operation: $crate::operation::OneCcm<'_>) -> $crate::block::Block {
                $crate::engine::CcmCore::run_ccm(self, operation)
            }

            #[cfg(feature = "lanes")]
            fn ccm_lanes_encrypt(&self, operation: $crate::operation::CcmLanes<'_, '_, Self, false>) {
                $crate::engine::CcmCore::run_ccm(self, operation)
            }

            #[cfg(feature = "lanes")]
            fn ccm_lanes_decrypt(&self, operation: $crate::operation::CcmLanes<'_, '_, Self, true>) {
                $crate::engine::CcmCore::run_ccm(self, operation)
            }
        }
    };
    ($core:ty) => {
        impl $crate::operation::Modes for $core {
            fn ecb(&self, operation: $crate::operation::Ecb<'_>) {
                $crate::engine::Core::run(self, operation);
            }

            fn cbc_encrypt(
                &self,
                operation: $crate::operation::OneCbcEncrypt<'_, <Self as $crate::engine::Core>::Block>,
            ) {
                $crate::engine::Core::run(self, operation);
            }

            fn cbc_decrypt(
                &self,
                operation: $crate::operation::OneCbcDecrypt<'_, <Self as $crate::engine::Core>::Block>,
            ) {
                $crate::engine::Core::run(self, operation);
            }

            fn ctr(&self, operation: $crate::operation::Ctr<'_, <Self as $crate::engine::Core>::Block>) {
                $crate::engine::Core::run(self, operation);
            }

            #[cfg(feature = "lanes")]
            fn cbc_lanes(&self, operation: $crate::operation::CbcLanesEncrypt<'_, '_, Self>) {
                $crate::engine::Core::run(self, operation);
            }
        }
    };
}

pub(crate) use compile_modes;
