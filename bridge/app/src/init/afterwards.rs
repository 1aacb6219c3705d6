//! What is left to do once a configuration is written.

use bridge_config::{Config, Service};
use bridge_model::PersonId;
use policy::Who;

/// How each approver of a web room joins it.
pub(super) fn invitations(config: &Config) -> Vec<String> {
    let web_rooms = config.rooms.values().filter(|room| room.service == Service::Web);
    let listed = web_rooms.filter_map(|room| match &room.answers.rules.approvers.who {
        Who::Anyone => None,
        Who::Listed(listed) => Some(&listed.people),
    });
    let mut lines: Vec<_> =
        listed.flatten().map(|person| format!("join           {person}: {}", invite(config, person))).collect();
    if !lines.is_empty() {
        lines.push("               These links work for a day, and the page is there while `countersign acp` runs.".to_owned());
    }
    lines
}

/// What `person` opens to join the page, or runs to be told.
fn invite(config: &Config, person: &PersonId) -> String {
    #[cfg(feature = "web")]
    if let Some(options) = crate::setup::web::options(config) {
        return match crate::web_room::invite(&options, person, &[], crate::cli::LINK_FOR) {
            Ok(link) => link,
            Err(problem) => format!("! {problem}"),
        };
    }
    format!("countersign web-room invite{} {person}", config_flag(config))
}

pub(super) fn next_step(config: &Config, works: bool) -> String {
    let flag = config_flag(config);
    if works {
        format!("next           put Countersign where your editor starts the agent: countersign acp{flag} -- YOUR-AGENT")
    } else {
        format!("next           do what the lines with ! say, and then: countersign check{flag}")
    }
}

/// What has to be said for this configuration to be found.
fn config_flag(config: &Config) -> String {
    let found = bridge_config::load(None);
    let is_found = found.is_ok_and(|found| found.is_some_and(|found| found.file == config.file));
    if is_found { String::new() } else { format!(" --config {}", config.file.display()) }
}
