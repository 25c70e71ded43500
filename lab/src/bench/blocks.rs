//! ECB, CBC and CTR of one message, and CBC encryption of many in lanes.

use tress_cipher::{Backend, aes::Aes, lanes, modes};
#[cfg(feature = "aws-lc-rs")]
use tress_peers::aws_lc_rs;
use tress_peers::{Direction, gcrypt, ipsec_mb, openssl, rustcrypto};

use super::{
    Error,
    aead::peer,
    case::{Who, Work},
};

const KEY: [u8; 16] = *b"sixteen byte key";
const IV: [u8; 16] = [0x5a; 16];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Ecb,
    Cbc,
    Ctr,
}

/// One key of everybody, for a mode and a direction; libipsec-mb has all messages of a run, `distance` bytes apart.
struct Keys {
    mode: Mode,
    direction: Direction,
    ours: Aes,
    openssl: Option<openssl::Cipher>,
    ipsec_mb: Option<ipsec_mb::Batch>,
    gcrypt: Option<gcrypt::Cipher>,
    rustcrypto: rustcrypto::Cipher,
    #[cfg(feature = "aws-lc-rs")]
    aws_lc_rs: aws_lc_rs::Cipher,
}

impl Keys {
    fn new(
        backend: Backend,
        mode: Mode,
        direction: Direction,
        messages: usize,
        distance: usize,
    ) -> Result<Keys, Error> {
        let openssl_mode = match mode {
            Mode::Ecb => openssl::Mode::Ecb,
            Mode::Cbc => openssl::Mode::Cbc,
            Mode::Ctr => openssl::Mode::Ctr,
        };
        let gcrypt_mode = match mode {
            Mode::Ecb => gcrypt::Mode::Ecb,
            Mode::Cbc => gcrypt::Mode::Cbc,
            Mode::Ctr => gcrypt::Mode::Ctr,
        };
        #[cfg(feature = "aws-lc-rs")]
        let aws_lc_rs_mode = match mode {
            Mode::Ecb => aws_lc_rs::Mode::Ecb,
            Mode::Cbc => aws_lc_rs::Mode::Cbc,
            Mode::Ctr => aws_lc_rs::Mode::Ctr,
        };
        let of_gcrypt = || gcrypt::Cipher::new(gcrypt_mode, &KEY).map_err(peer(Who::Gcrypt));
        let of_openssl = || openssl::Cipher::new(openssl_mode, &KEY, direction).map_err(peer(Who::OpenSsl));
        let (ipsec_mb_mode, iv) = match mode {
            Mode::Ecb => (ipsec_mb::Mode::Ecb, &[][..]),
            Mode::Cbc => (ipsec_mb::Mode::Cbc, &IV[..]),
            Mode::Ctr => (ipsec_mb::Mode::Ctr, &IV[..]),
        };
        let of_ipsec_mb = || {
            let message = |number| ipsec_mb::Message {
                key: 0,
                iv,
                aad: b"",
                start: number * distance,
                bytes: Blocks::MESSAGE_BYTES,
                tag_bytes: 0,
            };
            let messages: Vec<_> = (0..messages).map(message).collect();
            ipsec_mb::Batch::new(ipsec_mb_mode, direction, &[&KEY], &messages).map_err(peer(Who::IpsecMb))
        };
        Ok(Keys {
            mode,
            direction,
            ours: Aes::with_backend(&KEY, backend)?,
            openssl: openssl::available().is_ok().then(of_openssl).transpose()?,
            ipsec_mb: ipsec_mb::available().is_ok().then(of_ipsec_mb).transpose()?,
            gcrypt: gcrypt::available().is_ok().then(of_gcrypt).transpose()?,
            rustcrypto: rustcrypto::Cipher::new(&KEY).map_err(peer(Who::RustCrypto))?,
            #[cfg(feature = "aws-lc-rs")]
            aws_lc_rs: aws_lc_rs::Cipher::new(aws_lc_rs_mode, &KEY, direction).map_err(peer(Who::AwsLcRs))?,
        })
    }

    fn iv(&self) -> &'static [u8] {
        if self.mode == Mode::Ecb { &[] } else { &IV }
    }

    /// One message; of libipsec-mb all of them.
    fn apply(&mut self, who: Who, data: &mut [u8]) -> Result<(), Error> {
        let iv = self.iv();
        match who {
            Who::Ours | Who::Own(_) => match (self.mode, self.direction) {
                (Mode::Ecb, Direction::Encrypt) => modes::ecb::encrypt(&self.ours, data)?,
                (Mode::Ecb, Direction::Decrypt) => modes::ecb::decrypt(&self.ours, data)?,
                (Mode::Cbc, Direction::Encrypt) => modes::cbc::encrypt(&self.ours, iv, data)?,
                (Mode::Cbc, Direction::Decrypt) => modes::cbc::decrypt(&self.ours, iv, data)?,
                (Mode::Ctr, _) => modes::ctr::apply(&self.ours, iv, data)?,
            },
            Who::OpenSsl => {
                if let Some(cipher) = &mut self.openssl {
                    cipher.apply(iv, data).map_err(peer(who))?;
                }
            }
            Who::Gcrypt => {
                if let Some(cipher) = &mut self.gcrypt {
                    cipher.apply(self.direction, iv, data).map_err(peer(who))?;
                }
            }
            #[cfg(feature = "aws-lc-rs")]
            Who::AwsLcRs => self.aws_lc_rs.apply(iv, data).map_err(peer(who))?,
            Who::IpsecMb => {
                if let Some(batch) = &mut self.ipsec_mb {
                    batch.run(data).map_err(peer(who))?;
                }
            }
            Who::RustCrypto => match self.mode {
                Mode::Ecb => self.rustcrypto.ecb(self.direction, data),
                Mode::Cbc => self.rustcrypto.cbc(self.direction, iv, data),
                Mode::Ctr => self.rustcrypto.ctr(iv, data),
            }
            .map_err(peer(who))?,
            _ => {}
        }
        Ok(())
    }
}

/// One message of 16 KiB over and over, so that memory and caches beyond the first level do not count.
pub(crate) struct Blocks {
    keys: Keys,
    data: Vec<u8>,
}

impl Blocks {
    pub(crate) const MESSAGE_BYTES: usize = 16_384;
    /// Messages a run: one alone is over before a clock has been read.
    const MESSAGES: usize = 32;

    pub(crate) fn new(backend: Backend, mode: Mode, direction: Direction) -> Result<Blocks, Error> {
        Ok(Blocks { keys: Keys::new(backend, mode, direction, 1, 0)?, data: vec![0; Blocks::MESSAGE_BYTES] })
    }
}

impl Work for Blocks {
    fn bytes(&self, _: Who) -> u64 {
        (Blocks::MESSAGE_BYTES * Blocks::MESSAGES) as u64
    }

    fn prepare(&mut self, _: Who) -> Result<(), Error> {
        self.data.fill(0x33);
        Ok(())
    }

    fn run(&mut self, who: Who) -> Result<(), Error> {
        for _ in 0..Blocks::MESSAGES {
            self.keys.apply(who, &mut self.data)?;
        }
        Ok(())
    }

    fn output(&self, _: Who) -> &[u8] {
        &self.data
    }
}

/// CBC encryption of 32 messages, one so many bytes behind the other.
pub(crate) struct CbcLanes {
    keys: Keys,
    buffer: Vec<u8>,
    distance: usize,
}

impl CbcLanes {
    const MESSAGES: usize = 32;
    const MESSAGE_BYTES: usize = 16_384;

    pub(crate) fn new(backend: Backend, distance: usize) -> Result<CbcLanes, Error> {
        Ok(CbcLanes {
            keys: Keys::new(backend, Mode::Cbc, Direction::Encrypt, CbcLanes::MESSAGES, distance)?,
            buffer: vec![0; CbcLanes::MESSAGES * distance],
            distance,
        })
    }

    fn messages(buffer: &mut [u8], distance: usize) -> impl Iterator<Item = &mut [u8]> {
        buffer.chunks_exact_mut(distance).map(|chunk| &mut chunk[..CbcLanes::MESSAGE_BYTES])
    }
}

impl Work for CbcLanes {
    fn bytes(&self, _: Who) -> u64 {
        (CbcLanes::MESSAGES * CbcLanes::MESSAGE_BYTES) as u64
    }

    fn prepare(&mut self, _: Who) -> Result<(), Error> {
        self.buffer.fill(0x33);
        Ok(())
    }

    fn run(&mut self, who: Who) -> Result<(), Error> {
        let CbcLanes { keys, buffer, distance } = self;
        if who == Who::IpsecMb {
            return keys.apply(who, buffer);
        }
        let mut messages = CbcLanes::messages(buffer, *distance);
        match who {
            Who::Ours | Who::Own(_) => {
                let mut jobs =
                    messages.map(|data| lanes::cbc::Job::new(&keys.ours, &IV, data)).collect::<Result<Vec<_>, _>>()?;
                lanes::cbc::encrypt(&mut jobs);
                Ok(())
            }
            _ => messages.try_for_each(|data| keys.apply(who, data)),
        }
    }

    fn output(&self, _: Who) -> &[u8] {
        &self.buffer
    }
}
