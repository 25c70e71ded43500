//! `tress completions` and `tress man`: made from the definition in `args`, so that packages can install them.

use std::{fs, io, path::Path};

use crate::{args, failure::Failure, files};

pub(crate) fn completions(options: &args::Completions) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut args::command(), "tress", &mut script);
    files::print_bytes(&script)
}

pub(crate) fn man(options: &args::Man) -> Result<(), Failure> {
    let Some(directory) = &options.directory else {
        let page = page(args::command()).map_err(|error| Failure::io(Path::new("tress.1"), &error))?;
        return files::print_bytes(&page);
    };
    let mut root = args::command();
    // Gives the pages of the verbs their full names.
    root.build();
    write_pages(&root, "tress", directory)
}

/// One page for the command and one for each verb below it, named like git's: `tress-raw-encrypt.1`.
fn write_pages(command: &clap::Command, name: &str, directory: &Path) -> Result<(), Failure> {
    let path = directory.join(format!("{name}.1"));
    let write = || fs::write(&path, page(command.clone().display_name(name.to_string()))?);
    write().map_err(|error| Failure::io(&path, &error))?;
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        write_pages(verb, &format!("{name}-{}", verb.get_name()), directory)?;
    }
    Ok(())
}

fn page(command: clap::Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    let title = command.get_display_name().unwrap_or(command.get_name()).to_uppercase();
    let source = concat!("tress ", env!("CARGO_PKG_VERSION"));
    // No date, which would be that of the build. An empty one has to be written out, or what follows takes its place.
    let date = "\"\"";
    clap_mangen::Man::new(command).title(title).date(date).source(source).manual("Tress manual").render(&mut page)?;
    Ok(page)
}
