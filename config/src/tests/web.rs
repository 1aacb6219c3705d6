use super::*;

#[test]
fn a_web_room_needs_nothing_but_people() {
    let config = check(WEB, &[], &[]).expect("a configuration");
    let room = &config.rooms[&RoomName::new("desk")];
    assert_eq!(room.service, Service::Web);
    assert_eq!(room.answers.rules.approvers.who, Who::Listed(Listed::people([PersonId::new("ada")])));
    assert_eq!(config.web.listen.to_string(), "127.0.0.1:7391");
    assert!(config.web.url.is_none() && config.web.tls.is_none() && config.web.proxies.is_empty());
}

#[test]
fn people_of_the_page_have_plain_names() {
    for name in ["Ada", "", "-ada", "ada lovelace", "\u{430}da", "@ada:x", &"a".repeat(33)] {
        let room = WEB.replace("ada", name);
        check(&room, &[], &[&format!("rooms.desk.approvers[0]: {name:?} is not a person's name; use up to 32")]);
    }
    check(&WEB.replace("ada", "anyone"), &[], &["rooms.desk.approvers[0]: \"anyone\" is not a person; write approvers"]);
    for name in ["a", "ada.lovelace-2_b", "7", &"a".repeat(32)] {
        check(&WEB.replace("ada", name), &[], &[]);
    }
}

#[test]
fn a_web_room_knows_no_keys_of_chats() {
    let keys = "reactions = true\npower_min = 1\nthreads = \"none\"\nmention = true\napprover_roles = []";
    let expected = ["approver_roles: is for Discord", "threads: is", "mention: is", "reactions: is for Matrix", "power_min: is"];
    let expected = expected.map(|key| format!("rooms.desk.{key}"));
    check(&format!("{WEB}{keys}"), &[], &expected.each_ref().map(String::as_str));
    check(&WEB.replace("true", "false"), &[], &["rooms.desk.web: is false, so it is no room at all"]);
    check(&format!("{WEB}discord = \"123\""), &[], &["rooms.desk.web: stands beside discord"]);
    check(&WEB.replace("[\"ada\"]", "[]"), &[], &["warning: rooms.desk.approvers is empty"]);
    check(&format!("{WEB}bots = [\"ada\"]"), &[], &["warning: rooms.desk.approvers lists ada, which is listed as a bot"]);
}

#[test]
fn without_encryption_only_loopback_is_served() {
    let at = |lines: &str| format!("[web]\n{lines}\n{WEB}");
    for listen in ["127.0.0.1:80", "127.9.9.9:0", "[::1]:7391"] {
        check(&at(&format!("listen = \"{listen}\"")), &[], &[]);
    }
    for listen in ["0.0.0.0:7391", "[::]:7391", "192.168.1.2:7391"] {
        let expected = format!("web.listen: {listen} can be reached from elsewhere without encryption");
        check(&at(&format!("listen = \"{listen}\"")), &[], &[&expected]);
    }
    for url in ["http://localhost:7391", "http://127.0.0.1:7391", "http://example.org", "https://example.org"] {
        check(&at(&format!("url = \"{url}\"")), &[], &["web.url: is for a page that is encrypted"]);
    }
    for url in ["example.org", "http://", "http://localhost/x", "http://u:p@localhost", "http://localhost?x", "ftp://localhost"] {
        check(&at(&format!("url = \"{url}\"")), &[], &[&format!("web.url: {url:?} is not the address of a page; write")]);
    }
}

#[test]
fn elsewhere_there_is_a_certificate_or_a_proxy() {
    let listen = "listen = \"0.0.0.0:443\"\n";
    let at = |lines: &str| format!("[web]\n{listen}{lines}\n{WEB}");
    let url = "url = \"https://example.org\"\n";
    let tls = "tls_cert_file = \"c\"\ntls_key_file = \"k\"\n";
    let config = check(&at(&format!("{url}{tls}")), &[], &[]).expect("a configuration");
    assert_eq!(config.web.tls.expect("TLS").key.expose(), SECRET);
    check(&at(&format!("{url}proxies = [\"10.0.0.2\", \"::1\"]")), &[], &[]);
    check(&at(tls), &[], &["web.url: is missing"]);
    check(&at(&format!("{tls}url = \"http://example.org\"")), &[], &["web.url: http://example.org/ is not encrypted"]);
    check(&at(&format!("{url}tls_cert_file = \"c\"")), &[], &["web.tls_key_file: is missing"]);
    check(&at(&format!("{url}tls_key_file = \"k\"")), &[], &["web.tls_cert_file: is missing"]);
    check(&at(&format!("{url}{tls}proxies = [\"::1\"]")), &[], &["web.proxies: stands beside tls_cert_file"]);
    check(&at(&format!("{url}proxies = [\"proxy\"]")), &[], &["web.proxies[0]: \"proxy\" is not an IP address"]);
    check(&at(&format!("{url}{tls}tls_key = \"x\"")), &[], &["web.tls_key: would be a secret in plain sight"]);
}

#[test]
fn the_key_of_a_certificate_is_not_shown() {
    let tls = "[web]\nlisten = \"0.0.0.0:443\"\nurl = \"https://example.org\"\ntls_cert_file = \"c\"\ntls_key_file = \"k\"\n";
    let config = check(&format!("{tls}{WEB}"), &[], &[]).expect("a configuration");
    assert!(!format!("{:?}", config.web.tls.map(|tls| tls.key)).contains(SECRET));
}
