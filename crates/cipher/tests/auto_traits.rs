//! The auto traits and `Debug` of public types: other threads may use them, and types of users that contain them may derive `Debug`.

use std::fmt::Debug;

use tress_cipher::lanes::{cbc, ccm};
use tress_cipher::modes::{self, ctr};
use tress_cipher::{Aad, Backend, Error, Nonce, Tag, TagMut, aes, lea, pipo, rc6, rijndael};

const fn shared<T: Send + Sync + Debug>() {}

const _: () = {
    shared::<aes::Aes>();
    shared::<aes::Aes128>();
    shared::<rijndael::Rijndael<32>>();
    shared::<rc6::Rc6>();
    shared::<lea::Lea>();
    shared::<pipo::Pipo>();
    shared::<ccm::Seal<'_, aes::Aes>>();
    shared::<ccm::Open<'_, aes::Aes>>();
    shared::<ccm::Forged>();
    shared::<cbc::Job<'_, aes::Aes>>();
    shared::<(modes::ccm::Sealer<'_, aes::Aes>, modes::ccm::Opener<'_, aes::Aes>)>();
    shared::<ctr::Stream<'_, aes::Aes>>();
    shared::<modes::ccm::Ccm<aes::Aes>>();
    shared::<(Nonce<'_>, Aad<'_>, Tag<'_>, TagMut<'_>, Backend, Error)>();
};
