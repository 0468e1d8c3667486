"use strict";
// Recovery codes: copies and prints them. Without this they can be marked, and the link saves them.
(() => {
  const list = document.getElementById("recovery-codes");
  const copy = document.getElementById("codes-copy");
  const print = document.getElementById("codes-print");
  const said = document.getElementById("codes-said");
  if (!list || !copy || !print || !said) return;
  print.hidden = false;
  print.addEventListener("click", () => window.print());
  if (!navigator.clipboard) return;
  copy.hidden = false;
  copy.addEventListener("click", async () => {
    const codes = Array.from(list.children, (item) => item.textContent.trim());
    try {
      await navigator.clipboard.writeText(codes.join("\n"));
      said.textContent = said.dataset.copied;
    } catch {
      // The browser refused: the codes stand there to be marked.
      said.textContent = "";
    }
  });
})();
