//! The figures that the paper prints, with section or table. Our copy of the paper has no page numbers.

/// R_comp in seconds per byte (section 4, from Fig. 4).
pub(super) const R_COMP: f64 = 0.037e-6;
/// The share of the MAC in the work (section 2.2).
pub(super) const MAC_SHARE: &str = "1/2";
/// Speed-ups on four cores (section 2.2): CTR split over them, and the MAC on one of them.
pub(super) const CTR_SPLIT: &str = "1.6 on 4";
pub(super) const MAC_APART: &str = "2.0 on 4";
/// Number of threads, and microseconds of one barrier between them (section 4).
pub(super) const BARRIERS_US: [(usize, f64); 2] = [(2, 10.1), (4, 49.2)];
/// T_syn in seconds that every figure of Table 1 fits.
pub(super) const T_SYN: f64 = 10e-6;

/// Bytes and their name, R_comm and its name, and the paper's speed-up and m_opt. The last two rows are in the text of section 4.
pub(super) const TABLE_1: [(u64, &str, f64, &str, &str, &str); 8] = [
    (10_000_000, "10 MB", 0.8e-6, "10 Mbit/s", "1.04", "894"),
    (10_000_000, "10 MB", 0.08e-6, "100 Mbit/s", "1.45", "292"),
    (10_000_000, "10 MB", 0.008e-6, "1000 Mbit/s", "1.20", "192"),
    (10_000_000_000, "10 GB", 0.8e-6, "10 Mbit/s", "1.04", "28284"),
    (10_000_000_000, "10 GB", 0.08e-6, "100 Mbit/s", "1.46", "8944"),
    (10_000_000_000, "10 GB", 0.008e-6, "1000 Mbit/s", "1.21", "6082"),
    (10_000_000, "10 MB", R_COMP, "as fast as computing", "1.98", "192"),
    (10_000_000_000, "10 GB", R_COMP, "as fast as computing", "2.00", "6082"),
];

/// The speed-up that Table 1 prints for 10 GB over the link with this name. Other sizes differ only beyond the printed digits.
pub(super) fn speedup(link: &str) -> Option<f64> {
    TABLE_1.iter().find(|row| row.1 == "10 GB" && row.3 == link)?.4.parse().ok()
}
