//! Errors in the command line, in the same form as all other errors.

use std::error::Error as _;
use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::failure::{FAILED, Failure, WRONG_USE};
use crate::files;

/// Prints help and version to standard output, or the error to standard error.
pub fn report(error: &clap::Error, root: Command) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // The parser prints with colours to a terminal. Its handle ignores that standard output is closed, and does not wait for it.
            let printed = match io::stdout().is_terminal() {
                true => error.print().map_err(|error| Failure::stdout(&error)),
                false => files::print(&error.render().to_string()),
            };
            match printed {
                Ok(()) => ExitCode::SUCCESS,
                Err(failure) => {
                    failure.print();
                    ExitCode::from(FAILED)
                }
            }
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            ExitCode::from(WRONG_USE)
        }
        _ => {
            let arguments = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
            let hint = hint(error, root, arguments);
            Failure::wrong_use(message(error)).hint(hint).print();
            ExitCode::from(WRONG_USE)
        }
    }
}

fn message(error: &clap::Error) -> String {
    match (error.kind(), context_texts(error, ContextKind::InvalidSubcommand).pop()) {
        (ErrorKind::InvalidSubcommand, Some(name)) => return format!("unknown command '{name}'"),
        (ErrorKind::MissingSubcommand, _) => return "no command given".into(),
        _ => {}
    }
    // The parser's own text would repeat the key.
    if error.kind() == ErrorKind::ValueValidation
        && let Some(argument) = context_texts(error, ContextKind::InvalidArg).pop()
        && argument.starts_with("--key ")
        && let Some(cause) = error.source()
    {
        return format!("invalid value for '{argument}': {cause}");
    }
    let text = error.render().to_string();
    let paragraph: Vec<&str> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    let paragraph = paragraph.join(" ");
    // `<IN>...` means one or more; in the message it would look like an unfinished sentence.
    let paragraph = paragraph.strip_suffix("...").unwrap_or(&paragraph);
    let paragraph = paragraph.strip_prefix("error: ").unwrap_or(paragraph);
    // The parser formats ranges in Rust's syntax.
    match paragraph.rsplit_once(" is not in ") {
        Some((start, range)) => {
            format!("{start} is not in the range {}", range.replace("..=", " to ").replace("..", " to "))
        }
        None => paragraph.to_string(),
    }
}

/// The hint for this error, given the command `root` and its arguments.
pub fn hint(error: &clap::Error, root: Command, arguments: impl Iterator<Item = String>) -> String {
    let (command, name) = command(root, arguments);
    if let Some(meant) = suggestion(error, &command) {
        return format!("did you mean '{meant}'?");
    }
    let what = if command.is_subcommand_required_set() { "commands" } else { "options" };
    format!("run '{name} --help' for a list of {what}")
}

/// Finds the subcommand that the arguments name, and its full name: `tress raw encrypt`.
fn command(mut command: Command, arguments: impl Iterator<Item = String>) -> (Command, String) {
    command.build();
    let mut name = command.get_bin_name().unwrap_or(command.get_name()).to_string();
    for argument in arguments.skip_while(|argument| argument.starts_with('-')) {
        let Some(subcommand) = command.find_subcommand(&argument).cloned() else { break };
        name = format!("{name} {argument}");
        command = subcommand;
    }
    (command, name)
}

/// The command, option or value that was probably meant. The parser's own choice does not consider swapped letters.
fn suggestion(error: &clap::Error, command: &Command) -> Option<String> {
    let (typed, known, suggested) = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let visible = command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set());
            let known = visible.map(|subcommand| subcommand.get_name().to_string()).collect();
            (ContextKind::InvalidSubcommand, known, ContextKind::SuggestedSubcommand)
        }
        ErrorKind::UnknownArgument => {
            let options = command.get_arguments().filter(|option| !option.is_hide_set());
            let known = options.filter_map(|option| Some(format!("--{}", option.get_long()?))).collect();
            (ContextKind::InvalidArg, known, ContextKind::SuggestedArg)
        }
        ErrorKind::InvalidValue => {
            (ContextKind::InvalidValue, context_texts(error, ContextKind::ValidValue), ContextKind::SuggestedValue)
        }
        _ => return None,
    };
    let typed = context_texts(error, typed).pop()?;
    // The parser's best suggestion is its last one.
    nearest(&typed, known).into_iter().next().or_else(|| context_texts(error, suggested).pop())
}

/// The names that begin with what was typed or differ from it in few letters, the nearest first, at most three.
pub fn nearest(typed: &str, known: impl IntoIterator<Item = String>) -> Vec<String> {
    let typed = typed.to_lowercase();
    let letters = typed.trim_start_matches('-').chars().count();
    let distance = |name: &str| {
        if letters > 1 && name.starts_with(&typed) { 1 } else { strsim::damerau_levenshtein(&typed, name) }
    };
    let mut near: Vec<(usize, String)> = known.into_iter().map(|name| (distance(&name), name)).collect();
    near.sort();
    near.into_iter().filter(|(distance, _)| *distance <= (letters / 3).max(1)).take(3).map(|(_, name)| name).collect()
}

fn context_texts(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(context_texts)) => context_texts.clone(),
        _ => Vec::new(),
    }
}
