// What the pages do beyond HTML. Everything works without this file; it only saves taps and waiting.
// Written for Safari 13 and Chrome 80: a name or a spelling that they lack ends the whole file there (ScriptTests).
"use strict";

const each = (selector, action) => document.querySelectorAll(selector).forEach(action);
const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

// The code field: capitals, and the dash appears by itself. A pasted link gives the code in it.
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
    // A syllable that is still being composed must not be touched.
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

// A scanned code opens without a tap; not when the viewer came back to the page, and not in a preview.
each("form[data-send-at-once]", (form) => {
  const [navigation] = performance.getEntriesByType("navigation");
  // Safari before 15 knows the old form alone.
  if (navigation ? navigation.type === "back_forward" : performance.navigation.type === 2) return;
  // The button's click, because Safari before 16 has no requestSubmit, and submit() asks no listener.
  const send = () => form.querySelector("button").click();
  if (document.prerendering) document.addEventListener("prerenderingchange", send, { once: true });
  else send();
});

// A decision counts only when its page has been in view for a second. The style sheet sees to that without this script:
// .rest hides its button and .settling covers its buttons for that time. What it cannot see is here: a page that comes
// back into view or changes its width, a press that began too early, and a key that is held down.
const second = 1000;
const decisions = ".rest > button, .rest > .button, .settling button";
const isAnimated = (selector, part) => {
  const found = document.querySelector(selector);
  return found !== null && getComputedStyle(found, part).animationName !== "none";
};
// The first second is the style sheet's, whose clock starts with the first picture, unless animations are switched off.
let inView = isAnimated(".rest > button, .rest > .button", null) || isAnimated(".settling", "::after")
  ? -second : performance.now();
let pressed = null;
let keyed = null;
let width = document.documentElement.clientWidth;

const rest = () => {
  const root = document.documentElement;
  inView = performance.now();
  root.classList.add("anew");
  // Reading a size applies the styles: the animations end, and begin again without the class.
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

const isDecision = (event) => event.target instanceof Element && event.target.closest(decisions) !== null;
document.addEventListener("pointerdown", (event) => { pressed = event.timeStamp; }, true);
// A press is over half a second after its end: a screen reader's click, which has no press, must not be taken for it.
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
// Later, because the space bar clicks when it is let go.
document.addEventListener("keyup", () => setTimeout(() => { keyed = null; }), true);
document.addEventListener("click", (event) => {
  if (!isDecision(event)) return;
  // A pointer's clicks are counted in detail; a key's and a screen reader's are not.
  const press = event.detail > 0 ? pressed : keyed;
  if ((press === null ? event.timeStamp : press) >= inView + second) return;
  event.preventDefault();
  event.stopPropagation();
}, true);

// A form that has been sent is not sent twice by an impatient finger.
each("form[method=post]", (form) => {
  let sent = false;
  form.addEventListener("submit", (event) => {
    if (sent) event.preventDefault();
    sent = true;
    // Whoever stopped the page on its way may try again.
    setTimeout(() => { sent = false; }, 10000);
  });
  addEventListener("pageshow", () => { sent = false; });
});

// The time left, second by second.
each("[role=timer][data-seconds]", (timer) => {
  const end = Date.now() + Number(timer.dataset.seconds) * 1000;
  const show = (selector, visible) => each(selector, (element) => { element.hidden = !visible; });
  const tick = () => {
    const left = Math.max(0, Math.round((end - Date.now()) / 1000));
    timer.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
    show("[data-time-nearly-over]", left > 0 && left <= 60);
    show("[data-time-over]", left === 0);
    // The service would refuse it; a denial it still reports.
    if (left === 0) each("button.approve", (button) => { button.disabled = true; });
    if (left > 0) setTimeout(tick, 1000);
  };
  tick();
});

// Providers, filtered while typing.
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

// A password can be looked at; it is sent as a password in any case.
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

// The way back to a page of a viewer gives it anew: meanwhile this browser may have signed out, or in as another.
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

// While the page is in view, no other phone takes the code.
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

// The result changes by itself: one request that the service holds until there is something to say.
each("[data-wait]", async (section) => {
  let pause = 1000;
  // After news the next question goes out at once: the box may have its answer within the same second. A service that
  // answers with news for ever is asked so a few times only.
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
      // The code went another way meanwhile; the page itself says how.
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
