# An agent that acts for a person, by a grant of that person. The key of the agent stays here; the grant is a file.
export SIGNET_CLIENT_SECRET="$CLIENT_SECRET"
signet agent create --name "$CLIENT_ID" --out agent.aid
signet agent show --document agent.aid > agent.json

# The person, whose identity is bound to their account:
#   signet agent grant --identity alice.aid --to agent.json --capability 'read:orders/*' --expires-in 8h --out grant.json

# The agent: the chain of grants becomes a token that is bound to session.jwk.
TOKEN=$(signet agent exchange --identity agent.aid --issuer "$ISSUER" --client-id "$CLIENT_ID" grant.json)
URL=https://api.example.com/orders
curl -H "Authorization: DPoP $TOKEN" -H "DPoP: $(signet agent dpop --key session.jwk --url "$URL" "$TOKEN")" "$URL"
