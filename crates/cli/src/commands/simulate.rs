//! `tress simulate`: a program on a simulated machine.

use std::{
    fs::File,
    io::{self, LineWriter, Read, Write},
    path::Path,
};

use tress_sim::{Error, ErrorKind, Image, Platform, Report, System};

use super::cancellable;
use crate::{args, failure::Failure, files, progress::Instructions};

/// Instructions between two looks at whether somebody wants it to end.
const SLICE: u64 = 5_000_000;
/// Programs for bare machines are smaller.
const MAX_PROGRAM_BYTES: u64 = 1 << 30;

pub(crate) fn run(options: &args::Simulate) -> Result<(), Failure> {
    let program = &options.program;
    let failed = |error: Error| Failure::simulation(&error, program);
    let image = Image::parse(&read(program)?).map_err(failed)?;
    let progress = Instructions::start();
    let console = Console { to_stderr: options.json, progress: progress.clone() };
    let console = Box::new(LineWriter::new(console));
    let platform = Platform::generic(image.xlen, options.harts.into());
    let mut system = System::new(&platform, image, console).map_err(failed)?;
    let outcome = cancellable(|control| {
        loop {
            let left = options.limit.map_or(SLICE, |limit| limit.saturating_sub(system.instructions()));
            let exit_code = system.run(left.min(SLICE)).map_err(failed)?;
            system.bus.flush_console().map_err(failed)?;
            if let Some(exit_code) = exit_code {
                return Ok(exit_code);
            }
            if control.is_cancelled() {
                return Err(tress_stream::Error::new(tress_stream::ErrorKind::Interrupted).into());
            }
            if let Some(limit) = options.limit
                && system.instructions() >= limit
            {
                return Err(failed(system.stopped(ErrorKind::Limit(limit))));
            }
            progress.show(system.instructions());
        }
    });
    // What it has printed comes before what is said about it.
    let flushed = system.bus.flush_console().map_err(failed);
    progress.end();
    let exit_code = outcome?;
    flushed?;
    print(options, &system.report(exit_code))?;
    if exit_code != 0 {
        return Err(Failure::failed(format!("{}: the program's exit code is {exit_code}", program.display())));
    }
    Ok(())
}

fn print(options: &args::Simulate, report: &Report) -> Result<(), Failure> {
    if options.json {
        return files::print_json(report);
    }
    let mut text = format!("instructions  {}\n", report.instructions);
    if report.harts.len() > 1 {
        for (number, hart) in report.harts.iter().enumerate() {
            text.push_str(&format!("  hart {number:<6} {}\n", hart.instructions));
        }
    }
    for region in &report.regions {
        text.push_str(&format!("  {:<11} {}\n", region.name, region.instructions));
    }
    files::print(&text)
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let io = |error: io::Error| Failure::io(path, &error);
    let mut bytes = Vec::new();
    let input: Box<dyn Read> =
        if path == Path::new("-") { Box::new(io::stdin().lock()) } else { Box::new(File::open(path).map_err(io)?) };
    input.take(MAX_PROGRAM_BYTES + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > MAX_PROGRAM_BYTES {
        return Err(Failure::failed(format!("{}: longer than a program can be", path.display())));
    }
    Ok(bytes)
}

/// Where the program prints to.
struct Console {
    to_stderr: bool,
    progress: Instructions,
}

impl Write for Console {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let write = || if self.to_stderr { io::stderr().write(bytes) } else { io::stdout().write(bytes) };
        self.progress.aside(write)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.to_stderr { io::stderr().flush() } else { io::stdout().flush() }
    }
}
