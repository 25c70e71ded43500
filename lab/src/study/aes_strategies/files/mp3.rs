//! MP3 (ISO/IEC 11172-3): frames of Layer III, 128 kbit/s, 44.1 kHz, one channel.
//!
//! The side information of a frame is all zeros: no granule has any Huffman data, so it is silence, and what is left of the
//! frame is ancillary data, which may be anything.

use super::Random;

/// MPEG-1, Layer III, no check; 128 kbit/s, 44.1 kHz, no padding; one channel.
const HEADER: [u8; 4] = [0xff, 0xfb, 0x90, 0xc0];
/// 144 times the bits a second by the samples a second, cut off (section 2.4.3.1).
const FRAME: usize = 144 * 128_000 / 44_100;
/// Of one channel.
const SIDE_INFORMATION: usize = 17;

pub(super) fn write(bytes: usize) -> Vec<u8> {
    let mut random = Random(3);
    let mut file = Vec::with_capacity(bytes + FRAME);
    while file.len() < bytes {
        file.extend_from_slice(&HEADER);
        file.extend_from_slice(&[0; SIDE_INFORMATION]);
        // No 0xff, so that nobody finds a frame where there is none.
        file.extend((0..FRAME - HEADER.len() - SIDE_INFORMATION).map(|_| random.below(255) as u8));
    }
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tables of section 2.4.2.3: where a frame ends by its header, the next one begins, to the end of the file.
    #[test]
    fn frame_follows_frame() {
        const KBIT_PER_S: [usize; 15] = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
        const HZ: [usize; 3] = [44_100, 48_000, 32_000];
        let file = write(100_000);
        let (mut rest, mut frames) = (&file[..], 0);
        while !rest.is_empty() {
            let header = u32::from_be_bytes(rest[..4].try_into().expect("a header"));
            assert_eq!(header >> 21, 0x7ff, "the sync word");
            assert_eq!((header >> 19 & 3, header >> 17 & 3), (3, 1), "MPEG-1, Layer III");
            let (rate, hz) = (KBIT_PER_S[(header >> 12 & 15) as usize], HZ[(header >> 10 & 3) as usize]);
            let length = 144_000 * rate / hz + (header >> 9 & 1) as usize;
            // main_data_begin and every part2_3_length are in the side information.
            assert!(rest[4..21].iter().all(|&byte| byte == 0));
            assert_eq!(rest[4..length].iter().filter(|&&byte| byte == 0xff).count(), 0);
            rest = &rest[length..];
            frames += 1;
        }
        assert_eq!(frames, 100_000usize.div_ceil(417));
    }
}
