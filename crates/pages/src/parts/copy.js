"use strict";
// Copies what a button names, and prints. Without this it can be marked, and codes are saved by a link.
(() => {
  const print = document.getElementById("codes-print");
  if (print) {
    print.hidden = false;
    print.addEventListener("click", () => window.print());
  }
  if (!navigator.clipboard) return;
  for (const button of document.querySelectorAll("button[data-copy]")) {
    const from = document.getElementById(button.dataset.copy);
    const said = button.parentElement.nextElementSibling;
    if (!from || !said) continue;
    button.hidden = false;
    button.addEventListener("click", async () => {
      const lines = from.matches("ul") ? Array.from(from.children) : [from];
      try {
        await navigator.clipboard.writeText(lines.map((line) => line.textContent.trim()).join("\n"));
        said.textContent = said.dataset.copied;
      } catch {
        // The browser refused: it stands there to be marked.
        said.textContent = "";
      }
    });
  }
})();
