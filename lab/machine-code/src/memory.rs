//! Memory of the interpreter, with a level for each byte. A page is copied from this process when it is first
//! touched; later changes affect only the copy.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// The level of a byte. A result has the highest level of its inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Public, with a known value.
    #[default]
    Public,
    /// Public, but with an unknown value, because an instruction without a model made it.
    Unknown,
    /// Derived from keys or data. The interpreter never looks at the value.
    Secret,
}

/// End of the interpreter's stack. This process maps nothing there.
pub(crate) const STACK_END: u64 = 0x0000_1000_0000_0000;
/// Start of the interpreter's heap.
pub(crate) const HEAP_START: u64 = STACK_END + (1 << 30);
const HEAP_BYTES: u64 = 1 << 30;
const STACK_BYTES: u64 = 64 << 20;
const PAGE: u64 = 4096;
const RECENT_PAGES: usize = 64;

struct Page {
    bytes: [u8; PAGE as usize],
    levels: [Level; PAGE as usize],
}

/// Memory, with a level for every byte.
pub struct Memory {
    pages: Vec<Box<Page>>,
    /// Indexes of pages, by page number.
    page_index: HashMap<u64, usize>,
    /// Cache of recent look-ups: page number and index.
    recent: [(u64, usize); RECENT_PAGES],
    /// The memory of this process.
    process: File,
    /// Overwritten bytes and levels, while changes have to be undone later.
    journal: Option<Vec<(u64, u8, Level)>>,
}

impl Memory {
    /// The memory of this process.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Memory {
        let process = File::open("/proc/self/mem").expect("/proc, as Linux has it");
        Memory {
            pages: Vec::new(),
            page_index: HashMap::new(),
            recent: [(u64::MAX, 0); RECENT_PAGES],
            process,
            journal: None,
        }
    }

    fn page(&mut self, number: u64) -> Result<&mut Page, String> {
        let recent = (number % RECENT_PAGES as u64) as usize;
        if self.recent[recent].0 != number {
            let location = match self.page_index.get(&number) {
                Some(location) => *location,
                None => self.load_page(number)?,
            };
            self.recent[recent] = (number, location);
        }
        Ok(&mut self.pages[self.recent[recent].1])
    }

    /// Loads a page, and returns its index.
    fn load_page(&mut self, number: u64) -> Result<usize, String> {
        let mut page = Box::new(Page { bytes: [0; PAGE as usize], levels: [Level::Public; PAGE as usize] });
        let address = number * PAGE;
        let is_own = (STACK_END - STACK_BYTES..STACK_END).contains(&address)
            || (HEAP_START..HEAP_START + HEAP_BYTES).contains(&address);
        if is_own {
            page.levels = [Level::Unknown; PAGE as usize];
        } else if self.process.read_exact_at(&mut page.bytes, address).is_err() {
            return Err(format!("nothing is mapped at {address:#x}"));
        }
        self.pages.push(page);
        self.page_index.insert(number, self.pages.len() - 1);
        Ok(self.pages.len() - 1)
    }

    /// Starts to record changes, and returns a mark for [`undo`](Self::undo).
    pub fn mark(&mut self) -> usize {
        self.journal.get_or_insert_default().len()
    }

    /// Undoes all changes since a mark. The outermost call stops the recording.
    pub fn undo(&mut self, mark: usize, outermost: bool) {
        let mut journal = self.journal.take().unwrap_or_default();
        for (address, old, old_level) in journal.drain(mark..).rev() {
            self.for_each_byte(address, 1, |_, byte, level| (*byte, *level) = (old, old_level))
                .expect("a page that is there");
        }
        self.journal = (!outermost).then_some(journal);
    }

    /// Calls `each` for every byte, which may change it. Records the old bytes if changes are recorded.
    fn change_bytes(
        &mut self,
        address: u64,
        count: usize,
        each: impl FnMut(usize, &mut u8, &mut Level),
    ) -> Result<(), String> {
        if let Some(mut journal) = self.journal.take() {
            let seen = self.for_each_byte(address, count, |i, byte, level| {
                journal.push((address.wrapping_add(i as u64), *byte, *level));
            });
            self.journal = Some(journal);
            seen?;
        }
        self.for_each_byte(address, count, each)
    }

    /// Calls `each` for every byte.
    fn for_each_byte(
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

    /// Reads bytes and their levels.
    pub fn read(&mut self, address: u64, bytes: &mut [u8], levels: &mut [Level]) -> Result<(), String> {
        self.for_each_byte(address, bytes.len(), |i, byte, level| (bytes[i], levels[i]) = (*byte, *level))
    }

    /// Writes bytes and their levels.
    pub fn write(&mut self, address: u64, bytes: &[u8], levels: &[Level]) -> Result<(), String> {
        self.change_bytes(address, bytes.len(), |i, byte, level| (*byte, *level) = (bytes[i], levels[i]))
    }

    /// Reads up to eight bytes as a number. Returns it with the highest of the levels.
    pub fn read_number(&mut self, address: u64, count: usize) -> Result<(u64, Level), String> {
        let (mut number, mut highest) = ([0; 8], Level::Public);
        self.for_each_byte(address, count, |i, byte, level| {
            number[i] = *byte;
            highest = highest.max(*level);
        })?;
        Ok((u64::from_le_bytes(number), highest))
    }

    /// Writes up to eight bytes of a number.
    pub fn write_number(&mut self, address: u64, count: usize, number: u64, level: Level) -> Result<(), String> {
        self.write(address, &number.to_le_bytes()[..count], &[level; 8][..count])
    }

    /// The highest level of the bytes.
    pub fn level(&mut self, address: u64, count: usize) -> Result<Level, String> {
        let mut highest = Level::Public;
        self.for_each_byte(address, count, |_, _, level| highest = highest.max(*level))?;
        Ok(highest)
    }

    /// Sets the level of the bytes.
    pub fn set_level(&mut self, address: u64, count: usize, new: Level) -> Result<(), String> {
        self.change_bytes(address, count, |_, _, level| *level = new)
    }

    /// Raises the level of the bytes to at least `new`, because they may have been written.
    pub fn raise_level(&mut self, address: u64, count: usize, new: Level) -> Result<(), String> {
        self.change_bytes(address, count, |_, _, level| *level = new.max(*level))
    }
}
