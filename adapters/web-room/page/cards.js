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
// Of a card, in lines, and of a line on a phone, in characters: about a screen.
const LONG_FROM = 40;
const LINE_LENGTH = 40;

// Draws a card. `pressed(event, card, button, element)` is called when a button is pressed.
export function draw(card, pressed) {
  const article = make("article", "card");
  article.dataset.card = card.id;
  article.dataset.buttons = card.had_buttons;
  const title = `title-${card.id}`;
  article.setAttribute("aria-labelledby", title);

  const line = make("p", "line-of-state");
  line.id = `state-${card.id}`;
  const where = make("span", "where", `#${card.number} in ${card.room}, `);
  where.append(time(card.asked_at, { month: "short", day: "numeric", hour: "numeric", minute: "2-digit" }));
  line.append(make("span", "state"), make("span", "left"), where);
  article.setAttribute("aria-describedby", line.id);
  const headline = sentence("h3", "headline", card.headline);
  headline.id = title;
  headline.tabIndex = -1;
  const sections = make("div", "sections");
  sections.append(...card.sections.map((part) => section(part, card.file !== null)), ...missing(card));
  const reply = make("p", "reply");
  reply.setAttribute("role", "status");
  article.append(line, headline, sections, reply);
  if (card.buttons.length !== 0) {
    const options = make("div", "options");
    options.setAttribute("role", "group");
    options.setAttribute("aria-labelledby", title);
    options.append(...card.buttons.map((button) => option(card, button, article, pressed)));
    options.id = `options-${card.id}`;
    options.tabIndex = -1;
    reply.before(options);
    if (isLong(card)) {
      const down = make("a", "down", "To the buttons");
      down.href = `#${options.id}`;
      line.append(down);
    }
  }
  update(article, card);
  return article;
}

// Whether its buttons are surely out of sight.
function isLong({ sections }) {
  const texts = sections.map(({ head, tail }) => head + (tail ?? ""));
  const lines = texts.map((text) => text.split("\n").length + text.length / LINE_LENGTH);
  return LONG_FROM < lines.reduce((sum, count) => sum + count, 0);
}

// Brings a drawn card up to date. It keeps its place, its details and what its person was told.
export function update(article, card) {
  article.dataset.state = card.state;
  article.querySelector(".state").textContent = STATES[card.state] ?? card.state;
  article.until = card.left_ms === null ? null : performance.now() + card.left_ms;
  if (card.ending !== null) {
    end(article, card);
  }
  count(article);
}

function end(article, card) {
  const options = article.querySelector(".options");
  const hadFocus = options?.contains(document.activeElement);
  options?.remove();
  article.querySelector(".down")?.remove();
  article.querySelector(".ending")?.remove();
  article.querySelector(".reply").before(sentence("p", "ending", card.ending));
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

function option(card, button, article, pressed) {
  const element = make("button", `option ${button.style}`);
  element.type = "button";
  element.dataset.token = button.token;
  element.append(make("span", "label", button.label), " ", make("span", "does", button.does));
  element.addEventListener("click", (event) => pressed(event, card, button, article));
  return element;
}
