# The account page's part about agents.

agents-title = Agents
agents-none = No agent has acted for you.
agents-delegated = (through another agent)
agents-grant-facts = { $id } · since { $since }, until { $until }
agents-grant-end = End
agents-grant-end-one = End the grant to { $name }
agents-stop-all = Stop all agents and remove the identities
agents-identities = Identities for agents
agents-identities-text = What an identity that is bound here grants to agents, they may do in your name.
agents-identity-facts = { $id } · since { $since } · key { $key }
agents-identity-remove = Remove
agents-identity-remove-one = Remove the identity { $name }
agents-prove = To bind an identity, or to renew its document, prove that you hold it:
agents-proof = The proof that this prints
agents-document = The identity document, unless the proof brings it
agents-bind = Bind the identity
agents-bind-open = Bind an agent’s identity

agents-bound = The identity is bound to your account.
agents-unbound = The identity was taken off your account, and everything that was issued under it was revoked.
agents-grant-ended = The grant and everything that was delegated under it have ended.
agents-stopped = No agent can act for you any more.

agents-refused-taken = The identity is bound to another account.
agents-refused-rollback = The document is older than the one that is known, or has another history.
agents-refused-stopped = The agent was stopped and cannot be bound.
agents-refused-many = There are too many identities on this account.
agents-refused-gone = There is nothing of that name any more.
agents-refused-object = The object was not accepted.
agents-refused-challenge = The proof answers another challenge than this page's.
agents-refused-server = The proof is for another server.
agents-refused-time = The proof is too old, or from the future.
agents-refused-document = The proof is for another document.
agents-refused-signature = A signature does not hold.
agents-refused-key = The proof is not signed with the identity's current key.
agents-refused-no-document = The identity document is missing.
agents-refused-large = The document or the proof is too large for this form.
agents-refused-unreadable = The document or the proof cannot be read.
agents-refused-off = This server takes no agents' grants.
agents-refused-answered = The challenge was answered before. Here is another.
