// What pages do beyond what they do without it: every link and form works with no script at all.
"use strict";

// A slash goes to the search field, unless something is being written.
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, dialog")) return;
  const field = document.querySelector("input[type=search]");
  if (field) { event.preventDefault(); field.focus(); field.select(); }
});

document.addEventListener("click", async (event) => {
  // What stands in an element is copied: data-copy names it by its id.
  const copier = event.target.closest("[data-copy]");
  if (copier) {
    const source = document.getElementById(copier.dataset.copy);
    if (!source || !navigator.clipboard) return;
    await navigator.clipboard.writeText(source.innerText);
    const status = document.getElementById("status");
    if (status) status.textContent = copier.dataset.done || "";
  }
  // A dialog is opened by what names it, and closed by its own button.
  const opener = event.target.closest("[data-dialog]");
  const dialog = opener && document.getElementById(opener.dataset.dialog);
  if (dialog && dialog.showModal) { event.preventDefault(); dialog.showModal(); }
  if (event.target.closest("[data-close]")) event.target.closest("dialog").close();
});

// What needs a script shows itself only where there is one.
for (const element of document.querySelectorAll("[data-script]")) element.hidden = false;

// Times stand in UTC. Where the reader's clock says otherwise theirs stands beside them, in a table as their title.
function tellLocalTimes(part) {
  const format = new Intl.DateTimeFormat(document.documentElement.lang, {
    year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: "short",
  });
  for (const time of part.querySelectorAll("time[datetime*=T]")) {
    const date = new Date(time.dateTime);
    if (time.title || Number.isNaN(date.getTime()) || date.getTimezoneOffset() === 0) continue;
    time.title = format.format(date);
    if (time.closest("table, svg, pre, a, button, summary")) continue;
    const local = document.createElement("span");
    local.className = "quiet";
    local.textContent = ` (${time.title})`;
    time.after(local);
  }
}
tellLocalTimes(document);

// A form whose control is moved is sent once the control is let go.
for (const form of document.querySelectorAll("form[data-live]")) {
  form.addEventListener("change", () => form.requestSubmit());
}

// Customers' own pages. An app that shows one takes messages by `webkit.messageHandlers.entitle` or by `entitle`,
// each with `postMessage`, and says what came of them by `entitlePaywall.done(result)`: `success`, `cancelled`,
// `pending`, `nothing`, or `{"status": "failed", "code": "NETWORK_ERROR"}` with a code of the client library.
const overlay = document.getElementById("overlay");
const appBridge = () => {
  const apple = window.webkit && window.webkit.messageHandlers && window.webkit.messageHandlers.entitle;
  if (apple) return (message) => apple.postMessage(message);
  if (window.entitle && window.entitle.postMessage) {
    return (message) => window.entitle.postMessage(JSON.stringify(message));
  }
  return null;
};
let lastMessage = null;
let lastFocus = null;

function showOverlay(text, canClose, canRepeat) {
  document.getElementById("overlay-again").hidden = !canRepeat;
  document.getElementById("overlay-close").hidden = !canClose;
  if (!overlay.open) overlay.showModal();
  document.getElementById("overlay-text").textContent = text;
  const button = overlay.querySelector("button:not([hidden])");
  if (button) button.focus();
}

function hideOverlay() {
  if (overlay && overlay.open) overlay.close();
  if (lastFocus) lastFocus.focus();
}

const textOf = (name, value) => {
  const texts = document.getElementById("overlay-texts");
  // Without a value it would be a text that has no such name.
  return [...texts.children].find((text) => value && text.dataset[name] === value);
};

function tellApp(message) {
  const send = appBridge();
  if (!send) return false;
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  if (message.action !== "close") {
    lastMessage = message;
    showOverlay(textOf("result", "working").textContent, false, false);
  }
  send(message);
  return true;
}

window.entitlePaywall = {
  done(result) {
    const outcome = typeof result === "string" ? { status: result } : result || {};
    if (!overlay) { location.reload(); return; }
    if (outcome.status === "cancelled") { hideOverlay(); return; }
    const told = outcome.status === "working" ? null : textOf("result", outcome.status);
    if (!told) {
      // Failed, or in no word that is known: that it went well is for the app to say.
      const text = textOf("code", outcome.code) || textOf("code", "UNKNOWN_ERROR");
      const helps = outcome.retryable ?? text.dataset.retryable === "true";
      showOverlay(outcome.message || text.textContent, true, helps);
      return;
    }
    showOverlay(told.textContent, true, false);
    overlay.dataset.done = outcome.status === "success" ? "yes" : "";
  },
};

if (overlay) {
  // What the app does is not ended by closing what covers the page.
  overlay.addEventListener("cancel", (event) => {
    if (document.getElementById("overlay-close").hidden) event.preventDefault();
  });
  document.getElementById("overlay-again").addEventListener("click", () => tellApp(lastMessage));
  document.getElementById("overlay-close").addEventListener("click", () => {
    // What was bought is shown by the server.
    if (overlay.dataset.done === "yes") location.reload(); else hideOverlay();
  });
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-bridge]");
  if (!link) return;
  lastFocus = document.querySelector("input[name=plan]:checked") || link;
  const message = { action: link.dataset.bridge };
  for (const name of ["product", "store", "storeProduct"]) {
    if (link.dataset[name]) message[name] = link.dataset[name];
  }
  if (tellApp(message)) event.preventDefault();
});

document.addEventListener("submit", (event) => {
  const form = event.target.closest("form[data-busy]");
  if (!form) return;
  if (form.dataset.bridge && overlay && tellApp({ action: form.dataset.bridge })) {
    event.preventDefault();
    return;
  }
  // The page that follows says what came of it.
  const status = document.getElementById("status");
  if (status) { status.textContent = form.dataset.busy; status.classList.remove("hidden"); }
  for (const button of form.querySelectorAll("button")) button.disabled = true;
});

// Details that stand in the page open in a dialog where there is a script.
document.addEventListener("click", (event) => {
  const summary = event.target.closest("details.detail > summary");
  if (!summary || !window.HTMLDialogElement) return;
  event.preventDefault();
  const details = summary.parentElement;
  const dialog = document.createElement("dialog");
  const title = document.createElement("h2");
  title.textContent = summary.textContent;
  title.id = "detail-title";
  dialog.setAttribute("aria-labelledby", title.id);
  const close = document.createElement("button");
  close.type = "button";
  close.dataset.close = "";
  close.textContent = details.dataset.closeLabel;
  dialog.append(title, ...[...details.children].slice(1).map((child) => child.cloneNode(true)), close);
  dialog.addEventListener("close", () => { dialog.remove(); summary.focus(); });
  document.body.append(dialog);
  dialog.showModal();
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-print]")) window.print();
});

// New rows come in by themselves until they are held back: the page is asked again, and the part that
// is live is put in place of the one that is shown.
for (const button of document.querySelectorAll("[data-stream]")) {
  const events = new EventSource(button.dataset.stream);
  const status = document.getElementById("status");
  let isPaused = false, isAsked = false;
  const refresh = async () => {
    isAsked = false;
    if (isPaused || document.hidden) return;
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (!answer.ok || isPaused) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const [old, part] = [document, page].map((one) => one.getElementById(button.dataset.liveTarget));
    if (old && part && !old.contains(document.activeElement)) {
      old.replaceWith(part);
      tellLocalTimes(part);
    }
  };
  events.onmessage = () => {
    if (isAsked || isPaused) return;
    isAsked = true;
    setTimeout(refresh, 1000);
  };
  events.addEventListener("bye", () => events.close());
  button.addEventListener("click", () => {
    isPaused = !isPaused;
    button.setAttribute("aria-pressed", String(isPaused));
    if (status) status.textContent = isPaused ? button.dataset.on : button.dataset.off;
    if (!isPaused) refresh();
  });
  addEventListener("pagehide", () => events.close());
}

// A file is read into the field that takes its text.
for (const picker of document.querySelectorAll("input[data-into]")) {
  picker.addEventListener("change", async () => {
    const field = document.getElementById(picker.dataset.into);
    if (picker.files[0] && field) field.value = await picker.files[0].text();
  });
}
