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

// A form whose control is moved is sent once the control is let go.
for (const form of document.querySelectorAll("form[data-live]")) {
  form.addEventListener("change", () => form.requestSubmit());
}
