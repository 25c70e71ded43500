//! A picture of the page: where its data are, and a still one.

use base64ct::{Base64, Encoding as _};

use super::figures::plain;
use crate::picture::Drawing;

/// One picture.
pub(super) struct Picture {
    pub(super) anchor: String,
    pub(super) title: String,
    /// How page.js draws it.
    pub(super) kind: &'static str,
    /// Where in the page's data it is.
    pub(super) source: String,
    /// The SVG as an address: as an image it can run nothing and its styles stay its own.
    pub(super) still: String,
    pub(super) width: u32,
    pub(super) height: u32,
}

impl Picture {
    pub(super) fn new(anchor: String, source: String, drawing: &Drawing) -> Picture {
        let svg = drawing.svg();
        let size = |name: &str| attribute(&svg, name).unwrap_or(620);
        Picture {
            anchor,
            title: plain(drawing.title()),
            kind: match drawing {
                Drawing::Chart(_) => "chart",
                Drawing::Bars(_) => "bars",
                Drawing::Timeline(_) => "timeline",
                Drawing::Intervals(_) => "intervals",
            },
            source,
            width: size(" width=\""),
            height: size(" height=\""),
            still: format!("data:image/svg+xml;base64,{}", Base64::encode_string(svg.as_bytes())),
        }
    }
}

/// A number at the start of the SVG.
fn attribute(svg: &str, name: &str) -> Option<u32> {
    let (_, rest) = svg.get(..svg.len().min(400)).unwrap_or(svg).split_once(name)?;
    rest.split_once('"')?.0.parse().ok()
}
