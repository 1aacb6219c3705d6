// The page: what waits, what was earlier, and what to do when either changes.

import { ask, dismiss } from "./confirm.js";
import { keepRooms, showLines, showNotes, spoken } from "./notes.js";
import { notify, notifyOf, offer } from "./notify.js";
import { renewSections } from "./renew.js";
import { hasJoined, join, leave, listen, press } from "./connection.js";
import { count, draw, update } from "./cards.js";
import { change, isSettling, settleAll, watch } from "./settle.js";

// A card that has ended stays where it was for so long, so that whoever pressed sees what became of it.
const LINGER_MS = 8000;
const EARLIER_MAX = 200;
// What was said and may not have been heard yet.
const SAID_MAX = 5;

const root = document.documentElement;
const at = (id) => document.getElementById(id);
const waiting = at("waiting").querySelector(".cards");
const earlier = at("earlier").querySelector(".cards");
const articles = new Map();
// Cards that the bridge has told of since it was connected to.
let told = new Set();
// Whether it has told of all that there is, and whether it ever had before.
let isReady = false;
let wasReady = false;
// New cards that came while it had not.
let missed = [];
let me = "";

function show(card) {
  told.add(card.id);
  const news = change(() => {
    const known = stillKnown(card);
    if (known) {
      renew(known, card);
    } else {
      add(card);
    }
    const article = articles.get(card.id);
    return [...renewSections(article, card).map((text) => ({ text })), ...showNotes(article, card).map(called)];
  });
  if (wasReady) {
    news.forEach((said) => hear(said, card, articles.get(card.id)));
  }
  if (card.ending !== null) {
    dismiss(card.id);
  }
  tally();
}

// A card that was given up has no buttons any more. If the bridge takes it up after all, it is drawn as a new one.
function stillKnown(card) {
  const known = articles.get(card.id);
  if (known?.dataset.state !== "lost" || card.ending !== null) {
    return known;
  }
  clearTimeout(known.lingering);
  known.remove();
  return undefined;
}

// Whoever is not named is called to a card that waits as everybody is.
function called(note) {
  return { text: spoken(note), isCall: note.calls.length === 0 || note.calls.includes(me) };
}

function hear({ text, isCall }, card, article) {
  say(`#${card.number} · ${text}`);
  if (isCall && isOpen(article)) {
    notify(article, text, card.room);
  }
}

function showLine(told) {
  const news = change(() => showLines(at("lines"), told));
  for (const line of wasReady ? news : []) {
    say(spoken(line));
    if (line.calls.includes(me)) {
      notifyOf(spoken(line), { body: `It was said in ${told.room}.`, tag: line.id });
    }
  }
}

function renew(article, card) {
  const wasOpen = isOpen(article);
  update(article, card);
  if (wasOpen && !isOpen(article)) {
    say(`#${card.number} · ${article.querySelector(".ending").textContent}`);
    article.notification?.close();
  }
  if (card.ending !== null) {
    putAway(article);
  }
}

function add(card) {
  const article = draw(card, pressed);
  articles.set(card.id, article);
  if (card.ending !== null && !isReady) {
    earlier.prepend(article);
    trim();
    return;
  }
  waiting.append(article);
  watch(article.querySelector(".bar"));
  if (card.ending !== null) {
    // Somebody who looks at the page sees what was refused at once.
    putAway(article);
  }
  if (isReady) {
    announce(article, card);
  } else if (wasReady) {
    // It came while this page was away.
    missed.push([article, card]);
  }
}

function announce(article, card) {
  const headline = article.querySelector(".headline").textContent;
  say(headline);
  if (card.ending === null) {
    notify(article, headline, card.room);
  }
}

function isOpen(article) {
  return article.dataset.state === "waiting";
}

// Once nobody looks at it any more.
function putAway(article) {
  clearTimeout(article.lingering);
  article.lingering = setTimeout(() => {
    if (article.matches(":hover, :focus-within:has(:focus-visible)")) {
      putAway(article);
      return;
    }
    if (article.parentElement === waiting) {
      change(() => earlier.prepend(article));
    }
    trim();
    tally();
  }, LINGER_MS);
}

function trim() {
  while (EARLIER_MAX < earlier.childElementCount) {
    articles.delete(earlier.lastElementChild.dataset.card);
    earlier.lastElementChild.remove();
  }
}

function tally() {
  const open = [...articles.values()].filter(isOpen).length;
  document.title = open === 0 ? "Countersign" : `(${open}) Countersign`;
  at("nothing").hidden = waiting.childElementCount !== 0;
  at("earlier").hidden = earlier.childElementCount === 0;
}

async function pressed(event, card, button, article) {
  const tell = (text) => change(() => reply(article, text));
  if (root.dataset.connection !== "open") {
    tell("Nothing was sent: the bridge is not connected.");
    return;
  }
  if (isSettling(event)) {
    tell("Nothing was sent: the button had just moved or come into view. Press again if you mean it.");
    return;
  }
  if ("pressed" in article.dataset) {
    return;
  }
  article.dataset.pressed = "";
  tell(`Sending ${JSON.stringify(button.label)} …`);
  const answer = await press(card.id, button.token);
  delete article.dataset.pressed;
  await conclude(answer, card, article, tell);
}

// Above the buttons, which stay where they are on the screen: whoever is told to press again may do so at once.
function reply(article, text) {
  const options = article.querySelector(".options");
  const top = () => options?.getBoundingClientRect().top ?? 0;
  const before = top();
  article.querySelector(".reply").textContent = text;
  const moved = top() - before;
  if (moved !== 0) {
    // A page that does not fill the screen has to go on below it to be scrolled.
    document.body.style.minHeight = `${root.scrollHeight + moved}px`;
    scrollBy({ top: moved, behavior: "instant" });
  }
}

function onEvent(name, data) {
  if (name === "hello") {
    at("who").textContent = `You are ${data.person}${data.rooms.length === 0 ? ", in no room" : `, in ${data.rooms.join(", ")}`}`;
    me = data.person;
    told = new Set();
    isReady = false;
    missed = [];
    change(() => keepRooms(at("lines"), data.rooms));
  } else if (name === "card") {
    show(data);
  } else if (name === "lines") {
    showLine(data);
  } else if (name === "ready") {
    isReady = true;
    wasReady = true;
    forget();
    missed.filter(([article]) => isOpen(article)).forEach(([article, card]) => announce(article, card));
  }
}

// What the bridge does not know any more cannot be answered; what became of it is not known here.
function forget() {
  for (const [id, article] of articles) {
    if (!told.has(id) && ["waiting", "chosen"].includes(article.dataset.state)) {
      const text = "The bridge does not know this card any more, and it cannot be answered here. Its log has what became of it.";
      change(() => update(article, { state: "lost", left_ms: null, ending: [{ by: "us", text }] }));
      article.notification?.close();
      putAway(article);
    }
  }
  tally();
}

// What became of a press. One that has to be confirmed is pressed again, on a button of its own.
async function conclude(answer, card, article, tell) {
  article.toggleAttribute("data-counted", answer.counted === true);
  if (!answer.confirm) {
    tell(answer.reply ?? (answer.counted ? "" : "Your click did not count."));
    return;
  }
  tell("It is not decided yet: you are asked to confirm it.");
  const how = await ask(card, answer.confirm);
  if (how !== "confirmed") {
    tell(how === "late" ? "You did not confirm it in time. You decided nothing." : "You did not confirm it, and decided nothing.");
    return;
  }
  tell(`Sending ${JSON.stringify(answer.confirm.button.label)} …`);
  await conclude(await press(card.id, answer.confirm.button.token), card, article, tell);
}

function onState(state, said) {
  const was = root.dataset.connection;
  root.dataset.connection = state;
  if (state !== "open") {
    dismiss();
  }
  const away = said ? `Not connected: ${said}` : "Not connected. Nothing can be pressed until the bridge is back.";
  if (state === "open") {
    at("why").textContent = "";
  }
  if (state === "out" && at("why").textContent === "") {
    at("why").textContent = hasJoined() ? "Your key was revoked, or you have not been here for long." : "";
  }
  const words = { open: "Connected", closed: away, out: "" };
  change(() => {
    // Said once, however often it is tried again.
    if (at("connection").textContent !== words[state]) {
      at("connection").textContent = words[state];
    }
    at("leave").hidden = state !== "open";
    offer();
    waiting.querySelectorAll(".option").forEach((option) => option.setAttribute("aria-disabled", state !== "open"));
    if (state === "open") {
      // What could not be sent then can be sent now.
      waiting.querySelectorAll(".card").forEach((article) => (article.querySelector(".reply").textContent = ""));
    }
    at("out").hidden = state !== "out";
    at("waiting").hidden = state === "out";
    if (state === "out" && was !== "out") {
      at("who").textContent = "";
      articles.forEach((article) => {
        article.notification?.close();
        article.remove();
      });
      articles.clear();
      keepRooms(at("lines"), []);
      at("said").replaceChildren();
      tally();
    }
  });
}

// Each on its own, so that one does not take another's place before it is heard.
function say(text) {
  const line = document.createElement("p");
  line.textContent = text;
  at("said").append(line);
  while (SAID_MAX < at("said").childElementCount) {
    at("said").firstElementChild.remove();
  }
}

async function begin() {
  const key = location.pathname === "/join" ? location.hash.slice(1) : "";
  let why = "";
  if (key !== "") {
    // The key leaves the address bar before anything else. Browsers may keep it in their history, where it soon is no use.
    history.replaceState(null, "", "/");
    try {
      why = (await join(key)).reply ?? "";
    } catch {
      why = "The bridge cannot be reached. Open your link again once it is there.";
    }
  }
  at("why").textContent = why;
  if (why !== "" && !hasJoined()) {
    onState("out");
    return;
  }
  await listen(onEvent, onState);
}

at("leave").addEventListener("click", async () => {
  await leave();
  location.assign("/");
});
// Whoever comes back, or from another window, sees first what is there now.
document.addEventListener("visibilitychange", settleAll);
addEventListener("focus", settleAll);
addEventListener("pageshow", settleAll);
setInterval(() => change(() => waiting.querySelectorAll(".card").forEach(count)), 1000);
begin();
