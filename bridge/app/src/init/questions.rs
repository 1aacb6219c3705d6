//! What is asked, in which order, and where each answer is found.

use bridge_model::Secret;

use crate::cli::Kind;

use super::answers::{Answers, ROOM, own_name};

/// One thing to know.
pub(super) struct Question {
    /// The flag that answers it.
    pub(super) flag: &'static str,
    pub(super) what: &'static str,
    /// Where to find the answer.
    pub(super) hint: &'static str,
    /// What to know while typing.
    pub(super) note: &'static str,
    pub(super) is_secret: bool,
    /// Without an answer there is no configuration.
    pub(super) is_needed: bool,
    /// What it means to press Enter.
    pub(super) default: fn() -> Option<String>,
    pub(super) is_answered: fn(&Answers) -> bool,
    pub(super) answer: fn(&mut Answers, &str),
}

/// All that could be asked for a kind of room.
pub(super) fn questions(kind: Kind) -> Vec<Question> {
    match kind {
        Kind::Web => vec![ROOM_NAME, Question { default: || Some(own_name()), hint: PEOPLE_OF_WEB, ..APPROVERS }],
        Kind::Matrix => {
            vec![ROOM_NAME, HOMESERVER, USER, PASSWORD, ROOM_ID, Question { hint: PEOPLE_OF_MATRIX, ..APPROVERS }]
        }
        Kind::Discord => {
            let is_answered = |answers: &Answers| answers.approvers.is_some() || answers.approver_roles.is_some();
            let flag = "--approver WHO, or --approver-role ID";
            vec![
                ROOM_NAME,
                TOKEN,
                CHANNEL,
                Question { flag, hint: PEOPLE_OF_DISCORD, note: SEVERAL_OR_NONE, is_answered, ..APPROVERS },
                ROLES,
            ]
        }
    }
}

const PLAIN: Question = Question {
    flag: "",
    what: "",
    hint: "",
    note: "",
    is_secret: false,
    is_needed: true,
    default: || None,
    is_answered: |_| false,
    answer: |_, _| {},
};

const ROOM_NAME: Question = Question {
    flag: "--room NAME",
    what: "name of the room",
    hint: "What logs and the configuration call the room.",
    is_needed: false,
    default: || Some(ROOM.into()),
    is_answered: |answers| answers.room.is_some(),
    answer: |answers, text| answers.room = Some(text.into()),
    ..PLAIN
};

const APPROVERS: Question = Question {
    flag: "--approver WHO",
    what: "approvers",
    note: SEVERAL,
    is_answered: |answers| answers.approvers.is_some(),
    answer: |answers, text| answers.approvers = Some(words(text)),
    ..PLAIN
};

const PEOPLE_OF_WEB: &str = "Who may answer: a short name for each person, who then gets a link to join by.";
const PEOPLE_OF_MATRIX: &str = "Who may answer, such as @ada:example.org. The bot accepts invitations from them.";
const PEOPLE_OF_DISCORD: &str = "Who may answer: with Developer Mode on, right-click a person, Copy User ID.";
const SEVERAL: &str = "Several have spaces between.";
const SEVERAL_OR_NONE: &str = "Several have spaces between. Enter alone: nobody but the members of roles, which come next.";
const UNSEEN: &str = "What is typed is not shown.";

const ROLES: Question = Question {
    flag: "--approver-role ID",
    what: "roles",
    hint: "Roles whose members may answer too: Server Settings, Roles, right-click one, Copy Role ID.",
    note: "Several have spaces between. Enter alone: none.",
    is_needed: false,
    is_answered: |answers| answers.approver_roles.is_some(),
    answer: |answers, text| answers.approver_roles = Some(words(text)),
    ..PLAIN
};

const TOKEN: Question = Question {
    flag: "--token-file FILE",
    what: "token",
    hint: "The bot's token, from https://discord.com/developers/applications under Bot, Reset Token.",
    note: UNSEEN,
    is_secret: true,
    is_answered: |answers| answers.secret.is_some(),
    answer: |answers, text| answers.secret = Some(Secret::new(text)),
    ..PLAIN
};

const CHANNEL: Question = Question {
    flag: "--channel ID",
    what: "channel",
    hint: "In Discord: User Settings, Advanced, Developer Mode on; then right-click the channel, Copy Channel ID.",
    is_answered: |answers| answers.channel.is_some(),
    answer: |answers, text| answers.channel = Some(text.into()),
    ..PLAIN
};

const HOMESERVER: Question = Question {
    flag: "--homeserver URL",
    what: "homeserver",
    hint: "The address of the bot's server, such as https://matrix.example.org.",
    is_answered: |answers| answers.homeserver.is_some(),
    answer: |answers, text| answers.homeserver = Some(text.into()),
    ..PLAIN
};

const USER: Question = Question {
    flag: "--user ID",
    what: "user",
    hint: "The bot's own account, such as @countersign:example.org. Register it as you would for a person.",
    is_answered: |answers| answers.user.is_some(),
    answer: |answers, text| answers.user = Some(text.into()),
    ..PLAIN
};

const PASSWORD: Question = Question {
    flag: "--password-file FILE",
    what: "password",
    hint: "The password of that account.",
    note: UNSEEN,
    is_secret: true,
    is_answered: |answers| answers.secret.is_some(),
    answer: |answers, text| answers.secret = Some(Secret::new(text)),
    ..PLAIN
};

const ROOM_ID: Question = Question {
    flag: "--room-id ID",
    what: "room",
    hint: "The room's id, from its settings under Advanced. It begins with !",
    is_answered: |answers| answers.room_id.is_some(),
    answer: |answers, text| answers.room_id = Some(text.into()),
    ..PLAIN
};

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| c.is_whitespace() || c == ',');
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}
