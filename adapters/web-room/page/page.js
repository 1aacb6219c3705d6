// The page: what waits, what was earlier, and what to do when either changes.

import { hasJoined, join, leave, listen, press } from "./connection.js";
import { count, draw, update } from "./cards.js";

// Presses so soon after the page has moved were meant for what was there before.
const SETTLE_MS = 600;
// A card that has ended stays where it was for so long, so that whoever pressed sees what became of it.
const LINGER_MS = 8000;
const EARLIER_MAX = 200;

const root = document.documentElement;
const at = (id) => document.getElementById(id);
const waiting = at("waiting").querySelector(".cards");
const earlier = at("earlier").querySelector(".cards");
const articles = new Map();
// Cards that the bridge has told of since it was connected to; null while it is not.
let told = null;
let isReady = false;
let settling = 0;

function moved() {
  root.dataset.armed = "false";
  clearTimeout(settling);
  settling = setTimeout(() => (root.dataset.armed = "true"), SETTLE_MS);
}

function show(card) {
  told?.add(card.id);
  const known = articles.get(card.id);
  if (known) {
    const wasWaiting = known.dataset.state === "waiting";
    update(known, card);
    moved();
    if (wasWaiting && card.state !== "waiting") {
      say(known.querySelector(".ending").textContent);
      known.notification?.close();
    }
    if (card.ending !== null) {
      putAway(known);
    }
  } else {
    const article = draw(card, pressed);
    articles.set(card.id, article);
    moved();
    if (card.ending === null) {
      waiting.append(article);
    } else if (isReady) {
      // Somebody who looks at the page sees what was refused at once.
      waiting.append(article);
      putAway(article);
    } else {
      earlier.prepend(article);
    }
    if (isReady) {
      const headline = article.querySelector(".headline").textContent;
      say(headline);
      if (card.ending === null) {
        notify(article, headline, card.room);
      }
    }
  }
  tally();
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
      earlier.prepend(article);
      moved();
    }
    while (EARLIER_MAX < earlier.childElementCount) {
      articles.delete(earlier.lastElementChild.dataset.card);
      earlier.lastElementChild.remove();
    }
    tally();
  }, LINGER_MS);
}

function tally() {
  const open = [...articles.values()].filter((article) => article.dataset.state === "waiting").length;
  document.title = open === 0 ? "Countersign" : `(${open}) Countersign`;
  at("nothing").hidden = waiting.childElementCount !== 0;
  at("earlier").hidden = earlier.childElementCount === 0;
}

async function pressed(card, button, article) {
  const reply = article.querySelector(".reply");
  if (root.dataset.connection !== "open") {
    reply.textContent = "Nothing was sent: the bridge is not connected.";
    return;
  }
  if (root.dataset.armed !== "true") {
    reply.textContent = "Nothing was sent: the page had just moved. Press again if you mean it.";
    return;
  }
  if (article.dataset.pressed) {
    return;
  }
  article.dataset.pressed = button.style;
  reply.textContent = `Sending ${JSON.stringify(button.label)} …`;
  const answer = await press(card.id, button.token);
  delete article.dataset.pressed;
  reply.textContent = answer.counted ? "" : (answer.reply ?? "Your click did not count.");
  if (answer.counted) {
    article.dataset.counted = "true";
  }
}

function onEvent(name, data) {
  if (name === "hello") {
    at("who").textContent = `You are ${data.person}${data.rooms.length === 0 ? ", in no room" : `, in ${data.rooms.join(", ")}`}`;
    told = new Set();
    isReady = false;
  } else if (name === "card") {
    show(data);
  } else if (name === "ready") {
    isReady = true;
    forget();
  }
}

// What the bridge does not know any more is over.
function forget() {
  for (const [id, article] of articles) {
    if (!told.has(id) && article.dataset.state === "waiting") {
      const text = "The bridge was started anew, and this card no longer counts. Nothing was allowed here.";
      update(article, { state: "withdrawn", left_ms: null, ending: [{ by: "us", text }], ended_at: null });
      putAway(article);
      moved();
    }
  }
  tally();
}

function onState(state) {
  root.dataset.connection = state;
  const words = { open: "Connected", closed: "Not connected. Nothing can be pressed until the bridge is back.", out: "" };
  at("connection").textContent = words[state];
  at("leave").hidden = state !== "open";
  at("notify").hidden = state !== "open" || !canAsk();
  at("out").hidden = state !== "out";
  at("waiting").hidden = state === "out";
  if (state === "out") {
    at("who").textContent = "";
    articles.forEach((article) => article.remove());
    articles.clear();
    tally();
  }
}

function say(text) {
  at("said").textContent = text;
}

function canAsk() {
  return "Notification" in window && isSecureContext && Notification.permission === "default";
}

function notify(article, headline, room) {
  if (!("Notification" in window) || Notification.permission !== "granted" || document.hasFocus()) {
    return;
  }
  try {
    article.notification = new Notification(headline, { body: `It waits in ${room}.`, tag: article.dataset.card });
    article.notification.onclick = () => {
      window.focus();
      article.querySelector(".headline").focus();
    };
  } catch {
    // Some phones let only installed pages do this.
  }
}

async function begin() {
  const key = location.pathname === "/join" ? location.hash.slice(1) : "";
  let why = "";
  if (key !== "") {
    // The key leaves the address bar and the history before anything else.
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
  at("why").textContent = why || (hasJoined() ? "Your key was revoked, or you have not been here for long." : "");
}

at("leave").addEventListener("click", async () => {
  await leave();
  location.assign("/");
});
at("notify").addEventListener("click", async () => {
  await Notification.requestPermission();
  at("notify").hidden = !canAsk();
});
document.addEventListener("visibilitychange", moved);
setInterval(() => waiting.querySelectorAll(".card").forEach(count), 1000);
moved();
begin();
