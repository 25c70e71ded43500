//! CCM in lanes: any mix of jobs gives the result of the reference, one message at a time, and a forged message does not affect the
//! others.

use proptest::prelude::*;
use tress_cipher::cpu::set_ccm_registers;
use tress_cipher::lanes::ccm::{Open, Seal, open, seal};
use tress_cipher::modes::ccm;
use tress_cipher::{Aad, Backend, CcmCipher, Error, Tag};

use crate::properties::common::{PropertyCipher, SeededBytes, any_length, any_tag_bytes, backends, carve};

/// The shape of one job. Its bytes come from the seed of the case.
#[derive(Clone, Debug)]
pub(crate) struct JobShape {
    key: usize,
    backend: usize,
    nonce_bytes: usize,
    tag_bytes: usize,
    aad_bytes: usize,
    bytes: usize,
    /// Number of bytes between this job and the one before it in the shared buffer.
    gap: usize,
    damage: DamagedPart,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum DamagedPart {
    None,
    Data,
    Tag,
    AssociatedData,
    Nonce,
}

/// Mostly short messages, as in network packets, with long ones between them.
fn any_bytes() -> BoxedStrategy<usize> {
    if cfg!(miri) {
        return (0..50_usize).boxed();
    }
    prop_oneof![6 => 0..100_usize, 4 => any_length(), 2 => 0..2000_usize, 1 => 0..20_000_usize].boxed()
}

fn any_aad_bytes() -> BoxedStrategy<usize> {
    if cfg!(miri) {
        return (0..40_usize).boxed();
    }
    let edges = prop::sample::select(vec![65279_usize, 65280, 70000]);
    prop_oneof![20 => Just(0_usize), 40 => 0..64_usize, 20 => 0..2000_usize, 1 => edges].boxed()
}

fn any_damage() -> impl Strategy<Value = DamagedPart> {
    prop_oneof![
        5 => Just(DamagedPart::None),
        1 => Just(DamagedPart::Data),
        1 => Just(DamagedPart::Tag),
        1 => Just(DamagedPart::AssociatedData),
        1 => Just(DamagedPart::Nonce),
    ]
}

fn any_shape() -> impl Strategy<Value = JobShape> {
    let places = (any::<usize>(), any::<usize>(), 0..64_usize);
    let lengths = (7..=13_usize, any_tag_bytes(), any_aad_bytes(), any_bytes());
    (places, lengths, any_damage()).prop_map(|(places, lengths, damage)| {
        let ((key, backend, gap), (nonce_bytes, tag_bytes, aad_bytes, bytes)) = (places, lengths);
        JobShape { key, backend, nonce_bytes, tag_bytes, aad_bytes, bytes, gap, damage }
    })
}

pub(crate) fn any_shapes() -> impl Strategy<Value = Vec<JobShape>> {
    prop::collection::vec(any_shape(), 0..=if cfg!(miri) { 4 } else { 100 })
}

/// The jobs of one case, with their results by the reference.
struct LaneCase<C> {
    shapes: Vec<JobShape>,
    ciphers: Vec<C>,
    nonces: Vec<Vec<u8>>,
    aads: Vec<Vec<u8>>,
    plain: Vec<u8>,
    sealed: Vec<u8>,
    tags: Vec<Vec<u8>>,
}

impl<C: PropertyCipher + CcmCipher> LaneCase<C> {
    /// `keys` is the number of different keys. `one_backend`: all jobs use this backend, as is usual.
    fn new(seed: u64, shapes: Vec<JobShape>, keys: usize, one_backend: Option<usize>) -> LaneCase<C> {
        let backends = backends::<C>();
        let mut random = SeededBytes::new(seed);
        let bytes_of = |i| C::KEY_BYTES[(seed as usize % 1000 + i) % C::KEY_BYTES.len()];
        let keys: Vec<Vec<u8>> = (0..keys).map(|i| random.take(bytes_of(i))).collect();
        let key = |shape: &JobShape| &keys[shape.key % keys.len()][..];
        let backend = |shape: &JobShape| backends[one_backend.unwrap_or(shape.backend) % backends.len()];
        let ciphers = shapes.iter().map(|shape| C::prepare(backend(shape), key(shape))).collect();
        let nonces: Vec<_> = shapes.iter().map(|shape| random.take(shape.nonce_bytes)).collect();
        let aads: Vec<_> = shapes.iter().map(|shape| random.take(shape.aad_bytes)).collect();
        let plain = random.take(shapes.iter().map(|shape| shape.gap + shape.bytes).sum());

        let mut sealed = plain.clone();
        let mut tags: Vec<_> = shapes.iter().map(|shape| vec![0; shape.tag_bytes]).collect();
        for (i, data) in carve(&mut sealed, spans(&shapes)).into_iter().enumerate() {
            let reference = C::prepare(Backend::Reference, key(&shapes[i]));
            ccm::seal(&reference, &nonces[i][..], Aad(&aads[i]), data, &mut tags[i][..]).unwrap();
        }
        LaneCase { shapes, ciphers, nonces, aads, plain, sealed, tags }
    }

    /// Cipher, nonce, associated data and data of each job.
    fn parts<'a>(&'a self, buffer: &'a mut [u8]) -> impl Iterator<Item = (&'a C, &'a [u8], Aad<'a>, &'a mut [u8])> {
        let data = carve(buffer, spans(&self.shapes)).into_iter().enumerate();
        data.map(|(i, data)| (&self.ciphers[i], &self.nonces[i][..], Aad(&self.aads[i]), data))
    }

    fn check_encrypt(&self) {
        let mut buffer = self.plain.clone();
        let mut tags: Vec<_> = self.shapes.iter().map(|shape| vec![0; shape.tag_bytes]).collect();
        let jobs = self.parts(&mut buffer).zip(&mut tags);
        let jobs = jobs.map(|((cipher, nonce, aad, data), tag)| Seal::new(cipher, nonce, aad, data, &mut tag[..]));
        let mut jobs: Vec<_> = jobs.collect::<Result<_, _>>().unwrap();
        seal(&mut jobs).expect("nonces are random, and keys are not shared by jobs");
        assert!(jobs.iter().all(|job| job.result().is_ok()), "a job of an encryption failed");
        drop(jobs);
        for (i, shape) in self.shapes.iter().enumerate() {
            assert_eq!(tags[i], self.tags[i], "tag of job {i}: {shape:?}");
        }
        self.compare(&mut buffer, &mut self.sealed.clone());
    }

    /// Damages the jobs as their shapes say, and expects exactly those to fail and to be wiped.
    fn check_decrypt(mut self, seed: u64) {
        let mut random = SeededBytes::new(!seed);
        let mut buffer = self.sealed.clone();
        let mut tags = self.tags.clone();
        let mut expected = self.plain.clone();
        let mut damaged = vec![false; self.shapes.len()];
        let originals = carve(&mut expected, spans(&self.shapes));
        for (i, (data, original)) in carve(&mut buffer, spans(&self.shapes)).into_iter().zip(originals).enumerate() {
            let part: &mut [u8] = match self.shapes[i].damage {
                DamagedPart::None => continue,
                DamagedPart::Data => data,
                DamagedPart::Tag => &mut tags[i],
                DamagedPart::AssociatedData => &mut self.aads[i],
                DamagedPart::Nonce => &mut self.nonces[i],
            };
            if !part.is_empty() {
                part[random.below(part.len())] ^= 1 << random.below(8);
                original.fill(0);
                damaged[i] = true;
            }
        }
        let jobs = self.parts(&mut buffer).zip(&tags).map(|((cipher, nonce, aad, data), tag)| {
            Open::new(cipher, nonce, aad, data, Tag::new(tag, tag.len()).unwrap()).unwrap()
        });
        let mut jobs: Vec<_> = jobs.collect();
        let opened = open(&mut jobs);
        let results: Vec<_> = jobs.iter().map(|job| job.result()).collect();
        drop(jobs);
        for (i, shape) in self.shapes.iter().enumerate() {
            let expected = if damaged[i] { Err(Error::Authentication) } else { Ok(()) };
            assert_eq!(results[i], expected, "job {i}: {shape:?}");
        }
        let count = damaged.iter().filter(|damaged| **damaged).count();
        let forged = damaged.iter().position(|damaged| *damaged).map(|first| (count, first));
        assert_eq!(opened.err().map(|forged| (forged.count, forged.first)), forged);
        self.compare(&mut buffer, &mut expected);
    }

    /// Compares job by job, so that a failure names the job, then the whole buffer with the gaps.
    fn compare(&self, buffer: &mut [u8], expected: &mut [u8]) {
        let slices = carve(buffer, spans(&self.shapes));
        for (i, (got, want)) in slices.into_iter().zip(carve(expected, spans(&self.shapes))).enumerate() {
            let first = got.iter().zip(&*want).position(|(got, want)| got != want);
            assert_eq!(first, None, "first wrong byte of job {i}: {:?}", self.shapes[i]);
        }
        assert!(buffer == expected, "bytes between the jobs were written");
    }
}

fn spans(shapes: &[JobShape]) -> impl Iterator<Item = (usize, usize)> {
    shapes.iter().map(|shape| (shape.gap, shape.bytes))
}

/// Defines the properties of this file for a cipher.
macro_rules! ccm_lanes {
    ($cipher:ty) => {
        proptest::proptest! {
            #![proptest_config($crate::properties::common::cases(32))]

            #[test]
            fn any_mix_agrees_with_one_at_a_time(
                seed: u64, shapes in $crate::properties::lanes_ccm::any_shapes(), keys in 1..=12_usize, registers in 0..=8_u8,
            ) {
                tress_cipher::cpu::set_ccm_registers(registers);
                $crate::properties::lanes_ccm::a_mix_agrees::<$cipher>(seed, shapes, keys, None);
            }

            #[test]
            fn a_mix_on_one_backend_agrees(
                seed: u64, shapes in $crate::properties::lanes_ccm::any_shapes(), keys in $crate::properties::lanes_ccm::any_number_of_keys(),
                backend: usize, registers in 0..=8_u8,
            ) {
                tress_cipher::cpu::set_ccm_registers(registers);
                $crate::properties::lanes_ccm::a_mix_agrees::<$cipher>(seed, shapes, keys, Some(backend));
            }
        }

        $crate::properties::common::tests! {
            lanes_ccm, $cipher: equal_jobs_in_every_number_agree a_job_runs_once_and_is_not_verified_before
        }
    };
}

pub(crate) use ccm_lanes;

pub(crate) fn any_number_of_keys() -> impl Strategy<Value = usize> {
    prop_oneof![Just(1_usize), 2..=100_usize]
}

/// `backend`: all jobs use this backend.
pub(crate) fn a_mix_agrees<C: PropertyCipher + CcmCipher>(
    seed: u64,
    shapes: Vec<JobShape>,
    keys: usize,
    backend: Option<usize>,
) {
    let case = LaneCase::<C>::new(seed, shapes, keys, backend);
    case.check_encrypt();
    case.check_decrypt(seed);
}

/// Jobs of one length: as many as any backend has lanes, one less, one more and twice as many, at the edge lengths of a block.
pub(crate) fn equal_jobs_in_every_number_agree<C: PropertyCipher + CcmCipher>() {
    let counts: &[usize] =
        if cfg!(miri) { &[0, 3] } else { &[0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 57, 65] };
    let lengths: &[usize] = if cfg!(miri) { &[17] } else { &[0, 1, 15, 16, 17, 63, 64, 65, 79, 255, 256, 257, 1025] };
    for (backend, kind) in backends::<C>().into_iter().enumerate() {
        // Others have one number.
        let registers: &[u8] = if kind == Backend::Vaes512 { &[2, 4, 8] } else { &[0] };
        for (&count, &bytes) in counts.iter().flat_map(|count| lengths.iter().map(move |bytes| (count, bytes))) {
            let shape = JobShape {
                key: 0,
                backend,
                nonce_bytes: 12,
                tag_bytes: 16,
                aad_bytes: 0,
                bytes,
                gap: 16,
                damage: DamagedPart::None,
            };
            let mut shapes = vec![shape; count];
            for (i, shape) in shapes.iter_mut().enumerate() {
                shape.key = i;
                // One job in the middle is damaged.
                shape.damage = if i == count / 2 && count > 1 { DamagedPart::Tag } else { DamagedPart::None };
            }
            let seed = (count * 10_000 + bytes) as u64;
            for keys in [1, count.max(1)] {
                let case = || LaneCase::<C>::new(seed, shapes.clone(), keys, Some(backend));
                for registers in registers {
                    set_ccm_registers(*registers);
                    case().check_encrypt();
                    case().check_decrypt(seed);
                }
            }
        }
    }
}

pub(crate) fn a_job_runs_once_and_is_not_verified_before<C: PropertyCipher + CcmCipher>() {
    for backend in backends::<C>() {
        let cipher = C::prepare(backend, &[3; 16]);
        let (mut data, mut tag) = ([1; 40], [0; 8]);
        let nonce = &[2; 13];
        {
            let mut jobs = [Seal::new(&cipher, nonce, Aad(b"a"), &mut data, &mut tag).unwrap()];
            assert_eq!(jobs[0].result(), Err(Error::Authentication));
            seal(&mut jobs).unwrap();
            assert_eq!(jobs[0].result(), Ok(()));
            seal(&mut jobs).unwrap();
        }
        let (mut expected, mut expected_tag) = ([1; 40], [0; 8]);
        ccm::seal(&cipher, nonce, Aad(b"a"), &mut expected, &mut expected_tag).unwrap();
        assert_eq!((data, tag), (expected, expected_tag));

        let mut jobs = [Open::new(&cipher, nonce, Aad(b"b"), &mut data, &tag).unwrap()];
        assert_eq!(jobs[0].result(), Err(Error::Authentication));
        // The job stays forged.
        for _ in 0..2 {
            assert_eq!(open(&mut jobs).map_err(|forged| (forged.count, forged.first)), Err((1, 0)));
        }
    }
    seal::<C>(&mut []).unwrap();
    open::<C>(&mut []).unwrap();
}

/// Batches in any order and of any length, with or without a nonce twice under one key. The result is compared with that of a set.
#[test]
fn nonces_twice() {
    let keys: Vec<_> = (0..3).map(|key| tress_cipher::aes::Aes::new(&[key; 16]).unwrap()).collect();
    for (seed, count) in (0..40).flat_map(|seed| [0, 1, 2, 8, 9, 40, 300, 3000].map(|count| (seed, count))) {
        let mut random = SeededBytes::new(seed);
        // Few different numbers, so that some occur twice, or many; sorted or not; at the end of the nonce or at its beginning.
        let different = if seed % 2 == 0 { 1 << 40 } else { (count as u64).pow(2).max(1) };
        let mut ids: Vec<(usize, u64)> =
            (0..count).map(|_| (random.below(3), random.below(usize::MAX) as u64 % different)).collect();
        if seed % 3 == 0 {
            ids.sort_unstable();
        }
        let mut packets = vec![([0; 3], [0; 4]); count];
        let jobs = packets.iter_mut().zip(&ids).map(|((data, tag), (key, number))| {
            let mut nonce = [0; 12];
            nonce[if seed % 4 < 2 { 0..8 } else { 4..12 }].copy_from_slice(&number.to_be_bytes());
            Seal::new(&keys[*key], &nonce, Aad(b""), data, tag).unwrap()
        });
        let mut jobs: Vec<_> = jobs.collect();
        let sealed = seal(&mut jobs);
        drop(jobs);
        let is_set = ids.iter().collect::<std::collections::HashSet<_>>().len() == ids.len();
        match sealed {
            Ok(()) => assert!(is_set, "{seed}, {count}"),
            Err(Error::NonceRepeated { job }) => {
                assert!(ids[..job].contains(&ids[job]), "{seed}, {count}");
                assert!(packets.iter().all(|packet| *packet == ([0; 3], [0; 4])), "nothing is encrypted");
            }
            Err(other) => panic!("{other}"),
        }
    }
}
