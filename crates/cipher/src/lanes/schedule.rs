//! Which job runs in which lane, and where its next blocks are.
//!
//! A message is a row of blocks: its header (CCM: B_0 and associated data), then its data, the last block filled with
//! zeros. Most steps lie wholly inside the data and are done in place. A step that touches the header or the end is
//! staged: put together in a buffer, and taken apart afterwards. A lane's run is a staged step, or steps in place, or
//! the first and then the second. The counter of a CCM message starts so that
//! block 0 of the key stream, which masks the tag, falls on the last block of the header.

use zeroize::Zeroize;

use super::kernel::{CBC_ENCRYPT, CCM_DECRYPT, LaneKeys, Lanes, MAX_LANES, Mode, STEP_BLOCKS, STEP_BYTES, steps};
use crate::Block;
use crate::engine::{Engine, Operation, xor_block};

/// A message to be run through the lanes.
pub(super) trait Message {
    type Cipher;
    /// The cipher with its key.
    fn cipher(&self) -> &Self::Cipher;
    /// Not yet done.
    fn is_pending(&self) -> bool;
    /// The data; its bytes are read and written through the pointer from `start` to `finish`.
    fn data(&mut self) -> &mut [u8];
    /// Blocks before the data.
    fn header_blocks(&self) -> usize;
    /// One of them.
    fn header_block(&self, index: usize) -> Block;
    /// The chain before the first block, and counter block 0.
    fn start(&self) -> (Block, Block);
    /// The message is done: the chain's end, and block 0 of the key stream.
    fn finish(&mut self, chain: &Block, mask: &Block);
}

/// Most steps in place of a run, so that `left` has 32 bits; a message of 2^38 bytes gets attention in between.
const MAX_COUNT: usize = u32::MAX as usize - 2;

/// One lane's message.
#[derive(Clone, Copy)]
struct Lane {
    /// Index of the job; `None` for an idle lane.
    job: Option<usize>,
    data: *mut u8,
    data_bytes: usize,
    header_blocks: usize,
    /// Blocks of the message.
    blocks: usize,
    /// Blocks before the run at hand; always a multiple of `STEP_BLOCKS`.
    done: usize,
    /// Blocks before the next run.
    next: usize,
    /// The first step of the run at hand is staged.
    staged: bool,
    /// Block 0 of the key stream, once it is known; until then, the header block that it falls on.
    mask: Block,
}

const IDLE: Lane = Lane {
    job: None,
    data: core::ptr::null_mut(),
    data_bytes: 0,
    header_blocks: 0,
    blocks: 0,
    done: 0,
    next: 0,
    staged: false,
    mask: [0; 16],
};

/// Runs every pending message whose key fits the engine and the number of rounds of the key that it is called with.
pub(super) struct Schedule<'j, M, const MODE: Mode> {
    pub messages: &'j mut [M],
    /// All messages have this one key.
    pub shared: bool,
}

impl<M: Message, const MODE: Mode> Operation<M::Cipher> for Schedule<'_, M, MODE> {
    type Output = ();

    #[inline(always)]
    fn call<E: Engine<Cipher = M::Cipher>, const FLIGHT: usize>(self, engine: E, keys: &E::Keys) {
        let mut own;
        let keys_of_lanes = if self.shared {
            LaneKeys::Shared(keys)
        } else {
            own = engine.lane_keys();
            LaneKeys::Own(&mut own)
        };
        let mut staging = Staging([[0; STEP_BYTES]; MAX_LANES]);
        let mut run = Run::<'_, '_, E, M, MODE> {
            engine,
            rounds: E::rounds(keys),
            keys: keys_of_lanes,
            messages: self.messages,
            next_message: 0,
            lanes: [IDLE; MAX_LANES],
            left: [u32::MAX; MAX_LANES],
            ragged: false,
            stale: 0,
            busy: 0,
            state: Lanes::new(),
            staging: staging.0.as_mut_ptr(),
        };
        run.all::<FLIGHT>(self.shared);
        run.wipe();
        staging.0.as_flattened_mut().zeroize();
    }
}

/// A step of each lane, for steps whose blocks do not stand in a row in the message.
#[repr(align(64))]
struct Staging([[u8; STEP_BYTES]; MAX_LANES]);

struct Run<'k, 'j, E: Engine, M, const MODE: Mode> {
    engine: E,
    rounds: usize,
    keys: LaneKeys<'k, E>,
    messages: &'j mut [M],
    /// All messages before it were taken or do not fit.
    next_message: usize,
    lanes: [Lane; MAX_LANES],
    /// Steps until the lane needs attention.
    left: [u32; MAX_LANES],
    /// The next step of some lane is staged.
    ragged: bool,
    /// Lanes that go on in place after their staged step, as bits.
    stale: u32,
    /// Lanes with a message.
    busy: usize,
    state: Lanes,
    /// The first lane's part of the `Staging`, which is reached through this pointer alone.
    staging: *mut [u8; STEP_BYTES],
}

impl<E: Engine<Cipher = M::Cipher>, M: Message, const MODE: Mode> Run<'_, '_, E, M, MODE> {
    #[inline(always)]
    fn all<const G: usize>(&mut self, shared: bool) {
        let width = G * E::SLOTS;
        for lane in 0..width {
            self.prepare(lane);
        }
        while self.busy > 0 {
            let ragged = core::mem::take(&mut self.ragged);
            let left = &mut self.left[..width];
            let count = left.iter().fold(u32::MAX, |least, &left| least.min(left));
            // SAFETY: `prepare` set every pointer to `count` steps inside its message, or to the lane's staging with
            // stride 0; messages are exclusively borrowed and untouched while they run.
            unsafe {
                if shared {
                    steps::<E, G, MODE>(self.engine, &self.keys, true, &mut self.state, count as usize, ragged);
                } else {
                    steps::<E, G, MODE>(self.engine, &self.keys, false, &mut self.state, count as usize, ragged);
                }
            }
            self.forget_staging();
            let left = &mut self.left[..width];
            let mut events = 0u32;
            for (lane, left) in left.iter_mut().enumerate() {
                *left -= count;
                events |= u32::from(*left == 0) << lane;
            }
            while events != 0 {
                let lane = events.trailing_zeros() as usize;
                events &= events - 1;
                self.attend(lane);
                self.prepare(lane);
            }
            // An idle lane never needs attention.
            for lane in 0..width {
                if self.lanes[lane].job.is_none() {
                    self.left[lane] = u32::MAX;
                }
            }
        }
    }

    /// Staged steps are over: what their lanes do next is all message.
    #[inline(always)]
    fn forget_staging(&mut self) {
        let mut stale = core::mem::take(&mut self.stale);
        while stale != 0 {
            for row in &mut self.state.message {
                row[stale.trailing_zeros() as usize] = [0xff; 16];
            }
            stale &= stale - 1;
        }
    }

    /// After a run: takes its staged step apart and ends the message if it was the last.
    #[inline]
    fn attend(&mut self, index: usize) {
        let lane = &mut self.lanes[index];
        let Some(job) = lane.job else { return };
        if lane.staged {
            // SAFETY: `index` is a lane, and nothing else refers to its part of the staging.
            let staging = unsafe { &*self.staging.add(index) };
            let header = lane.header_blocks.saturating_sub(lane.done).min(STEP_BLOCKS);
            if header > 0 && lane.done + header == lane.header_blocks {
                xor_block(&mut lane.mask, &staging[16 * (header - 1)..16 * header]);
            }
            let start = 16 * (lane.done + header - lane.header_blocks.min(lane.done + header));
            let bytes = (STEP_BYTES - 16 * header).min(lane.data_bytes.saturating_sub(start));
            if lane.done + header >= lane.header_blocks && bytes > 0 {
                // SAFETY: `start + bytes <= data_bytes`, and the data does not overlap the staging.
                let data = unsafe { core::slice::from_raw_parts_mut(lane.data.add(start), bytes) };
                let rest = &staging[16 * header..];
                match <&mut [u8; STEP_BYTES - 16]>::try_from(&mut *data) {
                    Ok(data) if header == 1 => data.copy_from_slice(rest),
                    _ => data.copy_from_slice(&rest[..bytes]),
                }
            }
        }
        lane.done = lane.next;
        if lane.done >= lane.blocks {
            let chain = self.state.history[(lane.blocks - 1) % STEP_BLOCKS][index];
            self.messages[job].finish(&chain, &lane.mask);
            lane.job = None;
            self.busy -= 1;
        }
    }

    /// Before a run: says where the lane's next blocks are, with a new message if the last one has ended.
    #[inline]
    fn prepare(&mut self, index: usize) {
        if self.lanes[index].job.is_none() && !self.take(index) {
            let lane = &mut self.lanes[index];
            lane.staged = false;
            self.left[index] = u32::MAX;
            self.stay(index);
            return;
        }
        let lane = &mut self.lanes[index];
        let position = 16 * lane.done.saturating_sub(lane.header_blocks);
        let whole = (lane.data_bytes - position.min(lane.data_bytes)) / STEP_BYTES;
        if lane.done >= lane.header_blocks && whole > 0 {
            if MODE == CCM_DECRYPT && (lane.staged || lane.done == 0) {
                for row in &mut self.state.message {
                    row[index] = [0xff; 16];
                }
            }
            lane.staged = false;
            let count = whole.min(MAX_COUNT);
            lane.next = lane.done + STEP_BLOCKS * count;
            self.left[index] = count as u32;
            self.state.pointers[index] = lane.data.wrapping_add(position);
            self.state.second[index] = lane.data.wrapping_add(position + STEP_BYTES);
            self.state.strides[index] = STEP_BYTES;
            return;
        }

        // SAFETY: `index` is a lane, and nothing else refers to its part of the staging.
        let staging = unsafe { &mut *self.staging.add(index) };
        let header = lane.header_blocks.saturating_sub(lane.done).min(STEP_BLOCKS);
        if let Some(job) = lane.job {
            for i in 0..header {
                let block = self.messages[job].header_block(lane.done + i);
                staging[16 * i..16 * (i + 1)].copy_from_slice(&block);
                lane.mask = block;
            }
        }
        let rest = &mut staging[16 * header..];
        let bytes = rest.len().min(lane.data_bytes - position);
        // SAFETY: `position + bytes <= data_bytes`, and the data does not overlap the staging.
        let data = unsafe { core::slice::from_raw_parts(lane.data.add(position), bytes) };
        match <&[u8; STEP_BYTES - 16]>::try_from(data) {
            // The usual start of a message, without a call.
            Ok(data) if header == 1 => rest.copy_from_slice(data),
            _ => {
                rest[..bytes].copy_from_slice(data);
                rest[bytes..].fill(0);
            }
        }
        if MODE == CCM_DECRYPT {
            for (j, row) in self.state.message.iter_mut().enumerate() {
                // Bytes of message in this block.
                let filled = bytes.saturating_sub(16 * j.saturating_sub(header)).min(16);
                let ones = u128::MAX.checked_shr(128 - 8 * filled as u32).unwrap_or(0);
                row[index] = if j < header { [0; 16] } else { ones.to_le_bytes() };
            }
        }
        lane.staged = true;
        lane.next = lane.done + STEP_BLOCKS;
        self.ragged = true;
        self.left[index] = 1;
        // What stands between this step and the end goes on in place.
        let position = position + bytes;
        let whole = (lane.data_bytes - position) / STEP_BYTES;
        if lane.next >= lane.header_blocks && whole > 0 {
            let count = whole.min(MAX_COUNT);
            lane.next += STEP_BLOCKS * count;
            self.left[index] += count as u32;
            let second = lane.data.wrapping_add(position);
            self.stay(index);
            self.state.second[index] = second;
            self.state.strides[index] = STEP_BYTES;
            if MODE == CCM_DECRYPT {
                self.stale |= 1 << index;
            }
        } else {
            self.stay(index);
        }
    }

    /// The lane's steps are in its staging.
    #[inline(always)]
    fn stay(&mut self, index: usize) {
        let staging = self.staging.wrapping_add(index).cast();
        self.state.pointers[index] = staging;
        self.state.second[index] = staging;
        self.state.strides[index] = 0;
    }

    /// Puts the next message into an idle lane; false if there is none.
    #[inline]
    fn take(&mut self, index: usize) -> bool {
        while let Some(message) = self.messages.get_mut(self.next_message) {
            let job = self.next_message;
            self.next_message += 1;
            if !message.is_pending() {
                continue;
            }
            let Some(keys) = E::keys_of(message.cipher()).filter(|keys| E::rounds(keys) == self.rounds) else {
                continue;
            };
            let header_blocks = message.header_blocks();
            let (chain, mut counter) = message.start();
            if let LaneKeys::Own(own) = &mut self.keys {
                self.engine.set_lane_key(own, index, keys);
            }
            let data = message.data();
            let (data, data_bytes) = (data.as_mut_ptr(), data.len());
            let blocks = header_blocks + data_bytes.div_ceil(16);
            if blocks == 0 {
                message.finish(&chain, &[0; 16]);
                continue;
            }
            if MODE != CBC_ENCRYPT {
                // So that counter block 0 falls on the last block of the header. Modulo 2^64; what it borrows from the
                // nonce comes back before it is used.
                let number = u128::from_be_bytes(counter);
                let low = (number as u64).wrapping_sub(header_blocks as u64 - 1);
                counter = ((number >> 64 << 64) | u128::from(low)).to_le_bytes();
                self.state.counter[index] = counter;
            }
            self.state.chain[index] = chain;
            self.lanes[index] = Lane { job: Some(job), data, data_bytes, header_blocks, blocks, ..IDLE };
            self.busy += 1;
            return true;
        }
        false
    }

    /// Wipes what the lanes leave of keys, chains and plaintext.
    fn wipe(&mut self) {
        if let LaneKeys::Own(own) = &mut self.keys {
            own.zeroize();
        }
        let state = &mut self.state;
        for row in [&mut state.chain, &mut state.counter].into_iter().chain(&mut state.history) {
            row.as_flattened_mut().zeroize();
        }
        for lane in &mut self.lanes {
            lane.mask.zeroize();
        }
    }
}
