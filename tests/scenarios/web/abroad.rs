//! The page away from loopback: with a certificate of its own, or behind a proxy that has one.

use countersign_tests::{Launch, Visitor, approvals_certificate, port_to_listen_on, within};
use reqwest_serenity::Method;

use super::desk::Desk;
use crate::stage::{Home, PLAIN};

#[tokio::test]
async fn a_page_with_a_certificate_is_served_encrypted_alone() {
    let (home, port) = (Home::new(), port_to_listen_on());
    let certificate = approvals_certificate();
    home.secret("cert.pem", &certificate.chain);
    home.secret("key.pem", &certificate.key);
    let url = format!("https://approvals.example.org:{port}");
    let web = format!("url = \"{url}\"\ntls_cert_file = \"cert.pem\"\ntls_key_file = \"key.pem\"");
    let mut desk = Desk::serve(home, port, &PLAIN, &web).await;
    let link = desk.link("ada").await;
    assert!(link.starts_with(&format!("{url}/join#")), "{link}");
    let mut ada = Visitor::encrypted(&url, desk.address(), &certificate.authority);
    let joined = ada.join(&link).await;
    let cookie = &joined.headers["set-cookie"];
    assert!(cookie.starts_with("__Host-") && cookie.contains("Secure") && cookie.contains("Path=/"), "{cookie}");
    let (mut events, _) = ada.open().await.expect("open");
    let prompt = desk.ask("encrypted").await;
    let card = within("a card", events.card("waiting")).await;
    assert_eq!(ada.press(&card, 0).await.json()["counted"], true);
    desk.assert_answered(&prompt, "encrypted", "once:1", true).await;
    // In plain text nobody is understood.
    let plain = reqwest_serenity::Client::builder().no_proxy().build().expect("a client");
    assert!(plain.get(desk.origin()).send().await.is_err());
}

#[tokio::test]
async fn behind_a_proxy_only_what_it_received_encrypted_is_served() {
    let mut desk = Desk::with(&PLAIN, "url = \"https://approvals.example.org\"\nproxies = [\"127.0.0.1\"]").await;
    let link = desk.link("ada").await;
    assert!(link.starts_with("https://approvals.example.org/join#"), "{link}");
    let mut ada = desk.stranger();
    for (name, value) in
        [("host", "approvals.example.org"), ("origin", "https://approvals.example.org"), ("x-forwarded-proto", "https")]
    {
        ada.headers.insert(name, value.to_owned());
    }
    assert!(ada.join(&link).await.headers["set-cookie"].contains("Secure"));
    let (mut events, _) = ada.open().await.expect("open");
    let prompt = desk.ask("proxied").await;
    let card = within("a card", events.card("waiting")).await;
    let click = Visitor::click(&card, 0);
    for proto in ["", "http", "https, http", "HTTPS"] {
        let answer = ada.ask(Method::POST, "/api/click", &[("x-forwarded-proto", proto)], Some(&click)).await;
        assert_eq!(answer.status, 403, "{proto:?}");
    }
    let own = format!("127.0.0.1:{}", desk.port);
    assert_eq!(ada.ask(Method::GET, "/", &[("host", &own)], None).await.status, 421);
    assert_eq!(ada.press(&card, 2).await.json()["counted"], true);
    desk.assert_answered(&prompt, "proxied", "no 3", false).await;
}

#[tokio::test]
async fn whoever_is_not_the_proxy_is_not_served() {
    let desk = Desk::with(&PLAIN, "url = \"https://approvals.example.org\"\nproxies = [\"10.0.0.2\"]").await;
    let mut visitor = desk.stranger();
    visitor.headers.insert("host", "approvals.example.org".to_owned());
    visitor.headers.insert("x-forwarded-proto", "https".to_owned());
    visitor.headers.insert("x-forwarded-for", "10.0.0.2".to_owned());
    assert_eq!(visitor.get("/").await.status, 403);
}

/// Whoever has the port could pass for the page, so that no agent is started.
#[tokio::test]
async fn a_bridge_whose_port_is_taken_starts_no_agent() {
    let (home, port) = (Home::new(), port_to_listen_on());
    let _taken = std::net::TcpListener::bind(("127.0.0.1", port)).expect("a free port");
    home.configure(&PLAIN, &format!("[web]\nlisten = \"127.0.0.1:{port}\""), "web = true\napprovers = [\"ada\"]", "bob");
    let started = home.file("started");
    let agent = ["touch".into(), started.clone().into()];
    let mut bridge = Launch::acp(Some(&home.config()), &agent).await.start();
    assert_eq!(bridge.wait_exit().await.code(), Some(78));
    bridge.stderr_contains("is in use by another program; end it, or choose another port as web.listen").await;
    assert!(!started.exists());
}

#[tokio::test]
async fn a_port_that_is_taken_is_told_by_check_with_what_to_do() {
    let (home, port) = (Home::new(), port_to_listen_on());
    let taken = std::net::TcpListener::bind(("127.0.0.1", port)).expect("a free port");
    let service = format!("[web]\nlisten = \"127.0.0.1:{port}\"");
    home.configure(&PLAIN, &service, "web = true\napprovers = [\"ada\"]", "bob");
    let config = home.config();
    let mut check = Launch::countersign(&["check", "--config", config.to_str().expect("UTF-8")]).await.start();
    let said = String::from_utf8(check.rest_of_output().await).expect("UTF-8");
    assert_eq!(check.wait_exit().await.code(), Some(1));
    assert!(said.contains("in use by another program; end it, or choose another port as web.listen"), "{said}");
    drop(taken);
    let mut check = Launch::countersign(&["check", "--config", config.to_str().expect("UTF-8")]).await.start();
    let said = String::from_utf8(check.rest_of_output().await).expect("UTF-8");
    assert!(said.contains("can be served") && said.contains("who could answer   NOBODY"), "{said}");
    assert_eq!(check.wait_exit().await.code(), Some(1));
    let mut invite =
        Launch::countersign(&["web-room", "invite", "ada", "--config", config.to_str().expect("UTF-8")]).await.start();
    invite.rest_of_output().await;
    let mut check = Launch::countersign(&["check", "--config", config.to_str().expect("UTF-8")]).await.start();
    let said = String::from_utf8(check.rest_of_output().await).expect("UTF-8");
    assert_eq!((check.wait_exit().await.code(), said.contains("who could answer   ada")), (Some(0), true), "{said}");
}
