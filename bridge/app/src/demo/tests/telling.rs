//! What is shown for what happens.

use std::time::Duration;

use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, SessionUpdate, TextContent, ToolCall, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields,
};
use anstream::StripStream;

use crate::demo::News;
use crate::demo::deeds::deeds;
use crate::demo::log::{Ending, Said, Word};
use crate::demo::report::{Answer, Report};
use crate::demo::screen::Screen;
use crate::demo::story::Story;
use crate::demo::workspace;

#[test]
fn a_scripted_turn_reads_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    workspace::fill(folder.path()).expect("filled");
    std::fs::write(folder.path().join(workspace::BACKUP), "").expect("written");
    let mut story = Story::scripted(deeds(([127, 0, 0, 1], 1).into()).to_vec(), folder.path().to_owned(), Duration::from_mins(2));
    let told = tell(
        &mut story,
        [
            asks(1, "run cp server.toml server.toml.bak"),
            held("a"),
            ended("a", Ending::Answered),
            answered("allow-always", "Yes, and don't ask again for commands", true),
            done(true, ""),
            // The bridge may be heard before the agent.
            held("b"),
            asks(2, "edit server.toml"),
            ended("b", Ending::Expired),
            answered("reject", "No", false),
            done(false, ""),
            asks(3, "delete old-notes.txt"),
            held("c"),
            ended("c", Ending::Withdrawn),
            update(Report::Told { answer: Answer::Cancelled }),
            done(false, ""),
            asks(4, "fetch http://127.0.0.1:1/release-notes"),
            ended("d", Ending::Other("request d is refused: NoRoom".to_owned())),
            answered("reject", "No", false),
            done(false, ""),
            call(Report::NeedNotAsk { at: 5, of: 5, what: "run ls -1".to_owned() }),
            done(true, "old-notes.txt\nserver.toml\n"),
        ],
    );
    assert_eq!(
        told,
        "
  1/5  The agent asks to run cp server.toml server.toml.bak
       waiting for you in the browser, 2 min at most
       You pressed \"Yes, and don't ask again for commands\".
       The agent was told allow-always.
     ✓ Done: the copy is there

  2/5  The agent asks to edit server.toml
       waiting for you in the browser, 2 min at most
       Nobody pressed in time.
       The agent was told reject, which is its own \"No\".
     ✗ Not done: it is as it was

  3/5  The agent asks to delete old-notes.txt
       waiting for you in the browser, 2 min at most
       It was withdrawn.
       The agent was told that it is cancelled.
     ✗ Not done: it is still there

  4/5  The agent asks to fetch http://127.0.0.1:1/release-notes
       The bridge: request d is refused: NoRoom
       The agent was told reject, which is its own \"No\".
     ✗ Not done

  5/5  The agent is going to run ls -1
       It need not ask again, because of the \"always\" before.
     ✓ Done
       │ old-notes.txt
       │ server.toml
"
    );
    let table = shown(|screen| screen.table(story.rows()));
    assert_eq!(
        table,
        "
  The agent asked to                  It was told         And then
  run cp server.toml server.toml.bak  allow-always      ✓ the copy is there
  edit server.toml                    reject (expired)  ✗ it is as it was
  delete old-notes.txt                cancelled         ✗ it is still there
  fetch http://127.0.0.1:1/release-…  reject (refused)  ✗ not done
  run ls -1                           (not asked)       ✓ done

"
    );
    assert!(told.lines().chain(table.lines()).all(|line| line.chars().count() <= 80));
}

#[test]
fn an_agent_that_says_what_the_folder_does_not_show_is_told_of() {
    let folder = tempfile::tempdir().expect("a folder");
    workspace::fill(folder.path()).expect("filled");
    let mut story = Story::scripted(deeds(([127, 0, 0, 1], 1).into()).to_vec(), folder.path().to_owned(), Duration::from_mins(2));
    let told = tell(&mut story, [asks(1, "run cp server.toml server.toml.bak"), done(true, "")]);
    assert!(told.contains("That is not what the agent says!"), "{told}");
    assert!(!story.rows()[0].done);
}

#[test]
fn a_real_agent_is_told_of_by_what_it_shows() {
    let titled = ToolCallUpdateFields::new().title("touch x");
    let failed = ToolCallUpdateFields::new().status(ToolCallStatus::Failed);
    let told = tell(
        &mut Story::real(Duration::from_secs(90)),
        [
            says("I will "),
            says("try."),
            News::Update(Box::new(SessionUpdate::ToolCall(ToolCall::new("c", "Terminal")))),
            News::Update(Box::new(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new("c", titled.clone())))),
            News::Update(Box::new(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new("c", titled)))),
            held("a"),
            ended("a", Ending::Expired),
            ended("a", Ending::Answered),
            News::Update(Box::new(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new("c", failed)))),
        ],
    );
    assert_eq!(
        told,
        "\
I will try.
  · Terminal pending
  · touch x
       waiting for you in the browser, 1 min 30 s at most
       Nobody pressed in time.
  · touch x failed
"
    );
}

#[test]
fn a_real_agent_cannot_pass_for_the_scripted_one() {
    let told =
        tell(&mut Story::real(Duration::from_secs(90)), [asks(1, "run ls"), answered("allow-once", "Yes", true), done(true, "")]);
    assert!(!told.contains("The agent was told"), "{told}");
}

#[test]
fn nothing_of_an_agents_drives_the_terminal() {
    const NASTY: &str = "\u{1b}[2J\u{202e}\rx";
    let mut plain = Vec::new();
    let mut screen = Screen::new(&mut plain);
    let mut real = Story::real(Duration::from_secs(90));
    real.take(says(NASTY), &mut screen);
    real.take(News::Update(Box::new(SessionUpdate::ToolCall(ToolCall::new("c", NASTY)))), &mut screen);
    real.take(News::Log(NASTY.to_owned()), &mut screen);
    screen.output(NASTY);
    screen.detail(NASTY);
    screen.outcome(false, NASTY);
    screen.step(1, 1, "asks", NASTY);
    screen.problem(NASTY);
    screen.paragraph(NASTY);
    let plain = String::from_utf8(plain).expect("text");
    assert!(!plain.contains("\u{1b}[2J") && !plain.contains('\u{202e}') && !plain.contains('\r'), "{plain:?}");
}

fn tell(story: &mut Story, news: impl IntoIterator<Item = News>) -> String {
    shown(|screen| news.into_iter().for_each(|news| story.take(news, screen)))
}

fn shown(tell: impl FnOnce(&mut Screen<StripStream<Vec<u8>>>)) -> String {
    let mut screen = Screen::new(StripStream::new(Vec::new()));
    tell(&mut screen);
    String::from_utf8(screen.into_inner().into_inner()).expect("text")
}

fn says(text: &str) -> News {
    let text = ContentBlock::Text(TextContent::new(text));
    News::Update(Box::new(SessionUpdate::AgentMessageChunk(ContentChunk::new(text))))
}

fn held(request: &str) -> News {
    News::Said(Said { request: request.to_owned(), what: Word::Held })
}

fn ended(request: &str, ending: Ending) -> News {
    News::Said(Said { request: request.to_owned(), what: Word::Ended(ending) })
}

fn asks(at: usize, what: &str) -> News {
    call(Report::Asks { at, of: 5, what: what.to_owned() })
}

fn answered(option: &str, label: &str, allows: bool) -> News {
    update(Report::Told {
        answer: Answer::Selected { option: option.to_owned(), label: label.to_owned(), allows, always: false },
    })
}

fn done(done: bool, output: &str) -> News {
    update(Report::Ended { done, problem: None, output: output.to_owned() })
}

fn call(report: Report) -> News {
    News::Update(Box::new(SessionUpdate::ToolCall(ToolCall::new("c", "title").meta(report.into_meta()))))
}

fn update(report: Report) -> News {
    let update = ToolCallUpdate::new("c", ToolCallUpdateFields::new());
    News::Update(Box::new(SessionUpdate::ToolCallUpdate(update.meta(report.into_meta()))))
}
