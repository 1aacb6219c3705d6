// When a press counts: once its button has been seen for a while where it is, and all others of its card with it.

// A press so soon after its button has moved was meant for what was there before.
const SETTLE_MS = 600;
// What is in sight but for a part of a pixel is in sight.
const WHOLE = 0.98;
// Pixels, which are rounded differently from one frame to the next.
const SAME = 2;

const waiting = document.querySelector("#waiting .cards");

// Changes the page, and takes no press of buttons that are somewhere else afterwards until they have been there for a while.
export function change(act) {
  onMoved();
  const result = act();
  // Nobody scrolls meanwhile: where the screen shows something else, the page did it, and be it only by becoming shorter.
  settleMoved((before, now) => isNear(before.onScreen, now.onScreen));
  tellOfMore();
  return result;
}

export function settleAll() {
  options(waiting).forEach(settle);
}

// Buttons that allow are neither seen nor pressed where those that refuse are out of sight.
export function watch(bar) {
  watcher.observe(bar);
}

// A keyboard presses what has the focus, wherever it is.
export function isSettling({ detail, timeStamp, currentTarget: { dataset, settledAt } }) {
  return detail !== 0 && ("settling" in dataset || timeStamp < settledAt);
}

const watcher = new IntersectionObserver((bars) => {
  for (const { target, intersectionRatio } of bars) {
    target.toggleAttribute("data-whole", WHOLE <= intersectionRatio);
    options(target).forEach(settle);
  }
}, { threshold: WHOLE });

function options(element) {
  return element.querySelectorAll(".option");
}

// Whoever scrolls knows that what is on the page moves, or that what is on the screen stays.
function onMoved() {
  settleMoved((before, now) => isNear(before.onPage, now.onPage) || isNear(before.onScreen, now.onScreen));
  tellOfMore();
}

// Nobody takes what is above the buttons for all of the card while some of it is under them.
function tellOfMore() {
  for (const bar of waiting.querySelectorAll(".bar")) {
    const end = bar.previousElementSibling.getBoundingClientRect().bottom;
    bar.toggleAttribute("data-more", bar.getBoundingClientRect().top + SAME < end);
  }
}

function settleMoved(isThere) {
  for (const button of options(waiting)) {
    const { left, top, bottom } = button.getBoundingClientRect();
    const inner = button.parentElement.scrollTop;
    const now = { onPage: [left + scrollX, top + scrollY + inner], onScreen: [left, innerHeight - bottom] };
    if (!isThere(button, now)) {
      settle(button);
    }
    Object.assign(button, now);
  }
}

function isNear(before, now) {
  return before?.every((place, axis) => Math.abs(place - now[axis]) < SAME) ?? false;
}

// Counted from when it is seen, which is two frames later. What is out of sight waits until it is not.
export function settle(button) {
  const turn = (button.turn ?? 0) + 1;
  const ifStill = (act) => () => button.turn === turn && act();
  Object.assign(button, { turn, settledAt: Infinity });
  button.dataset.settling = "";
  if (button.closest("[data-whole]") === null) {
    return;
  }
  requestAnimationFrame(() => requestAnimationFrame(ifStill(() => {
    button.settledAt = performance.now() + SETTLE_MS;
    setTimeout(ifStill(() => delete button.dataset.settling), SETTLE_MS);
  })));
}

// Of the options, too, where they are so many that they scroll by themselves.
document.addEventListener("scroll", onMoved, { capture: true, passive: true });
addEventListener("resize", onMoved);
new ResizeObserver(onMoved).observe(document.body);
