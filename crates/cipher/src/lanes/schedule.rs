//! The assignment of messages to lanes.
//!
//! When a lane takes a message, the message's header (CCM: B_0 and associated data) goes through the chain first. The data is then
//! processed in place, a step at a time. The last bytes, if less than a step, are staged: copied to a buffer, padded with zeros,
//! processed and copied back.
//!
//! A call of the kernel ends when the shortest message does, so it is cheap if the messages of all lanes end together: the
//! [`LengthQueue`] returns long messages first, and messages of about the same length one after another.

use core::mem::{MaybeUninit, offset_of};
use core::ops::Range;

use zeroize::Zeroize;

use super::kernel::{BatchKeys, LaneMode, LaneStates, encrypt, step_bytes, steps};
use crate::block::BlockBytes;
use crate::engine::{Core, Engine, LaneMemory, NoInterleave, STEP_BLOCKS, wipe};

/// A message that runs in a lane.
pub(super) trait LaneMessage {
    type Cipher: Core<Block = Self::Block>;
    type Block: BlockBytes;
    /// The cipher with its key.
    fn cipher(&self) -> &Self::Cipher;
    /// Whether the message has not run yet.
    fn is_pending(&self) -> bool;
    /// A link for the lists of the queue: the index of the next message.
    fn next(&mut self) -> &mut usize;
    fn data_bytes(&self) -> usize;
    /// The data. The lanes access it through a pointer from `start` to `finish`.
    fn data(&mut self) -> &mut [u8];
    /// The first block of the header, or the initial chain if there is no header.
    fn first_block(&self) -> &Self::Block;
    /// The bits of the first block that counter block 0 has. Not used in modes without a key stream.
    fn counter_mask(&self) -> &Self::Block;
    /// Number of blocks of the header; 0 in modes without a key stream.
    fn header_blocks(&self) -> usize;
    /// Block `index` of the header.
    fn header_block(&self, index: usize) -> Self::Block;
    /// Ends the message: `chain` is the end of its chain, `mask` block 0 of its key stream. `decrypted` is a constant in each caller.
    fn finish(&mut self, decrypted: bool, chain: &Self::Block, mask: &Self::Block);
}

/// No message, as an index.
const NONE: usize = usize::MAX;

/// The pending messages, in lists of messages of about the same length.
struct LengthQueue {
    /// The messages if they are of one list, which then has no links: following them takes longer than to start a short message.
    in_order: Range<usize>,
    first: [usize; LengthQueue::CLASSES],
    /// A bit for each list, set if it has a message.
    filled: u64,
}

impl LengthQueue {
    const CLASSES: usize = 64;

    /// The list for a message of `bytes` bytes: one for each number of steps, and from 32 steps four for each power of two.
    fn class<M: LaneMessage>(bytes: usize) -> usize {
        let steps = bytes.div_ceil(STEP_BLOCKS * M::Block::BYTES);
        if steps < 32 {
            return steps;
        }
        let octave = steps.ilog2() as usize;
        (32 + 4 * (octave - 5) + (steps >> (octave - 2)) % 4).min(LengthQueue::CLASSES - 1)
    }

    /// The pending messages whose key has this engine and number of rounds. Another run takes the others.
    #[inline(always)]
    fn new<E: Engine, M: LaneMessage>(messages: &mut [M], rounds: usize) -> LengthQueue {
        let runs = |message: &M| {
            let keys = message.cipher().round_keys::<E>();
            message.is_pending() && keys.is_some_and(|keys| E::rounds(keys) == rounds)
        };
        let mut queue = LengthQueue { in_order: 0..0, first: [NONE; LengthQueue::CLASSES], filled: 0 };
        let bytes = messages.first().map_or(0, M::data_bytes);
        let class = LengthQueue::class::<M>(bytes);
        if messages.iter().all(|message| {
            let own = message.data_bytes();
            runs(message) && (own == bytes || LengthQueue::class::<M>(own) == class)
        }) {
            queue.in_order = 0..messages.len();
            return queue;
        }
        for (index, message) in messages.iter_mut().enumerate().rev() {
            if runs(message) {
                let class = LengthQueue::class::<M>(message.data_bytes());
                *message.next() = queue.first[class];
                queue.first[class] = index;
                queue.filled |= 1 << class;
            }
        }
        queue
    }

    /// Removes and returns one of the longest messages.
    #[inline(always)]
    fn pop<M: LaneMessage>(&mut self, messages: &mut [M]) -> Option<usize> {
        if let Some(index) = self.in_order.next() {
            return Some(index);
        }
        let class = self.filled.checked_ilog2()? as usize;
        let index = self.first[class];
        self.first[class] = *messages[index].next();
        if self.first[class] == NONE {
            self.filled ^= 1 << class;
        }
        Some(index)
    }
}

/// The message of a lane.
#[derive(Clone, Copy)]
struct Lane {
    /// Index of the message.
    job: usize,
    /// Number of bytes that are staged.
    staged_bytes: usize,
}

/// Index of a message's last block in its step, of which `staged_bytes` are staged; 0 is a whole step.
#[inline(always)]
fn last_block<E: Engine>(staged_bytes: usize) -> usize {
    staged_bytes.wrapping_sub(1) % step_bytes::<E>() / E::Block::BYTES
}

/// A buffer of one step for each lane, for the last bytes of its message.
#[repr(align(64))]
struct Staging<B, const LANES: usize>([[B; STEP_BLOCKS]; LANES]);

/// Runs every pending message whose key has this engine and the number of rounds of `keys`. `shared`: all messages have the key
/// `keys`.
#[inline(always)]
pub(super) fn run<E, M, O, const G: usize, const LANES: usize>(
    engine: E,
    keys: &E::RoundKeys,
    messages: &mut [M],
    shared: bool,
    memory: &LaneMemory,
) where
    E: Engine,
    M: LaneMessage<Block = E::Block>,
    O: LaneMode<E>,
{
    const { assert!(LANES == G * E::SLOTS) };
    let mut on_stack = MaybeUninit::<Room<E, G, LANES>>::uninit();
    // SAFETY: the runs of a call follow each other, and none uses the memory after it returns.
    let (room, is_new) = unsafe { memory.room(&mut on_stack) };
    if is_new {
        let room = room.as_mut_ptr();
        // SAFETY: `room` is aligned and valid for writes. Numbers, null pointers, blocks and vectors whose bits are all zero are valid.
        unsafe {
            room.cast::<u8>().write_bytes(0, offset_of!(Room<E, G, LANES>, lane_keys));
            if LaneMemory::KEEPS || !shared {
                (*room).lane_keys.write(engine.zero_lane_keys());
            }
        }
    }
    // SAFETY: all but `lane_keys` was initialised, now or by an earlier run.
    let Room { scheduler: room, staging, lane_keys } = unsafe { room.assume_init_mut() };
    let keys_of_lanes = if shared {
        BatchKeys::Shared(keys)
    } else {
        // SAFETY: `lane_keys` was, too.
        BatchKeys::PerLane(unsafe { lane_keys.assume_init_mut() })
    };
    let mut scheduler = Scheduler::<'_, '_, E, M, G, LANES> {
        engine,
        keys: keys_of_lanes,
        queue: LengthQueue::new::<E, M>(messages, E::rounds(keys)),
        messages,
        room,
        staging: staging.0.as_mut_ptr(),
    };
    if is_new && (LaneMemory::KEEPS || O::DECRYPTS) {
        // Each run leaves them so.
        for lane in 0..LANES {
            for j in 0..STEP_BLOCKS {
                scheduler.set_message(lane, j, E::Block::BYTES);
            }
        }
    }
    scheduler.run_all::<O>(shared);
    scheduler.wipe();
    crate::block::wipe(staging.0.as_flattened_mut());
}

/// What a run keeps in the memory of lanes. The next run of the same type finds it there, so what a run reads before it writes it must
/// not depend on the last run.
#[repr(C, align(64))]
struct Room<E: Engine, const G: usize, const LANES: usize> {
    scheduler: SchedulerRoom<E, G, LANES>,
    staging: Staging<E::Block, LANES>,
    lane_keys: MaybeUninit<E::LaneRoundKeys>,
}

/// The large part of the scheduler's state: one pointer leads to all of it.
#[repr(C, align(64))]
struct SchedulerRoom<E: Engine, const G: usize, const LANES: usize> {
    state: LaneStates<E, G, LANES>,
    /// The first blocks of the headers, and counter blocks 0, of lanes that start.
    first_header_blocks: [E::Vector; G],
    counter_zero_blocks: [E::Vector; G],
    /// The bits of first blocks that counter blocks 0 have.
    counter_masks: [E::Vector; G],
    /// Blocks 0 of the key streams.
    tag_masks: [E::Vector; G],
    lanes: [Lane; LANES],
    /// Number of steps until the lane's message ends; `usize::MAX` for an idle lane.
    steps_left: [usize; LANES],
}

/// The lanes that start, with a bit for each lane.
#[derive(Default)]
struct Starts {
    all: u64,
    /// Those whose message has no data.
    empty: u64,
    /// Those whose last bytes are staged.
    staged: u64,
    /// Those whose header has more than one block.
    long_headers: u64,
}

struct Scheduler<'k, 'j, E: Engine, M, const G: usize, const LANES: usize> {
    engine: E,
    keys: BatchKeys<'k, E>,
    queue: LengthQueue,
    messages: &'j mut [M],
    room: &'k mut SchedulerRoom<E, G, LANES>,
    /// The first lane's buffer of the `Staging`, which is accessed only through this pointer.
    staging: *mut [E::Block; STEP_BLOCKS],
}

impl<E, M, const G: usize, const LANES: usize> Scheduler<'_, '_, E, M, G, LANES>
where
    E: Engine,
    M: LaneMessage<Block = E::Block>,
{
    #[inline(always)]
    fn run_all<O: LaneMode<E>>(&mut self, shared: bool) {
        const { assert!(LANES >= 1 && LANES <= 64) };
        self.room.state.moves = [usize::MAX; LANES];
        let (mut free, mut busy, mut staged) = (u64::MAX >> (64 - LANES), 0, 0);
        loop {
            // Messages without data end immediately, so a lane may take several.
            while free != 0 {
                let mut starts = Starts::default();
                for lane in set_bits(free) {
                    self.fill_lane::<O>(lane, &mut starts);
                }
                (busy, staged) = (busy | starts.all, staged & !free | starts.staged);
                if starts.all != 0 {
                    self.merge_starts::<O>(shared, starts.all);
                    if O::HAS_KEY_STREAM {
                        self.start_headers(shared, &starts);
                    }
                }
                free = starts.empty;
                for lane in set_bits(free) {
                    self.finish::<O>(lane, false);
                }
                busy &= !free;
            }
            if busy == 0 {
                return;
            }

            let count = self.room.steps_left.iter().fold(usize::MAX, |least, &left| least.min(left));
            let (step, last) = (step_bytes::<E>(), (count - 1).wrapping_mul(step_bytes::<E>()));
            if count > 1 {
                for lane in 0..LANES {
                    let last = last & self.room.state.moves[lane];
                    self.room.state.last[lane] = self.room.state.last[lane].wrapping_add(last);
                }
            }
            for lane in 0..LANES {
                free |= u64::from(self.room.steps_left[lane] == count) << lane;
                self.room.steps_left[lane] -= count;
            }
            let ragged = free & staged;
            for lane in set_bits(ragged) {
                let Lane { staged_bytes, .. } = self.room.lanes[lane];
                self.room.state.last[lane] = self.staging.wrapping_add(lane).cast();
                if O::DECRYPTS {
                    let last_block = last_block::<E>(staged_bytes);
                    self.set_message(lane, last_block, staged_bytes - last_block * E::Block::BYTES);
                }
            }
            // SAFETY: `fill_lane` set the pointer of a busy lane to `steps_left` steps inside its message, the last of which may be staged,
            // and that of an idle lane to its staging buffer. Messages are exclusively borrowed and not accessed otherwise while they run.
            unsafe {
                let (engine, state) = (self.engine, &mut self.room.state);
                if shared {
                    steps::<E, O, G, LANES>(engine, &self.keys, true, state, count, ragged != 0);
                } else {
                    steps::<E, O, G, LANES>(engine, &self.keys, false, state, count, ragged != 0);
                }
            }
            busy &= !free;
            if busy != 0 {
                for lane in 0..LANES {
                    let done = last.wrapping_add(step) & self.room.state.moves[lane];
                    self.room.state.pointers[lane] = self.room.state.pointers[lane].wrapping_add(done);
                    self.room.state.last[lane] = self.room.state.pointers[lane];
                }
            }
            if O::DECRYPTS {
                for lane in set_bits(ragged) {
                    self.set_message(lane, last_block::<E>(self.room.lanes[lane].staged_bytes), E::Block::BYTES);
                }
            }
            for lane in set_bits(free) {
                self.finish::<O>(lane, true);
            }
        }
    }

    /// Marks the first `bytes` bytes of a block of the lane's last step as message, and the others as padding.
    #[inline(always)]
    fn set_message(&mut self, lane: usize, block: usize, bytes: usize) {
        let row = &mut self.room.state.message[block];
        self.engine.set_slot(&mut row[lane / E::SLOTS], lane % E::SLOTS, &leading_ones(bytes));
    }

    /// Puts the next message into an idle lane, if there is one.
    #[inline(always)]
    fn fill_lane<O: LaneMode<E>>(&mut self, index: usize, starts: &mut Starts) {
        let Some(job) = self.queue.pop(self.messages) else {
            self.room.steps_left[index] = usize::MAX;
            self.room.state.pointers[index] = self.staging.wrapping_add(index).cast();
            self.room.state.last[index] = self.room.state.pointers[index];
            self.room.state.moves[index] = 0;
            return;
        };
        let message = &mut self.messages[job];
        if O::HAS_KEY_STREAM && message.header_blocks() > 1 {
            starts.long_headers |= 1 << index;
        }
        let data = message.data();
        let (pointer, staged_bytes) = (data.as_mut_ptr(), data.len() % step_bytes::<E>());
        let mut steps = data.len() / step_bytes::<E>();
        if staged_bytes > 0 {
            let tail = pointer.wrapping_add(data.len() - staged_bytes);
            // SAFETY: `index` is less than `LANES`, and no other reference to this lane's staging buffer exists. The data has
            // `staged_bytes` bytes from `tail`, less than a step, and does not overlap the buffer.
            unsafe {
                let staging = self.staging.add(index);
                *staging = [E::Block::ZERO; STEP_BLOCKS];
                copy_short::<E>(tail, staging.cast(), staged_bytes);
            }
            steps += 1;
            starts.staged |= 1 << index;
        } else if steps == 0 {
            starts.empty |= 1 << index;
        }
        self.room.lanes[index] = Lane { job, staged_bytes };
        self.room.steps_left[index] = steps;
        (self.room.state.pointers[index], self.room.state.last[index]) = (pointer, pointer);
        starts.all |= 1 << index;
    }

    /// Copies the keys and first blocks of the lanes that start into the vectors of all lanes.
    #[inline(always)]
    fn merge_starts<O: LaneMode<E>>(&mut self, shared: bool, started: u64) {
        let engine = self.engine;
        for g in 0..G {
            let slots = started >> (g * E::SLOTS) & all_slots::<E>();
            if slots == 0 {
                continue;
            }
            let first_blocks =
                if O::HAS_KEY_STREAM { &mut self.room.first_header_blocks[g] } else { &mut self.room.state.chain[g] };
            if slots == all_slots::<E>() {
                // Whole vectors: one that is read right after its slots were written stalls.
                let lanes = &self.room.lanes[g * E::SLOTS..][..E::SLOTS];
                let message = &self.messages[lanes[0].job];
                let (mut blocks, mut masks) = ([message.first_block(); LANES], [message.counter_mask(); LANES]);
                let mut keys = [round_keys::<E, M>(message); LANES];
                for slot in 1..E::SLOTS {
                    let message = &self.messages[lanes[slot].job];
                    (blocks[slot], masks[slot]) = (message.first_block(), message.counter_mask());
                    if !shared {
                        keys[slot] = round_keys::<E, M>(message);
                    }
                }
                *first_blocks = engine.collect(&blocks);
                if O::HAS_KEY_STREAM {
                    self.room.counter_masks[g] = engine.collect(&masks);
                }
                if let BatchKeys::PerLane(own) = &mut self.keys {
                    engine.set_lane_keys(own, g, &keys);
                }
            } else {
                for slot in set_bits(slots) {
                    let lane = g * E::SLOTS + slot;
                    let message = &self.messages[self.room.lanes[lane].job];
                    engine.set_slot(first_blocks, slot, message.first_block());
                    if O::HAS_KEY_STREAM {
                        engine.set_slot(&mut self.room.counter_masks[g], slot, message.counter_mask());
                    }
                    if let BatchKeys::PerLane(own) = &mut self.keys {
                        engine.set_lane_key(own, lane, round_keys::<E, M>(message));
                    }
                }
            }
            if O::HAS_KEY_STREAM {
                let [zero, one] = O::first_counters(engine, *first_blocks, self.room.counter_masks[g]);
                self.room.counter_zero_blocks[g] = zero;
                copy_slots(engine, &mut self.room.state.counter[g], &one, slots);
            }
        }
    }

    /// Processes the headers of the lanes that start, and computes blocks 0 of their key streams.
    #[inline(always)]
    fn start_headers(&mut self, shared: bool, starts: &Starts) {
        // A bit for each group, set if one of its lanes starts.
        let mut groups = 0_u64;
        for g in 0..G {
            groups |= u64::from(starts.all >> (g * E::SLOTS) & all_slots::<E>() != 0) << g;
        }
        // One group takes the latency of the cipher, in which a row of all groups is nearly done.
        if G > 2 && groups.count_ones() > 2 {
            self.start_groups::<G>(shared, starts, 0);
        } else {
            for g in set_bits(groups) {
                self.start_groups::<1>(shared, starts, g);
            }
        }
    }

    /// [`Self::start_headers`] for `N` groups from `first` on.
    #[inline(always)]
    fn start_groups<const N: usize>(&mut self, shared: bool, starts: &Starts, first: usize) {
        let engine = self.engine;
        let started = starts.all & u64::MAX >> (64 - N * E::SLOTS) << (first * E::SLOTS);
        let mut x = [[engine.zero(); N]; 2];
        for g in 0..N {
            x[0][g] = self.room.first_header_blocks[first + g];
            x[1][g] = self.room.counter_zero_blocks[first + g];
        }
        encrypt(engine, &self.keys, shared, first, &mut x, &mut NoInterleave);
        let [mut chains, masks] = x;
        let mut longer = started & starts.long_headers;
        let mut index = 1;
        while longer != 0 {
            // The remaining header blocks. Lanes without one run along, and `copy_slots` keeps their chains.
            let mut next = [[engine.zero(); N]];
            let mut after = 0;
            for lane in set_bits(longer) {
                let message = &self.messages[self.room.lanes[lane].job];
                let block = message.header_block(index);
                engine.set_slot(&mut next[0][lane / E::SLOTS - first], lane % E::SLOTS, &block);
                after |= u64::from(index + 1 < message.header_blocks()) << lane;
            }
            for g in 0..N {
                next[0][g] = engine.xor(next[0][g], chains[g]);
            }
            encrypt(engine, &self.keys, shared, first, &mut next, &mut NoInterleave);
            for g in 0..N {
                copy_slots(engine, &mut chains[g], &next[0][g], longer >> ((first + g) * E::SLOTS));
            }
            longer = after;
            index += 1;
        }
        for g in 0..N {
            let slots = started >> ((first + g) * E::SLOTS);
            copy_slots(engine, &mut self.room.state.chain[first + g], &chains[g], slots);
            copy_slots(engine, &mut self.room.tag_masks[first + g], &masks[g], slots);
        }
    }

    /// Ends the lane's message. `has_data` is a constant in each caller.
    #[inline(always)]
    fn finish<O: LaneMode<E>>(&mut self, index: usize, has_data: bool) {
        let Lane { job, staged_bytes } = self.room.lanes[index];
        let message = &mut self.messages[job];
        if staged_bytes > 0 {
            let data = message.data();
            let whole = data.len() - staged_bytes;
            let tail = &mut data[whole..];
            // SAFETY: `index` is less than `LANES`, and `tail` is less than a step, which does not overlap the staging buffer.
            unsafe { copy_short::<E>(self.staging.add(index).cast(), tail.as_mut_ptr(), staged_bytes) };
        }
        let (group, slot) = (index / E::SLOTS, index % E::SLOTS);
        // Without data, the chain ends with the header.
        let row =
            if has_data { &self.room.state.history[last_block::<E>(staged_bytes)] } else { &self.room.state.chain };
        let chain = self.engine.slot(&row[group], slot);
        let mask = self.engine.slot(&self.room.tag_masks[group], slot);
        message.finish(O::DECRYPTS, &chain, &mask);
    }

    /// Wipes keys, chains and plaintext from the state.
    #[inline(always)]
    fn wipe(&mut self) {
        if let BatchKeys::PerLane(own) = &mut self.keys {
            own.zeroize();
        }
        self.room.state.wipe(self.engine);
        wipe(self.engine, &mut self.room.tag_masks);
    }
}

/// The round keys of a message of the queue.
#[inline(always)]
fn round_keys<E: Engine, M: LaneMessage>(message: &M) -> &E::RoundKeys {
    message.cipher().round_keys::<E>().unwrap_or_else(|| unreachable!("messages of other backends take no lane"))
}

/// The indices of the bits that are set.
#[inline(always)]
fn set_bits(mut bits: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let lane = bits.trailing_zeros() as usize;
        bits &= bits.wrapping_sub(1);
        (lane < 64).then_some(lane)
    })
}

/// Copies the slots whose bits are set from `new` to `vector`. Other bits than those of the slots do not count.
#[inline(always)]
fn copy_slots<E: Engine>(engine: E, vector: &mut E::Vector, new: &E::Vector, slots: u64) {
    let slots = slots & all_slots::<E>();
    if slots == all_slots::<E>() {
        *vector = *new;
        return;
    }
    for slot in set_bits(slots) {
        let block = engine.slot(new, slot);
        engine.set_slot(vector, slot, &block);
    }
}

/// A bit for each slot of a vector.
const fn all_slots<E: Engine>() -> u64 {
    u64::MAX >> (64 - E::SLOTS)
}

/// A block of `bytes` bytes 0xff followed by zeros.
#[inline(always)]
fn leading_ones<B: BlockBytes>(bytes: usize) -> B {
    const MOST: usize = 32;
    static EDGE: [u8; 2 * MOST] = {
        let mut edge = [0; 2 * MOST];
        let mut i = 0;
        while i < MOST {
            edge[i] = 0xff;
            i += 1;
        }
        edge
    };
    let mut block = B::ZERO;
    block.as_mut().copy_from_slice(&EDGE[MOST - bytes..][..B::BYTES]);
    block
}

/// Copies at most a step, without a call of memcpy.
///
/// # Safety
/// `bytes` must be at most a step. That many bytes must be readable at `from` and writable at `to`, and must not overlap.
#[inline(always)]
unsafe fn copy_short<E: Engine>(from: *const u8, to: *mut u8, bytes: usize) {
    debug_assert!(bytes <= step_bytes::<E>());
    /// Copies the first and the last bytes, which may overlap.
    #[inline(always)]
    unsafe fn ends<T>(from: *const u8, to: *mut u8, bytes: usize) {
        let last = bytes - size_of::<T>();
        // SAFETY: the caller guarantees `bytes` bytes at both pointers, at least the size of a `T`. The accesses are unaligned.
        unsafe {
            let (a, b) = (from.cast::<T>().read_unaligned(), from.add(last).cast::<T>().read_unaligned());
            to.cast::<T>().write_unaligned(a);
            to.add(last).cast::<T>().write_unaligned(b);
        }
    }
    // SAFETY: every read and write is inside the `bytes` bytes that the caller guarantees.
    unsafe {
        if bytes >= 16 {
            let mut done = 0;
            while done + 32 < bytes {
                to.add(done).cast::<u128>().write_unaligned(from.add(done).cast::<u128>().read_unaligned());
                done += 16;
            }
            ends::<u128>(from.add(done), to.add(done), bytes - done);
        } else if bytes >= 8 {
            ends::<u64>(from, to, bytes);
        } else if bytes >= 4 {
            ends::<u32>(from, to, bytes);
        } else if bytes >= 2 {
            ends::<u16>(from, to, bytes);
        } else if bytes == 1 {
            to.write(from.read());
        }
    }
}
