//! Wrong use that the parser finds, said the way all other errors are said.

use std::{error::Error as _, process::ExitCode};

use clap::{
    CommandFactory as _,
    error::{ContextKind, ContextValue, ErrorKind},
};

use crate::{
    args::Cli,
    failure::{Failure, WRONG_USE},
};

/// Prints help, the version or the error, each where it belongs.
pub(crate) fn report(error: &clap::Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // A closed pipe (`tress --help | head -1`) is no failure here.
            let _ = error.print();
            ExitCode::SUCCESS
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            ExitCode::from(WRONG_USE)
        }
        _ => {
            Failure::wrong_use(message(error)).hint(hint(error)).print();
            ExitCode::from(WRONG_USE)
        }
    }
}

fn message(error: &clap::Error) -> String {
    // The parser's own text would repeat the key.
    if error.kind() == ErrorKind::ValueValidation
        && let Some(argument) = text(error, ContextKind::InvalidArg)
        && argument.starts_with("--key ")
        && let Some(cause) = error.source()
    {
        return format!("invalid value for '{argument}': {cause}");
    }
    let text = error.render().to_string();
    let paragraph: Vec<&str> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    let paragraph = paragraph.join(" ");
    // `<IN>...` is one or more; here it would only look like an unfinished sentence.
    let paragraph = paragraph.strip_suffix("...").unwrap_or(&paragraph);
    paragraph.strip_prefix("error: ").unwrap_or(paragraph).to_string()
}

fn hint(error: &clap::Error) -> String {
    let suggestions = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue];
    if let Some(suggestion) = suggestions.into_iter().find_map(|kind| text(error, kind)) {
        return format!("did you mean '{suggestion}'?");
    }
    format!("'{} --help' tells more", verb())
}

/// The command as far as it was understood: `tress raw encrypt`.
fn verb() -> String {
    let mut command = Cli::command();
    let mut name = String::from("tress");
    for argument in std::env::args().skip(1) {
        let Some(verb) = command.find_subcommand(&argument).cloned() else { break };
        name = format!("{name} {}", verb.get_name());
        command = verb;
    }
    name
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => texts.first().cloned(),
        _ => None,
    }
}
