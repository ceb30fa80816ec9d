// Improves the pages for browsers with JavaScript. Everything works without this file; it only saves taps and
// waiting. Written for Safari 13 and Chrome 80: a newer function or syntax would stop the whole file there
// (ScriptTests checks this).
"use strict";

const each = (selector, action) => document.querySelectorAll(selector).forEach(action);
const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

// The code field: converts to upper case and inserts the dash. A pasted link is replaced by the code in it.
each("[data-code]", (field) => {
  const letters = (text) => text.normalize("NFKC").toUpperCase().replace(/[^A-Z0-9]/g, "");
  const grouped = (code) => (code.length > 4 ? `${code.slice(0, 4)}-${code.slice(4)}` : code);

  field.addEventListener("paste", (event) => {
    const text = event.clipboardData ? event.clipboardData.getData("text") : "";
    const link = text.normalize("NFKC").match(/.*\/D\/([^/?#.\s]+)/i);
    if (!link) return;
    event.preventDefault();
    field.value = grouped(letters(link[1]));
  });
  const format = (event) => {
    // While an input method composes a character, the field must not be changed.
    if (event.isComposing) return;
    const before = letters(field.value.slice(0, field.selectionStart === null ? undefined : field.selectionStart)).length;
    const code = letters(field.value);
    const removes = (event.inputType || "").startsWith("delete");
    field.value = grouped(code) + (code.length === 4 && !removes ? "-" : "");
    const caret = before + (before > 4 || (before === 4 && !removes) ? 1 : 0);
    field.setSelectionRange(caret, caret);
  };
  field.addEventListener("input", format);
  field.addEventListener("compositionend", format);
});

// The page of a scanned link submits its form by itself, except after the back button and in a prerendered page.
each("form[data-send-at-once]", (form) => {
  const [navigation] = performance.getEntriesByType("navigation");
  // Safari before 15 has only the older interface.
  if (navigation ? navigation.type === "back_forward" : performance.navigation.type === 2) return;
  // Clicks the button, because Safari before 16 has no requestSubmit, and submit() fires no submit event.
  const send = () => form.querySelector("button").click();
  if (document.prerendering) document.addEventListener("prerenderingchange", send, { once: true });
  else send();
});

// Buttons that decide something work only after their page has been visible for a second, so that a tap meant for the
// previous page has no effect. The style sheet does most of it without this script: .rest hides its button and
// .settling covers its buttons for that time. This script adds what CSS cannot detect: a page that becomes visible
// again or changes its width, a press that began too early, and a key that is held down.
const second = 1000;
const decisions = ".rest > button, .rest > .button, .settling button";
const isAnimated = (selector, part) => {
  const found = document.querySelector(selector);
  return found !== null && getComputedStyle(found, part).animationName !== "none";
};
// The style sheet's animation covers the first second, because its clock starts at the first frame. If animations are
// off, this script counts from now.
let inView = isAnimated(".rest > button, .rest > .button", null) || isAnimated(".settling", "::after")
  ? -second : performance.now();
let pressed = null;
let keyed = null;
let width = document.documentElement.clientWidth;

const rest = () => {
  const root = document.documentElement;
  inView = performance.now();
  root.classList.add("anew");
  // Reading a size applies the styles, which ends the animations. Removing the class starts them again.
  void root.offsetWidth;
  root.classList.remove("anew");
};
document.addEventListener("visibilitychange", () => { if (!document.hidden) rest(); });
addEventListener("pageshow", (event) => { if (event.persisted) rest(); });
addEventListener("resize", () => {
  const before = width;
  width = document.documentElement.clientWidth;
  if (width !== before) rest();
});

// Whether the style sheet's second still runs. A screen reader and a key reach a button below a cover.
const isResting = (button) => {
  const list = button.closest(".settling");
  if (list === null) return getComputedStyle(button).visibility === "hidden";
  const cover = getComputedStyle(list, "::after");
  return cover.animationName !== "none" && cover.visibility === "visible";
};
const isDecision = (event) => event.target instanceof Element && event.target.closest(decisions) !== null;
document.addEventListener("pointerdown", (event) => { pressed = event.timeStamp; }, true);
// A press is forgotten half a second after its end. Otherwise a later click of a screen reader, which has no press,
// would be taken for it.
const forget = () => {
  const press = pressed;
  setTimeout(() => { if (pressed === press) pressed = null; }, 500);
};
document.addEventListener("pointerup", forget, true);
document.addEventListener("pointercancel", forget, true);
document.addEventListener("keydown", (event) => {
  if (!event.repeat) keyed = event.timeStamp;
  else if ((event.key === "Enter" || event.key === " ") && isDecision(event)) event.preventDefault();
}, true);
// Deferred, because the space bar clicks when it is released.
document.addEventListener("keyup", () => setTimeout(() => { keyed = null; }), true);
document.addEventListener("click", (event) => {
  if (!isDecision(event)) return;
  // event.detail counts the clicks of a pointer; it is 0 for keys and screen readers.
  const press = event.detail > 0 ? pressed : keyed;
  const isLate = (press === null ? event.timeStamp : press) >= inView + second;
  if (isLate && !isResting(event.target.closest(decisions))) return;
  event.preventDefault();
  event.stopPropagation();
}, true);

// Prevents a second tap from sending a form twice.
each("form[method=post]", (form) => {
  let sent = false;
  form.addEventListener("submit", (event) => {
    if (sent) event.preventDefault();
    sent = true;
    // Allows another try when the viewer has stopped the loading of the next page.
    setTimeout(() => { sent = false; }, 10000);
  });
  addEventListener("pageshow", () => { sent = false; });
});

// Counts down the remaining time of the code.
each("[role=timer][data-seconds]", (timer) => {
  const end = Date.now() + Number(timer.dataset.seconds) * 1000;
  const show = (selector, visible) => each(selector, (element) => { element.hidden = !visible; });
  const tick = () => {
    const left = Math.max(0, Math.round((end - Date.now()) / 1000));
    timer.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
    show("[data-time-nearly-over]", left > 0 && left <= 60);
    show("[data-time-over]", left === 0);
    // The service would refuse an approval now. The other buttons lead to its page about the expired code.
    if (left === 0) each("button.approve", (button) => { button.disabled = true; });
    if (left > 0) setTimeout(tick, 1000);
  };
  tick();
});

// Filters the list of providers while the viewer types.
each("[data-filter]", (field) => {
  const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  field.addEventListener("input", () => {
    const wanted = plain(field.value.trim());
    let found = 0;
    each("[data-group]", (group) => {
      let inGroup = 0;
      group.querySelectorAll("li").forEach((item) => {
        item.hidden = !plain(item.textContent).includes(wanted);
        if (!item.hidden) inGroup += 1;
      });
      group.hidden = inGroup === 0;
      found += inGroup;
    });
    each("[data-no-match]", (note) => { note.hidden = found > 0; });
  });
});

// Lets the viewer see the password. The field is always submitted as a password field.
each("[data-reveal]", (button) => {
  const field = document.getElementById(button.dataset.reveal);
  const set = (shown) => {
    field.type = shown ? "text" : "password";
    button.setAttribute("aria-pressed", String(shown));
  };
  button.hidden = false;
  button.addEventListener("click", () => set(field.type === "password"));
  field.form.addEventListener("submit", () => set(false));
});

// Reloads pages of a viewer after the back button, because the browser may have signed out or in as another viewer
// since.
if (document.querySelector(".account, .rest")) {
  addEventListener("pagehide", (event) => { document.body.hidden = event.persisted; });
  addEventListener("pageshow", (event) => {
    if (event.persisted) location.replace(location.pathname + location.search);
  });
}

const visible = async () => {
  while (document.hidden) {
    await new Promise((done) => document.addEventListener("visibilitychange", done, { once: true }));
  }
};

// Renews the lease on the code while the page is visible, so that no other phone can claim it.
each("[data-renew]", async (section) => {
  const token = section.querySelector("input[name=csrf]").value;
  for (;;) {
    await sleep(45000);
    await visible();
    try {
      const answer = await fetch(section.dataset.renew, { method: "POST", body: new URLSearchParams({ csrf: token }) });
      if (answer.status >= 400 && answer.status < 500) return;
    } catch {
      // The next round tries again.
    }
  }
});

// Updates the result by a long poll: the service holds each request until the state changes.
each("[data-wait]", async (section) => {
  let pause = 1000;
  // After a change the next request is sent at once, because the box may fetch its sign-in within the same second.
  // Limited to eight times, in case a service reports changes for ever.
  let atOnce = 8;
  while (section.dataset.state !== "delivered") {
    await visible();
    const started = Date.now();
    try {
      const seen = section.dataset.state;
      const address = `${section.dataset.wait}?state=${seen}`;
      const answer = await fetch(address, { headers: { Accept: "application/json" }, cache: "no-store" });
      if (answer.status >= 400 && answer.status < 500) return;
      if (!answer.ok) throw new Error(String(answer.status));
      const { state } = await answer.json();
      const known = section.querySelector(`[data-when="${CSS.escape(state)}"]`);
      // The code has another outcome, which the reloaded page explains.
      if (!known) return location.reload();
      pause = 1000;
      section.dataset.state = state;
      section.querySelectorAll("[data-when]").forEach((part) => { part.hidden = part !== known; });
      each("[data-refresh]", (link) => { link.hidden = state === "delivered"; });
      if (!known.hidden) document.title = `${known.querySelector("h1").textContent} – Regent`;
      if (state !== seen && atOnce > 0) atOnce -= 1;
      else if (Date.now() - started < 1000) await sleep(1000);
    } catch {
      await sleep(pause);
      pause = Math.min(pause * 2, 30000);
    }
  }
});
