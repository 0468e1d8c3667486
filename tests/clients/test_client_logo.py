"""A client's picture: the page has it from the server, which fetches it once, and not from where the client keeps it."""

import base64
import http.server
import re
import ssl
import threading

import pytest
from apps import Served
from deployment import Authority
from party import Pkce, trusting

PNG = b"\x89PNG\r\n\x1a\n a picture"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Where the client keeps its picture, by TLS; (its address, its authority, the requests that it had)."""
    authority = Authority(tmp_path_factory.mktemp("place"), "place")
    certificate, key = authority.issue("localhost", server=True)
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append((self.path, dict(self.headers)))
            body = PNG if self.path == "/logo.png" else b"<html>no picture</html>"
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"https://localhost:{server.server_address[1]}", str(authority.pem), asked
    server.shutdown()


@pytest.fixture(scope="module")
def served(place, tmp_path_factory):
    url, ca, _ = place
    clients = "".join(
        f'[[clients]]\nclient_id = "{name}"\nclient_name = "{name}"\nlogo_uri = "{url}/{logo}"\n'
        'redirect_uris = ["https://client.example/cb"]\ngrant_types = ["authorization_code"]\n'
        'token_endpoint_auth_method = "none"\nscope = ["openid"]\n\n'
        for name, logo in (("pictured", "logo.png"), ("other", "page.html"))
    )
    server = Served(tmp_path_factory.mktemp("op"), f'[outbound]\ntrust = "{ca}"\nallow_loopback = true\n\n{clients}')
    yield server
    server.stop()


def login_page(server, client_id):
    ask = {"client_id": client_id, "redirect_uri": "https://client.example/cb", "response_type": "code", "scope": "openid", **Pkce().request}
    return trusting(server.ca).get(f"{server.issuer}/authorize", params=ask)


def logo(server, client_id):
    name = base64.urlsafe_b64encode(client_id.encode()).rstrip(b"=").decode()
    return trusting(server.ca).get(f"{server.issuer}/client-logo/{name}")


def test_the_page_has_the_picture_from_the_server(place, served):
    url, _, asked = place
    page = login_page(served, "pictured")
    (source,) = re.findall(r'<img class="client" src="([^"]+)" alt="">', page.text)
    assert url not in page.text and "img-src 'self'" in page.headers["content-security-policy"]
    assert asked == [], "a page fetches nothing by itself"
    for _ in range(3):
        shown = trusting(served.ca).get(served.issuer + source)
        assert shown.status_code == 200 and shown.content == PNG
        # What it is says its first bytes; opened by itself it may do nothing.
        assert shown.headers["content-type"] == "image/png" and shown.headers["x-content-type-options"] == "nosniff"
        assert "sandbox" in shown.headers["content-security-policy"]
        assert shown.headers["cross-origin-resource-policy"] == "same-origin"
    assert [path for path, _ in asked] == ["/logo.png"]
    sent = {name.lower() for name in asked[0][1]}
    assert not sent & {"cookie", "referer", "x-forwarded-for", "forwarded"}


def test_what_is_no_picture_is_not_shown_and_not_soon_asked_again(place, served):
    _, _, asked = place
    before = len(asked)
    for _ in range(3):
        assert logo(served, "other").status_code == 404
    assert len(asked) == before + 1
    assert logo(served, "nobody").status_code == 404
    assert trusting(served.ca).get(f"{served.issuer}/client-logo/%00").status_code in (400, 404)
    assert len(asked) == before + 1
