// The way to the bridge: joining, the event stream, and presses.

const PAGE = "countersign-page";
const RETRY_MIN_MS = 300;
const RETRY_MAX_MS = 5000;
// The bridge says something at least every 15 seconds.
const SILENCE_MAX_MS = 40000;

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

async function send(path, body) {
  const headers = { "content-type": "application/json" };
  if (hasJoined()) {
    headers[PAGE] = page();
  }
  if (stream !== null) {
    headers["countersign-stream"] = stream;
  }
  const response = await fetch(path, { method: "POST", headers, body: JSON.stringify(body), cache: "no-store" });
  return response.status === 204 ? {} : response.json();
}

// Keeps the event stream open. Calls `told` with each event's name and data, and `state` with "open", "closed" or "out".
export async function listen(told, state) {
  let wait = RETRY_MIN_MS;
  while (hasJoined()) {
    try {
      const answer = await follow(told, state);
      if (answer === 401) {
        state("out");
        return;
      }
      wait = answer === 200 ? RETRY_MIN_MS : wait;
    } catch {
      // The bridge is away; it is tried again.
    }
    stream = null;
    state("closed");
    await pause(wait);
    wait = Math.min(2 * wait, RETRY_MAX_MS);
  }
  state("out");
}

// One connection, until it ends. EventSource cannot send the word that tells this page from others.
async function follow(told, state) {
  const given = new AbortController();
  let silent = setTimeout(() => given.abort(), SILENCE_MAX_MS);
  try {
    const headers = { accept: "text/event-stream", [PAGE]: page() };
    const response = await fetch("/api/events", { headers, cache: "no-store", signal: given.signal });
    if (!response.ok) {
      return response.status;
    }
    const events = new Events();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) {
        return 200;
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
    given.abort();
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
