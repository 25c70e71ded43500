//! What the interpreter knows of each byte, and the memory that it runs in: that of this process, as it is when a page is
//! touched for the first time, and from then on a copy of its own.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// What is known of a byte. What is made of several has the highest of their levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Everybody may know it, and its value is computed.
    #[default]
    Public,
    /// Public, but made by an instruction that the interpreter has no model of: its value is not known.
    Unknown,
    /// Made of keys or data. Its value is never looked at.
    Secret,
}

/// Where the interpreter's stack ends; nothing is mapped there.
pub(crate) const STACK_END: u64 = 0x0000_1000_0000_0000;
/// Where the interpreter's heap begins.
pub(crate) const HEAP_START: u64 = STACK_END + (1 << 30);
const HEAP_BYTES: u64 = 1 << 30;
const STACK_BYTES: u64 = 64 << 20;
const PAGE: u64 = 4096;
const RECENT: usize = 64;

struct Page {
    bytes: [u8; PAGE as usize],
    levels: [Level; PAGE as usize],
}

/// Memory, with a level for every byte.
pub struct Memory {
    pages: Vec<Box<Page>>,
    /// Which of them is where.
    places: HashMap<u64, usize>,
    /// What was looked up there last.
    recent: [(u64, usize); RECENT],
    /// This process.
    own: File,
    /// What was overwritten, where that has to be undone.
    journal: Option<Vec<(u64, u8, Level)>>,
}

impl Memory {
    /// That of this process.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Memory {
        let own = File::open("/proc/self/mem").expect("/proc, as Linux has it");
        Memory { pages: Vec::new(), places: HashMap::new(), recent: [(u64::MAX, 0); RECENT], own, journal: None }
    }

    fn page(&mut self, number: u64) -> Result<&mut Page, String> {
        let recent = (number % RECENT as u64) as usize;
        if self.recent[recent].0 != number {
            let place = match self.places.get(&number) {
                Some(place) => *place,
                None => self.touch(number)?,
            };
            self.recent[recent] = (number, place);
        }
        Ok(&mut self.pages[self.recent[recent].1])
    }

    /// Brings a page in.
    fn touch(&mut self, number: u64) -> Result<usize, String> {
        let mut page = Box::new(Page { bytes: [0; PAGE as usize], levels: [Level::Public; PAGE as usize] });
        let address = number * PAGE;
        let is_own = (STACK_END - STACK_BYTES..STACK_END).contains(&address)
            || (HEAP_START..HEAP_START + HEAP_BYTES).contains(&address);
        if is_own {
            page.levels = [Level::Unknown; PAGE as usize];
        } else if self.own.read_exact_at(&mut page.bytes, address).is_err() {
            return Err(format!("nothing is mapped at {address:#x}"));
        }
        self.pages.push(page);
        self.places.insert(number, self.pages.len() - 1);
        Ok(self.pages.len() - 1)
    }

    /// From here on it is remembered what is overwritten.
    pub fn mark(&mut self) -> usize {
        self.journal.get_or_insert_default().len()
    }

    /// Takes back what was written since a mark; the outermost one ends the journal.
    pub fn undo(&mut self, mark: usize, outermost: bool) {
        let mut journal = self.journal.take().unwrap_or_default();
        for (address, old, old_level) in journal.drain(mark..).rev() {
            self.walk(address, 1, |_, byte, level| (*byte, *level) = (old, old_level)).expect("a page that is there");
        }
        self.journal = (!outermost).then_some(journal);
    }

    /// Like `walk`, for what writes.
    fn change(
        &mut self,
        address: u64,
        count: usize,
        each: impl FnMut(usize, &mut u8, &mut Level),
    ) -> Result<(), String> {
        if let Some(mut journal) = self.journal.take() {
            let seen = self.walk(address, count, |i, byte, level| {
                journal.push((address.wrapping_add(i as u64), *byte, *level));
            });
            self.journal = Some(journal);
            seen?;
        }
        self.walk(address, count, each)
    }

    /// Calls `each` for every byte.
    fn walk(
        &mut self,
        address: u64,
        count: usize,
        mut each: impl FnMut(usize, &mut u8, &mut Level),
    ) -> Result<(), String> {
        let mut done = 0;
        while done < count {
            let at = address.wrapping_add(done as u64);
            let within = (at % PAGE) as usize;
            let run = (count - done).min(PAGE as usize - within);
            let page = self.page(at / PAGE)?;
            for i in 0..run {
                each(done + i, &mut page.bytes[within + i], &mut page.levels[within + i]);
            }
            done += run;
        }
        Ok(())
    }

    /// Some bytes and their levels.
    pub fn read(&mut self, address: u64, bytes: &mut [u8], levels: &mut [Level]) -> Result<(), String> {
        self.walk(address, bytes.len(), |i, byte, level| (bytes[i], levels[i]) = (*byte, *level))
    }

    /// Writes some bytes and their levels.
    pub fn write(&mut self, address: u64, bytes: &[u8], levels: &[Level]) -> Result<(), String> {
        self.change(address, bytes.len(), |i, byte, level| (*byte, *level) = (bytes[i], levels[i]))
    }

    /// Up to eight bytes as a number, and the highest of their levels.
    pub fn read_number(&mut self, address: u64, count: usize) -> Result<(u64, Level), String> {
        let (mut number, mut highest) = ([0; 8], Level::Public);
        self.walk(address, count, |i, byte, level| {
            number[i] = *byte;
            highest = highest.max(*level);
        })?;
        Ok((u64::from_le_bytes(number), highest))
    }

    /// Writes up to eight bytes of a number.
    pub fn write_number(&mut self, address: u64, count: usize, number: u64, level: Level) -> Result<(), String> {
        self.write(address, &number.to_le_bytes()[..count], &[level; 8][..count])
    }

    /// The highest level of some bytes.
    pub fn level(&mut self, address: u64, count: usize) -> Result<Level, String> {
        let mut highest = Level::Public;
        self.walk(address, count, |_, _, level| highest = highest.max(*level))?;
        Ok(highest)
    }

    /// Gives some bytes a level.
    pub fn set_level(&mut self, address: u64, count: usize, new: Level) -> Result<(), String> {
        self.change(address, count, |_, _, level| *level = new)
    }

    /// Gives some bytes at least a level: what may or may not have been written.
    pub fn raise_level(&mut self, address: u64, count: usize, new: Level) -> Result<(), String> {
        self.change(address, count, |_, _, level| *level = new.max(*level))
    }
}
