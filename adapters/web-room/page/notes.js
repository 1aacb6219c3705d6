// Messages without buttons: notes at the card that they are about, and lines above all cards.

import { make, sentence, time } from "./sections.js";

const CLOCK = { hour: "2-digit", minute: "2-digit" };

// The lines of each room, as the bridge has told them last.
const rooms = new Map();

// Shows all notes of a card; returns those that were not there before.
export function showNotes(article, { notes }) {
  const known = article.notes ?? [];
  article.notes = notes;
  let list = article.querySelector(".notes");
  if (list === null) {
    list = make("ul", "notes");
    article.querySelector(".headline").after(list);
  }
  redraw(list, notes.map((note) => [note, ""]));
  return added(known, notes);
}

// Shows all lines of a room; returns those that were not there before.
export function showLines(list, { room, lines }) {
  const known = rooms.get(room) ?? [];
  rooms.set(room, lines);
  redrawLines(list);
  return added(known, lines);
}

// Only these rooms are here.
export function keepRooms(list, names) {
  [...rooms.keys()].filter((room) => !names.includes(room)).forEach((room) => rooms.delete(room));
  redrawLines(list);
}

// As it is heard, and as a notification says it.
export function spoken({ words }) {
  return sentence("p", "", words).textContent;
}

function added(known, now) {
  const ids = known.map(({ id }) => id);
  return now.filter(({ id }) => !ids.includes(id));
}

function redrawLines(list) {
  const all = [...rooms].flatMap(([room, lines]) => lines.map((line) => [line, room]));
  redraw(list, all.sort(([a], [b]) => a.said_at - b.said_at));
}

function redraw(list, notes) {
  list.replaceChildren(...notes.map(([note, room]) => drawn(note, room)));
  list.hidden = notes.length === 0;
}

function drawn({ said_at, words }, room) {
  const element = make("li", "said-note");
  const where = make("span", "where", room === "" ? "" : `${room}, `);
  where.append(time(said_at, CLOCK));
  element.append(sentence("span", "", words), " ", where);
  return element;
}
