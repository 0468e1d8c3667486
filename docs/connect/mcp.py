# An MCP server whose callers log in. pip install mcp 'pyjwt[crypto]'; python3 mcp.py; it answers at RESOURCE
import os
from urllib.parse import urlsplit

import jwt
import requests
from mcp.server import MCPServer
from mcp.server.auth.provider import AccessToken, TokenVerifier
from mcp.server.auth.settings import AuthSettings

ISSUER, RESOURCE = os.environ["ISSUER"], os.environ["RESOURCE"]
server = requests.get(ISSUER + "/.well-known/oauth-authorization-server", timeout=10).json()
keys = jwt.PyJWKClient(server["jwks_uri"])

class Verifier(TokenVerifier):
    async def verify_token(self, token):
        try:
            key = keys.get_signing_key_from_jwt(token).key
            said = jwt.decode(token, key, algorithms=["EdDSA", "ES256", "RS256"], audience=RESOURCE, issuer=ISSUER)
        except jwt.PyJWTError:
            return None
        scopes = said.get("scope", "").split()
        return AccessToken(token=token, client_id=said["client_id"], scopes=scopes, expires_at=said["exp"], resource=RESOURCE, subject=said["sub"])

auth = AuthSettings(issuer_url=ISSUER, resource_server_url=RESOURCE)
app = MCPServer("tools", token_verifier=Verifier(), auth=auth)
app.tool()(lambda: "Hello")
app.run(transport="streamable-http", host="127.0.0.1", port=urlsplit(RESOURCE).port or 8000)
