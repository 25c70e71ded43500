//! Office documents: Office Open XML (ECMA-376) and HWP 5.0 (Hancom, "Hangul Document File Formats 5.0").

use std::io::{self, Cursor, Write};

use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

const CONTENT_TYPES: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\
<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">\
<Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\
<Default Extension=\"xml\" ContentType=\"application/xml\"/>\
<Override PartName=\"/word/document.xml\" \
ContentType=\"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml\"/></Types>";
const RELATIONSHIPS: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\
<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship Id=\"rId1\" \
Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument\" \
Target=\"word/document.xml\"/></Relationships>";

/// Lines of text as paragraphs, of so many bytes each with what is around it.
fn lines(bytes: usize) -> String {
    String::from_utf8_lossy(&super::text(bytes)).into_owned()
}

/// A document of about so many bytes.
pub(super) fn docx(bytes: usize) -> io::Result<Vec<u8>> {
    let mut document = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\
         <w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"><w:body>",
    );
    // A line has 95 bytes or so, what is around it 34.
    for line in lines(bytes * 3 / 4).lines() {
        document += &format!("<w:p><w:r><w:t>{}</w:t></w:r></w:p>", line.trim_end());
    }
    document += "</w:body></w:document>";
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, text) in
        [("[Content_Types].xml", CONTENT_TYPES), ("_rels/.rels", RELATIONSHIPS), ("word/document.xml", &document)]
    {
        archive.start_file(name, options)?;
        archive.write_all(text.as_bytes())?;
    }
    Ok(archive.finish()?.into_inner())
}

/// Tags of records (tables 13 and 57 of the format).
const DOCUMENT_PROPERTIES: u32 = 16;
const ID_MAPPINGS: u32 = 17;
const FACE_NAME: u32 = 19;
const BORDER_FILL: u32 = 20;
const CHAR_SHAPE: u32 = 21;
const TAB_DEF: u32 = 22;
const PARA_SHAPE: u32 = 25;
const STYLE: u32 = 26;
const PARA_HEADER: u32 = 66;
const PARA_TEXT: u32 = 67;
const PARA_CHAR_SHAPE: u32 = 68;

/// A record: tag, level and length in a word, the length after it where 12 bits do not do.
fn record(stream: &mut Vec<u8>, tag: u32, level: u32, content: &[u8]) {
    let length = content.len() as u32;
    stream.extend_from_slice(&(tag | level << 10 | length.min(0xfff) << 20).to_le_bytes());
    if length >= 0xfff {
        stream.extend_from_slice(&length.to_le_bytes());
    }
    stream.extend_from_slice(content);
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn halves(halves: &[u16]) -> Vec<u8> {
    halves.iter().flat_map(|half| half.to_le_bytes()).collect()
}

/// A name with its length before it.
fn name(text: &str) -> Vec<u8> {
    [halves(&[text.encode_utf16().count() as u16]), utf16(text)].concat()
}

/// The stream DocInfo: one font for each of seven languages, one border, shape of letters, tabs, shape of paragraphs, style.
fn information() -> Vec<u8> {
    let mut stream = Vec::new();
    record(&mut stream, DOCUMENT_PROPERTIES, 0, &[halves(&[1; 7]), words(&[0; 3])].concat());
    let counts = [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0];
    record(&mut stream, ID_MAPPINGS, 0, &words(&counts));
    for _ in 0..7 {
        record(&mut stream, FACE_NAME, 1, &[vec![0], name("Batang")].concat());
    }
    record(&mut stream, BORDER_FILL, 1, &[0; 40]);
    // Ratios and sizes in per cent, ten points, black.
    let letters = [halves(&[0; 7]), vec![100; 7], vec![0; 7], vec![100; 7], vec![0; 7], words(&[1000, 0]), vec![0; 2]];
    let colours = [words(&[0, 0, 0xffff_ffff, 0x00b2_b2b2]), halves(&[1]), words(&[0])];
    record(&mut stream, CHAR_SHAPE, 1, &[letters.concat(), colours.concat()].concat());
    record(&mut stream, TAB_DEF, 1, &words(&[0, 0]));
    // Lines 160 % apart.
    let shape = [words(&[0, 0, 0, 0, 0, 0, 160]), halves(&[0, 0, 1, 0, 0, 0, 0]), words(&[0, 0, 160])];
    record(&mut stream, PARA_SHAPE, 1, &shape.concat());
    // The paper's language: 1042 is Korean.
    record(&mut stream, STYLE, 1, &[name("바탕글"), name("Normal"), vec![0, 0], halves(&[1042, 0, 0, 0])].concat());
    stream
}

/// The stream Section0: paragraphs, each with its header, its text and what its letters look like.
fn section(text: &str) -> Vec<u8> {
    let mut stream = Vec::new();
    let count = text.lines().count();
    for (number, line) in text.lines().enumerate() {
        let letters = line.encode_utf16().count() as u32 + 1;
        let is_last = u32::from(number + 1 == count) << 31;
        let header =
            [words(&[letters | is_last, 0]), halves(&[0]), vec![0, 0], halves(&[1, 0, 0]), words(&[0])].concat();
        record(&mut stream, PARA_HEADER, 0, &header);
        record(&mut stream, PARA_TEXT, 1, &[utf16(line), halves(&[13])].concat());
        record(&mut stream, PARA_CHAR_SHAPE, 1, &words(&[0, 0]));
    }
    stream
}

/// A document of about so many bytes.
pub(super) fn hwp(bytes: usize) -> io::Result<Vec<u8>> {
    // Signature in 32 bytes, version 5.0.3.0, nothing compressed or encrypted.
    let mut header = vec![0; 256];
    header[..17].copy_from_slice(b"HWP Document File");
    header[32..36].copy_from_slice(&0x0500_0300u32.to_le_bytes());
    let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new()))?;
    file.create_storage("/BodyText")?;
    // A letter has two bytes, what is around a line 42.
    let text = lines(bytes * 2 / 5);
    let streams = [("/FileHeader", header), ("/DocInfo", information()), ("/BodyText/Section0", section(&text))];
    for (name, content) in streams {
        file.create_stream(name)?.write_all(&content)?;
    }
    file.flush()?;
    Ok(file.into_inner().into_inner())
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    /// Records by their own headers: tag, level, content.
    fn records(mut stream: &[u8]) -> Vec<(u32, u32, &[u8])> {
        let mut found = Vec::new();
        while !stream.is_empty() {
            let word = u32::from_le_bytes(stream[..4].try_into().expect("a header"));
            let (mut length, mut begin) = ((word >> 20) as usize, 4);
            if length == 0xfff {
                length = u32::from_le_bytes(stream[4..8].try_into().expect("a length")) as usize;
                begin = 8;
            }
            found.push((word & 0x3ff, word >> 10 & 0x3ff, &stream[begin..begin + length]));
            stream = &stream[begin + length..];
        }
        found
    }

    /// Lengths of the format's tables; and the text comes out as it went in.
    #[test]
    fn records_hold_the_text() {
        let bytes = hwp(60_000).expect("a document");
        assert_eq!(bytes[..8], [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]);
        let mut file = cfb::CompoundFile::open(Cursor::new(bytes)).expect("a compound file");
        let mut stream = |name: &str| {
            let mut content = Vec::new();
            file.open_stream(name).expect("a stream").read_to_end(&mut content).expect("content");
            content
        };
        assert!(stream("/FileHeader").starts_with(b"HWP Document File\0") && stream("/FileHeader").len() == 256);
        let information = stream("/DocInfo");
        for (tag, level, content) in records(&information) {
            let length = match tag {
                DOCUMENT_PROPERTIES => 26,
                ID_MAPPINGS => 72,
                CHAR_SHAPE => 74,
                PARA_SHAPE => 54,
                _ => continue,
            };
            assert_eq!((content.len(), level), (length, u32::from(tag > ID_MAPPINGS)), "{tag}");
        }
        let section = stream("/BodyText/Section0");
        let mut text = String::new();
        for (tag, _, content) in records(&section) {
            if tag == PARA_TEXT {
                let letters: Vec<u16> =
                    content.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
                text += &String::from_utf16_lossy(&letters).replace('\r', "\n");
            }
        }
        assert_eq!(text.trim_end(), lines(24_000).trim_end());
    }
}
