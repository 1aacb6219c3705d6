// A card that people look at already, drawn anew: only what is not as it was is touched.

import { missing } from "./file.js";
import { section } from "./sections.js";

// Brings the sections of a drawn card up to date; returns in words what is new.
export function renewSections(article, card) {
  const box = article.querySelector(".sections");
  const known = article.parts ?? drawnBefore(box, card);
  const parts = card.sections.map((part) => {
    const text = JSON.stringify([part, card.file !== null]);
    const at = known.findIndex((old) => old.text === text);
    const old = at === -1 ? undefined : known.splice(at, 1)[0];
    return old ?? { text, part, element: section(part, card.file !== null), isNew: true };
  });
  known.forEach(({ element }) => element.remove());
  parts.forEach(({ element }, at) => {
    if (box.children[at] !== element) {
      box.insertBefore(element, box.children[at] ?? null);
    }
  });
  renewRest(article, box, card);
  const news = parts.filter(({ isNew }) => isNew).map(({ part }) => spoken(part));
  article.parts = parts.map(({ text, element }) => ({ text, element }));
  return news;
}

// A card that was drawn just now.
function drawnBefore(box, card) {
  return card.sections.map((part, at) => ({ text: JSON.stringify([part, card.file !== null]), element: box.children[at] }));
}

// What is missing, and the way to all of it.
function renewRest(article, box, card) {
  const text = JSON.stringify([card.missing, card.file]);
  if (article.rest !== undefined && article.rest !== text) {
    [...box.children].slice(card.sections.length).forEach((element) => element.remove());
    box.append(...missing(card));
  }
  article.rest = text;
}

function spoken({ heading, note, head }) {
  return `${heading}: ${head}${note === "" ? "" : ` (${note})`}`;
}
