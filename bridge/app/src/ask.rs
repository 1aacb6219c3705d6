//! `countersign ask`: one question of a script.

use std::io::{IsTerminal as _, Read as _, Write as _, stderr};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use bridge_config::Reach;
use bridge_model::{
    Content, OptionId, OptionKind, Options, Outcome, PermissionOption, PermissionRequest, ReplyTo, RoomName, Session, SourceName,
    Timestamp, ToolCall, ToolKind,
};
use http_source::client::{BridgeAt, Client, Wishes, body};
use http_source::{HowEnded, Status, TakenBack};
use serde_json::json;
use tokio::time::interval;

use crate::check::{say, tell};
use crate::cli::{AskArgs, Offer, Permissions};
use crate::clock::Clock;
use crate::remote::{Progress, Step, new_key, outcome, passed, step, take_back};
use crate::signals::Signals;

const REFUSED: u8 = 1;
const USAGE: u8 = 2;
const EXPIRED: u8 = 3;
const NOT_ASKED: u8 = 4;
/// As a shell has it for a program that a signal ended.
const INTERRUPTED: u8 = 128;

/// Bytes of a detail; the bridge takes no more than two MiB in all.
const DETAIL_MAX: u64 = 1 << 20;

pub(crate) async fn run(args: AskArgs) -> ExitCode {
    match Asking::of(&args) {
        Ok(asking) => asking.wait().await,
        Err(problem) => {
            tell(&problem);
            USAGE.into()
        }
    }
}

/// Where bridges are, as they were written.
pub(crate) fn bridges(reach: &Reach) -> Result<Vec<BridgeAt>, String> {
    let parse = |text: &String| BridgeAt::parse(text).map_err(|advice| format!("--bridge {text:?}: {advice}"));
    reach.bridges.iter().map(parse).collect()
}

struct Asking {
    client: Client,
    request: PermissionRequest,
    body: Vec<u8>,
    lifetime: Option<Duration>,
    detached: bool,
}

impl Asking {
    fn of(args: &AskArgs) -> Result<Self, String> {
        let reach = Reach::find(&args.bridge, args.token_file.as_deref())?;
        let client = Client::new(bridges(&reach)?, reach.token)?;
        let request = request(args)?;
        let wishes = Wishes {
            room: args.room.as_ref().map(RoomName::new),
            launch: Permissions::launch(&args.permission, args.lifetime),
            detached: args.detached,
        };
        let key = args.key.clone().unwrap_or_else(new_key);
        let body = body(&key, &request, &wishes);
        Ok(Self { client, request, body, lifetime: args.lifetime, detached: args.detached })
    }

    async fn wait(self) -> ExitCode {
        let clock = Clock::default();
        let Ok(mut signals) = Signals::of_a_service() else {
            tell("signals cannot be listened to");
            return NOT_ASKED.into();
        };
        let mut progress = Progress::new(&clock, self.lifetime);
        let mut screen = Screen::default();
        let mut refresh = interval(Duration::from_secs(1));
        loop {
            let deadline = progress.deadline;
            let next = tokio::select! {
                // What is there is taken before it is too late for it.
                biased;
                signal = signals.next() => Err(Some(signal)),
                next = step_shown(&self, &clock, &mut progress, &mut screen, &mut refresh) => Ok(next),
                () = passed(&clock, deadline) => Err(None),
            };
            match next {
                Ok(Step::Again) => {
                    if let Some(problem) = progress.problem.take().filter(|_| !screen.has_complained) {
                        screen.complain(&problem);
                    }
                    screen.waits(&progress, &clock);
                }
                Ok(Step::Settled(status)) => {
                    screen.clear();
                    return self.ended(&status).await;
                }
                Ok(Step::NotTaken(why)) => {
                    screen.clear();
                    tell(&why);
                    return NOT_ASKED.into();
                }
                Err(None) => {
                    screen.clear();
                    tell("no bridge answered in time");
                    return NOT_ASKED.into();
                }
                Err(Some(signal)) => {
                    screen.clear();
                    if self.detached {
                        tell("it goes on waiting; the same --key asks for it again");
                    } else {
                        tell("taken back");
                        take_back(&self.client, &self.body, &progress, TakenBack::ByAgent).await;
                    }
                    return INTERRUPTED.saturating_add(u8::try_from(signal).unwrap_or_default()).into();
                }
            }
        }
    }

    async fn ended(&self, status: &Status) -> ExitCode {
        tell(status.words.as_deref().unwrap_or("the bridge does not say how it ended"));
        match (status.ending, outcome(status.outcome.as_deref(), &self.request)) {
            (Some(HowEnded::Answered | HowEnded::Allowed), Some(Outcome::Selected(offered))) => {
                let option = offered.option();
                say(&text(&option.id));
                // It is acted on from here on, whatever becomes of the bridge.
                let _ = self.client.receipt(&status.id).await;
                let allows = matches!(option.kind, OptionKind::AllowOnce | OptionKind::AllowAlways);
                if allows { ExitCode::SUCCESS } else { REFUSED.into() }
            }
            (Some(HowEnded::Expired), _) => EXPIRED.into(),
            _ => NOT_ASKED.into(),
        }
    }
}

/// One step, with the time that is left shown meanwhile.
async fn step_shown(
    asking: &Asking,
    clock: &Clock,
    progress: &mut Progress,
    screen: &mut Screen,
    refresh: &mut tokio::time::Interval,
) -> Step {
    let deadline = progress.deadline;
    let step = step(&asking.client, clock, &asking.body, progress);
    tokio::pin!(step);
    loop {
        tokio::select! {
            next = &mut step => return next,
            _ = refresh.tick() => screen.refresh(deadline, clock),
        }
    }
}

/// What somebody sees who waits for it, on standard error.
#[derive(Default)]
struct Screen {
    where_it_waits: Option<String>,
    is_drawn: bool,
    has_complained: bool,
}

impl Screen {
    fn waits(&mut self, progress: &Progress, clock: &Clock) {
        if self.where_it_waits.is_some() || progress.place.is_none() {
            return;
        }
        self.where_it_waits.clone_from(&progress.place);
        if stderr().is_terminal() {
            self.refresh(progress.deadline, clock);
        } else if let Some(place) = &self.where_it_waits {
            tell(&format!("Waiting for a person {place}."));
        }
    }

    /// Says once why it takes so long.
    fn complain(&mut self, problem: &str) {
        self.has_complained = true;
        self.clear();
        tell(&format!("It cannot be asked yet, and is tried again: {problem}"));
    }

    fn refresh(&mut self, deadline: Timestamp, clock: &Clock) {
        let Some(place) = self.where_it_waits.as_ref().filter(|_| stderr().is_terminal()) else { return };
        let left = Duration::from_secs(deadline.since(clock.now()).as_secs());
        let _ = write!(stderr(), "\r\x1b[2KWaiting for a person {place}; {} left", humantime::format_duration(left));
        self.is_drawn = true;
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.is_drawn) {
            let _ = write!(stderr(), "\r\x1b[2K");
        }
    }
}

fn request(args: &AskArgs) -> Result<PermissionRequest, String> {
    let kind = ToolKind::named(&args.kind);
    let kind = kind
        .ok_or_else(|| format!("--kind {:?} is not a kind; use {}", args.kind, ToolKind::ALL.map(ToolKind::name).join(", ")))?;
    let detail = match &args.detail_file {
        Some(path) => Some(read(path).map_err(|error| format!("--detail-file {} cannot be read: {error}", path.display()))?),
        None => args.detail.clone(),
    };
    let offers = if args.options.is_empty() {
        vec![Offer::new("allow", "Allow", "allow_once"), Offer::new("deny", "Deny", "reject_once")]
    } else {
        args.options.clone()
    };
    let option = |Offer { id, label, kind }: Offer| -> Result<PermissionOption, String> {
        let id = serde_json::value::to_raw_value(&id).map_err(|error| error.to_string())?;
        let id = OptionId::parse(&id).map_err(|error| error.to_string())?;
        Ok(PermissionOption { id, name: label, kind: OptionKind::parse(&kind), meta: None })
    };
    let options = Options::new(offers.into_iter().map(option).collect::<Result<_, _>>()?).map_err(|error| error.to_string())?;
    let cwd = std::env::current_dir().ok().and_then(|folder| folder.into_os_string().into_string().ok());
    let name = args.name.clone().or_else(|| nix::unistd::gethostname().ok()?.into_string().ok());
    Ok(PermissionRequest {
        from: ReplyTo { source: SourceName::new("ask"), ask: 0 },
        session: Session { name, cwd, ..Session::default() },
        title: None,
        description: None,
        tool_call: Some(ToolCall {
            title: Some(args.title.clone()),
            kind,
            content: detail.into_iter().map(Content::Text).collect(),
            raw_input: args.command.as_ref().map(|command| json!({ "command": command })),
            ..ToolCall::default()
        }),
        options,
        meta: None,
        places: None,
    })
}

fn read(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().take(DETAIL_MAX + 1).read_to_string(&mut text)
    } else {
        std::fs::File::open(path)?.take(DETAIL_MAX + 1).read_to_string(&mut text)
    };
    match read? {
        length if DETAIL_MAX < length as u64 => Err(std::io::Error::other(format!("it has more than {DETAIL_MAX} bytes"))),
        _ => Ok(text),
    }
}

/// An id for whoever reads it, without the quotes of JSON.
fn text(id: &OptionId) -> String {
    serde_json::from_str(id.raw().get()).unwrap_or_else(|_| id.raw().get().to_owned())
}
