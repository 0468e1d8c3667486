# A web application. pip install authlib requests; python3 web.py; open http://127.0.0.1:3000/
import os
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import urlsplit

import requests
from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session

REDIRECT = os.environ.get("REDIRECT_URI", "http://127.0.0.1:3000/callback")
client = {"client_id": os.environ["CLIENT_ID"], "client_secret": os.environ["CLIENT_SECRET"], "redirect_uri": REDIRECT}
server = requests.get(os.environ["ISSUER"] + "/.well-known/openid-configuration", timeout=10).json()


class App(BaseHTTPRequestHandler):
    def do_GET(self):
        oauth = OAuth2Session(**client, scope="openid profile email", code_challenge_method="S256")
        if urlsplit(self.path).path != urlsplit(REDIRECT).path:
            verifier = generate_token(48)
            url, state = oauth.create_authorization_url(server["authorization_endpoint"], code_verifier=verifier)
            return self.answer(302, "", {"Location": url, "Set-Cookie": f"login={state}.{verifier}; HttpOnly; SameSite=Lax"})
        state, _, verifier = (self.headers["Cookie"] or "").partition("login=")[2].partition(";")[0].partition(".")
        if not verifier:
            return self.answer(400, "No login began in this browser: start at /", {})
        oauth.fetch_token(server["token_endpoint"], authorization_response=self.path, state=state, code_verifier=verifier)
        self.answer(200, f"Hello {oauth.get(server['userinfo_endpoint']).json()['email']}", {})

    def answer(self, status, text, headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text.encode())


HTTPServer(("127.0.0.1", urlsplit(REDIRECT).port), App).serve_forever()
