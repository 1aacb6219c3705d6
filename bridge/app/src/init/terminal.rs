//! Asks a person, and asks again until the answer fits.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::ValueEnum;
use signal_hook::consts::SIGINT;

use crate::check::say;
use crate::cli::Kind;

use super::answers::{Answers, word};
use super::questions::Question;

/// Where a person types. `None`: they have ended it.
pub(super) trait Ask {
    fn say(&mut self, line: &str);
    fn line(&mut self, prompt: &str) -> io::Result<Option<String>>;
    fn hidden(&mut self, prompt: &str) -> io::Result<Option<String>>;
}

/// Asks which kind of room it is.
pub(super) fn ask_kind(person: &mut impl Ask) -> io::Result<Option<Kind>> {
    person.say("Where are people asked? web is a page that Countersign serves itself, and needs no account anywhere.");
    loop {
        let Some(line) = person.line("web, matrix or discord [web]: ")? else { return Ok(None) };
        match line.trim() {
            "" => return Ok(Some(Kind::Web)),
            text => match Kind::from_str(text, true) {
                Ok(kind) => return Ok(Some(kind)),
                Err(_) => person.say(&format!("  ! {text:?} is none of them")),
            },
        }
    }
}

/// Asks what is not answered yet. `try_out` says what is wrong with the answers so far. Whether all were given.
pub(super) fn ask(
    person: &mut impl Ask,
    questions: &[Question],
    answers: &mut Answers,
    try_out: &impl Fn(&Answers) -> Vec<String>,
) -> io::Result<bool> {
    for question in questions {
        if (question.is_answered)(answers) {
            continue;
        }
        person.say("");
        person.say(format!("{} {}", question.hint, question.note).trim_end());
        loop {
            let Some(text) = ask_once(person, question)? else { return Ok(false) };
            let mut tried = answers.clone();
            (question.answer)(&mut tried, &text);
            let problems = try_out(&tried);
            if problems.is_empty() {
                *answers = tried;
                break;
            }
            for problem in problems {
                person.say(&format!("  ! {problem}"));
            }
        }
    }
    person.say("");
    Ok(true)
}

fn ask_once(person: &mut impl Ask, question: &Question) -> io::Result<Option<String>> {
    if question.is_secret {
        return person.hidden(&format!("{}: ", question.what));
    }
    let default = (question.default)();
    let prompt = match &default {
        Some(default) => format!("{} [{default}]: ", question.what),
        None => format!("{}: ", question.what),
    };
    let line = person.line(&prompt)?;
    Ok(line.map(|line| match (line.trim(), default) {
        ("", Some(default)) => default,
        (text, _) => text.to_owned(),
    }))
}

/// The terminal that this process runs in.
pub(super) struct Terminal {
    /// While something hidden is typed, an interrupt first gives the terminal back as it was.
    ends_at_once: Arc<AtomicBool>,
}

impl Terminal {
    /// `None` if nobody can be asked.
    pub(super) fn of_this_process() -> io::Result<Option<Self>> {
        if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
            return Ok(None);
        }
        let ends_at_once = Arc::new(AtomicBool::new(true));
        signal_hook::flag::register_conditional_default(SIGINT, ends_at_once.clone())?;
        Ok(Some(Self { ends_at_once }))
    }
}

impl Ask for Terminal {
    fn say(&mut self, line: &str) {
        say(line);
    }

    #[expect(clippy::print_stdout, reason = "a prompt stays on its line")]
    fn line(&mut self, prompt: &str) -> io::Result<Option<String>> {
        print!("{prompt}");
        io::stdout().flush()?;
        let mut line = String::new();
        let has_ended = io::stdin().read_line(&mut line)? == 0;
        if has_ended {
            say("");
        }
        Ok((!has_ended).then_some(line))
    }

    fn hidden(&mut self, prompt: &str) -> io::Result<Option<String>> {
        self.ends_at_once.store(false, Ordering::SeqCst);
        let typed = rpassword::prompt_password(prompt);
        self.ends_at_once.store(true, Ordering::SeqCst);
        match typed {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                say("");
                Ok(None)
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {
                signal_hook::low_level::emulate_default_handler(SIGINT)?;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// For a list of what may be typed.
pub(super) fn kinds() -> String {
    Kind::value_variants().iter().map(|kind| word(*kind)).collect::<Vec<_>>().join(" or ")
}

#[cfg(test)]
pub(in crate::init) mod tests;
