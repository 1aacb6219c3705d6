//! What policy says about a request before any person sees it, and why.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use bridge_model::{Content, Offered, OptionKind, Options, PermissionRequest, Timestamp, ToolKind};
use serde::{Deserialize, Serialize};

use crate::verdict::{Key, Verdict, Verdicts};
use crate::{RefusalStyle, lifetime};

/// What to do with a request that its agent changes while people are deciding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WhenChanged {
    Refuse,
    /// Close its card and ask anew on another, until the same deadline.
    AskAgain,
}

/// What to do with a request that reaches beyond the folder in which its session works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenOutside {
    /// Its card says so, and it is never allowed without a person.
    Mark,
    Refuse,
}

/// How long a request that outlives its turn waits where nobody said more about it.
const DETACHED_LIFETIME: Duration = Duration::from_hours(24);

/// The operator's rules for requests, and what a launch adds to them.
///
/// There is no `Default`: a lifetime that nobody chose is a lifetime that nobody knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    pub verdicts: Verdicts,
    /// What whoever starts an agent or raises a request asks for, each of them by itself.
    pub launches: Vec<Launch>,
    /// How long a request waits for a person, counted from its arrival.
    pub lifetime: Duration,
    /// How long one waits that outlives its turn.
    pub detached_lifetime: Duration,
    pub refusal: RefusalStyle,
    pub when_changed: WhenChanged,
    pub when_outside: WhenOutside,
    /// Rooms are told of what is refused at once, in one line each.
    pub tell_refusals: bool,
}

/// What whoever starts an agent asks for. It can only narrow what the operator has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Launch {
    pub verdicts: Verdicts,
    pub lifetime: Option<Duration>,
}

/// What a launch asks for and may not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Widens {
    Verdict { key: Key, launch: Verdict, operator: Verdict },
    Lifetime { launch: Duration, operator: Duration },
}

/// What is known of a request besides what it says itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reach<'a> {
    /// Every file and folder that it names.
    pub paths: &'a [String],
    /// Those of them that lie outside of where its session works.
    pub outside: &'a [String],
    /// Whether there is a command in it.
    pub has_command: bool,
}

/// A verdict that can be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// The one option to take. Nobody else makes one of these without a permit.
    Allow(Offered),
    Ask,
    Deny,
}

/// A ruling, and what led to it in the order in which it was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruled {
    pub ruling: Ruling,
    pub because: Vec<Because>,
}

/// Which side's table a verdict stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Operator,
    Launch,
}

/// One step to a ruling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Because {
    Rule {
        side: Side,
        key: Key,
        verdict: Verdict,
    },
    /// Neither side has a verdict for it.
    NoRule,
    /// Its kind is not one that ACP has.
    KindUnknown,
    /// It could not all be understood.
    NotUnderstood,
    /// It is about files, and names none.
    NoFile,
    /// There is a command in it, though it says that it is of another kind.
    HiddenCommand,
    Outside {
        path: String,
        refused: bool,
    },
    /// It offers so many options that allow it once, and not exactly one.
    NotOneAllowOnce(usize),
}

impl Policy {
    /// Asks about everything, for so long, and is otherwise as strict as can be.
    #[must_use]
    pub fn asking(lifetime: Duration) -> Self {
        Self {
            verdicts: Verdicts { default: Some(Verdict::Ask), ..Verdicts::default() },
            launches: Vec::new(),
            lifetime,
            detached_lifetime: DETACHED_LIFETIME.max(lifetime),
            refusal: RefusalStyle::RejectOnce,
            when_changed: WhenChanged::Refuse,
            when_outside: WhenOutside::Mark,
            tell_refusals: false,
        }
    }

    /// Whether any request at all could be allowed without a person.
    #[must_use]
    pub fn allows_anything(&self) -> bool {
        let Verdicts { by_kind, default, .. } = &self.verdicts;
        by_kind.values().chain(default).any(|verdict| *verdict == Verdict::AutoAllow)
    }

    /// The first thing a launch asks for that is looser than what the operator has. `is_detached`: for what outlives its turn.
    pub fn check(&self, launch: &Launch, is_detached: bool) -> Result<(), Widens> {
        if let Some((key, launch, operator)) = launch.verdicts.looser_than(&self.verdicts) {
            return Err(Widens::Verdict { key, launch, operator });
        }
        let operator = self.own_lifetime(is_detached);
        match launch.lifetime {
            Some(lifetime) if operator < lifetime => Err(Widens::Lifetime { launch: lifetime, operator }),
            Some(_) | None => Ok(()),
        }
    }

    /// Narrowed by these launches as well.
    #[must_use]
    pub fn under(&self, launches: &[Launch]) -> Cow<'_, Self> {
        if launches.is_empty() {
            return Cow::Borrowed(self);
        }
        Cow::Owned(Self { launches: [&self.launches, launches].concat(), ..self.clone() })
    }

    fn own_lifetime(&self, is_detached: bool) -> Duration {
        if is_detached { self.detached_lifetime } else { self.lifetime }
    }

    /// Every step can only be stricter than the one before it.
    #[must_use]
    pub fn rule(&self, request: &PermissionRequest, reach: Reach<'_>) -> Ruled {
        let mut steps = Steps { verdict: Verdict::AutoAllow, because: Vec::new() };
        self.by_tables(request, &mut steps);
        if let Some(path) = reach.outside.first() {
            let refused = self.when_outside == WhenOutside::Refuse;
            let verdict = if refused { Verdict::AutoDeny } else { Verdict::Ask };
            steps.tighten(verdict, Because::Outside { path: path.clone(), refused });
        }
        if steps.verdict == Verdict::AutoAllow {
            by_what_is_not_known(request, reach, &mut steps);
        }
        let ruling = match steps.verdict {
            Verdict::AutoAllow => match only_allow_once(&request.options) {
                Ok(offered) => Ruling::Allow(offered),
                Err(count) => {
                    steps.because.push(Because::NotOneAllowOnce(count));
                    Ruling::Ask
                }
            },
            Verdict::Ask => Ruling::Ask,
            Verdict::AutoDeny => Ruling::Deny,
        };
        Ruled { ruling, because: steps.because }
    }

    /// When a request that arrived then, and asks for so long, ends.
    #[must_use]
    pub fn deadline(&self, arrived: Timestamp, asked_for: Option<Duration>, is_detached: bool) -> Timestamp {
        let launches = self.launches.iter().filter_map(|launch| launch.lifetime).min();
        arrived.after(lifetime::lifetime(self.own_lifetime(is_detached), launches, asked_for))
    }

    fn by_tables(&self, request: &PermissionRequest, steps: &mut Steps) {
        let call = request.tool_call.as_ref();
        let titles = [call.and_then(|call| call.title.as_deref()), request.title.as_deref()];
        let kind = request.kind();
        let mut is_ruled = false;
        let launches = self.launches.iter().map(|launch| (Side::Launch, &launch.verdicts));
        for (side, table) in [(Side::Operator, &self.verdicts)].into_iter().chain(launches) {
            for title in titles.into_iter().flatten() {
                if let Some(verdict) = table.by_title.get(title) {
                    let verdict = (*verdict).max(Verdict::Ask);
                    steps.tighten(verdict, Because::Rule { side, key: Key::Title(title.to_owned()), verdict });
                }
            }
            if let Some((key, verdict)) = table.on_kind(kind) {
                is_ruled = is_ruled || side == Side::Operator;
                steps.tighten(verdict, Because::Rule { side, key, verdict });
            }
        }
        if !is_ruled {
            steps.tighten(Verdict::Ask, Because::NoRule);
        }
        if kind == ToolKind::Unknown {
            steps.tighten(Verdict::Ask, Because::KindUnknown);
        }
    }
}

/// What nobody knows is for a person to decide.
fn by_what_is_not_known(request: &PermissionRequest, reach: Reach<'_>, steps: &mut Steps) {
    let Some(call) = &request.tool_call else { return };
    if call.content.iter().any(|content| matches!(content, Content::Other(_))) {
        steps.tighten(Verdict::Ask, Because::NotUnderstood);
    }
    let is_about_files = matches!(call.kind, ToolKind::Read | ToolKind::Edit | ToolKind::Delete | ToolKind::Move);
    if is_about_files && reach.paths.is_empty() {
        steps.tighten(Verdict::Ask, Because::NoFile);
    }
    if reach.has_command && call.kind != ToolKind::Execute {
        steps.tighten(Verdict::Ask, Because::HiddenCommand);
    }
}

/// The one option that allows it once; else how many there are.
fn only_allow_once(options: &Options) -> Result<Offered, usize> {
    let once = options.as_slice().iter().enumerate().filter(|(_, option)| option.kind == OptionKind::AllowOnce);
    let places: Vec<usize> = once.map(|(at, _)| at).collect();
    match places[..] {
        [at] => options.offered(at).ok_or(0),
        _ => Err(places.len()),
    }
}

struct Steps {
    verdict: Verdict,
    because: Vec<Because>,
}

impl Steps {
    fn tighten(&mut self, verdict: Verdict, because: Because) {
        self.verdict = self.verdict.max(verdict);
        self.because.push(because);
    }
}

impl Ruled {
    /// The step that made it as strict as it is.
    #[must_use]
    pub fn decisive(&self) -> Option<&Because> {
        let verdict = match self.ruling {
            Ruling::Allow(_) => Verdict::AutoAllow,
            Ruling::Ask => Verdict::Ask,
            Ruling::Deny => Verdict::AutoDeny,
        };
        self.because.iter().find(|because| because.verdict() == verdict)
    }
}

impl Because {
    const fn verdict(&self) -> Verdict {
        match self {
            Self::Rule { verdict, .. } => *verdict,
            Self::Outside { refused: true, .. } => Verdict::AutoDeny,
            Self::NoRule
            | Self::KindUnknown
            | Self::NotUnderstood
            | Self::NoFile
            | Self::HiddenCommand
            | Self::Outside { refused: false, .. }
            | Self::NotOneAllowOnce(_) => Verdict::Ask,
        }
    }
}

/// Reads after "because ". It names what the operator wrote; a path is the agent's.
impl fmt::Display for Because {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule { side: Side::Operator, key, verdict } => write!(f, "the policy says {key} = {}", verdict.name()),
            Self::Rule { side: Side::Launch, key, verdict } => write!(f, "the launch says {key} = {}", verdict.name()),
            Self::NoRule => f.write_str("no rule of the policy is about it, and what has none is asked"),
            Self::KindUnknown => f.write_str("its kind is unknown or missing, which is never allowed without a person"),
            Self::NotUnderstood => f.write_str("it could not all be understood"),
            Self::NoFile => f.write_str("it is about files and names none"),
            Self::HiddenCommand => f.write_str("there is a command in it, though it is not of the kind execute"),
            Self::Outside { path, .. } => write!(f, "it reaches outside of the workspace: {path}"),
            Self::NotOneAllowOnce(0) => f.write_str("it offers no option that allows it once"),
            Self::NotOneAllowOnce(count) => write!(f, "it offers {count} options that allow it once"),
        }
    }
}

impl fmt::Display for Widens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Verdict { key: Key::Title(title), .. } => {
                write!(f, "title:{title} = auto_allow: a title is the agent's own words, so it can only be ask or auto_deny")
            }
            Self::Verdict { key, launch, operator } => {
                write!(f, "{key} = {} is looser than the policy's {}", launch.name(), operator.name())
            }
            Self::Lifetime { launch, operator } => {
                write!(f, "a lifetime of {launch:?} is longer than the policy's {operator:?}")
            }
        }
    }
}

#[cfg(test)]
#[path = "ruling_tests.rs"]
mod tests;
