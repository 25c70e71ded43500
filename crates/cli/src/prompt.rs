//! Questions on the terminal, even if standard input and output are redirected.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use tress_container::keys::Ask;
use zeroize::Zeroizing;

use crate::failure::{self, Failure, escape};

/// Asks for a secret without echoing the input.
pub(crate) fn secret(question: &str) -> Result<Zeroizing<String>, Failure> {
    system::secret(question)
}

/// Restores the terminal if a prompt is open, and returns whether one was. Called before the process dies by a signal.
pub(crate) fn restore_terminal() -> bool {
    #[cfg(unix)]
    return system::restore_terminal();
    #[cfg(not(unix))]
    false
}

/// Switches the echo off again and repeats the question, if a prompt is open. Called when the stopped process continues.
pub(crate) fn resume() {
    #[cfg(unix)]
    system::resume();
}

fn no_terminal(error: &std::io::Error) -> Failure {
    Failure::io(Path::new("terminal"), error).hint("use --passphrase-file or --passphrase-fd")
}

#[cfg(unix)]
mod system {
    use std::fs::{File, OpenOptions};
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use rustix::termios::{self, LocalModes, OptionalActions, Termios};
    use zeroize::Zeroizing;

    use super::no_terminal;
    use crate::failure::Failure;
    use crate::passphrase;

    /// Longest line in bytes that a terminal delivers in line mode.
    const LINE_BYTES: usize = 4096;

    /// The open prompt, so that signals can restore the terminal and ask again.
    static OPEN: Mutex<Option<OpenPrompt>> = Mutex::new(None);

    struct OpenPrompt {
        terminal: File,
        /// The terminal's state before the prompt.
        before: Termios,
        question: String,
    }

    impl OpenPrompt {
        /// Switches the echo off, discards input that was typed before, and prints the question.
        fn ask(&mut self) -> std::io::Result<()> {
            let mut silent = self.before.clone();
            silent.local_modes.remove(LocalModes::ECHO);
            silent.local_modes.insert(LocalModes::ICANON | LocalModes::ISIG);
            termios::tcsetattr(&self.terminal, OptionalActions::Flush, &silent)?;
            self.terminal.write_all(self.question.as_bytes())
        }
    }

    fn open_prompt() -> MutexGuard<'static, Option<OpenPrompt>> {
        OPEN.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn restore_terminal() -> bool {
        match open_prompt().take() {
            Some(OpenPrompt { mut terminal, before, .. }) => {
                let _ = termios::tcsetattr(&terminal, OptionalActions::Now, &before);
                let _ = terminal.write_all(b"\n");
                true
            }
            None => false,
        }
    }

    pub(super) fn resume() {
        if let Some(prompt) = &mut *open_prompt() {
            let _ = prompt.ask();
        }
    }

    pub(super) fn secret(question: &str) -> Result<Zeroizing<String>, Failure> {
        let terminal = open().map_err(|error| no_terminal(&error))?;
        let read = || {
            let before = termios::tcgetattr(&terminal)?;
            open_prompt()
                .insert(OpenPrompt { terminal: terminal.try_clone()?, before, question: question.into() })
                .ask()?;
            let mut line = Zeroizing::new(Vec::with_capacity(LINE_BYTES));
            BufReader::with_capacity(1, &terminal).take(LINE_BYTES as u64).read_until(b'\n', &mut line)?;
            Ok(line)
        };
        let line = read();
        restore_terminal();
        passphrase::line(line.map_err(|error: std::io::Error| no_terminal(&error))?)
    }

    fn open() -> std::io::Result<File> {
        OpenOptions::new().read(true).write(true).open("/dev/tty")
    }

    pub(super) fn say(message: &str) -> std::io::Result<()> {
        open()?.write_all(message.as_bytes())
    }

    pub(super) fn line(question: &str) -> std::io::Result<String> {
        let mut terminal = open()?;
        terminal.write_all(question.as_bytes())?;
        let mut line = String::new();
        BufReader::new(terminal).read_line(&mut line)?;
        Ok(line.trim_end().to_string())
    }
}

#[cfg(not(unix))]
mod system {
    use std::io::{self, BufRead as _, Write as _};

    use zeroize::Zeroizing;

    use super::no_terminal;
    use crate::failure::Failure;
    use crate::passphrase;

    pub(super) fn secret(question: &str) -> Result<Zeroizing<String>, Failure> {
        let line = rpassword::prompt_password(question).map_err(|error| no_terminal(&error))?;
        passphrase::line(Zeroizing::new(line.into_bytes()))
    }

    pub(super) fn say(message: &str) -> io::Result<()> {
        io::stderr().write_all(message.as_bytes())
    }

    pub(super) fn line(question: &str) -> io::Result<String> {
        say(question)?;
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line)?;
        Ok(line.trim_end().to_string())
    }
}

/// Asks the questions of age's plugins and encrypted identities. The string is the name of the identity file.
pub(crate) struct Terminal(pub(crate) String);

/// Why the last question was not answered. Kept here because age reports it as a key that does not match.
static UNANSWERED: Mutex<Option<Failure>> = Mutex::new(None);

/// The identity file whose passphrase was asked for last.
static ASKED: Mutex<Option<String>> = Mutex::new(None);

/// The identity file whose passphrase was asked for last, if one was.
pub(crate) fn asked() -> Option<String> {
    ASKED.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Takes the reason why a question was not answered, if there is one.
pub(crate) fn unanswered() -> Option<Failure> {
    UNANSWERED.lock().unwrap_or_else(PoisonError::into_inner).take()
}

impl Ask for Terminal {
    fn show(&self, message: &str) {
        // Without a terminal the message is dropped.
        let _ = system::say(&format!("{}\n", escape(message)));
    }

    fn confirm(&self, message: &str, yes: &str, no: Option<&str>) -> Option<bool> {
        let choices = match no {
            Some(no) => format!("1: {yes}, 2: {no}"),
            None => format!("1: {yes}"),
        };
        let answer = system::line(&format!("{} ({}) ", escape(message), escape(&choices))).ok()?;
        Some(answer == "1")
    }

    fn text(&self, description: &str) -> Option<String> {
        system::line(&format!("{}: ", escape(description))).ok()
    }

    fn secret(&self, description: &str) -> Option<Zeroizing<String>> {
        ASKED.lock().unwrap_or_else(PoisonError::into_inner).replace(self.0.clone());
        let answer = secret(&format!("{}: {}: ", escape(&self.0), escape(description)));
        answer
            .map_err(|failure| {
                let failure = failure::prompt_failed(failure, &self.0);
                UNANSWERED.lock().unwrap_or_else(PoisonError::into_inner).replace(failure)
            })
            .ok()
    }
}
