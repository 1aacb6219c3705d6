// The way to the bridge: joining, the event stream, and presses.

const PAGE = "countersign-page";
const RETRY_MIN_MS = 300;
const RETRY_MAX_MS = 5000;
// The bridge says something at least every 15 seconds.
const SILENCE_MAX_MS = 40000;
// It answers a press within 10 seconds, or says that it has not.
const ANSWER_WITHIN_MS = 15000;
// A quarter of a megabyte, from wherever somebody is.
const FILE_WITHIN_MS = 60000;

let stream = null;

// Cookies are shared by all ports of this host. This word is not, so that both are needed.
function page() {
  return localStorage.getItem(PAGE);
}

export function hasJoined() {
  return page() !== null;
}

// What the bridge says of the key: { person } or { reply }.
export async function join(key) {
  const answer = await send("/api/join", { key });
  if (answer.page) {
    localStorage.setItem(PAGE, answer.page);
  }
  return answer;
}

export async function leave() {
  await send("/api/leave", {});
  localStorage.removeItem(PAGE);
}

// { counted, reply }; `counted` is null where nobody knows.
export async function press(card, token) {
  try {
    return await send("/api/click", { card, token });
  } catch {
    return { counted: null, reply: "It is not known whether your click arrived. The card will say it." };
  }
}

// { bytes } of a card's file, or { reply }: why not.
export async function read(card) {
  if (stream === null) {
    return { reply: "the bridge is not connected." };
  }
  try {
    const response = await fetch(`/api/file?card=${encodeURIComponent(card)}`, { headers: { [PAGE]: page() }, cache: "no-store",
      signal: AbortSignal.timeout(FILE_WITHIN_MS) });
    return response.ok ? { bytes: new Uint8Array(await response.arrayBuffer()) } : await response.json();
  } catch {
    return { reply: "the bridge cannot be reached. Try again." };
  }
}

async function send(path, body) {
  const headers = { "content-type": "application/json" };
  if (hasJoined()) {
    headers[PAGE] = page();
  }
  if (stream !== null) {
    headers["countersign-stream"] = stream;
  }
  const response = await fetch(path, { method: "POST", headers, body: JSON.stringify(body), cache: "no-store",
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
  return response.status === 204 ? {} : response.json();
}

// Keeps the event stream open. Calls `told` with each event's name and data, and `state` with "open", "closed" or "out" and
// with what the bridge said, if it said no.
export async function listen(told, state) {
  let wait = RETRY_MIN_MS;
  while (hasJoined()) {
    let [next, said] = ["closed", undefined];
    try {
      const response = await known() ?? (await follow(told, state));
      if (response.ok) {
        wait = RETRY_MIN_MS;
      } else {
        next = response.status === 401 ? "out" : "closed";
        said = (await response.json()).reply;
      }
    } catch (error) {
      // The bridge is away, or it is another; it is tried again.
      said = error instanceof NotTheBridge ? "something else answers at this address. Nothing was sent to it." : undefined;
    }
    stream = null;
    state(next, said);
    await pause(wait);
    wait = Math.min(2 * wait, RETRY_MAX_MS);
  }
  state("out");
}

class NotTheBridge extends Error {}

// Whether it is the bridge that let this page in, which shows that it knows the hash of the word. Anybody may have taken its
// port while it was away, and is told neither the word nor the cookie. Null: it is; the refusal otherwise.
async function known() {
  const word = await digest(decode(page()));
  const id = encode((await digest(concat(text("countersign-id"), word))).slice(0, 16));
  const nonce = encode(crypto.getRandomValues(new Uint8Array(16)));
  const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
  const asked = await fetch(`/api/proof?session=${id}&nonce=${nonce}`, { credentials: "omit", cache: "no-store", signal });
  if (asked.status === 401) {
    return asked;
  }
  const proof = asked.ok ? (await asked.json()).proof : undefined;
  const key = await crypto.subtle.importKey("raw", word, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  const expected = text(`countersign-proof${nonce}`);
  if (typeof proof !== "string" || !(await crypto.subtle.verify("HMAC", key, decode(proof), expected))) {
    throw new NotTheBridge();
  }
  return null;
}

async function digest(bytes) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

function text(words) {
  return new TextEncoder().encode(words);
}

function concat(...parts) {
  return new Uint8Array(parts.flatMap((part) => [...part]));
}

function encode(bytes) {
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function decode(words) {
  return Uint8Array.from(atob(words.replaceAll("-", "+").replaceAll("_", "/")), (byte) => byte.charCodeAt(0));
}

// One connection, until it ends. EventSource cannot send the word that tells this page from others.
async function follow(told, state) {
  const given = new AbortController();
  let silent = setTimeout(() => given.abort(), SILENCE_MAX_MS);
  try {
    const headers = { accept: "text/event-stream", [PAGE]: page() };
    const response = await fetch("/api/events", { headers, cache: "no-store", signal: given.signal });
    if (!response.ok) {
      return response;
    }
    const events = new Events();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) {
        return response;
      }
      clearTimeout(silent);
      silent = setTimeout(() => given.abort(), SILENCE_MAX_MS);
      for (const { name, data } of events.take(value)) {
        if (name === "hello") {
          stream = data.stream;
          document.documentElement.dataset.stream = stream;
        }
        told(name, data);
        if (name === "ready") {
          state("open");
        }
      }
    }
  } finally {
    clearTimeout(silent);
  }
}

// Reads the event stream format, as far as the bridge uses it.
class Events {
  rest = "";
  name = "message";
  lines = [];

  *take(text) {
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop();
    for (const line of lines) {
      if (line === "") {
        if (this.lines.length !== 0) {
          yield { name: this.name, data: JSON.parse(this.lines.join("\n")) };
        }
        this.name = "message";
        this.lines = [];
      } else if (line.startsWith("event: ")) {
        this.name = line.slice(7);
      } else if (line.startsWith("data: ")) {
        this.lines.push(line.slice(6));
      }
    }
  }
}

// Ends early when the network or the person comes back.
function pause(ms) {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener("online", done);
      document.removeEventListener("visibilitychange", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    addEventListener("online", done);
    document.addEventListener("visibilitychange", done);
  });
}
