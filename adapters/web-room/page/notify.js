// Notifications, for whoever has the page open and looks at something else.

const root = document.documentElement;
const at = (id) => document.getElementById(id);
let canNotify = true;

// What can be said of notifications, and whether there is something to press.
export function offer() {
  const isThere = "Notification" in window && isSecureContext;
  const permission = isThere ? Notification.permission : "denied";
  at("notify").hidden = permission !== "default" || root.dataset.connection !== "open";
  const words = { granted: canNotify ? "Notifications are on" : "This browser cannot notify; keep the page in front", denied: "", default: "" };
  at("notified").textContent = words[permission];
}

export function notify(article, headline, room) {
  const body = `It waits in ${room}.`;
  article.notification = notifyOf(headline, { body, tag: article.dataset.card, renotify: true }) ?? article.notification;
  if (article.notification) {
    article.notification.onclick = () => {
      window.focus();
      article.querySelector(".headline").focus();
    };
  }
}

// Null: whoever it is for looks at the page, or does not want it.
export function notifyOf(title, options) {
  if (!("Notification" in window) || Notification.permission !== "granted" || document.hasFocus()) {
    return null;
  }
  return showNotification(title, options);
}

// Some phones have the permission, and let only installed pages use it.
function showNotification(title, options) {
  try {
    return new Notification(title, options);
  } catch {
    canNotify = false;
    offer();
    return null;
  }
}

at("notify").addEventListener("click", async () => {
  if ((await Notification.requestPermission()) === "granted") {
    showNotification("Countersign", { body: "Notifications are on, while this page is open.", tag: "countersign" });
  }
  offer();
});
