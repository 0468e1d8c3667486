// What helps where scripts run; every page is whole without.
"use strict";
(() => {
  const page = document.documentElement;
  // A menu that is open on a telephone hides the page.
  const menu = document.querySelector("details.menu");
  const narrow = matchMedia("(max-width: 48rem)");
  const fit = () => { if (menu) menu.open = !narrow.matches; };
  fit();
  narrow.addEventListener("change", fit);
  // Times in the reader's own zone; the page says UTC where no script runs.
  const shown = new Intl.DateTimeFormat(page.lang, { dateStyle: "medium", timeStyle: "short" });
  for (const time of document.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (!Number.isNaN(at.getTime())) {
      time.title = time.textContent;
      time.textContent = shown.format(at);
    }
  }
  // A refusal is where a reader begins.
  const problem = document.getElementById("problem");
  const wrong = document.querySelector("[aria-invalid=true]");
  (wrong || problem)?.focus();
  const find = document.getElementById("find");
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, textarea, select");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      find?.focus();
    }
    if (event.key === "Escape") {
      const me = document.querySelector("details.me[open]");
      if (me) {
        me.open = false;
        me.querySelector("summary").focus();
      }
    }
  });
  // What was typed and not saved is not lost by a click beside it.
  let typed = false;
  for (const form of document.querySelectorAll("form.sheet[method=post]")) {
    form.addEventListener("input", () => { typed = true; });
    form.addEventListener("submit", () => { typed = false; });
  }
  addEventListener("beforeunload", (event) => { if (typed) event.preventDefault(); });
})();
