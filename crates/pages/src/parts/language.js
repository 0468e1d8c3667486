"use strict";
// The menu of languages: what is chosen is sent at once. By keys a menu changes with every arrow, and nobody
// has chosen yet (WCAG 2.2, success criterion 3.2.2): there the button comes back.
(() => {
  const form = document.querySelector("form.language");
  const menu = document.getElementById("language");
  const button = form && form.querySelector("button");
  if (!menu || !button) return;
  let byKeys = false;
  button.hidden = true;
  menu.addEventListener("pointerdown", () => {
    byKeys = false;
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key === "Tab" || event.key === "Shift") return;
    byKeys = true;
    button.hidden = false;
  });
  menu.addEventListener("change", () => {
    if (!byKeys) form.requestSubmit();
  });
})();
