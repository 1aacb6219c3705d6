// Asks somebody whether they mean what they chose. Nothing is decided unless they press the one button that says so.

import { option } from "./cards.js";
import { make, sentence } from "./sections.js";
import { isSettling, settle } from "./settle.js";

const SOON = "Nothing was sent: the button had just come into view. Press again if you mean it.";

// Ends what is asked now, if anything is.
let dismissed = () => {};

// Asks about a press on this card. Resolves to "confirmed", "back", "late", or "gone" where it was dismissed.
export function ask(card, { words, button, left_ms }) {
  dismissed();
  const dialog = make("dialog", "confirm");
  dialog.dataset.card = card.id;
  const title = make("h2", "", `Confirm your choice on #${card.number}`);
  const text = sentence("p", "", words);
  const said = make("p", "reply");
  const back = make("button", "quiet", "Back");
  [title.id, text.id, back.type, back.autofocus] = ["confirm-title", "confirm-words", "button", true];
  dialog.setAttribute("aria-labelledby", title.id);
  dialog.setAttribute("aria-describedby", text.id);
  said.setAttribute("role", "status");
  return new Promise((resolve) => {
    // Escape closes a dialog by itself, and so does whatever else a browser has for it.
    let how = "back";
    const end = (as) => {
      how = as;
      dialog.close();
    };
    const confirming = { ...button, label: `Confirm: ${button.label}` };
    const confirm = option(card, confirming, dialog, (event) => {
      if (isSettling(event)) {
        said.textContent = SOON;
        settle(confirm);
        return;
      }
      end("confirmed");
    });
    const tooLate = setTimeout(() => end("late"), left_ms);
    const unsettle = whenSeenAgain(() => settle(confirm));
    dialog.addEventListener("close", () => {
      clearTimeout(tooLate);
      unsettle();
      dialog.remove();
      resolve(how);
    }, { once: true });
    back.addEventListener("click", () => end("back"));
    const acts = make("div", "confirm-acts");
    acts.dataset.whole = "";
    acts.append(back, confirm);
    dialog.append(title, text, said, acts);
    document.body.append(dialog);
    dialog.showModal();
    settle(confirm);
    dismissed = () => dialog.open && end("gone");
  });
}

// `card`: only what is asked about this one; whatever it is if that is not given.
export function dismiss(card) {
  if (card === undefined || document.querySelector("dialog.confirm")?.dataset.card === card) {
    dismissed();
  }
}

// Whoever comes back, or from another window, sees first what is there now. Returns what ends it.
function whenSeenAgain(act) {
  document.addEventListener("visibilitychange", act);
  addEventListener("focus", act);
  return () => {
    document.removeEventListener("visibilitychange", act);
    removeEventListener("focus", act);
  };
}
