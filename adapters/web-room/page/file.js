// What stands on a card of which not all is shown: what is missing, and the way to all of it.

import { read } from "./connection.js";
import { count, gap, longText, make } from "./sections.js";

// What is missing of a card; nothing where nothing is.
export function missing(card) {
  const rows = [];
  if (card.missing !== 0) {
    rows.push(gap(card.missing, ["more part", "more parts"], card.file !== null));
  }
  if (card.file !== null) {
    rows.push(file(card));
  }
  return rows;
}

function file(card) {
  const element = make("section", "file");
  const [show, save] = [act("Show all of it"), act("Save the file")];
  const acts = make("p", "acts");
  acts.append(show, save);
  const said = make("p", "said");
  said.setAttribute("role", "status");
  const all = region(card);
  const have = fetching(card, said);
  const open = (isOpen) => {
    all.hidden = !isOpen;
    show.setAttribute("aria-expanded", isOpen);
  };
  show.setAttribute("aria-controls", all.id);
  open(false);
  show.addEventListener("click", () => {
    if (all.childElementCount !== 0) {
      said.textContent = "";
      open(all.hidden);
      return;
    }
    have((bytes) => {
      all.append(...longText(new TextDecoder().decode(bytes)));
      open(true);
      return "All of it is shown below.";
    });
  });
  save.addEventListener("click", () => have((bytes) => {
    download(bytes, card.file.name);
    return `${card.file.name} was given to your browser to save.`;
  }));
  element.append(make("h4", "", "Not all of it is shown above"), description(card.file), acts, said, all);
  return element;
}

function description({ name, characters, sha256 }) {
  const element = make("p");
  const length = count(characters, "character", "characters");
  const urge = make("span", "urge", "Read all of it before you decide. ");
  element.append(urge, `It is in the file ${name}: ${length}, SHA-256 `, make("code", "sum", sha256), ".");
  return element;
}

function act(label) {
  const button = make("button", "quiet", label);
  button.type = "button";
  return button;
}

// Where all of it is shown. It scrolls by itself, also with a keyboard.
function region(card) {
  const element = make("div", "lines all");
  element.id = `all-${card.id}`;
  element.tabIndex = 0;
  element.setAttribute("role", "region");
  element.setAttribute("aria-label", `All of request ${card.number}`);
  return element;
}

// Fetches the file, once at a time however often it is asked for, and says what became of it: what `then` makes of its bytes.
function fetching(card, said) {
  let isBusy = false;
  return async (then) => {
    if (isBusy) {
      return;
    }
    isBusy = true;
    said.classList.remove("wrong");
    said.textContent = "Fetching the file …";
    const { bytes, reply } = await read(card.id);
    const is = bytes ? await checked(bytes, card.file.sha256) : "missing";
    const words = {
      missing: () => `The file could not be fetched: ${reply}`,
      another: () => "What came is not the file of this card: its SHA-256 is another. It is neither shown nor saved.",
      unknown: () => then(bytes),
      same: () => `${then(bytes)} Its SHA-256 is the one above.`,
    };
    said.textContent = words[is]();
    said.classList.toggle("wrong", is === "missing" || is === "another");
    isBusy = false;
  };
}

// "same" as the card's, "another", or "unknown" where the browser cannot tell.
async function checked(bytes, sha256) {
  if (crypto.subtle === undefined) {
    return "unknown";
  }
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("") === sha256 ? "same" : "another";
}

function download(bytes, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes], { type: "text/plain;charset=utf-8" }));
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
