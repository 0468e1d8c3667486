"""A login in front of an application, through the texts of docs/gate.md for each proxy: a browser logs in, is seen, is revoked; and is attacked.

Usage: test_login.py SIGNET_BINARY. Needs what test_proxies.py needs. Only addresses, files and secrets of the texts are changed."""

import base64, http.client, json, os, re, shlex, shutil, signal, socket, ssl, subprocess, sys, tempfile, threading, time, unittest, urllib.parse
from html.parser import HTMLParser
import http.server
import test_proxies as proxies
from test_proxies import SECRET, SIGNET, Upstream, binary, held_port, openssl, plain, replaced, snippet

HOST, ORIGIN = "orders.example.com", "https://orders.example.com"
SESSION = "__Host-signet-gate"
FIELDS = ("x-auth-subject", "x-auth-issuer", "x-auth-client", "x-auth-scope", "x-auth-groups")
PASSWORD = "correct horse battery staple 42"


class World:
    """A development server, the gate of the manual's text in front of an application, and what the manual's commands add."""

    def __init__(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.dir, self.processes = self.temporary.name, []
        self.data = self.dir + "/data"
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", f"/CN={HOST}",
                "-addext", f"subjectAltName=DNS:{HOST}", "-keyout", f"{self.dir}/orders.key", "-out", f"{self.dir}/orders.pem")
        self.start("server", SIGNET, "serve", "--dev", "--listen", "127.0.0.1:0", "--data-dir", self.data)
        self.wait("server", lambda: os.path.exists(self.data + "/dev.json"))
        self.dev = json.load(open(self.data + "/dev.json"))
        self.issuer = self.dev["issuer"]
        upstream = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
        threading.Thread(target=upstream.serve_forever, daemon=True).start()
        self.gate, self.upstream = held_port(), upstream.server_address[1]
        self.signet("user", "add", "bob", "--password-stdin", input=PASSWORD)
        self.signet("group", "add", "admins")
        self.signet("group", "members", "admins", "add", "alice")
        manual = open(os.path.join(proxies.ROOT, "docs/gate.md")).read()
        commands = re.search(r"The gate is a client of the issuer. At Signet:\n\n(.*?)\n\n", manual, re.S).group(1)
        for command in commands.replace("\\\n", " ").splitlines():
            words = shlex.split(command)
            more = [f"backchannel_logout_uri=http://127.0.0.1:{self.gate}/.signet/backchannel-logout"] if "orders-login" in words else []
            made = json.loads(self.signet(*words[1:], *more, "--json"))
            name = "login" if made["client_id"] == "orders-login" else "gate"
            self.private(name + ".secret", made["client_secret"])
        self.private("proxy.secret", SECRET)
        self.text = replaced(snippet("The gate's file with a login"), ("127.0.0.1:9000", f"127.0.0.1:{self.gate}"), ("https://id.example.com", self.issuer),
                             ('idle = "1h"', 'idle = "24s"'))
        self.write(self.text)
        self.begin_gate()

    def write(self, text):
        open(self.dir + "/gate.toml", "w").write(text + f'\n[outbound]\nallow_loopback = true\ntrust = "{self.data}/ca.pem"\n')

    def begin_gate(self):
        self.start("gate", SIGNET, "gate", "--config", self.dir + "/gate.toml")
        self.service = self.processes[-1]
        self.wait("gate", lambda: plain(self.gate, "/health/ready")[0] == 200)

    def private(self, name, text):
        with open(os.open(f"{self.dir}/{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
            out.write(text + "\n")

    def signet(self, *arguments, input=None):
        done = subprocess.run([SIGNET, *arguments, "--data-dir", self.data], input=input, capture_output=True, text=True)
        # A gate that has just ended does not confirm a revocation any more.
        if done.returncode and "not yet confirmed by gate" not in done.stderr:
            raise AssertionError(f"{arguments}: {done.stdout}{done.stderr}")
        return done.stdout

    start, wait = proxies.World.start, proxies.World.wait

    def stop(self):
        for process in reversed(self.processes):
            process.terminate()
            process.wait(30)
        self.temporary.cleanup()


class Form(HTMLParser):
    """The first form of a page."""

    def __init__(self, html):
        super().__init__()
        self.action, self.fields, self.inside = None, {}, False
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        if tag == "form" and self.action is None:
            self.action, self.inside = a.get("action", ""), True
        elif tag == "input" and self.inside and a.get("name"):
            self.fields[a["name"]] = a.get("value", "")

    def handle_endtag(self, tag):
        self.inside &= tag != "form"


class Browser:
    """Cookies by host, redirects, and what browsers say of their requests."""

    def __init__(self, proxy, drops=()):
        self.proxy, self.jar, self.drops, self.seen = proxy, {}, drops, []

    def ask(self, url, method="GET", headers=(), form=None, kind="navigate", cookies=None):
        """One request: status, header fields, body."""
        parts = urllib.parse.urlsplit(url)
        host, target = parts.netloc, url.split("://", 1)[1][len(parts.netloc):] or "/"
        if parts.hostname == HOST:
            address, encrypted = self.proxy.port, self.proxy.tls
        else:
            address, encrypted = parts.port, True
        stream = socket.create_connection(("127.0.0.1", address), 10)
        if encrypted:
            stream = ssl._create_unverified_context().wrap_socket(stream, server_hostname=parts.hostname)
        connection = http.client.HTTPConnection(parts.hostname, timeout=20)
        connection.sock = stream
        connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
        fields = [("host", host), ("accept", "text/html,*/*;q=0.8" if kind == "navigate" else "*/*")]
        if kind == "navigate":
            fields += [("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")]
        elif kind == "fetch":
            fields += [("sec-fetch-mode", "cors"), ("sec-fetch-dest", "empty")]
        if cookies is None:
            cookies = "; ".join(f"{name}={value}" for name, value in self.jar.get(parts.hostname, {}).items())
        if cookies:
            fields.append(("cookie", cookies))
        body = urllib.parse.urlencode(form).encode() if form is not None else None
        if body is not None:
            origin = f"{parts.scheme}://{parts.netloc}"
            fields += [("content-type", "application/x-www-form-urlencoded"), ("content-length", str(len(body)))]
            if not any(name == "origin" for name, _ in headers):
                fields += [("origin", origin), ("sec-fetch-site", "same-origin")]
        for name, value in [*fields, *headers]:
            connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        result = answer.status, answer.headers, answer.read().decode()
        connection.close()
        for text in answer.headers.get_all("set-cookie") or ():
            self.keep(parts.hostname, text)
        return result

    def keep(self, host, text):
        (name, value), *attributes = (part.strip().partition("=")[::2] for part in text.split(";"))
        attributes = {attribute.lower(): said for attribute, said in attributes}
        if name.startswith("__Host-"):
            assert "secure" in attributes and attributes.get("path") == "/" and "domain" not in attributes, text
        if host == HOST and any(name == dropped or dropped.endswith("-") and name.startswith(dropped) for dropped in self.drops):
            return
        kept = self.jar.setdefault(host, {})
        if attributes.get("max-age") == "0":
            kept.pop(name, None)
        else:
            kept[name] = value

    def go(self, url, **more):
        """Follows redirects: the last URL, status, header fields, body."""
        self.seen = []
        for _ in range(20):
            self.seen.append(url)
            status, fields, body = self.ask(url, **more)
            more = {}
            if status not in (302, 303):
                return url, status, fields, body
            url = urllib.parse.urljoin(url, fields["location"])
        raise AssertionError(f"a loop: {self.seen}")

    def log_in(self, path="/", user="alice", password=None):
        """Goes there, and does what the pages ask for."""
        url, status, fields, body = self.go(path if "://" in path else ORIGIN + path)
        for _ in range(6):
            form = Form(body)
            if urllib.parse.urlsplit(url).hostname == HOST or form.action is None:
                return url, status, fields, body
            filled = dict(form.fields)
            if "password" in filled:
                filled.update(username=user, password=password or (WORLD.dev["user"]["password"] if user == "alice" else PASSWORD))
            filled["decision"] = "later" if 'value="later"' in body else "allow"
            url, status, fields, body = self.go(urllib.parse.urljoin(url, form.action), method="POST", form=filled)
        raise AssertionError(f"the login came to no end: {url} {status} {body[:500]}")

    @property
    def session(self):
        return self.jar.get(HOST, {}).get(SESSION)


def code_of(body):
    found = re.search(r'<main id="error" data-error="([^"]*)"', body)
    return found and found.group(1)


class Login:
    """What holds behind every proxy."""

    tls = True

    @classmethod
    def setUpClass(cls):
        cls.world, cls.port = WORLD, held_port()
        cls.begin(cls.world)
        cls.world.wait(cls.__name__, lambda: Browser(cls).ask(ORIGIN + "/", kind="fetch")[0] == 401)

    def browser(self, **more):
        return Browser(self, **more)

    def logged_in(self, **more):
        browser = self.browser()
        url, status, _, body = browser.log_in(**more)
        self.assertEqual(status, 200, f"{url} {body[:800]}")
        return browser

    def told(self, body):
        return {name.lower(): value for name, value in json.loads(body)}

    def led(self, answer):
        """A navigation that is led to the login; the application saw nothing."""
        status, fields, body = answer
        self.assertEqual(status, 302, body[:500])
        self.assertTrue(fields["location"].startswith(ORIGIN + "/.signet/login?return="), fields["location"])

    def unreached(self, ask):
        before = Upstream.reached
        answer = ask()
        self.assertEqual(Upstream.reached, before, "the application was reached")
        return answer

    def test_a_browser_logs_in_and_comes_back_to_what_it_asked_for(self):
        browser = self.browser()
        asked = ORIGIN + "/orders/1?x=1&y=a%20b&z=%2F%3F"
        self.led(self.unreached(lambda: browser.ask(asked)))
        url, status, _, body = browser.log_in(asked)
        self.assertEqual((url, status), (asked, 200), body[:500])
        told = self.told(body)
        self.assertEqual([told[name] for name in FIELDS[1:]], [self.world.issuer, "orders-login", "openid groups", "admins"])
        self.assertTrue(told["x-auth-subject"])
        self.assertNotIn("x-gate-secret", told)
        # And then without another word.
        status, fields, body = browser.ask(ORIGIN + "/next")
        self.assertEqual((status, self.told(body)["x-auth-subject"]), (200, told["x-auth-subject"]))
        status, _, _ = browser.ask(ORIGIN + "/next", kind="fetch")
        self.assertEqual(status, 200)
        # No code, no state and no token stands in a cookie or an address that stays.
        self.assertEqual([name for name in browser.jar[HOST] if name.startswith("__Host-signet-gate-login")], [])

    def test_scripts_and_posts_are_told_401_and_led_nowhere(self):
        browser = self.browser()
        for more in ({"kind": "fetch"}, {"kind": "other"}, {"method": "POST", "form": {"a": "b"}}):
            status, fields, _ = self.unreached(lambda: browser.ask(ORIGIN + "/orders", **more))
            self.assertEqual(status, 401, more)
            self.assertIsNone(fields["location"])
            self.assertIn("Bearer", fields["www-authenticate"])

    def test_fields_of_the_client_do_not_arrive(self):
        forged = [(name, "forged") for name in (*FIELDS, "X_Auth_Subject", "X_Auth_Groups")]
        forged = [(name, value) for name, value in forged if "_" not in name or not isinstance(self, Envoy)]
        browser = self.logged_in()
        status, _, body = browser.ask(ORIGIN + "/x", headers=forged)
        self.assertEqual(status, 200)
        self.assertNotIn("forged", body)
        # Nobody is logged in, and the path is open.
        status, _, body = self.browser().ask(ORIGIN + "/public/x", headers=forged)
        self.assertEqual(status, 200)
        self.assertNotIn("forged", body)

    def test_only_the_cookie_that_was_sealed_for_this_application_is_a_session(self):
        browser = self.logged_in()
        good = browser.session
        other = self.logged_in(user="bob", path="/x").session
        ask = lambda text: self.unreached(lambda: browser.ask(ORIGIN + "/x", cookies=text))
        for bad in ("", "x", good[:-1], good[1:], good + "A", good[:50] + ("A" if good[50] != "A" else "B") + good[51:], good[:40] + other[40:], good.replace("-", "+") + "=", "A" * 3000):
            self.led(ask(f"{SESSION}={bad}"))
        for text in (f"{SESSION}={good}; {SESSION}={good}", f"__host-signet-gate={good}", f"signet-gate={good}", f"{SESSION} {good}"):
            self.led(ask(text))
        self.assertEqual(browser.ask(ORIGIN + "/x", cookies=f"a=b; {SESSION}={good}; c=d")[0], 200)
        # A login's cookie is no session.
        fresh = self.browser()
        fresh.ask(ORIGIN + "/.signet/login?return=/x")
        [begun] = [value for name, value in fresh.jar[HOST].items() if name.startswith("__Host-signet-gate-login")]
        self.led(ask(f"{SESSION}={begun}"))

    def begun(self, browser, path="/x"):
        """Up to the callback's URL, which is not gone to."""
        ask, answers = browser.ask, []

        def stop(url, **more):
            if url.startswith(ORIGIN + "/.signet/callback"):
                answers.append(url)
                return 200, {}, ""
            return ask(url, **more)

        browser.ask = stop
        browser.log_in(path)
        browser.ask = ask
        return answers[0]

    def test_a_callback_counts_once_and_in_its_own_browser(self):
        mine, other = self.browser(), self.browser()
        callback = self.begun(mine)
        url, status, _, body = other.go(callback)
        self.assertEqual((status, code_of(body), other.session), (400, "login_unknown", None))
        # The other browser has begun a login of its own: its state is not this one.
        self.begun(other)
        self.assertEqual(code_of(other.go(callback)[3]), "login_unknown")
        before = dict(mine.jar[HOST])
        self.assertEqual(mine.go(callback)[0], ORIGIN + "/x")
        self.assertEqual(code_of(mine.go(callback)[3]), "login_unknown")
        # With its cookie put back, the code is used.
        cookies = "; ".join(f"{name}={value}" for name, value in before.items())
        self.assertEqual(code_of(mine.ask(callback, cookies=cookies)[2]), "invalid_grant")

    def test_an_answer_of_another_issuer_or_without_a_code_is_an_error(self):
        for change, error in ((("iss=", "iss=x"), "issuer_mismatch"), (("iss=", "was="), "issuer_mismatch"), (("code=", "kode="), "invalid_request"), (("code=", "error=access_denied&was="), "access_denied"), (("state=", "was="), "login_unknown")):
            browser = self.browser()
            callback = self.begun(browser)
            self.assertIn(change[0], callback)
            _, status, fields, body = browser.go(callback.replace(*change))
            self.assertEqual(code_of(body), error, body)
            self.assertGreaterEqual(status, 400)
            self.assertIsNone(browser.session)
            self.assertEqual(fields["cache-control"], "no-store")
            self.assertIn("/.signet/login?return=", body)

    def test_several_windows_log_in_at_once(self):
        browser = self.browser()
        begun = [self.begun(browser, f"/window/{number}") for number in range(3)]
        for number in (2, 0, 1):
            self.assertEqual(browser.go(begun[number])[0], f"{ORIGIN}/window/{number}")

    def test_a_login_leads_to_no_other_host(self):
        browser = self.logged_in()
        for evil in ("https://evil.example", "//evil.example", "/\\evil.example", "\\\\evil.example", "/%09/evil.example", "http:evil.example", "/x\r\nlocation: https://evil.example", "javascript:alert(1)", "/" + "x" * 3000):
            url, status, _, body = browser.go(ORIGIN + "/.signet/login?return=" + urllib.parse.quote(evil, safe=""))
            self.assertEqual(urllib.parse.urlsplit(url).netloc, HOST, evil)
            self.assertTrue(all(urllib.parse.urlsplit(seen).hostname in (HOST, "localhost") for seen in browser.seen), browser.seen)
        for host in ("evil.example", HOST + ".evil.example", "evil.example:443"):
            for headers in ([("x-forwarded-host", host)], [("x-forwarded-host", host), ("x-forwarded-host", HOST)], [("forwarded", f"host={host}")]):
                status, fields, body = self.browser().ask(ORIGIN + "/.signet/login", headers=headers)
                self.assertNotIn("evil.example", urllib.parse.unquote(fields["location"] or ""), headers)

    def test_a_revoked_person_is_led_to_the_login(self):
        browser = self.logged_in(user="bob")
        self.assertEqual(browser.ask(ORIGIN + "/x")[0], 200)
        self.world.signet("revoke", "--user", "bob", "--yes")
        for _ in range(40):
            if browser.ask(ORIGIN + "/x")[0] != 200:
                break
            time.sleep(0.05)
        self.led(self.unreached(lambda: browser.ask(ORIGIN + "/x")))
        self.assertEqual(self.unreached(lambda: browser.ask(ORIGIN + "/x", kind="fetch"))[0], 401)
        time.sleep(1.1)
        url, status, _, body = browser.log_in("/x", user="bob")
        self.assertEqual((url, status), (ORIGIN + "/x", 200), body[:500])

    def test_rules_decide_by_path(self):
        alice, bob = self.logged_in(), self.logged_in(user="bob")
        for path in ("/admin", "/admin/x", "/admin/x?y=/public"):
            self.assertEqual(alice.ask(ORIGIN + path)[0], 200, path)
            status, _, body = self.unreached(lambda: bob.ask(ORIGIN + path))
            self.assertEqual((status, code_of(body)), (403, "rule" if not isinstance(self, Nginx) else "access_denied"), path)
            self.assertEqual(self.unreached(lambda: bob.ask(ORIGIN + path, kind="fetch"))[0], 403)
        for path in ("//admin/x", "/%61dmin/x", "/x/../admin/x", "/x/%2e%2e/admin/x", "/ADMIN", "/admin;a=b", "/public/..%2fadmin", "/public/%2e%2e/admin"):
            answer = self.unreached(lambda: bob.ask(ORIGIN + path))
            self.assertNotEqual(answer[0], 200, path)
            answer = self.unreached(lambda: self.browser().ask(ORIGIN + path))
            self.assertNotEqual(answer[0], 200, path)
        nobody = self.browser()
        self.assertEqual(nobody.ask(ORIGIN + "/public/logo.png", kind="other")[0], 200)
        self.led(nobody.ask(ORIGIN + "/publicity"))

    def test_a_token_is_judged_alone(self):
        browser = self.logged_in()
        for value in ("Bearer junk", "Basic YTpi", "Bearer " + browser.session):
            status, fields, _ = self.unreached(lambda: browser.ask(ORIGIN + "/x", headers=[("authorization", value)]))
            self.assertEqual(status, 401, value)
            self.assertIsNone(fields["location"])

    def test_a_browser_without_cookies_comes_to_a_page_and_not_round(self):
        for drops, error in ((("__Host-",), "login_unknown"), ((SESSION,), "login_loop")):
            browser = self.browser(drops=drops)
            url, status, _, body = browser.log_in("/x")
            self.assertEqual((status, code_of(body)), (400, error), body)

    def test_a_denied_person_sees_why_and_is_not_led_round(self):
        self.world.signet("rule", "add", "no-orders", "--user", "bob", "--client", "orders-login", "--effect", "deny")
        try:
            browser = self.browser()
            url, status, _, body = browser.log_in("/x", user="bob")
            self.assertEqual((status, code_of(body)), (403, "access_denied"), body)
            self.assertIn("/.signet/login?return=%2Fx", body)
        finally:
            self.world.signet("rule", "remove", "no-orders", "--yes")

    def test_a_logout_ends_the_session_and_its_copies(self):
        browser = self.logged_in()
        copy = browser.session
        status, fields, body = browser.ask(ORIGIN + "/.signet/logout")
        self.assertEqual((status, browser.session), (200, copy))
        self.assertIn('id="logout"', body)
        for origin in ("https://evil.example", "null"):
            status, _, body = browser.ask(ORIGIN + "/.signet/logout", method="POST", form={}, headers=[("origin", origin)])
            self.assertEqual((status, code_of(body)), (403, "cross_site"))
        self.assertEqual(browser.ask(ORIGIN + "/x")[0], 200)
        status, fields, _ = browser.ask(ORIGIN + "/.signet/logout", method="POST", form={"decision": "allow"})
        self.assertEqual(status, 303)
        self.assertTrue(fields["location"].startswith(self.world.issuer + "/logout?"), fields["location"])
        self.assertIn(urllib.parse.quote(ORIGIN + "/.signet/signed-out", safe=""), fields["location"])
        self.assertIsNone(browser.session)
        self.led(self.unreached(lambda: browser.ask(ORIGIN + "/x", cookies=f"{SESSION}={copy}")))
        # The issuer asks, and leads back.
        _, status, _, body = browser.go(fields["location"])
        form = Form(body)
        url, status, _, body = browser.go(urllib.parse.urljoin(self.world.issuer, form.action), method="POST", form={**form.fields, "decision": "allow"})
        self.assertEqual((url, status), (ORIGIN + "/.signet/signed-out", 200), body[:600])
        # And now the login is asked for again.
        self.assertIn("password", browser.go(ORIGIN + "/x")[3])

    def test_a_real_browser_logs_in_and_out(self):
        script = os.path.join(proxies.ROOT, "tests/clients/gate-login.mjs")
        said = json.dumps({"port": self.port, "username": "alice", "password": self.world.dev["user"]["password"]})
        done = subprocess.run(["node", script, said], capture_output=True, text=True, timeout=180)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_session_in_use_goes_on(self):
        browser = self.logged_in()
        first = browser.session
        status, fields, _ = browser.ask(ORIGIN + "/x")
        self.assertEqual((status, browser.session), (200, first))
        time.sleep(6.5)
        status, fields, _ = browser.ask(ORIGIN + "/x", kind="fetch")
        self.assertEqual(status, 200)
        self.assertNotEqual(browser.session, first, "the answer hands no renewed cookie on")
        cookies = [text for text in fields.get_all("set-cookie") if text.startswith(SESSION + "=")]
        self.assertEqual(len(cookies), 1)
        for attribute in ("; Path=/", "; Secure", "; HttpOnly", "; SameSite=Lax"):
            self.assertIn(attribute, cookies[0])
        self.assertEqual(browser.ask(ORIGIN + "/x")[0], 200)


class Nginx(Login, proxies.BehindNginx, unittest.TestCase):
    title = "A login behind NGINX"


class Caddy(Login, proxies.BehindCaddy, unittest.TestCase):
    title = "A login behind Caddy"


class Traefik(Login, proxies.BehindTraefik, unittest.TestCase):
    title = "A login behind Traefik"


ENVOY = """
static_resources:
  listeners:
  - address: { socket_address: { address: 127.0.0.1, port_value: %(port)d } }
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: orders
          common_http_protocol_options: { headers_with_underscores_action: DROP_HEADER }
%(members)s
      transport_socket:
        name: envoy.transport_sockets.tls
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext
          common_tls_context: { tls_certificates: [{ certificate_chain: { filename: %(dir)s/orders.pem }, private_key: { filename: %(dir)s/orders.key } }] }
  clusters:
  - { name: gate, type: STATIC, load_assignment: { cluster_name: gate, endpoints: [{ lb_endpoints: [{ endpoint: { address: { socket_address: { address: 127.0.0.1, port_value: %(gate)d } } } }] }] } }
  - { name: orders, type: STATIC, load_assignment: { cluster_name: orders, endpoints: [{ lb_endpoints: [{ endpoint: { address: { socket_address: { address: 127.0.0.1, port_value: %(upstream)d } } } }] }] } }
"""


class Envoy(Login, unittest.TestCase):
    @classmethod
    def begin(cls, world):
        text = replaced(snippet("A login behind Envoy"), ("127.0.0.1:9000", f"127.0.0.1:{world.gate}"), ("THE-SECRET", SECRET))
        members = "".join(f"          {line}\n" for line in text.splitlines())
        open(world.dir + "/envoy.yaml", "w").write(ENVOY % {"port": cls.port, "gate": world.gate, "upstream": world.upstream, "members": members, "dir": world.dir})
        world.start(cls.__name__, binary("envoy"), "-c", world.dir + "/envoy.yaml", "--log-level", "warning", "--concurrency", "1", "--disable-hot-restart")


class Straight:
    """Asks a gate of its own as a proxy would, for what does not depend on the proxy."""

    tls, port = False, None

    def __init__(self, name, *changes, stream=True, more=""):
        self.name, self.gate = name, held_port()
        text = replaced(WORLD.text, (f"127.0.0.1:{WORLD.gate}", f"127.0.0.1:{self.gate}"), *changes)
        if not stream:
            text = re.sub(r"\[issuers.revocations\].*?\n\n", "", text, flags=re.S)
        self.file = f"{WORLD.dir}/{name}.toml"
        self.write(text + more)
        self.begin()

    def write(self, text):
        self.text = text
        open(self.file, "w").write(text + f'\n[outbound]\nallow_loopback = true\ntrust = "{WORLD.data}/ca.pem"\n')

    def begin(self):
        WORLD.start(self.name, SIGNET, "gate", "--config", self.file)
        self.process = WORLD.processes[-1]
        WORLD.wait(self.name, lambda: plain(self.gate, "/health/live")[0] == 200)
        WORLD.wait(self.name, lambda: plain(self.gate, "/health/ready")[0] == 200)

    def restart(self):
        self.end()
        self.begin()

    def end(self):
        WORLD.processes.remove(self.process)
        self.process.terminate()
        self.process.wait(30)

    def browser(self):
        return Straightforward(self)


class Straightforward(Browser):
    """A browser whose requests to the application are put to the gate, by the way of Traefik."""

    def ask(self, url, method="GET", headers=(), form=None, kind="navigate", cookies=None):
        parts = urllib.parse.urlsplit(url)
        if parts.hostname != HOST:
            return super().ask(url, method, headers, form, kind, cookies)
        target = url.split("://", 1)[1][len(parts.netloc):] or "/"
        fields = [("x-gate-secret", SECRET), *headers]
        if kind == "navigate":
            fields += [("accept", "text/html")]
        if cookies is None:
            cookies = "; ".join(f"{name}={value}" for name, value in self.jar.get(HOST, {}).items())
        if cookies:
            fields.append(("cookie", cookies))
        body = None
        if parts.path.startswith("/.signet/"):
            asked = target
            if form is not None:
                body = urllib.parse.urlencode(form).encode()
                fields += [("content-type", "application/x-www-form-urlencoded"), ("content-length", str(len(body))), ("origin", ORIGIN)]
        else:
            asked, fields = "/auth/traefik", [*fields, ("x-forwarded-method", method), ("x-forwarded-proto", "https"), ("x-forwarded-host", HOST), ("x-forwarded-uri", target)]
            method = "GET"
        connection = http.client.HTTPConnection("127.0.0.1", self.proxy.gate, timeout=20)
        connection.putrequest(method, asked, skip_host=True)
        for name, value in [("host", HOST), *fields]:
            connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        result = answer.status, answer.headers, answer.read().decode()
        connection.close()
        for text in answer.headers.get_all("set-cookie") or ():
            self.keep(HOST, text)
        return result


class Alone(unittest.TestCase):
    """What does not depend on the proxy: each test has a gate of its own."""

    def gate(self, *changes, **more):
        gate = Straight(self.id().rsplit(".", 1)[-1], *changes, **more)
        self.addCleanup(gate.end)
        return gate

    def logged_in(self, gate, user="alice"):
        browser = gate.browser()
        url, status, fields, body = browser.log_in("/x", user=user)
        self.assertEqual((url, status), (ORIGIN + "/x", 200), body[:800])
        self.assertTrue(fields["x-auth-subject"])
        return browser

    def until(self, browser, status, **more):
        for _ in range(200):
            got = browser.ask(ORIGIN + "/x", **more)[0]
            if got == status:
                return
            time.sleep(0.05)
        self.fail(f"{got}, not {status}")

    def test_the_back_channel_ends_a_session_where_there_is_no_stream(self):
        gate = self.gate(stream=False)
        uri = f"http://127.0.0.1:{gate.gate}/.signet/backchannel-logout"
        WORLD.signet("client", "set", "orders-login", f"backchannel_logout_uri={uri}")
        self.addCleanup(WORLD.signet, "client", "set", "orders-login", f"backchannel_logout_uri=http://127.0.0.1:{WORLD.gate}/.signet/backchannel-logout")
        one, other = self.logged_in(gate), self.logged_in(gate, user="bob")
        for session in json.loads(WORLD.signet("session", "list", "--json")):
            if session.get("username") == "alice" or session.get("user", {}) == "alice":
                WORLD.signet("session", "remove", session.get("sid") or session["id"], "--yes")
        self.until(one, 302)
        self.assertEqual(other.ask(ORIGIN + "/x")[0], 200)
        self.assertIn('signet_gate_sessions_total{outcome="ended"}', plain(gate.gate, "/metrics")[2])
        # A reload forgets nothing.
        gate.process.send_signal(signal.SIGHUP)
        time.sleep(1)
        self.assertEqual((one.ask(ORIGIN + "/x")[0], other.ask(ORIGIN + "/x")[0]), (302, 200))

    def test_a_logout_token_that_is_none_ends_nothing(self):
        gate = self.gate(stream=False)
        browser = self.logged_in(gate)
        post = lambda form, method="POST": browser.ask(ORIGIN + "/.signet/backchannel-logout", method=method, form=form)
        for form in ({}, {"logout_token": ""}, {"logout_token": "x"}, {"logout_token": "e30.e30.AA"}, {"logout_token": browser.session}):
            status, _, body = post(form)
            self.assertEqual((status, json.loads(body)["error"]), (400, "invalid_request"), form)
        self.assertEqual(post(None, "GET")[0], 405)
        self.assertEqual(browser.ask(ORIGIN + "/x")[0], 200)

    def test_without_a_stream_a_start_ends_the_sessions_of_before(self):
        gate = self.gate(stream=False)
        browser = self.logged_in(gate)
        gate.restart()
        self.assertEqual(browser.ask(ORIGIN + "/x")[0], 302)
        time.sleep(1.1)
        # The issuer's session lasts: nothing is typed.
        self.assertEqual(browser.go(ORIGIN + "/x")[0], ORIGIN + "/x")

    def test_with_a_stream_a_session_outlives_a_restart(self):
        gate = self.gate()
        browser = self.logged_in(gate)
        gate.restart()
        self.assertEqual(browser.ask(ORIGIN + "/x")[0], 200)

    def test_everything_that_is_revoked_ends_sessions(self):
        gate = self.gate()
        browser = self.logged_in(gate)
        for what in (("--client", "orders-login"), ("--user", "alice"), ("--before", None)):
            time.sleep(1.1)
            what = [word or str(int(time.time())) for word in what]
            WORLD.signet("revoke", *what, "--yes")
            self.until(browser, 302)
            time.sleep(2.2)
            browser.jar[HOST].pop("__Host-signet-gate-rounds", None)
            url, status, _, body = browser.log_in("/x")
            self.assertEqual((url, status), (ORIGIN + "/x", 200), f"{what} {body[:600]}")

    def test_a_session_that_is_too_large_says_so(self):
        gate = self.gate()
        name = lambda number: f"a-department-with-quite-a-long-name-{number:04}"
        self.addCleanup(lambda: [WORLD.signet("group", "remove", name(number), "--yes") for number in range(200)])
        # The cookie's bound, and then the issuer's own: it leaves out a list of more than 90.
        for numbers, said in ((range(85), "would not fit into a cookie"), (range(85, 200), "left out the claim")):
            for number in numbers:
                WORLD.signet("group", "add", name(number))
                WORLD.signet("group", "members", name(number), "add", "bob")
            browser = gate.browser()
            url, status, fields, body = browser.log_in("/x", user="bob")
            self.assertEqual((status, code_of(body), browser.session), (502, "session_too_large", None), f"{fields} {body[:800]}")
            self.assertIn("&quot;groups&quot;", body)
            self.assertIn(said, body)

    def test_a_private_key_shows_who_the_client_is(self):
        key = f"{WORLD.dir}/client.pem"
        openssl("genpkey", "-algorithm", "ed25519", "-out", key)
        x = openssl("pkey", "-in", key, "-pubout", "-outform", "DER")[-32:]
        jwk = {"kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "kid": "1", "x": base64.urlsafe_b64encode(x).rstrip(b"=").decode()}
        WORLD.signet("client", "add", "--web", "--client-id", "keyed", "--name", "Keyed", "--redirect-uri", ORIGIN + "/.signet/callback", "--scope", "openid", "--scope", "groups",
                     "--auth-method", "private_key_jwt", "jwks=" + json.dumps({"keys": [jwk]}), "--json")
        gate = self.gate(('client_id = "orders-login"', 'client_id = "keyed"'), ('client_secret_file = "login.secret"', 'private_key = { file = "client.pem", algorithm = "EdDSA", kid = "1" }\nmax_age = "1h"'))
        self.logged_in(gate)

    def test_a_rotated_key_opens_what_it_sealed_until_its_line_goes(self):
        gate = self.gate(('keys_file = "login.keys"', 'keys_file = "rotated.keys"'))
        file = WORLD.dir + "/rotated.keys"
        self.assertEqual(os.stat(file).st_mode & 0o777, 0o600)
        browser = self.logged_in(gate)
        old = open(file).read()
        new = base64.urlsafe_b64encode(os.urandom(36)).decode() + "\n"
        for text, status in ((new + old, 200), (new, 302)):
            open(file, "w").write(text)
            gate.process.send_signal(signal.SIGHUP)
            self.until(browser, status)
            time.sleep(0.5)
            self.assertEqual(browser.ask(ORIGIN + "/x")[0], status)

    def test_a_thousand_hostile_cookies_are_no_session_and_harm_nobody(self):
        gate = self.gate()
        browser = self.logged_in(gate)
        good = browser.session
        sealed = base64.urlsafe_b64decode(good + "=" * (-len(good) % 4))
        texts = []
        for number in range(1000):
            kind, at = number % 5, int.from_bytes(os.urandom(4), "big")
            changed = bytearray(sealed)
            changed[at % len(changed)] ^= 1 + at % 255
            texts.append([base64.urlsafe_b64encode(changed).decode().rstrip("="), base64.urlsafe_b64encode(os.urandom(at % 3000)).decode().rstrip("="), good[:at % len(good)],
                          good + good, "".join(chr(33 + byte % 94) for byte in os.urandom(at % 900)).replace(";", "").replace(",", "")][kind])
        for text in texts:
            self.assertNotEqual(text, good)
            status, fields, _ = browser.ask(ORIGIN + "/x", cookies=f"{SESSION}={text}")
            self.assertIn(status, (302, 400, 431), text)
            self.assertIsNone(fields["x-auth-subject"])
        many = "; ".join(f"c{number}={number}" for number in range(1000))
        self.assertEqual(browser.ask(ORIGIN + "/x", cookies=f"{many}; {SESSION}={good}")[0], 200)

    def test_nobody_but_a_proxy_is_answered(self):
        gate = self.gate()
        session = self.logged_in(gate).session
        asked = [("cookie", f"{SESSION}={session}"), ("x-forwarded-proto", "https"), ("x-forwarded-host", HOST), ("x-forwarded-uri", "/x")]
        self.assertEqual(plain(gate.gate, "/auth/traefik", [*asked, ("x-gate-secret", SECRET)])[0], 200)
        for path in ("/auth/traefik", "/.signet/login", "/.signet/logout", "/.signet/callback?state=x"):
            for more in ((), (("x-gate-secret", "x" * 40),)):
                self.assertEqual(plain(gate.gate, path, [*asked, *more])[0], 403, path)
        # A host that is no application is offered nothing.
        for host in ("evil.example", HOST + ".", "x." + HOST, HOST + ":8443"):
            asked[2] = ("x-forwarded-host", host)
            status, fields, _ = plain(gate.gate, "/auth/traefik", [*asked, ("x-gate-secret", SECRET), ("accept", "text/html")])
            self.assertEqual((status, fields["location"]), (401, None), host)
            status, fields, body = plain(gate.gate, "/.signet/login", [*asked, ("x-gate-secret", SECRET)])
            self.assertEqual((status, code_of(body)), (404, "unknown_application"), host)

    def test_every_mistake_is_named_at_once(self):
        text = replaced(WORLD.text, ('applications = ["https://orders.example.com"]', 'applications = ["http://orders.example.com", "https://a.example/x"]'), ('scopes = ["openid", "groups"]', 'scopes = ["groups"]'),
                        ('idle = "24s"', 'idle = "11h"'), ('client_secret_file = "login.secret"', 'client_secret_file = "nowhere"'), ('path = "/public"', 'path = "public"'), ('after_logout = "/.signet', 'after_logout = "https://evil.example/.signet'))
        file = WORLD.dir + "/wrong.toml"
        open(file, "w").write(text)
        done = subprocess.run([SIGNET, "gate", "--config", file, "--listen", "127.0.0.1:0"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        for said in ("http://orders.example.com is not https", "https://a.example/x is no origin", "openid is missing", "idle", "nowhere", '"public" is no plain path', "after_logout"):
            self.assertIn(said, done.stderr + done.stdout)


if __name__ == "__main__":
    WORLD = World()
    try:
        outcome = unittest.main(verbosity=1, warnings="ignore", exit=False).result
    finally:
        WORLD.stop()
    sys.exit(not outcome.wasSuccessful())
