//! Where the cycles of a run go: a tree of calls, with what each function spends in each place of it.
//!
//! A call pushes the address to which it returns, and a jump there returns. A jump out of a function without either is a
//! call whose caller is the function's caller (a tail call). A trap is a call of its handler.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::ops::Range;

use crate::elf::{Image, Symbol};
use crate::lines::{Of, SourceLine};
use crate::report::{ProfiledFunction, ProfiledLine, Spent};
use crate::retired::{Class, Retired};

/// The most calls that are followed on a stack, the most places in the tree, the most names in all of its stacks, and the most
/// instructions that are counted.
const MAX_DEPTH: usize = 512;
const MAX_NODES: usize = 1 << 17;
const MAX_NAMES: usize = 1 << 20;
const MAX_ADDRESSES: usize = 1 << 20;
/// The function of the places from which the harts start.
const NO_FUNCTION: usize = usize::MAX;

/// A function at a place in the tree of calls.
#[derive(Clone, Debug)]
struct Node {
    parent: usize,
    /// Number of its callers.
    depth: usize,
    /// Index of its symbol.
    function: usize,
    calls: u64,
    spent: Spent,
}

#[derive(Debug)]
struct Frame {
    caller: usize,
    /// `None` for a trap.
    returns_to: Option<u64>,
}

#[derive(Debug)]
struct Current {
    node: usize,
    /// The addresses of its function.
    range: Range<u64>,
    frames: Vec<Frame>,
    /// What the hart had spent when it came here.
    since: Spent,
}

#[derive(Debug)]
pub(crate) struct Profile {
    /// The first ones are the roots of the harts.
    nodes: Vec<Node>,
    children: HashMap<(usize, usize), usize>,
    /// Sum of the nodes' depths.
    names: usize,
    /// How often the instruction at an address ran, and its cycles.
    instructions: HashMap<u64, (u64, u64)>,
    harts: Vec<Current>,
}

impl Profile {
    pub(crate) fn new(image: &Image, harts: usize) -> Profile {
        let root = |hart| Node { parent: hart, depth: 0, function: NO_FUNCTION, calls: 0, spent: Spent::default() };
        let nodes = (0..harts).map(root).collect();
        let (children, instructions) = (HashMap::new(), HashMap::new());
        let mut profile = Profile { nodes, children, names: 0, instructions, harts: Vec::new() };
        let (range, function) = image.function_at(image.entry);
        for hart in 0..harts {
            let node = profile.child(hart, function);
            profile.harts.push(Current { node, range: range.clone(), frames: Vec::new(), since: Spent::default() });
        }
        profile
    }

    /// Counts an instruction, or no instruction if it trapped, and the cycles since the one before it.
    pub(crate) fn count(&mut self, address: u64, instructions: u64, cycles: u64) {
        if self.instructions.len() < MAX_ADDRESSES || self.instructions.contains_key(&address) {
            let (runs, spent) = self.instructions.entry(address).or_default();
            (*runs, *spent) = (*runs + instructions, *spent + cycles);
        }
    }

    /// Follows a step. `spent` gives what the hart has spent up to and with it.
    #[inline]
    pub(crate) fn follow(
        &mut self,
        hart: usize,
        retired: &Retired,
        is_trap: bool,
        image: &Image,
        spent: impl FnOnce() -> Spent,
    ) {
        use Class::{Call, IndirectJump, Return, System};
        let moves = matches!(retired.class, Call | Return | IndirectJump | System);
        if moves && retired.is_taken() || !self.harts[hart].range.contains(&retired.next_pc) {
            self.move_to(hart, retired, is_trap, image, &spent());
        }
    }

    #[cold]
    fn move_to(&mut self, hart: usize, retired: &Retired, is_trap: bool, image: &Image, spent: &Spent) {
        self.spend(hart, spent);
        let current = &mut self.harts[hart];
        let (next, here) = (retired.next_pc, current.node);
        let is_call = is_trap || retired.class == Class::Call;
        let (range, function) = image.function_at(next);
        let returns = |frame: &Frame| match frame.returns_to {
            Some(address) => address == next,
            None => retired.class == Class::System,
        };
        let parent = if is_call {
            if current.frames.len() < MAX_DEPTH {
                let returns_to = (!is_trap).then(|| retired.pc.wrapping_add(retired.size.into()));
                current.frames.push(Frame { caller: here, returns_to });
            }
            here
        } else if let Some(at) = current.frames.iter().rposition(returns) {
            let caller = current.frames[at].caller;
            current.frames.truncate(at);
            if self.nodes[caller].function == function {
                (current.node, current.range) = (caller, range);
                return;
            }
            self.nodes[caller].parent
        } else if self.nodes[here].function == function {
            current.range = range;
            return;
        } else {
            self.nodes[here].parent
        };
        let node =
            if is_call && self.harts[hart].frames.len() == MAX_DEPTH { here } else { self.child(parent, function) };
        self.nodes[node].calls += u64::from(is_call);
        (self.harts[hart].node, self.harts[hart].range) = (node, range);
    }

    /// Adds what a hart has spent since it came to its place.
    pub(crate) fn spend(&mut self, hart: usize, spent: &Spent) {
        let current = &mut self.harts[hart];
        self.nodes[current.node].spent.add(&spent.since(&current.since));
        current.since = *spent;
    }

    /// A function's place below another one, or that one if there are too many.
    fn child(&mut self, parent: usize, function: usize) -> usize {
        let nodes = &mut self.nodes;
        if nodes.len() == MAX_NODES || self.names >= MAX_NAMES {
            return *self.children.get(&(parent, function)).unwrap_or(&parent);
        }
        *self.children.entry((parent, function)).or_insert_with(|| {
            let depth = nodes[parent].depth + 1;
            self.names += depth;
            nodes.push(Node { parent, depth, function, calls: 0, spent: Spent::default() });
            nodes.len() - 1
        })
    }

    /// The functions of a node and of its callers, from the inner ones to the outer ones.
    fn stack(&self, mut node: usize) -> impl Iterator<Item = usize> {
        std::iter::from_fn(move || {
            let Node { parent, function, .. } = self.nodes[node];
            node = parent;
            (function != NO_FUNCTION).then_some(function)
        })
    }

    /// The functions, sorted by their own cycles in descending order.
    pub(crate) fn functions(&self, image: &Image) -> Vec<ProfiledFunction> {
        let mut functions: HashMap<usize, ProfiledFunction> = HashMap::new();
        let starts = self.nodes.iter().filter_map(|node| image.symbols().get(node.function));
        let lines = image.lines.find(starts.map(|symbol| symbol.address), Of::Function);
        let source = |symbol: &Symbol| lines.get(&symbol.address).cloned();
        for (number, node) in self.nodes.iter().enumerate().filter(|(_, node)| node.function != NO_FUNCTION) {
            let mut seen = Vec::new();
            for function in self.stack(number) {
                // A function that calls itself counts once.
                if seen.contains(&function) {
                    continue;
                }
                seen.push(function);
                let entry = functions.entry(function).or_insert_with(|| ProfiledFunction {
                    name: image.name(function),
                    source: image.symbols().get(function).and_then(source),
                    ..ProfiledFunction::default()
                });
                entry.cycles_with_callees += node.spent.cycles;
            }
            if let Some(entry) = functions.get_mut(&node.function) {
                entry.calls += node.calls;
                entry.spent.add(&node.spent);
            }
        }
        let mut functions: Vec<_> = functions.into_values().collect();
        functions.sort_by(|a, b| (b.spent.cycles, &a.name).cmp(&(a.spent.cycles, &b.name)));
        functions
    }

    /// The lines of the source, sorted by cycles in descending order. Inlined functions count where they are written.
    pub(crate) fn lines(&self, image: &Image) -> Vec<ProfiledLine> {
        let sources = image.lines.find(self.instructions.keys().copied(), Of::Instruction);
        let mut lines = BTreeMap::<_, (u64, u64)>::new();
        for (address, source) in &sources {
            let ((runs, cycles), line) = (self.instructions[address], lines.entry(source).or_default());
            *line = (line.0 + runs, line.1 + cycles);
        }
        let line =
            |(source, (instructions, cycles))| ProfiledLine { source: SourceLine::clone(source), instructions, cycles };
        let mut lines: Vec<_> = lines.into_iter().map(line).collect();
        lines.sort_by_key(|line| std::cmp::Reverse(line.cycles));
        lines
    }

    /// A line for each stack, from the outer functions to the inner ones, with the cycles of the last one itself.
    pub(crate) fn folded(&self, image: &Image) -> String {
        let mut text = String::new();
        for (number, node) in self.nodes.iter().enumerate().filter(|(_, node)| node.spent.cycles > 0) {
            // Semicolons are between functions.
            let name = |function| image.name(function).replace(|c: char| c == ';' || c.is_control(), ",");
            let mut names: Vec<String> = self.stack(number).map(name).collect();
            names.reverse();
            let _ = writeln!(text, "{} {}", names.join(";"), node.spent.cycles);
        }
        text
    }
}
