// The parts of a card, and its sentences. Whatever others wrote is set as text, never as markup.

// Characters of a line that a phone shows beside one another. A line takes no more rows than one for so many.
const ROW_MIN = 6;
// Of what is not broken, in characters. Every phone shows as many in a row.
const WHOLE_MAX = 24;
// Of a text of which nothing is kept whole, since a browser would take minutes over so many words.
const WORDS_MAX = 5000;
// What joins one command to the next in a shell.
const JOINTS = ["&&", "||", "|", ";", "&"];
// Lines of a long text that are laid out together, once they are scrolled to.
const CHUNK = 100;

export function make(name, className, text) {
  const element = document.createElement(name);
  if (className) {
    element.className = className;
  }
  if (text !== undefined) {
    element.textContent = text;
  }
  return element;
}

// Characters of a fact up to which others stand on its line.
const FACT_MAX = 40;

// A titled part of a card. `file`: whether what is left out of it is in the card's file.
export function section({ heading, note, kind, is_warning, head, left_out, tail }, file) {
  const isCode = kind === "code" || kind === "diff";
  const element = make("section", isCode ? "code" : "text");
  element.classList.toggle("warning", is_warning);
  element.classList.toggle("fact", kind === "text" && note === "" && left_out === null && head.length <= FACT_MAX);
  const title = make("h4");
  if (is_warning) {
    title.append(sign());
  }
  title.append(heading);
  if (note !== "") {
    title.append(" ", make("span", "note", `(${note})`));
  }
  element.append(title, part(kind, head, true));
  if (left_out !== null) {
    element.append(gap(left_out, ["character", "characters"], file));
    if (tail !== "") {
      element.append(part(kind, tail, false));
    }
  }
  return element;
}

// A row that says what is not shown, in the card's own words, where nothing of the agent's can stand.
export function gap(number, what, file) {
  const [are, they] = number === 1 ? ["is", "it is"] : ["are", "they are"];
  const where = file ? `; ${they} in the file.` : " and not shown anywhere.";
  const row = make("p", "gap", `${count(number, ...what)} ${are} left out here${where}`);
  row.setAttribute("role", "note");
  return row;
}

export function count(number, one, many) {
  return number === 1 ? `1 ${one}` : `${number.toLocaleString("en")} ${many}`;
}

// Seen without colour, and said.
function sign() {
  const warning = make("span", "sign", "⚠\u{fe0e}");
  warning.setAttribute("role", "img");
  warning.setAttribute("aria-label", "Warning:");
  return warning;
}

// `isStart`: whether it begins where the text begins. Otherwise its first line may be the end of one.
function part(kind, text, isStart) {
  if (kind === "ours") {
    return make("p", "", text);
  }
  if (kind === "text") {
    const words = make("p", "them");
    words.append(...unbroken(text));
    return words;
  }
  const box = make("div", "lines");
  box.append(...lines(text).map((line, at) => {
    // The first line of a change names the file, and of the end of a line nobody sees the sign.
    const change = kind === "diff" && at !== 0 ? { "+": "insertion", "-": "deletion" }[line[0]] : undefined;
    const row = drawn(line);
    if (change !== undefined) {
      row.classList.add(change);
      row.setAttribute("role", change);
    }
    row.classList.toggle("rest", !isStart && at === 0);
    return row;
  }));
  return box;
}

// A long text, line by line. What is out of sight is laid out when it is scrolled to.
export function longText(text) {
  const rows = lines(text).map(drawn);
  const chunks = [];
  for (let at = 0; at < rows.length; at += CHUNK) {
    const chunk = make("div", "chunk");
    chunk.append(...rows.slice(at, at + CHUNK));
    chunks.push(chunk);
  }
  return chunks;
}

function lines(text) {
  return text.replace(/\n$/, "").split("\n");
}

// The marks of its rows but the first stand beside it, where no text can, as many as there is room for.
function drawn(line) {
  const row = make("div", "line");
  row.dataset.marks = "↳\n".repeat(Math.ceil(line.length / ROW_MIN));
  row.append(...(line === "" ? [document.createElement("br")] : unbroken(line)));
  return row;
}

// Whose words they are is told apart: ours are plain. Times are the reader's.
export function sentence(name, className, pieces) {
  const element = make(name, className);
  for (const { by, text, at } of pieces) {
    if (by === "us") {
      element.append(text);
    } else if (by === "due") {
      element.append("at ", time(at, { timeStyle: "short" }));
    } else if (by === "time") {
      element.append(time(at, { dateStyle: "medium", timeStyle: "medium" }));
    } else {
      const theirs = make("span", by);
      theirs.append(...unbroken(text));
      element.append(theirs);
    }
  }
  return element;
}

export function time(ms, format) {
  const element = make("time", "", new Date(ms).toLocaleString([], format));
  element.dateTime = new Date(ms).toISOString();
  return element;
}

// Browsers break a line after a hyphen, which would tear `--force` apart, and between `|` and what it leads to, which would be
// overlooked at the beginning of the next row. Longer words may be broken anywhere.
function unbroken(text) {
  if (WORDS_MAX < text.length) {
    return [text];
  }
  const words = text.split(/( +)/);
  const pieces = [];
  for (let at = 0; at < words.length; at += 1) {
    if (JOINTS.includes(words[at]) && words[at + 1] === " ") {
      const joined = words.slice(at, at + 3).join("");
      pieces.push(make("span", "whole", joined.slice(0, WHOLE_MAX)), joined.slice(WHOLE_MAX));
      at += 2;
    } else {
      const isWhole = words[at].includes("-") && words[at].length <= WHOLE_MAX;
      pieces.push(isWhole ? make("span", "whole", words[at]) : words[at]);
    }
  }
  return pieces;
}
