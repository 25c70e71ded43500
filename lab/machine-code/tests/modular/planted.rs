//! Planted leaks, and code without a leak, which the interpreter must distinguish.

use core::arch::asm;
use core::hint::black_box;

use tress_machine_code::{Leak, planted};

const TABLE: [u64; 8] = [3; 8];

planted! {
    [inline(never)] *const u64;

    /// A branch on a carry of ADCX.
    fn carry(data) -> Some(Leak::Branch); {
        let mut sum = data.read();
        asm!("xor eax, eax", "adcx {sum}, [{data}]", "jnc 2f", "inc {sum}", "2:", sum = inout(reg) sum,
            data = in(reg) data, out("eax") _);
        sum
    }

    /// A branch on a secret counter.
    fn counter(data) -> Some(Leak::Branch); {
        let mut found = 0u64;
        asm!("mulx rcx, rax, [{data}]", "jrcxz 2f", "inc {found}", "2:", found = inout(reg) found, data = in(reg) data,
            in("rdx") data.read(), out("rax") _, out("rcx") _);
        found
    }

    /// A table entry whose index comes from a product.
    fn entry(data) -> Some(Leak::Address); {
        let low: u64;
        asm!("mulx {high}, {low}, [{data}]", high = out(reg) _, low = out(reg) low, data = in(reg) data,
            in("rdx") data.read());
        black_box(&TABLE)[(low & 7) as usize]
    }

    /// A mask register computed from columns.
    fn mask(data) -> Some(Leak::Mask); {
        asm!("vmovdqu64 zmm16, [{data}]", "vpmadd52luq zmm16, zmm16, [{data}]", "vptestmq k1, zmm16, zmm16",
            data = in(reg) data, out("xmm16") _, options(nostack));
        0
    }

    /// A digit of the exponent that decides whether a product is computed.
    fn exponent(data) -> Some(Leak::Branch); {
        let mut product = 1u64;
        for digit in core::slice::from_raw_parts(data, 8) {
            if black_box(digit) & 1 == 1 {
                product = black_box(product).wrapping_mul(3);
            }
        }
        product
    }

    /// No leak: the same product, selected by a mask.
    fn clean(data) -> None; {
        let mut product = 1u64;
        for digit in core::slice::from_raw_parts(data, 8) {
            let mask = black_box(0u64.wrapping_sub(digit & 1));
            product = product & !mask | black_box(product).wrapping_mul(3) & mask;
        }
        product
    }
}
