//! The double of Discord itself, with serenity as its client.

use std::sync::Arc;
use std::time::Duration;

use countersign_tests::discord_double::{
    Answer, ApiError, Click, DiscordDouble, Fault, Greeting, Limited, Oddity, Route, Snowflake,
};
use countersign_tests::within;
use serde_json::{Value, json};
use serenity::all::{
    ChannelId, ChannelType, ClientBuilder, ComponentInteraction, Context, CreateAllowedMentions, CreateAttachment, CreateButton,
    CreateMessage, CreateThread, EditMessage, EditThread, Event, EventHandler, GatewayIntents, Guild, Http, HttpBuilder,
    HttpError, Interaction, Message, MessageId, Nonce, RawEventHandler, Ready, ResumedEvent,
};
use serenity::async_trait;
use tokio::sync::mpsc;

#[tokio::test]
async fn a_typed_client_is_greeted() {
    let mut bot = Bot::connect(DiscordDouble::start().await).await;
    let Seen::Ready(ready) = bot.next().await else { panic!("a READY first") };
    assert_eq!((ready.user.id.get(), ready.application.id.get()), (bot.discord.bot_id().0, bot.discord.application_id().0));
    let Seen::Guild(guild) = bot.next().await else { panic!("a GUILD_CREATE") };
    assert_eq!(guild.id.get(), bot.discord.guild().0);
    assert!(guild.channels.contains_key(&ChannelId::new(bot.discord.channel().0)), "{guild:?}");
    assert_eq!(guild.members.len(), 1);

    let (http, discord) = (bot.http.clone(), &bot.discord);
    let application = http.get_current_application_info().await.expect("the application");
    assert_eq!((application.id.get(), application.interactions_endpoint_url), (discord.application_id().0, None));
    assert_eq!(http.get_current_user().await.expect("the bot").id.get(), discord.bot_id().0);
    let ada = discord.join("ada");
    assert_eq!(http.get_member(guild.id, ada.0.into()).await.expect("a member").user.name, "ada");
    assert_eq!(http.get_guild(guild.id).await.expect("the guild").id, guild.id);
    let channel = http.get_channel(discord.channel().0.into()).await.expect("the channel").guild().expect("of a guild");
    assert_eq!(channel.guild_id, guild.id);
    discord.assert_no_problems();
}

#[tokio::test]
async fn a_click_arrives_typed_and_is_acknowledged_once() {
    let mut bot = Bot::ready().await;
    let ada = bot.discord.join("ada");
    let card = bot.post("touch x").await;
    let interaction = bot.discord.press(ada, card, "Yes");
    let click = bot.click().await;
    assert_eq!((click.id.get(), click.user.id.get(), click.message.id.get()), (interaction.0, ada.0, card.0));
    assert_eq!(click.data.custom_id, "yes");
    let member = click.member.clone().expect("a member");
    assert!(member.permissions.expect("permissions").view_channel(), "{member:?}");
    assert!(click.app_permissions.expect("permissions").send_messages());

    bot.acknowledge(&click).await.expect("accepted");
    assert_eq!(code(&bot.acknowledge(&click).await.expect_err("once")), (400, 40060));
    bot.follow_up(&click).await.expect("accepted");
    let acks = bot.discord.acks();
    assert_eq!(
        acks.iter().map(|ack| (ack.kind, ack.status, ack.answered)).collect::<Vec<_>>(),
        [(6, 204, Some(204)), (6, 400, Some(400))]
    );
    assert!(acks[0].after < Duration::from_secs(1), "{acks:?}");
    let followups = bot.discord.followups();
    assert_eq!((followups.len(), followups[0].ephemeral, followups[0].content.as_str()), (1, true, "no"));
    bot.discord.assert_no_problems();
}

#[tokio::test]
async fn an_acknowledgement_can_be_too_late_and_a_followup_too_early() {
    let mut bot = Bot::ready().await;
    let ada = bot.discord.join("ada");
    let card = bot.post("touch x").await;
    bot.discord.click(Click::new(ada, card, "yes").aged(Duration::from_millis(3_100)));
    let late = bot.click().await;
    assert_eq!(code(&bot.acknowledge(&late).await.expect_err("too late")), (404, 10062));

    bot.discord.press(ada, card, "Yes");
    let click = bot.click().await;
    assert_eq!(code(&bot.follow_up(&click).await.expect_err("too early")), (404, 10015));
    bot.acknowledge(&click).await.expect("accepted");
    bot.discord.set_limits(|limits| limits.followup = Duration::ZERO);
    assert_eq!(code(&bot.follow_up(&click).await.expect_err("too late")), (401, 50027));
}

#[tokio::test]
async fn the_same_nonce_is_the_same_message() {
    let bot = Bot::ready().await;
    let first = bot.send(card("touch x", "n1")).await.expect("posted");
    let second = bot.send(card("touch x", "n1")).await.expect("posted");
    assert_eq!(first.id, second.id);
    bot.send(card("touch x", "n2")).await.expect("posted");
    let messages = bot.discord.messages();
    assert_eq!(messages.iter().map(|message| message.posts).collect::<Vec<_>>(), [2, 1]);
    bot.discord.assert_no_problems();
}

#[tokio::test]
async fn a_reply_can_be_lost_after_the_message_was_stored_and_before() {
    let bot = Bot::ready().await;
    bot.discord.fault(Route::Post, Fault::Instead(Answer::Dropped));
    bot.discord.fault(Route::Post, Fault::Afterwards(Answer::Dropped));
    bot.send(card("touch x", "n1")).await.expect_err("dropped");
    assert_eq!(bot.discord.messages().len(), 0);
    bot.send(card("touch x", "n1")).await.expect_err("dropped");
    assert_eq!(bot.discord.messages().len(), 1);
    bot.send(card("touch x", "n1")).await.expect("posted");
    let messages = bot.discord.messages();
    assert_eq!((messages.len(), messages[0].posts), (1, 2));
    let requests = bot.discord.requests();
    let posts: Vec<_> = requests.iter().filter(|request| request.route == Route::Post).collect();
    assert_eq!(
        posts.iter().map(|request| (request.processed, request.answered)).collect::<Vec<_>>(),
        [(None, None), (Some(200), None), (Some(200), Some(200))]
    );
}

#[tokio::test]
async fn answers_can_be_wrong_in_every_way() {
    let bot = Bot::ready().await;
    for answer in [Answer::Html(502), Answer::BrokenJson, Answer::OddJson, Answer::Error(ApiError::MISSING_ACCESS)] {
        bot.discord.fault(Route::Post, Fault::Instead(answer));
        let error = bot.send(card("touch x", "n1")).await.expect_err("an error");
        assert!(!matches!(answer, Answer::Error(_)) || code(&error) == (403, 50001), "{error}");
    }
    bot.discord.fault(Route::Post, Fault::Instead(Answer::Nothing));
    tokio::time::timeout(Duration::from_millis(300), bot.send(card("touch x", "n1"))).await.expect_err("nothing");
    for limited in [Limited::User, Limited::Global, Limited::Shared] {
        bot.discord.fault(Route::Post, Fault::Instead(Answer::RateLimited(limited, Duration::from_millis(50))));
    }
    bot.discord.fault(Route::Post, Fault::Slow(Duration::from_millis(50)));
    bot.send(card("touch x", "n1")).await.expect("after three retries");
    assert_eq!(bot.discord.messages().len(), 1);
    bot.discord.faults(|request| (request.route == Route::Edit).then_some(Fault::Instead(Answer::Html(500))));
    let id = bot.discord.messages()[0].id;
    bot.edit(id, "changed").await.expect_err("always");
    bot.discord.no_faults();
    bot.edit(id, "changed").await.expect("edited");
    assert_eq!(bot.discord.message(id).content, "changed");
    bot.discord.assert_no_problems();
}

#[tokio::test]
async fn what_is_gone_is_unknown() {
    let mut bot = Bot::ready().await;
    let card = bot.post("touch x").await;
    bot.discord.delete_message(card);
    assert!(matches!(bot.event().await, Event::MessageDelete(event) if event.message_id.get() == card.0));
    assert_eq!(code(&bot.edit(card, "x").await.expect_err("gone")), (404, 10008));
    bot.discord.set_bot_permissions(0);
    assert_eq!(code(&bot.edit(card, "x").await.expect_err("hidden")), (403, 50001));
    bot.discord.delete_channel(bot.discord.channel());
    assert!(matches!(bot.event().await, Event::ChannelDelete(_)));
    assert_eq!(code(&bot.edit(card, "x").await.expect_err("gone")), (404, 10003));
}

#[tokio::test]
async fn nothing_is_edited_in_an_archived_thread() {
    let bot = Bot::ready().await;
    let new = CreateThread::new("session").kind(ChannelType::PublicThread);
    let thread = bot.channel().create_thread(&bot.http, new).await.expect("a thread");
    let posted = thread.send_message(&bot.http, card("touch x", "n1")).await.expect("posted");
    let edit = || EditMessage::new().content("over").components(Vec::new()).allowed_mentions(CreateAllowedMentions::new());
    let id = Snowflake(thread.id.get());
    bot.discord.archive_thread(id, false);
    assert_eq!(code(&thread.edit_message(&bot.http, posted.id, edit()).await.expect_err("archived")), (400, 50083));
    thread.id.edit_thread(&bot.http, EditThread::new().archived(false)).await.expect("opened");
    thread.edit_message(&bot.http, posted.id, edit()).await.expect("edited");
    bot.discord.archive_thread(id, true);
    let opened = thread.id.edit_thread(&bot.http, EditThread::new().archived(false)).await;
    assert_eq!(code(&opened.expect_err("locked")), (403, 50013));
    bot.discord.assert_no_problems();
}

#[tokio::test]
async fn bodies_that_discord_does_not_take_are_refused_and_noted() {
    let bot = Bot::ready().await;
    let body = json!({"content": "x", "contents": "y", "allowed_mentions": {"parse": []}, "nonce": "1", "enforce_nonce": true});
    let error = bot.http.send_message(bot.channel(), Vec::new(), &body).await.expect_err("refused");
    assert_eq!(code(&error), (400, 50035));
    let problems = bot.discord.problems();
    assert!(problems.len() == 1 && problems[0].contains("contents"), "{problems:?}");
}

#[tokio::test]
async fn files_arrive_beside_the_json() {
    let bot = Bot::ready().await;
    let file = CreateAttachment::bytes(b"rm -rf\r\n--x\r\n".as_slice(), "request.txt");
    let posted = bot.send(card("touch x", "n1").add_file(file)).await;
    bot.discord.assert_no_problems();
    posted.expect("posted");
    let message = bot.discord.messages().remove(0);
    assert_eq!(
        (message.files[0].name.as_str(), message.files[0].content.as_slice()),
        ("request.txt", b"rm -rf\r\n--x\r\n".as_slice())
    );
    assert_eq!(message.buttons().len(), 2);
    bot.discord.assert_no_problems();
}

#[tokio::test]
async fn what_was_missed_is_told_after_a_resume() {
    let mut bot = Bot::ready().await;
    let ada = bot.discord.join("ada");
    let card = bot.post("touch x").await;
    for disconnect in [|discord: &DiscordDouble| discord.close(4000), DiscordDouble::cut, DiscordDouble::op7] {
        bot.discord.greet(Greeting::Refused);
        disconnect(&bot.discord);
        let missed = bot.discord.press(ada, card, "No");
        assert_eq!(bot.click().await.id.get(), missed.0);
        assert!(matches!(bot.next().await, Seen::Resumed));
    }
    bot.discord.assert_no_problems();
}

#[tokio::test]
async fn an_invalid_session_begins_anew() {
    let mut bot = Bot::ready().await;
    bot.discord.op9(false);
    assert!(matches!(bot.next().await, Seen::Ready(_)));
    assert_eq!(bot.discord.hellos().iter().map(|hello| hello["op"].clone()).collect::<Vec<_>>(), [json!(2), json!(2)]);
}

#[tokio::test]
async fn the_same_interaction_can_come_twice() {
    let mut bot = Bot::ready().await;
    let ada = bot.discord.join("ada");
    let card = bot.post("touch x").await;
    let id = bot.discord.press(ada, card, "Yes");
    bot.discord.repeat(id);
    assert_eq!(bot.click().await.id, bot.click().await.id);
}

/// All but the one that is made for it parse, so that a client is refused nothing by its parser.
#[tokio::test]
async fn odd_clicks_arrive() {
    let mut bot = Bot::ready().await;
    let ada = bot.discord.join("ada");
    let card = bot.post("touch x").await;
    for oddity in Oddity::ALL {
        let id = bot.discord.click(Click::new(ada, card, "yes").odd(oddity));
        match (oddity, bot.next_interaction().await) {
            (Oddity::NotParsable, Seen::Unparsed(kind, payload)) => {
                assert_eq!((kind.as_str(), payload["id"].clone()), ("INTERACTION_CREATE", id.json()));
            }
            (Oddity::OtherKind, Seen::Unparsed(..)) => {}
            (_, Seen::Click(click)) => assert_eq!(click.id.get(), id.0, "{oddity:?}"),
            (_, other) => panic!("{oddity:?}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_wrong_token_and_a_privileged_intent_are_refused() {
    let discord = DiscordDouble::start().await;
    let wrong = http(&discord, "MTIz.wrong.token");
    assert_eq!(code(&wrong.get_current_user().await.expect_err("refused")).0, 401);
    assert_eq!(ends(wrong, GatewayIntents::GUILDS).await, "Sent invalid authentication");
    let right = http(&discord, &discord.token());
    let told = ends(right, GatewayIntents::GUILDS | GatewayIntents::MESSAGE_CONTENT).await;
    assert_eq!(told, "Disallowed gateway intents were provided");
}

/// A client, and what it was told.
struct Bot {
    discord: DiscordDouble,
    http: Arc<Http>,
    seen: mpsc::UnboundedReceiver<Seen>,
    running: tokio::task::JoinHandle<()>,
}

#[derive(Debug)]
enum Seen {
    Ready(Box<Ready>),
    Guild(Box<Guild>),
    Click(Box<ComponentInteraction>),
    Resumed,
    Event(Box<Event>),
    Unparsed(String, Value),
}

impl Bot {
    async fn connect(discord: DiscordDouble) -> Self {
        let (tell, seen) = mpsc::unbounded_channel();
        let intents = GatewayIntents::GUILDS | GatewayIntents::GUILD_MESSAGES;
        let builder = ClientBuilder::new_with_http(http(&discord, &discord.token()), intents);
        let handlers = builder.event_handler(Handler(tell.clone())).raw_event_handler(Handler(tell));
        let mut client = handlers.await.expect("a client");
        let http = client.http.clone();
        let running = tokio::spawn(async move { client.start().await.expect("a client that goes on") });
        Self { discord, http, seen, running }
    }

    /// Past the greeting.
    async fn ready() -> Self {
        let mut bot = Self::connect(DiscordDouble::start().await).await;
        while !matches!(bot.next().await, Seen::Guild(_)) {}
        bot
    }

    async fn next(&mut self) -> Seen {
        within("an event", self.seen.recv()).await.expect("a client that goes on")
    }

    async fn next_interaction(&mut self) -> Seen {
        loop {
            match self.next().await {
                seen @ (Seen::Click(_) | Seen::Unparsed(..)) => return seen,
                Seen::Ready(_) | Seen::Guild(_) | Seen::Resumed | Seen::Event(_) => {}
            }
        }
    }

    async fn click(&mut self) -> ComponentInteraction {
        let seen = self.next_interaction().await;
        let Seen::Click(click) = seen else { panic!("{seen:?}") };
        *click
    }

    async fn event(&mut self) -> Event {
        loop {
            if let Seen::Event(event) = self.next().await {
                return *event;
            }
        }
    }

    fn channel(&self) -> ChannelId {
        ChannelId::new(self.discord.channel().0)
    }

    async fn send(&self, message: CreateMessage) -> serenity::Result<Message> {
        self.channel().send_message(&self.http, message).await
    }

    async fn post(&self, title: &str) -> Snowflake {
        Snowflake(self.send(card(title, title)).await.expect("posted").id.get())
    }

    async fn edit(&self, id: Snowflake, content: &str) -> serenity::Result<Message> {
        let edit = EditMessage::new().content(content).components(Vec::new()).allowed_mentions(CreateAllowedMentions::new());
        self.channel().edit_message(&self.http, MessageId::new(id.0), edit).await
    }

    async fn acknowledge(&self, click: &ComponentInteraction) -> serenity::Result<()> {
        self.http.create_interaction_response(click.id, &click.token, &json!({"type": 6}), Vec::new()).await
    }

    async fn follow_up(&self, click: &ComponentInteraction) -> serenity::Result<Message> {
        let body = json!({"content": "no", "flags": 64, "allowed_mentions": {"parse": []}});
        self.http.create_followup_message(&click.token, &body, Vec::new()).await
    }
}

impl Drop for Bot {
    fn drop(&mut self) {
        self.running.abort();
    }
}

struct Handler(mpsc::UnboundedSender<Seen>);

impl Handler {
    fn tell(&self, seen: Seen) {
        // Nobody listens any more when the test is over.
        let _ = self.0.send(seen);
    }
}

#[async_trait]
impl EventHandler for Handler {
    async fn ready(&self, _: Context, ready: Ready) {
        self.tell(Seen::Ready(Box::new(ready)));
    }

    async fn guild_create(&self, _: Context, guild: Guild, _: Option<bool>) {
        self.tell(Seen::Guild(Box::new(guild)));
    }

    async fn interaction_create(&self, _: Context, interaction: Interaction) {
        if let Interaction::Component(click) = interaction {
            self.tell(Seen::Click(Box::new(click)));
        }
    }

    async fn resume(&self, _: Context, _: ResumedEvent) {
        self.tell(Seen::Resumed);
    }
}

#[async_trait]
impl RawEventHandler for Handler {
    async fn raw_event(&self, _: Context, event: Event) {
        if let Event::Unknown(unknown) = event {
            self.tell(Seen::Unparsed(unknown.kind, unknown.value));
        } else if matches!(event, Event::MessageDelete(_) | Event::ChannelDelete(_)) {
            self.tell(Seen::Event(Box::new(event)));
        }
    }
}

fn card(title: &str, nonce: &str) -> CreateMessage {
    let button = |id: &str, label: &str| CreateButton::new(id).label(label);
    CreateMessage::new()
        .content(format!("An agent wants to run {title}"))
        .button(button("yes", "Yes"))
        .button(button("no", "No"))
        .allowed_mentions(CreateAllowedMentions::new())
        .nonce(Nonce::String(nonce.to_owned()))
        .enforce_nonce(true)
}

fn http(discord: &DiscordDouble, token: &str) -> Http {
    let authority = reqwest_serenity::Certificate::from_pem(discord.ca_pem().as_bytes()).expect("a certificate");
    let client = reqwest_serenity::Client::builder()
        .use_rustls_tls()
        .tls_built_in_root_certs(false)
        .add_root_certificate(authority)
        .resolve("discord.com", discord.address())
        .build()
        .expect("a client");
    HttpBuilder::new(token).client(client).build()
}

/// How a client's connection to the gateway ends.
async fn ends(http: Http, intents: GatewayIntents) -> String {
    let mut client = ClientBuilder::new_with_http(http, intents).await.expect("a client");
    within("the end", client.start()).await.expect_err("refused").to_string()
}

/// The HTTP status and Discord's own code.
fn code(error: &serenity::Error) -> (u16, isize) {
    let serenity::Error::Http(HttpError::UnsuccessfulRequest(response)) = error else {
        panic!("not an answer of the API: {error:?}")
    };
    (response.status_code.as_u16(), response.error.code)
}
