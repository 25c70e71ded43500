//! Generates shell completions and manual pages from a command's definition, so that packages can install them.

use std::io::Write as _;
use std::path::Path;
use std::{fs, io};

use clap_complete::Shell;

use crate::{Failure, files};

/// Prints the completion script of the command `name`.
pub fn completions(shell: Shell, mut command: clap::Command, name: &str) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut script);
    files::print_bytes(&script)
}

/// Prints the manual page of a command, or writes it and the pages of its subcommands to `directory`. The files of subcommands are named
/// after `prefix`. Subcommands in `others` are separate programs with their own pages, and are skipped.
pub fn man(mut command: clap::Command, prefix: &str, others: &[&str], directory: Option<&Path>) -> Result<(), Failure> {
    let name = command.get_name().to_string();
    let Some(directory) = directory else {
        let page = page(command).map_err(|error| Failure::io(Path::new("manual page"), &error))?;
        return files::print_bytes(&page);
    };
    // Sets the full names of the subcommands.
    command.build();
    write_pages(&command, &name, prefix, others, directory)
}

/// Writes one page for the command and one for each subcommand, named as git does: `tress-raw-encrypt.1`.
fn write_pages(
    command: &clap::Command,
    name: &str,
    prefix: &str,
    others: &[&str],
    directory: &Path,
) -> Result<(), Failure> {
    let path = directory.join(format!("{name}.1"));
    let write = || {
        let page = page(command.clone().display_name(name.to_string()))?;
        let mut file = fs::File::create(&path)?;
        file.write_all(&page).inspect_err(|_| {
            if path.is_file() {
                let _ = fs::remove_file(&path); // Half a page is none.
            }
        })
    };
    write().map_err(|error| Failure::io(&path, &error))?;
    let has_page = |subcommand: &&clap::Command| !subcommand.is_hide_set() && !others.contains(&subcommand.get_name());
    for subcommand in command.get_subcommands().filter(has_page) {
        let name = format!("{prefix}-{}", subcommand.get_name());
        write_pages(subcommand, &name, &name, &[], directory)?;
    }
    Ok(())
}

fn page(command: clap::Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    let title = command.get_display_name().unwrap_or(command.get_name()).to_uppercase();
    let source = concat!("tress ", env!("CARGO_PKG_VERSION"));
    // No date, which would be the date of the build. The empty string is written explicitly, or the next field takes its position.
    let date = "\"\"";
    clap_mangen::Man::new(command).title(title).date(date).source(source).manual("Tress manual").render(&mut page)?;
    Ok(page)
}
