# A program on somebody's own machine. pip install authlib requests; python3 native.py
import os
import webbrowser
from http.server import BaseHTTPRequestHandler, HTTPServer

import requests
from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session

server = requests.get(os.environ["ISSUER"] + "/.well-known/openid-configuration", timeout=10).json()

class Back(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"You can close this page.")
        self.server.answer = self.path

# The system chooses the port (RFC 8252 section 7.3).
listener = HTTPServer(("127.0.0.1", 0), Back)
redirect = f"http://127.0.0.1:{listener.server_port}/callback"
client = {"token_endpoint_auth_method": "none", "code_challenge_method": "S256", "redirect_uri": redirect}
oauth = OAuth2Session(os.environ["CLIENT_ID"], scope="openid profile email", **client)
verifier = generate_token(48)
url, state = oauth.create_authorization_url(server["authorization_endpoint"], code_verifier=verifier)
webbrowser.open(url) or print(f"Open {url}", flush=True)
listener.handle_request()
oauth.fetch_token(server["token_endpoint"], authorization_response=listener.answer, state=state, code_verifier=verifier)
print(f"Hello {oauth.get(server['userinfo_endpoint']).json()['email']}")
