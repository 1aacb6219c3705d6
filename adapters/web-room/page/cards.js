// Cards as the page shows them. Whatever others wrote is set as text, never as markup.

import { missing } from "./file.js";
import { make, section, sentence, time } from "./sections.js";

const STATES = {
  waiting: "Waiting",
  chosen: "Chosen, being delivered",
  taken: "Delivered",
  "not-delivered": "Not delivered",
  expired: "Expired",
  withdrawn: "Withdrawn",
  refused: "Refused",
  lost: "Unknown",
};
const HURRY_MS = 30000;
// A card that waits no longer than this needs no date.
const DATED_FROM_MS = 12 * 3600000;
const CLOCK = { hour: "2-digit", minute: "2-digit" };

// Draws a card. `pressed(event, card, button, element)` is called when a button is pressed.
export function draw(card, pressed) {
  const article = make("article", "card");
  article.dataset.card = card.id;
  article.dataset.buttons = card.had_buttons;
  const title = `title-${card.id}`;
  article.setAttribute("aria-labelledby", title);

  const line = make("p", "line-of-state");
  line.id = `state-${card.id}`;
  const where = make("span", "where", `${card.room}, `);
  where.append(time(card.asked_at, CLOCK));
  line.append(make("span", "state"), make("span", "left"), where);
  article.setAttribute("aria-describedby", line.id);
  const headline = sentence("h3", "headline", card.headline);
  headline.prepend(`#${card.number} · `);
  headline.id = title;
  headline.tabIndex = -1;
  const sections = make("div", "sections");
  sections.append(...card.sections.map((part) => section(part, card.file !== null)), ...missing(card));
  const bar = make("div", "bar");
  const reply = make("p", "reply");
  reply.setAttribute("role", "status");
  bar.append(reply);
  if (card.buttons.length !== 0) {
    const options = make("div", "options");
    options.setAttribute("role", "group");
    options.setAttribute("aria-labelledby", title);
    options.append(...card.buttons.map((button) => option(card, button, article, pressed)));
    stay(options);
    bar.append(options);
  }
  // The buttons stay in sight below the headline, and nowhere above it.
  const rest = make("div", "rest-of-card");
  rest.append(sections, bar);
  article.append(line, headline, rest);
  update(article, card);
  return article;
}

// Of so many options that they have to be scrolled, one that refuses is always among those in sight.
function stay(options) {
  (options.querySelector(".reject") ?? options.querySelector(".reject-always"))?.classList.add("stays");
}

// Brings a drawn card up to date. It keeps its place, its details and what its person was told.
export function update(article, card) {
  article.dataset.state = card.state;
  article.querySelector(".state").textContent = STATES[card.state] ?? card.state;
  date(article, card);
  article.until = card.left_ms === null ? null : performance.now() + card.left_ms;
  if (card.ending !== null) {
    end(article, card);
  }
  count(article);
}

// What has ended may be read on another day.
function date(article, { left_ms }) {
  const asked = article.querySelector(".where time");
  const at = Date.parse(asked.dateTime);
  const isShort = left_ms !== null && left_ms + Date.now() - at < DATED_FROM_MS;
  asked.replaceWith(time(at, isShort ? CLOCK : { month: "short", day: "numeric", ...CLOCK }));
}

function end(article, card) {
  const options = article.querySelector(".options");
  const hadFocus = options?.contains(document.activeElement);
  options?.remove();
  article.querySelector(".ending")?.remove();
  article.querySelector(".bar").before(sentence("p", "ending", card.ending));
  fold(article);
  if (hadFocus) {
    // Whoever was about to press is told what became of it instead of being sent to the top of the page.
    article.querySelector(".headline").focus({ preventScroll: true });
  }
}

// What was asked stays within reach, and out of the way.
function fold(article) {
  const sections = article.querySelector(".sections");
  if (sections.childElementCount === 0 || sections.closest("details")) {
    return;
  }
  const details = make("details", "past");
  sections.before(details);
  details.append(make("summary", "", "What was asked"), sections);
}

// The time that is left, by the bridge's clock.
export function count(article) {
  const left = article.querySelector(".left");
  if (article.dataset.state !== "waiting" || article.until === null) {
    left.textContent = "";
    return;
  }
  const ms = Math.max(0, article.until - performance.now());
  article.dataset.hurry = ms < HURRY_MS;
  left.textContent = `${span(Math.ceil(ms / 1000))} left`;
}

function span(seconds) {
  const [days, hours, minutes] = [Math.floor(seconds / 86400), Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60];
  if (days !== 0) {
    return `${days} d ${hours} h`;
  }
  if (hours !== 0) {
    return `${hours} h ${minutes} min`;
  }
  return minutes !== 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
}

export function option(card, button, article, pressed) {
  const element = make("button", `option ${button.style}`);
  element.type = "button";
  element.dataset.token = button.token;
  element.append(make("span", "label", button.label), " ", make("span", "does", button.does));
  element.addEventListener("click", (event) => pressed(event, card, button, article));
  return element;
}
