//! `countersign init`: a first configuration, from flags and from what a person answers.

mod afterwards;
mod answers;
mod questions;
mod secret;
mod terminal;
mod write;

use std::path::Path;
use std::process::ExitCode;

use bridge_config::{Config, Privacy};
use bridge_model::Secret;

use crate::check::{self, say};
use crate::cli::{ConfigArgs, EXIT_CONFIG, InitArgs, Kind};
use crate::setup;

use afterwards::{invitations, next_step};
use answers::{Answers, foreign_flags, secret_name};
use questions::{Question, questions};
use secret::secret;
use terminal::{Ask, Terminal, kinds};
use write::NewFile;

pub(crate) async fn run(args: &InitArgs) -> ExitCode {
    let config = match write(args) {
        Ok(config) => config,
        Err(Stop(problems)) => {
            for problem in problems {
                say(&format!("  ! {problem}"));
            }
            say("Nothing was written.");
            return EXIT_CONFIG.into();
        }
    };
    let invitations = invitations(&config);
    let status = if args.no_check {
        ExitCode::SUCCESS
    } else {
        say("");
        check::run(&ConfigArgs { config: Some(config.file.clone()) }).await
    };
    say("");
    for line in invitations {
        say(&line);
    }
    say(&next_step(&config, status == ExitCode::SUCCESS));
    status
}

/// Why nothing was written; without a reason where a person ended it.
#[derive(Debug)]
struct Stop(Vec<String>);

impl Stop {
    #[expect(clippy::needless_pass_by_value, reason = "errors are mapped to it")]
    fn because(problem: impl ToString) -> Self {
        Self(vec![problem.to_string()])
    }
}

/// Everything up to the files.
fn write(args: &InitArgs) -> Result<Config, Stop> {
    let place = bridge_config::new_place(args.config.as_deref()).map_err(Stop::because)?;
    let place = place.ok_or_else(|| Stop::because("HOME is not set; say where to write, with --config FILE"))?;
    let mut person = Terminal::of_this_process().map_err(Stop::because)?;
    let kind = kind(args, &place, person.as_mut())?;
    let example = Answers::default().try_out(kind, &place).map_err(Stop)?;
    if let Some(problem) = setup::not_built_in(&example) {
        return Err(Stop::because(problem));
    }
    prepare(args, kind, &place, person.as_mut())?.write()
}

fn kind(args: &InitArgs, place: &Path, person: Option<&mut impl Ask>) -> Result<Kind, Stop> {
    match (args.kind, person) {
        (Some(kind), _) => Ok(kind),
        (None, None) => Err(Stop::because(format!("say which kind of room it is: {}", kinds()))),
        (None, Some(person)) => {
            refuse_if_there(place)?;
            terminal::ask_kind(person).map_err(Stop::because)?.ok_or(Stop(Vec::new()))
        }
    }
}

/// All that is to be written, tried out.
#[derive(Debug)]
struct Prepared {
    config: Config,
    /// The configuration last, so that it never names a secret that is not there.
    files: Vec<NewFile>,
}

impl Prepared {
    fn write(self) -> Result<Config, Stop> {
        let missing = write::missing(&self.files).map_err(Stop)?;
        write::create(&missing).map_err(Stop::because)?;
        for file in &self.files {
            let is_new = missing.iter().any(|new| new.path == file.path);
            say(&format!("{}{}", if is_new { "wrote          " } else { "was there      " }, file.path.display()));
        }
        Ok(self.config)
    }
}

/// Finds out what to write to `place`, or what keeps it from being written. Without a person nothing is asked.
fn prepare(args: &InitArgs, kind: Kind, place: &Path, person: Option<&mut impl Ask>) -> Result<Prepared, Stop> {
    let secret_place = secret_name(kind).map(|name| place.with_file_name(name));
    let foreign = foreign_flags(args, kind);
    if !foreign.is_empty() {
        return Err(Stop(foreign));
    }
    let mut answers = Answers::of_flags(args);
    answers.secret = secret(args, secret_place.as_deref(), person.is_some()).map_err(Stop::because)?;
    let questions = questions(kind);
    let problems = |answers: &Answers| answers.try_out(kind, place).err().unwrap_or_default();
    let (mut wrong, missing) = (problems(&answers), missing(&questions, &answers));
    if !missing.is_empty()
        && wrong.is_empty()
        && let Some(person) = person
    {
        refuse_if_there(place)?;
        if !terminal::ask(person, &questions, &mut answers, &problems).map_err(Stop::because)? {
            return Err(Stop(Vec::new()));
        }
    } else {
        wrong.extend(missing);
    }
    if !wrong.is_empty() {
        return Err(Stop(wrong));
    }
    let config = answers.try_out(kind, place).map_err(Stop)?;
    let secret = secret_place.zip(answers.secret.as_ref());
    let secret = secret.map(|(path, secret)| NewFile {
        path,
        text: Secret::new(format!("{}\n", secret.expose())),
        privacy: Privacy::Secret,
    });
    let text = Secret::new(answers.starter(kind).text());
    let config_file = NewFile { path: place.to_owned(), text, privacy: Privacy::Public };
    Ok(Prepared { config, files: secret.into_iter().chain([config_file]).collect() })
}

/// Nobody is asked questions for nothing.
fn refuse_if_there(place: &Path) -> Result<(), Stop> {
    if place.symlink_metadata().is_err() {
        return Ok(());
    }
    let at = place.display();
    Err(Stop::because(format!(
        "{at} is there already and is never overwritten; change it, or write elsewhere with --config FILE"
    )))
}

/// The flags that are needed and were not given, each with what it is.
fn missing(questions: &[Question], answers: &Answers) -> Vec<String> {
    let missing = questions.iter().filter(|question| question.is_needed && !(question.is_answered)(answers));
    missing.map(|question| format!("{} is missing: {}", question.flag, question.hint)).collect()
}

#[cfg(test)]
mod tests;
