"use strict";
// Passkeys: asks the browser for one, and sends its answer on with the form. A button says what is asked
// in `data-passkey-get` or `data-passkey-create`, as JSON whose bytes are base64url (WebAuthn Level 3,
// section 5.1). Every other way to log in works without this file.
(() => {
  const bytes = (text) =>
    Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
  const text = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer)))
      .replace(/\+/g, "-")
      .replace(/\//g, "_")
      .replace(/=+$/, "");
  const known = (list) => (list || []).map((one) => ({ ...one, id: bytes(one.id) }));

  const get = (options) => ({
    ...options,
    challenge: bytes(options.challenge),
    allowCredentials: known(options.allowCredentials),
  });
  const create = (options) => ({
    ...options,
    challenge: bytes(options.challenge),
    user: { ...options.user, id: bytes(options.user.id) },
    excludeCredentials: known(options.excludeCredentials),
  });

  const answer = (credential) => {
    const from = credential.response;
    const response = { clientDataJSON: text(from.clientDataJSON) };
    if (from.attestationObject) {
      response.attestationObject = text(from.attestationObject);
      response.transports = from.getTransports ? from.getTransports() : [];
    } else {
      response.authenticatorData = text(from.authenticatorData);
      response.signature = text(from.signature);
      response.userHandle = from.userHandle && from.userHandle.byteLength ? text(from.userHandle) : null;
    }
    const id = text(credential.rawId);
    return JSON.stringify({ id, rawId: id, type: credential.type, response });
  };

  const USED = "signet-passkey-used";
  let sent = false;
  const send = (button, credential) => {
    if (sent || !credential) return;
    const field = document.createElement("input");
    field.type = "hidden";
    field.name = "passkey";
    field.value = answer(credential);
    button.form.append(field);
    sent = true;
    try {
      localStorage.setItem(USED, "1");
    } catch {
      // A browser that keeps nothing: the button stays where it is.
    }
    button.type = "submit";
    button.form.requestSubmit(button);
  };

  // Where a passkey was used in this browser, it comes first.
  const lead = (box) => {
    const button = box.querySelector("button");
    const { form } = button;
    const main = form.querySelector("button.main");
    const or = form.querySelector("p.or");
    const name = form.querySelector("label");
    if (!main || !or || !name) return;
    // Enter in a field sends the password: until it is pressed, this is no button that sends.
    button.type = "button";
    button.classList.replace("other", "main");
    main.classList.replace("main", "other");
    name.before(box, or.cloneNode(true));
    if (!or.nextElementSibling || !or.nextElementSibling.matches("button")) or.remove();
  };

  const fail = (button) => {
    const problem = document.getElementById(button.dataset.passkeyProblem);
    if (problem) problem.hidden = false;
  };

  const buttons = document.querySelectorAll("button[data-passkey-get], button[data-passkey-create]");
  if (!window.PublicKeyCredential || !navigator.credentials) {
    for (const button of buttons) fail(button);
    return;
  }

  const box = document.getElementById("with-passkey");
  try {
    if (box && localStorage.getItem(USED)) lead(box);
  } catch {
    // As above.
  }

  // One request at a time: the one behind the autofill gives way to a button.
  let waiting = null;
  for (const button of buttons) {
    button.addEventListener("click", async (event) => {
      if (sent) return;
      event.preventDefault();
      if (waiting) waiting.abort();
      waiting = null;
      const { passkeyGet, passkeyCreate } = button.dataset;
      try {
        send(
          button,
          passkeyGet
            ? await navigator.credentials.get({ publicKey: get(JSON.parse(passkeyGet)) })
            : await navigator.credentials.create({ publicKey: create(JSON.parse(passkeyCreate)) }),
        );
      } catch {
        fail(button);
      }
    });
  }

  // Says with the password that a passkey could be offered for the next time.
  const login = document.querySelector("button[data-passkey-autofill]");
  const can = PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable;
  if (login && can) {
    can.call(PublicKeyCredential).then((yes) => {
      if (!yes) return;
      const field = document.createElement("input");
      field.type = "hidden";
      field.name = "passkey_capable";
      field.value = "1";
      login.form.append(field);
    });
  }

  const autofill = document.querySelector("button[data-passkey-get][data-passkey-autofill]");
  const available = PublicKeyCredential.isConditionalMediationAvailable;
  if (autofill && available) {
    available.call(PublicKeyCredential).then(async (can) => {
      if (!can || sent) return;
      waiting = new AbortController();
      const publicKey = get(JSON.parse(autofill.dataset.passkeyGet));
      try {
        send(
          autofill,
          await navigator.credentials.get({ mediation: "conditional", signal: waiting.signal, publicKey }),
        );
      } catch {
        // Nobody chose one, or a button was pressed.
      }
    });
  }
})();
