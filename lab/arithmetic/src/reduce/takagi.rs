//! Multiplication and reduction in one pass over the columns of the product from the highest down, which the paper mentions as Takagi's.
//! First the upper triangle of partial products, those of weight b^n and more, is summed while the sum is shorter than the modulus. Then
//! the columns of the lower triangle are added one by one, with one digit of the quotient for each. The sum never has more than n + 2
//! digits, whereas a product and a division need 2 n.
//!
//! N. Takagi, A modular multiplication algorithm with triangle additions, 11th Symposium on Computer Arithmetic (1993). Written from its
//! title and descriptions by others, with digits instead of the redundant bits of a circuit.

use super::{Ring, check, divide_vartime};
use crate::multiply::Column;
use crate::{Error, Limb};

/// Multiplication modulo N by columns from the highest down. Not constant time; the modulus may be even.
#[derive(Clone, Copy, Debug)]
pub struct Takagi<'a, L> {
    modulus: &'a [L],
}

impl<'a, L: Limb> Takagi<'a, L> {
    /// Takes a modulus of at least two digits, the highest of which is not zero.
    pub fn new(modulus: &'a [L]) -> Result<Self, Error> {
        check(modulus)?;
        Ok(Takagi { modulus })
    }
}

impl<L: Limb> Ring<L> for Takagi<'_, L> {
    fn modulus(&self) -> &[L] {
        self.modulus
    }

    fn scratch(&self) -> usize {
        self.modulus.len() + 2
    }

    fn multiply(&self, a: &[L], b: &[L], product: &mut [L], scratch: &mut [L]) {
        let n = self.modulus.len();
        assert!(a.len() == n && b.len() == n);
        let sum = &mut scratch[..n + 2];
        sum.fill(L::ZERO);
        for k in (0..2 * n - 1).rev() {
            let mut column = Column::ZERO;
            for i in (k + 1).saturating_sub(n)..(k + 1).min(n) {
                column.add_product(a[i], b[k - i]);
            }
            // sum = sum · b + column, where the sum was below N.
            sum.copy_within(..n, 1);
            sum[0] = L::ZERO;
            let (mut carry, column) = (L::ZERO, column.digits());
            for (i, digit) in sum.iter_mut().enumerate() {
                (*digit, carry) = digit.add(column.get(i).copied().unwrap_or(L::ZERO), carry);
            }
            let divided = divide_vartime(sum, self.modulus, None);
            debug_assert!(divided.is_ok());
        }
        product.copy_from_slice(&sum[..n]);
    }
}
