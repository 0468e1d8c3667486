"use strict";
// Says to the page that has this one in a frame whether the browser's session is still the one that it knows
// (OpenID Connect Session Management 1.0 section 3.2). It asks by "CLIENT_ID SESSION_STATE"; the answer is
// "unchanged", "changed", or "error" where nothing can be said. The cookie's value lets nobody do anything; whether
// there is a login is still nobody's business but the clients' of this login, so any page hears "changed" of a browser
// without one, whatever it sends: the cookie's absence and the value "none" are known to everybody.
(() => {
  const name = document.currentScript.dataset.cookie;
  const read = () => {
    for (const part of document.cookie.split("; ")) {
      const at = part.indexOf("=");
      if (part.slice(0, at) === name) return part.slice(at + 1);
    }
    return null;
  };
  const hash = async (text) => {
    const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
    const base64 = btoa(String.fromCharCode(...new Uint8Array(bytes)));
    return base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  };
  const check = async (message, origin) => {
    const said = typeof message === "string" && message.length < 2048 && /^(\S+) ([\w-]+)\.([\w-]+)$/.exec(message);
    if (!said) return "error";
    const [, client, known, salt] = said;
    const state = read();
    // A browser that keeps cookies from frames of other sites shows none: that is no logout.
    if (state === null && document.hasStorageAccess && !(await document.hasStorageAccess())) return "error";
    const loggedIn = state !== null && state !== "" && state !== "none";
    // Computed in either case, so that the time of the answer tells nothing either.
    const now = await hash(`${client} ${origin} ${state ?? ""} ${salt}`);
    return loggedIn && now === known ? "unchanged" : "changed";
  };
  addEventListener("message", async (event) => {
    // A page without an origin of its own cannot be answered.
    if (!event.source || event.source === window || event.origin === "null") return;
    const answer = await check(event.data, event.origin).catch(() => "error");
    event.source.postMessage(answer, event.origin);
  });
})();
