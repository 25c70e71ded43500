//! Positions of the labels of many points: next to their point, without overlaps, and with a leader line if the label is far away.

/// Distance from the middle of a line of text to its baseline, and half the line's height.
const BASE: f64 = 4.0;
const HALF_HEIGHT: f64 = 8.0;
/// Half the size of a point.
const POINT: f64 = 5.0;
/// Distance from a point to its label.
const GAP: f64 = 8.0;
/// Distance from which a leader line is drawn.
const FAR: f64 = 24.0;
/// Number of circles of candidate positions around a point, and of positions on each.
const CIRCLES: u32 = 12;
const PLACES: u32 = 24;

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LabelArea {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

/// A straight part of a line.
pub(super) type Stroke = ((f64, f64), (f64, f64));

impl LabelArea {
    pub(super) fn overlaps(&self, other: &LabelArea) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }

    pub(super) fn holds(&self, other: &LabelArea) -> bool {
        self.left <= other.left && other.right <= self.right && self.top <= other.top && other.bottom <= self.bottom
    }

    /// Whether a part of the line is inside: it enters both the columns and the rows of the rectangle before it leaves one of them.
    pub(super) fn is_crossed(&self, &(from, to): &Stroke) -> bool {
        let (mut enters, mut leaves) = (0.0, 1.0);
        for (from, to, low, high) in [(from.0, to.0, self.left, self.right), (from.1, to.1, self.top, self.bottom)] {
            if from == to && !(low..=high).contains(&from) {
                return false;
            }
            if from != to {
                let (low, high) = ((low - from) / (to - from), (high - from) / (to - from));
                (enters, leaves) = (low.min(high).max(enters), low.max(high).min(leaves));
            }
        }
        enters < leaves
    }
}

/// Position of a label.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LabelPosition {
    /// Left edge of the text.
    pub(super) left: f64,
    /// Baseline of the text.
    pub(super) base: f64,
    /// End of the leader line from the point, if there is one.
    pub(super) leader: Option<(f64, f64)>,
}

/// Places one label per width, in order, where it covers no other label and no line, and its leader line crosses no label. If there
/// is no such position, where it covers no other label, or else to the right of its point.
pub(super) fn place(
    points: &[(f64, f64)],
    widths: &[f64],
    inside: LabelArea,
    taken: &[LabelArea],
    strokes: &[Stroke],
) -> Vec<LabelPosition> {
    let (mut taken, mut strokes) = (taken.to_vec(), strokes.to_vec());
    let names = taken.len();
    taken.extend(points.iter().map(|&(x, y)| LabelArea {
        left: x - POINT,
        right: x + POINT,
        top: y - POINT,
        bottom: y + POINT,
    }));
    let mut places = Vec::with_capacity(points.len());
    for (&(x, y), &width) in points.iter().zip(widths) {
        let area = |middle: (f64, f64)| LabelArea {
            left: middle.0 - width / 2.0,
            right: middle.0 + width / 2.0,
            top: middle.1 - HALF_HEIGHT,
            bottom: middle.1 + HALF_HEIGHT,
        };
        let end = |area: &LabelArea| (x.clamp(area.left, area.right), y.clamp(area.top, area.bottom));
        let is_free = |(_, middle): &(f64, (f64, f64))| {
            let area = area(*middle);
            inside.holds(&area) && !taken.iter().any(|other| other.overlaps(&area))
        };
        let is_clear = |place: &(f64, (f64, f64))| {
            let area = area(place.1);
            // The points are between the names of lines and the labels that have a position.
            let mut labels = taken[..names].iter().chain(&taken[names + points.len()..]);
            is_free(place)
                && !strokes.iter().any(|stroke| area.is_crossed(stroke))
                && (place.0 <= FAR || !labels.any(|label| label.is_crossed(&((x, y), end(&area)))))
        };
        let all = || candidates((x, y), width);
        let place = all().find(is_clear).or_else(|| all().find(is_free));
        let (distance, middle) = place.unwrap_or((0.0, (x + GAP + width / 2.0, y)));
        let found = area(middle);
        taken.push(found);
        let leader = (distance > FAR).then(|| end(&found));
        strokes.extend(leader.map(|end| ((x, y), end)));
        places.push(LabelPosition { left: found.left, base: middle.1 + BASE, leader });
    }
    places
}

/// Candidate middles of a label around its point, nearest first: the distance from the point, and the position.
fn candidates((x, y): (f64, f64), width: f64) -> impl Iterator<Item = (f64, (f64, f64))> {
    (0..CIRCLES).flat_map(move |circle| {
        let distance = GAP + 14.0 * f64::from(circle);
        (0..PLACES).map(move |place| {
            // First to the right, then to the left, then increasingly above and below.
            let turn = f64::from(place / 4) / f64::from(PLACES / 4) * std::f64::consts::FRAC_PI_2;
            let right = if place % 2 == 0 { 1.0 } else { -1.0 };
            let down = if place / 2 % 2 == 0 { 1.0 } else { -1.0 };
            let (sine, cosine) = turn.sin_cos();
            let away = (distance + width / 2.0) * cosine;
            (distance, (x + right * away, y + down * (distance + HALF_HEIGHT) * sine))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const INSIDE: LabelArea = LabelArea { left: 0.0, right: 1000.0, top: 0.0, bottom: 600.0 };

    fn areas(places: &[LabelPosition], widths: &[f64]) -> Vec<LabelArea> {
        places
            .iter()
            .zip(widths)
            .map(|(place, width)| LabelArea {
                left: place.left,
                right: place.left + width,
                top: place.base - BASE - HALF_HEIGHT,
                bottom: place.base - BASE + HALF_HEIGHT,
            })
            .collect()
    }

    /// By hand: to the right of its point, at a distance of 8.
    #[test]
    fn a_single_point_has_its_name_to_the_right() {
        let places = place(&[(100.0, 300.0)], &[80.0], INSIDE, &[], &[]);
        assert_eq!(places, [LabelPosition { left: 108.0, base: 304.0, leader: None }]);
        // At the right edge, the label is to the left of the point.
        let places = place(&[(950.0, 300.0)], &[80.0], INSIDE, &[], &[]);
        assert_eq!(places[0].left, 950.0 - 8.0 - 80.0);
    }

    #[test]
    fn names_of_a_crowd_do_not_overlap() {
        let points: Vec<(f64, f64)> = (0..14).map(|i| (400.0 + f64::from(i % 4), 300.0 + f64::from(i % 3))).collect();
        let widths = vec![150.0; 14];
        let taken = [LabelArea { left: 420.0, right: 560.0, top: 280.0, bottom: 297.0 }];
        let places = place(&points, &widths, INSIDE, &taken, &[]);
        let areas = areas(&places, &widths);
        for (index, area) in areas.iter().enumerate() {
            assert!(INSIDE.holds(area), "{area:?}");
            assert!(!area.overlaps(&taken[0]), "{area:?}");
            assert!(areas[..index].iter().all(|other| !other.overlaps(area)), "{index}");
        }
        assert!(places.iter().any(|place| place.leader.is_some()));
    }

    /// By hand: lines into, through, beside, along and below the square from 10 to 20.
    #[test]
    fn lines_cross_a_rectangle() {
        let area = LabelArea { left: 10.0, right: 20.0, top: 10.0, bottom: 20.0 };
        for (from, to, is_crossed) in [
            ((0.0, 0.0), (15.0, 15.0), true),
            ((0.0, 12.0), (30.0, 18.0), true),
            ((15.0, 0.0), (15.0, 30.0), true),
            ((0.0, 15.0), (30.0, 60.0), false),
            ((21.0, 0.0), (21.0, 30.0), false),
            ((0.0, 15.0), (9.0, 15.0), false),
        ] {
            assert_eq!(area.is_crossed(&(from, to)), is_crossed, "{from:?} {to:?}");
        }
    }

    #[test]
    fn labels_are_placed_even_without_room() {
        let small = LabelArea { left: 0.0, right: 10.0, top: 0.0, bottom: 10.0 };
        assert_eq!(place(&[(5.0, 5.0), (f64::NAN, 1.0)], &[80.0, 80.0], small, &[], &[]).len(), 2);
    }
}
