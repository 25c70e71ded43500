//! Which bits of memory are secret, and by which secrets. Pages are allocated when secret data is written to them.

use std::collections::HashMap;

use super::Taint;
use crate::error::ErrorKind;
use crate::memory::PAGE_BYTES;

const PAGE: usize = PAGE_BYTES as usize;
const PAGE_BITS: u32 = PAGE_BYTES.trailing_zeros();
/// The most pages with secrets. They cover 64 MiB of the program's memory and take three times as much of the host's.
const MAX_PAGES: usize = 1 << 14;
const MAX_BYTES: u64 = MAX_PAGES as u64 * PAGE_BYTES;
/// Entries of the direct-mapped table of pages, which is searched first.
const TABLE_ENTRIES: usize = 64;
/// Marks an empty entry. No page has this number.
const NO_PAGE: u64 = u64::MAX;

#[derive(Debug)]
struct ShadowPage {
    bits: [u8; PAGE],
    labels: [u16; PAGE],
}

/// The secret bits and labels of memory.
#[derive(Debug)]
pub(super) struct Shadow {
    /// Number of a page, and its index in `pages`, if it is allocated.
    table: [(u64, Option<u32>); TABLE_ENTRIES],
    index: HashMap<u64, u32>,
    pages: Vec<Box<ShadowPage>>,
}

impl Default for Shadow {
    fn default() -> Shadow {
        Shadow { table: [(NO_PAGE, None); TABLE_ENTRIES], index: HashMap::new(), pages: Vec::new() }
    }
}

impl Shadow {
    /// The page of an address, if it is allocated.
    fn find(&mut self, address: u64) -> Option<u32> {
        let number = address >> PAGE_BITS;
        let table = &mut self.table[number as usize % TABLE_ENTRIES];
        if table.0 != number {
            *table = (number, self.index.get(&number).copied());
        }
        table.1
    }

    fn find_or_make(&mut self, address: u64) -> Result<u32, ErrorKind> {
        if let Some(page) = self.find(address) {
            return Ok(page);
        }
        if self.pages.len() == MAX_PAGES {
            return Err(ErrorKind::SecretPages(MAX_BYTES));
        }
        let page = self.pages.len() as u32;
        self.pages.push(Box::new(ShadowPage { bits: [0; PAGE], labels: [0; PAGE] }));
        let number = address >> PAGE_BITS;
        self.index.insert(number, page);
        self.table[number as usize % TABLE_ENTRIES] = (number, Some(page));
        Ok(page)
    }

    /// The taint of up to 8 bytes. The first byte is in the lowest bits.
    pub(super) fn read(&mut self, address: u64, bytes: u64) -> Taint {
        let mut taint = Taint::PUBLIC;
        for at in 0..bytes {
            let place = address.wrapping_add(at);
            if let Some(page) = self.find(place) {
                let (page, inside) = (&self.pages[page as usize], place as usize % PAGE);
                taint.bits |= u64::from(page.bits[inside]) << (8 * at);
                taint.labels |= page.labels[inside];
            }
        }
        taint
    }

    /// The labels of a range of any length.
    pub(super) fn labels(&mut self, start: u64, bytes: u64) -> u16 {
        let eights = (0..bytes).step_by(8);
        eights.fold(0, |labels, at| labels | self.read(start.wrapping_add(at), (bytes - at).min(8)).labels)
    }

    /// Sets the taint of up to 8 bytes. The first byte is in the lowest bits.
    pub(super) fn write(&mut self, address: u64, bytes: u64, taint: Taint) -> Result<(), ErrorKind> {
        for at in 0..bytes {
            let place = address.wrapping_add(at);
            let bits = (taint.bits >> (8 * at)) as u8;
            let page = match self.find(place) {
                None if bits == 0 => continue,
                Some(page) => page,
                None => self.find_or_make(place)?,
            };
            let (page, inside) = (&mut self.pages[page as usize], place as usize % PAGE);
            page.bits[inside] = bits;
            page.labels[inside] = if bits == 0 { 0 } else { taint.labels };
        }
        Ok(())
    }

    /// Marks a range as secret and adds a label.
    pub(super) fn mark(&mut self, start: u64, bytes: u64, label: u16) -> Result<(), ErrorKind> {
        if bytes > MAX_BYTES {
            return Err(ErrorKind::SecretPages(MAX_BYTES));
        }
        let (mut at, mut left) = (start, bytes);
        while left > 0 {
            let page = self.find_or_make(at)?;
            let page = &mut self.pages[page as usize];
            let inside = at as usize % PAGE;
            let here = left.min((PAGE - inside) as u64) as usize;
            page.bits[inside..inside + here].fill(0xff);
            page.labels[inside..inside + here].iter_mut().for_each(|labels| *labels |= label);
            (at, left) = (at.wrapping_add(here as u64), left - here as u64);
        }
        Ok(())
    }

    /// Marks a range as public.
    pub(super) fn clear(&mut self, start: u64, bytes: u64) {
        let (mut at, mut left) = (start, bytes);
        while left > 0 {
            let inside = at as usize % PAGE;
            let here = left.min((PAGE - inside) as u64) as usize;
            if let Some(page) = self.find(at) {
                let page = &mut self.pages[page as usize];
                page.bits[inside..inside + here].fill(0);
                page.labels[inside..inside + here].fill(0);
            }
            (at, left) = (at.wrapping_add(here as u64), left - here as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_bits_and_labels() {
        let mut shadow = Shadow::default();
        assert_eq!(shadow.read(0xfff, 8), Taint::PUBLIC);
        shadow.mark(0xffe, 4, 1).unwrap();
        assert_eq!(shadow.read(0xffc, 4), Taint { bits: 0xffff_0000, labels: 1 });
        assert_eq!(shadow.read(0x1000, 4), Taint { bits: 0xffff, labels: 1 });
        shadow.write(0x1001, 2, Taint { bits: 0x0700, labels: 2 }).unwrap();
        assert_eq!(shadow.read(0x1000, 4), Taint { bits: 0x0007_00ff, labels: 3 });
        shadow.clear(0xfff, 2);
        assert_eq!(shadow.read(0xffc, 8), Taint { bits: 0x0007_0000_00ff_0000, labels: 3 });
    }

    #[test]
    fn pages_are_bounded_and_public_ones_cost_nothing() {
        let mut shadow = Shadow::default();
        shadow.write(0x5000, 8, Taint::PUBLIC).unwrap();
        shadow.clear(0, 1 << 32);
        assert!(shadow.pages.is_empty());
        assert!(matches!(shadow.mark(0, MAX_BYTES + 1, 1), Err(ErrorKind::SecretPages(MAX_BYTES))));
        assert!(shadow.pages.is_empty());
        shadow.mark(0, MAX_BYTES, 1).unwrap();
        assert!(matches!(shadow.mark(MAX_BYTES, 1, 1), Err(ErrorKind::SecretPages(MAX_BYTES))));
        assert_eq!(shadow.read(MAX_BYTES - 1, 2), Taint { bits: 0xff, labels: 1 });
    }
}
