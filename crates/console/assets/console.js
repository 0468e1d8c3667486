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
  document.querySelector(".menu [aria-current]")?.scrollIntoView({ block: "nearest" });

  // Times in the reader's own zone; the page says UTC where no script runs.
  const shown = new Intl.DateTimeFormat(page.lang, { dateStyle: "medium", timeStyle: "short" });
  const clock = new Intl.DateTimeFormat(page.lang, { timeStyle: "short" });
  const dress = (within) => {
    for (const time of within.querySelectorAll("time[datetime]:not([title])")) {
      const at = new Date(time.dateTime);
      if (!Number.isNaN(at.getTime())) {
        time.title = time.textContent;
        time.textContent = shown.format(at);
      }
    }
    for (const at of within.querySelectorAll("[data-clock]")) at.textContent = clock.format(new Date(at.dataset.clock * 1000));
    for (const button of within.querySelectorAll("button[data-copy]")) button.hidden = !navigator.clipboard;
    for (const all of within.querySelectorAll("input[data-all]")) all.hidden = false;
    const colored = within.matches?.("[data-colors]") ? within : within.querySelector("[data-colors]");
    if (colored) colors(colored.dataset.colors);
  };

  // The brand that is tried: the whole page takes its colours.
  let sheet;
  const colors = (text) => {
    sheet ??= new CSSStyleSheet();
    sheet.replaceSync(text);
    document.adoptedStyleSheets = [sheet];
  };
  dress(document);

  // A part of the page, loaded again: what is typed and what has the focus stays.
  let asked;
  const load = async (url, quiet) => {
    asked?.abort();
    asked = new AbortController();
    let answer;
    try {
      answer = await fetch(url, { signal: asked.signal, headers: { accept: "text/html" } });
    } catch {
      return false;
    }
    const text = await answer.text();
    // The brand's colours are in the head, under the policy of their own page: not read here.
    const next = new DOMParser().parseFromString(text.replace(/<style>[^]*?<\/style>/, ""), "text/html").getElementById("live");
    const live = document.getElementById("live");
    if (!next || !live) return false;
    if (quiet && live.contains(document.activeElement)) return true;
    live.replaceWith(document.adoptNode(next));
    dress(document.getElementById("live"));
    return true;
  };

  // Search as one types.
  for (const form of document.querySelectorAll("form[data-live]")) {
    let waits;
    const go = () => {
      const query = new URLSearchParams(new FormData(form));
      for (const [name, value] of [...query]) if (!value && name !== "name") query.delete(name);
      const url = `${form.getAttribute("action")}?${query}`;
      load(url).then((done) => { if (done) history.replaceState(null, "", url); });
    };
    form.addEventListener("input", () => { clearTimeout(waits); waits = setTimeout(go, 120); });
  }

  // What changes by itself is looked at again, while somebody looks.
  const lasting = document.querySelector("#live[data-refresh]");
  if (lasting) {
    const every = Math.max(2, Number(lasting.dataset.refresh)) * 1000;
    setInterval(() => { if (document.visibilityState === "visible" && !document.querySelector("#live details[open]")) load(location.href, true); }, every);
  }

  // Numbers of a chart, where the pointer is.
  let tip;
  document.addEventListener("pointermove", (event) => {
    const span = event.target.closest?.(".chart .span");
    if (!span) {
      tip?.remove();
      return;
    }
    tip ??= Object.assign(document.createElement("div"), { className: "tip" });
    tip.textContent = `${shown.format(new Date(span.dataset.at * 1000))} · ${span.dataset.count}`;
    if (!tip.isConnected) document.body.append(tip);
    const room = page.clientWidth - tip.offsetWidth - 8;
    tip.style.left = `${Math.max(8, Math.min(room, event.clientX + 12))}px`;
    tip.style.top = `${event.clientY - 38}px`;
  });

  document.addEventListener("click", async (event) => {
    const button = event.target.closest?.("button[data-copy]");
    if (button) {
      await navigator.clipboard.writeText(button.parentElement.querySelector("code").textContent);
      const label = button.textContent;
      button.textContent = button.dataset.copy;
      setTimeout(() => { button.textContent = label; }, 1500);
    }
    const all = event.target.closest?.("input[data-all]");
    if (all) for (const box of all.closest("table").querySelectorAll("tbody .pick input")) box.checked = all.checked;
    const me = document.querySelector("details.me[open]");
    if (me && !me.contains(event.target)) me.open = false;
  });

  // A refusal is where a reader begins.
  const problem = document.getElementById("problem");
  const wrong = document.querySelector("[aria-invalid=true]");
  (wrong || problem)?.focus();
  const find = document.getElementById("find");
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, textarea, select");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      (document.querySelector("main #q") || find)?.focus();
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
