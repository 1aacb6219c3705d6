use super::*;

#[test]
fn what_is_written_first_is_understood_as_it_was_meant() {
    for (starter, service) in starters() {
        let config = check(&starter.text(), &[], &[]).expect("a configuration");
        let room = &config.rooms[&RoomName::new("desk")];
        assert_eq!(room.service, service);
        let listed = Listed::people(starter.approvers.iter().map(PersonId::new));
        let roles = match &starter.service {
            StarterService::Discord { approver_roles, .. } => approver_roles.iter().map(RoleId::new).collect(),
            StarterService::Web { .. } | StarterService::Matrix { .. } => listed.roles.clone(),
        };
        assert_eq!(room.answers.rules.approvers.who, Who::Listed(Listed { roles, ..listed }));
        assert_eq!(config.policy, Policy::asking(Duration::from_mins(7)));
    }
}

#[test]
fn what_is_written_first_names_the_accounts() {
    let [_, matrix, discord] = starters().map(|(starter, _)| check(&starter.text(), &[], &[]).expect("a configuration"));
    let account = matrix.matrix.expect("an account");
    assert_eq!((account.homeserver.as_str(), account.user.as_str()), ("https://matrix.example.org/", "@bot:example.org"));
    assert_eq!(account.invites_from, [PersonId::new("@bob:example.org")].into());
    assert!(matches!(account.login, Some(Login::Password(password)) if password.expose() == SECRET));
    assert_eq!(discord.discord.expect("a bot").token.expose(), SECRET);
}

/// Whatever is given stays the value that it was given as: it is understood, refused, or warned of, and nothing else.
#[test]
fn no_value_can_be_more_than_a_value() {
    let keys_of = |starter: &Starter| keys("", &toml::Value::Table(starter.text().parse().expect("TOML")));
    let values = [
        "x\"\n[policy]\ndefault = \"auto_deny\"\n#",
        "\"]\n[policy.kinds]\nread = \"auto_deny\"",
        "a]\n[acp]\nroom = \"a",
        "a.web",
        "a\"'b",
        "'''\nx = 1\n'''",
        "\"\"\"\nx = 1\n\"\"\"",
        "\\\"\nx = 1",
        "\r\nx = 1\r\n",
        "# x",
        "",
        "\u{0}\u{7f}\u{202e}\u{feff}",
    ];
    for (plain, _) in starters() {
        for value in values {
            for hostile in each_replaced(&plain, value) {
                let mut expected = keys_of(&plain);
                if hostile.room != plain.room {
                    expected = expected.iter().map(|key| key.replace("/rooms/desk", &format!("/rooms/{value}"))).collect();
                }
                assert_eq!(keys_of(&hostile), expected, "{}", hostile.text());
            }
        }
    }
}

fn starters() -> [(Starter, Service); 3] {
    let starter = |service, approvers: &[&str]| Starter {
        room: "desk".into(),
        approvers: owned(approvers),
        lifetime: "7m".into(),
        service,
    };
    let web = StarterService::Web { listen: "127.0.0.1:7000".into() };
    let matrix = StarterService::Matrix {
        homeserver: "https://matrix.example.org".into(),
        user: "@bot:example.org".into(),
        room_id: "!abc:example.org".into(),
        invites_from: owned(&["@bob:example.org"]),
    };
    let discord = StarterService::Discord { channel: "123".into(), approver_roles: owned(&["7", "8"]) };
    let of_discord = Service::Discord { channel: "123".into(), thread_per_session: false, mention: false };
    [
        (starter(web, &["ada", "bob"]), Service::Web),
        (starter(matrix, &["@ada:example.org"]), Service::Matrix { room_id: "!abc:example.org".into(), reactions: false }),
        (starter(discord, &[]), of_discord),
    ]
}

/// One for each value of it, with `value` in that place.
fn each_replaced(plain: &Starter, value: &str) -> Vec<Starter> {
    let with = |change: &dyn Fn(&mut Starter)| {
        let mut changed = plain.clone();
        change(&mut changed);
        changed
    };
    let mut all = vec![
        with(&|starter| starter.room = value.into()),
        with(&|starter| starter.lifetime = value.into()),
        with(&|starter| starter.approvers = owned(&["ada", value])),
    ];
    let services = match plain.service.clone() {
        StarterService::Web { .. } => vec![StarterService::Web { listen: value.into() }],
        StarterService::Discord { channel, approver_roles } => vec![
            StarterService::Discord { channel: value.into(), approver_roles },
            StarterService::Discord { channel, approver_roles: owned(&[value]) },
        ],
        StarterService::Matrix { homeserver, user, room_id, invites_from } => {
            let (h, u, r, i) = (&homeserver, &user, &room_id, &invites_from);
            let matrix = |homeserver: &str, user: &str, room_id: &str, invites_from: &[String]| StarterService::Matrix {
                homeserver: homeserver.into(),
                user: user.into(),
                room_id: room_id.into(),
                invites_from: invites_from.to_vec(),
            };
            vec![matrix(value, u, r, i), matrix(h, value, r, i), matrix(h, u, value, i), matrix(h, u, r, &owned(&[value]))]
        }
    };
    all.extend(services.into_iter().map(|service| Starter { service, ..plain.clone() }));
    all
}

/// The path of everything in it that is no table.
fn keys(at: &str, value: &toml::Value) -> Vec<String> {
    let Some(table) = value.as_table() else { return vec![at.to_owned()] };
    table.iter().flat_map(|(key, value)| keys(&format!("{at}/{key}"), value)).collect()
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}
