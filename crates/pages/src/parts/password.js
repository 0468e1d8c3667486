"use strict";
// Passwords: takes the name along to the page of a forgotten one, shows what was typed, and says of a new one what it lacks before it is sent. What is typed stays
// here: nothing is asked of the server until the form is. The server decides by the same rules, and by its
// list of common passwords, which is too long for a page.
(() => {
  for (const button of document.querySelectorAll("button[data-password]")) {
    const field = document.getElementById(button.dataset.password);
    if (!field) continue;
    const show = (shown) => {
      field.type = shown ? "text" : "password";
      button.setAttribute("aria-pressed", String(shown));
    };
    button.hidden = false;
    button.addEventListener("click", () => {
      show(field.type === "password");
      field.focus();
    });
    // A field of text would be kept by the browser among what was typed before.
    field.form.addEventListener("submit", () => show(false));
  }

  const forgotten = document.getElementById("forgotten");
  const username = document.getElementById("username");
  if (forgotten && username) {
    forgotten.addEventListener("submit", () => {
      forgotten.elements.typed.value = username.value;
    });
  }

  const meter = document.getElementById("password-strength");
  const said = document.getElementById("password-said");
  const field = document.getElementById("new_password");
  if (!meter || !said || !field) return;
  const { dataset } = meter;
  const lines = (text) => (text || "").toLowerCase().split("\n").filter((line) => line !== "");
  const logins = lines(dataset.logins).filter((name) => [...name].length >= 3);
  const names = lines(dataset.names).filter((name) => [...name].length >= 4);
  const host = window.location.hostname.toLowerCase();
  const least = field.minLength;

  const fault = (text) => {
    const lower = text.toLowerCase();
    const letters = [...text];
    if (letters.every((letter) => letter === letters[0])) return dataset.repeated;
    if (logins.some((name) => lower.includes(name))) return dataset.name;
    if (lower.includes(host)) return dataset.server;
    if (names.some((name) => lower.includes(name))) return dataset.name;
    return null;
  };

  let last = "";
  const look = () => {
    const count = [...field.value].length;
    const wrong = count === 0 ? null : fault(field.value);
    meter.value = wrong ? 1 : count;
    const long = wrong || dataset.fits;
    const text = count === 0 ? "" : count < least ? dataset.short : long;
    meter.hidden = count === 0;
    // A screen reader says it once, not with every letter.
    if (text !== last) said.textContent = last = text;
  };
  field.addEventListener("input", look);
  look();
})();
