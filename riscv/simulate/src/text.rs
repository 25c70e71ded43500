//! The report as text for people.

use std::fmt::Write as _;

use tress_sim::timing::{Account, CacheFigures};
use tress_sim::{ProfiledFunction, ProfiledLine, Report, SecretsReport};

use tress_terminal::failure::escape;

/// The most functions that are listed.
const FUNCTIONS: usize = 12;

/// The report as lines of text.
pub(crate) fn report(report: &Report, regions: bool) -> String {
    let mut text = String::new();
    row(&mut text, "instructions", &report.instructions.to_string());
    if let Some(timing) = &report.timing {
        row(&mut text, "cycles", &report.cycles.to_string());
        row(&mut text, "ipc", &format!("{:.3}", report.ipc));
        let width = if timing.issue == 0 { "unlimited".to_owned() } else { format!("issue {}", timing.issue) };
        row(&mut text, "machine", &format!("{}, {}, {width}", timing.machine, timing.model));
    }
    if report.harts.len() > 1 {
        for (number, hart) in report.harts.iter().enumerate() {
            let mut what = instructions(hart.instructions);
            if hart.timing.is_some() {
                let _ = write!(what, " in {} cycles, ipc {:.3}", hart.cycles, hart.ipc);
            }
            row(&mut text, &format!("  hart {number}"), &what);
        }
    }
    for region in &report.regions {
        let mut what = instructions(region.instructions);
        if report.timing.is_some() {
            let _ = write!(what, " in {} cycles", region.cycles);
        }
        row(&mut text, &format!("  {}", region.name), &what);
        if regions {
            for (number, hart) in region.harts.iter().enumerate().filter(|(_, hart)| hart.cycles > 0) {
                let mut what = format!("{} in {} cycles", instructions(hart.instructions), hart.cycles);
                if report.timing.is_some() {
                    let _ = write!(what, ": {}", shares(&hart.slots));
                }
                row(&mut text, &format!("    hart {number}"), &what);
            }
        }
    }
    if let Some(secrets) = &report.secrets {
        text.push_str(&self::secrets(secrets));
    }
    let Some(timing) = &report.timing else {
        return text;
    };
    row(&mut text, "slots", &shares(&timing.slots));
    let mix: Vec<String> =
        timing.mix.iter().map(|(class, count)| format!("{class} {}", percent(*count, report.instructions))).collect();
    row(&mut text, "mix", &mix.join(", "));
    let timings = || report.harts.iter().filter_map(|hart| hart.timing.as_ref());
    let transfers: u64 = timings().map(|hart| hart.prediction.transfers).sum();
    let wrong: u64 = timings().map(|hart| hart.prediction.wrong_branches + hart.prediction.wrong_targets).sum();
    if transfers > 0 {
        row(&mut text, "mispredicted", &format!("{wrong} of {transfers} branches, jumps, calls and returns"));
    }
    caches(&mut text, "l1 code", timings().map(|hart| &hart.l1i));
    caches(&mut text, "l1 data", timings().map(|hart| &hart.l1d));
    caches(&mut text, "l2", std::iter::once(&timing.shared.l2));
    let bus = &timing.shared.bus;
    if bus.request_cycles > 0 {
        let busy = percent(bus.request_cycles, report.cycles);
        row(
            &mut text,
            "bus",
            &format!("{} requests, busy {busy}, requests waited {} cycles", bus.requests, bus.waited),
        );
    }
    if let Some(profile) = &timing.profile {
        return text + &self::profile(report, profile, &timing.lines);
    }
    for (number, function) in timing.functions.iter().take(FUNCTIONS).enumerate() {
        let what = format!(
            "{:>6} of cycles, {}: {}",
            percent(function.cycles, hart_cycles(report)),
            instructions(function.instructions),
            function.name
        );
        row(&mut text, if number == 0 { "functions" } else { "" }, &what);
    }
    text
}

/// The functions and lines of a profile.
pub(crate) fn profile(report: &Report, profile: &[ProfiledFunction], lines: &[ProfiledLine]) -> String {
    let mut text = "profile          self   total       calls  function: its slots\n".to_owned();
    for function in profile.iter().take(FUNCTIONS) {
        let share = |cycles| percent(cycles, hart_cycles(report));
        let (own, all, calls) = (share(function.spent.cycles), share(function.cycles_with_callees), function.calls);
        let source = function.source.as_ref().map_or_else(String::new, |source| format!(" ({source})"));
        let slots = shares(&function.spent.slots);
        let what = format!("{own:>8} {all:>7} {calls:>11}  {}{source}: {slots}", function.name);
        row(&mut text, "", &what);
    }
    if !lines.is_empty() {
        text += "lines            self  instructions  line\n";
    }
    for line in lines.iter().take(FUNCTIONS) {
        let own = percent(line.cycles, hart_cycles(report));
        row(&mut text, "", &format!("{own:>8} {:>13}  {}", line.instructions, line.source));
    }
    text
}

fn hart_cycles(report: &Report) -> u64 {
    report.harts.iter().map(|hart| hart.cycles).sum()
}

/// The findings about secrets.
pub(crate) fn secrets(report: &SecretsReport) -> String {
    let mut text = String::new();
    for secret in &report.marked {
        let reads = match secret.reads {
            0 => "never loaded, so not tested".to_owned(),
            reads => format!("loaded {}", times(reads)),
        };
        let what = format!("{}: {} bytes at {:#x}, {reads}", secret.name, secret.bytes, secret.address);
        row(&mut text, "secret", &what);
    }
    if report.marked.is_empty() {
        row(&mut text, "secret", "none: the program marked no bytes");
    }
    if report.findings.is_empty() {
        row(&mut text, "leaks", "none");
    }
    for finding in &report.findings {
        let mut place = format!("{:#x}", finding.address);
        if let Some(function) = &finding.function {
            let _ = write!(place, " ({function}+{:#x})", finding.offset);
        }
        if let Some(line) = &finding.source {
            let _ = write!(place, " in {line}");
        }
        let what = format!("{} at {place}, {}: {}", finding.kind, times(finding.count), finding.secrets.join(", "));
        row(&mut text, "leak", &what);
    }
    if report.left_out > 0 {
        row(
            &mut text,
            "leaks",
            &format!("{} more, in places beyond the first {}", report.left_out, report.findings.len()),
        );
    }
    text
}

fn row(text: &mut String, name: &str, what: &str) {
    // Names come from the program, so they may contain control characters.
    let _ = writeln!(text, "{name:<13} {}", escape(what));
}

fn times(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

pub(crate) fn instructions(count: u64) -> String {
    format!("{count} instruction{}", if count == 1 { "" } else { "s" })
}

fn percent(part: u64, whole: u64) -> String {
    format!("{:.1} %", if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 })
}

fn shares(slots: &Account) -> String {
    let all = slots.total();
    [
        ("retired", slots.retired),
        ("front end", slots.front_end),
        ("prediction", slots.prediction),
        ("dependence", slots.dependence),
        ("unit", slots.unit),
        ("memory", slots.memory),
        ("serial", slots.serial),
        ("idle", slots.idle),
    ]
    .into_iter()
    .filter(|(_, count)| *count > 0)
    .map(|(name, count)| format!("{name} {}", percent(count, all)))
    .collect::<Vec<_>>()
    .join(", ")
}

fn caches<'a>(text: &mut String, name: &str, figures: impl Iterator<Item = &'a CacheFigures>) {
    let mut sum = CacheFigures::default();
    for each in figures {
        sum.accesses += each.accesses;
        sum.misses += each.misses;
        sum.written_back += each.written_back;
        sum.invalidated += each.invalidated;
    }
    if sum.accesses > 0 {
        let mut what = format!("{} of {} accesses missed", sum.misses, sum.accesses);
        for (count, verb) in [(sum.written_back, "written back"), (sum.invalidated, "invalidated")] {
            if count > 0 {
                let _ = write!(what, ", {count} lines {verb}");
            }
        }
        row(text, name, &what);
    }
}
