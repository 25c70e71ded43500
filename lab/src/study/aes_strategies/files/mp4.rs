//! MP4 (ISO/IEC 14496-12, -14, -15) with one track of H.264 (ITU-T H.264) whose every macroblock is I_PCM: the samples as they
//! are, so that an encoder is a few lines and any decoder shows the picture.

use super::Random;

const WIDTH: u16 = 128;
const HEIGHT: u16 = 96;
const MACROBLOCKS: u32 = (WIDTH as u32 / 16) * (HEIGHT as u32 / 16);
/// Bytes of a macroblock's samples, 4:2:0.
const SAMPLES: usize = 384;
const FRAMES_PER_S: u32 = 25;

/// Bits, highest first.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    /// Of the last byte.
    free: u32,
}

impl Bits {
    fn put(&mut self, value: u32, count: u32) {
        for place in (0..count).rev() {
            if self.free == 0 {
                self.bytes.push(0);
                self.free = 8;
            }
            self.free -= 1;
            if let Some(last) = self.bytes.last_mut() {
                *last |= ((value >> place & 1) as u8) << self.free;
            }
        }
    }

    /// ue(v): the Exp-Golomb code of section 9.1.
    fn number(&mut self, value: u32) {
        let bits = (value + 1).ilog2();
        self.put(0, bits);
        self.put(value + 1, bits + 1);
    }

    /// rbsp_trailing_bits(): a one, and zeros up to a byte.
    fn end(mut self) -> Vec<u8> {
        self.put(1, 1);
        self.bytes
    }
}

/// seq_parameter_set_rbsp() of the Constrained Baseline profile, level 4.
fn sequence() -> Vec<u8> {
    let mut bits = Bits::default();
    [0x67, 66, 0xc0, 40].iter().for_each(|&byte| bits.put(byte, 8));
    // Its number, 4 bits of frame_num, pictures in their order, no references.
    [0, 0, 2, 0].iter().for_each(|&value| bits.number(value));
    bits.put(0, 1);
    bits.number(u32::from(WIDTH) / 16 - 1);
    bits.number(u32::from(HEIGHT) / 16 - 1);
    // Frames only, direct_8x8_inference, no cropping, no VUI.
    bits.put(0b1100, 4);
    bits.end()
}

/// pic_parameter_set_rbsp(): CAVLC, and slices say whether they are deblocked.
fn picture() -> Vec<u8> {
    let mut bits = Bits::default();
    bits.put(0x68, 8);
    bits.number(0);
    bits.number(0);
    bits.put(0, 2);
    (0..3).for_each(|_| bits.number(0));
    bits.put(0, 3);
    (0..3).for_each(|_| bits.number(0));
    bits.put(0b100, 3);
    bits.end()
}

/// slice_layer_without_partitioning_rbsp() of an IDR picture.
fn frame(number: u32, random: &mut Random) -> Vec<u8> {
    let mut bits = Bits::default();
    bits.put(0x65, 8);
    // From the first macroblock, all slices are I, the picture parameter set, frame_num.
    [0, 7, 0].iter().for_each(|&value| bits.number(value));
    bits.put(0, 4);
    // IDR pictures that follow one another have different numbers.
    bits.number(number % 2);
    bits.put(0, 2);
    // slice_qp_delta, and no deblocking.
    bits.number(0);
    bits.number(1);
    for macroblock in 0..MACROBLOCKS {
        // I_PCM, aligned.
        bits.number(25);
        bits.free = 0;
        let shade = 32 + (macroblock * 4 + number) % 160;
        for _ in 0..SAMPLES {
            // Never zero, so that no start code can appear (section 7.4.1).
            bits.bytes.push((shade + random.below(32) as u32) as u8);
        }
    }
    bits.end()
}

fn boxed(kind: &[u8; 4], parts: &[&[u8]]) -> Vec<u8> {
    let content: usize = parts.iter().map(|part| part.len()).sum();
    let mut all = Vec::with_capacity(content + 8);
    all.extend_from_slice(&(content as u32 + 8).to_be_bytes());
    all.extend_from_slice(kind);
    parts.iter().for_each(|part| all.extend_from_slice(part));
    all
}

/// Words, big-endian.
fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// Of so many bytes, as nearly as whole frames are.
pub(super) fn write(bytes: usize) -> Vec<u8> {
    let frame_bytes = MACROBLOCKS as usize * (SAMPLES + 2) + 8;
    let count = ((bytes + frame_bytes / 2) / frame_bytes).max(1) as u32;
    let mut random = Random(4);
    // A sample is a NAL unit with its length.
    let samples: Vec<Vec<u8>> = (0..count)
        .map(|number| {
            let unit = frame(number, &mut random);
            [&(unit.len() as u32).to_be_bytes()[..], &unit].concat()
        })
        .collect();
    let sizes: Vec<u32> = samples.iter().map(|sample| sample.len() as u32).collect();

    let brands = boxed(b"ftyp", &[b"isom", &words(&[0x200]), b"isomiso2avc1mp41"]);
    let first = brands.len() as u32 + 8;
    let data = boxed(b"mdat", &samples.iter().map(Vec::as_slice).collect::<Vec<_>>());
    [brands, data, movie(&sizes, first)].concat()
}

/// moov: what the samples are, and where.
fn movie(sizes: &[u32], first: u32) -> Vec<u8> {
    const MATRIX: [u32; 9] = [0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000];
    let count = sizes.len() as u32;
    let pixels = u32::from(WIDTH) << 16 | u32::from(HEIGHT);
    let (sequence, picture) = (sequence(), picture());
    let header = [&[0, 0, 0, FRAMES_PER_S, count, 0x1_0000, 0x100_0000, 0, 0][..], &MATRIX, &[0; 6], &[2]].concat();
    let track_size = [u32::from(WIDTH) << 16, u32::from(HEIGHT) << 16];
    let track = [&[7, 0, 0, 1, 0, count, 0, 0, 0, 0][..], &MATRIX, &track_size].concat();
    let configuration = boxed(
        b"avcC",
        &[
            &[1, 66, 0xc0, 40, 0xff, 0xe1],
            &(sequence.len() as u16).to_be_bytes(),
            &sequence,
            &[1],
            &(picture.len() as u16).to_be_bytes(),
            &picture,
        ],
    );
    // 72 pixels an inch, one frame a sample, no compressor's name, 24 bits deep.
    let entry = [words(&[0, 1, 0, 0, 0, 0, pixels, 0x48_0000, 0x48_0000, 0]), vec![0, 1], vec![0; 32]].concat();
    let entry = boxed(b"avc1", &[&entry, &[0, 24, 0xff, 0xff], &configuration]);
    let table = boxed(
        b"stbl",
        &[
            &boxed(b"stsd", &[&words(&[0, 1]), &entry]),
            &boxed(b"stts", &[&words(&[0, 1, count, 1])]),
            &boxed(b"stsc", &[&words(&[0, 1, 1, count, 1])]),
            &boxed(b"stsz", &[&words(&[0, 0, count]), &words(sizes)]),
            &boxed(b"stco", &[&words(&[0, 1, first])]),
        ],
    );
    let here = boxed(b"dref", &[&words(&[0, 1]), &boxed(b"url ", &[&words(&[1])])]);
    let information = boxed(b"minf", &[&boxed(b"vmhd", &[&words(&[1, 0, 0])]), &boxed(b"dinf", &[&here]), &table]);
    let media = boxed(
        b"mdia",
        &[
            // In the language "und".
            &boxed(b"mdhd", &[&words(&[0, 0, 0, FRAMES_PER_S, count, 0x55c4_0000])]),
            &boxed(b"hdlr", &[&words(&[0, 0]), b"vide", &words(&[0, 0, 0]), b"video\0"]),
            &information,
        ],
    );
    let track = boxed(b"trak", &[&boxed(b"tkhd", &[&words(&track)]), &media]);
    boxed(b"moov", &[&boxed(b"mvhd", &[&words(&header)]), &track])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The boxes of a box, or of the file.
    fn boxes(mut bytes: &[u8]) -> Vec<([u8; 4], &[u8])> {
        let mut found = Vec::new();
        while !bytes.is_empty() {
            let length = u32::from_be_bytes(bytes[..4].try_into().expect("a length")) as usize;
            assert!((8..=bytes.len()).contains(&length));
            found.push((bytes[4..8].try_into().expect("a kind"), &bytes[8..length]));
            bytes = &bytes[length..];
        }
        found
    }

    fn inside<'a>(bytes: &'a [u8], path: &[&[u8; 4]]) -> &'a [u8] {
        path.iter()
            .fold(bytes, |bytes, kind| boxes(bytes).into_iter().find(|found| found.0 == **kind).expect("a box").1)
    }

    fn word(bytes: &[u8], place: usize) -> usize {
        u32::from_be_bytes(bytes[4 * place..4 * place + 4].try_into().expect("a word")) as usize
    }

    /// Every sample is where its tables say, holds one IDR slice, and fills the track's data to its end.
    #[test]
    fn the_tables_find_every_frame() {
        let file = write(100_000);
        assert_eq!(boxes(&file).iter().map(|found| found.0).collect::<Vec<_>>(), [*b"ftyp", *b"mdat", *b"moov"]);
        let table = |kind| inside(&file, &[b"moov", b"trak", b"mdia", b"minf", b"stbl", kind]);
        let (sizes, offsets, times) = (table(b"stsz"), table(b"stco"), table(b"stts"));
        let count = word(sizes, 2);
        assert_eq!((count, word(times, 2), word(offsets, 1)), (5, 5, 1));
        let mut place = word(offsets, 2);
        for frame in 0..count {
            let size = word(sizes, 3 + frame);
            assert_eq!(word(&file[place..], 0), size - 4);
            assert_eq!(file[place + 4], 0x65);
            // No start code, and nothing that would need to be escaped.
            assert!(file[place + 4..place + size].windows(3).all(|three| three[..2] != [0, 0] || three[2] > 3));
            place += size;
        }
        let data = inside(&file, &[b"mdat"]);
        assert_eq!(place, word(offsets, 2) + data.len());
        assert_eq!(inside(&file, &[b"moov", b"mvhd"]).len(), 100);
        assert_eq!(inside(&file, &[b"moov", b"trak", b"tkhd"]).len(), 84);
        assert_eq!(boxes(&table(b"stsd")[8..])[0].1[..78].len(), 78);
    }

    /// Table 9-2 of H.264.
    #[test]
    fn numbers_are_exp_golomb() {
        for (value, code) in [(0, "1"), (1, "010"), (2, "011"), (3, "00100"), (8, "0001001"), (25, "000011010")] {
            let mut bits = Bits::default();
            bits.number(value);
            let text: String = bits.bytes.iter().map(|byte| format!("{byte:08b}")).collect();
            assert_eq!(&text[..text.len() - bits.free as usize], code, "{value}");
        }
    }
}
