"""The texts of docs/gate.md for reverse proxies, cut out of the manual, started for real, and attacked.

Usage: test_proxies.py SIGNET_BINARY. Needs NGINX and Caddy (Debian's), Traefik and Envoy (tests/gate/.venv): scripts/setup-tests.sh.
Only addresses, files and the secret of a text are changed; where it is a part of a file, the rest is put around it."""

import base64, hashlib, http.client, http.server, json, os, re, signal, socket, ssl, subprocess, sys, tempfile, threading, time, unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SIGNET = os.path.abspath(sys.argv.pop(1))
BINARIES = ("/usr/sbin", "/usr/bin", os.path.join(ROOT, "tests/gate/.venv/bin"))
HOST, ORIGIN, ISSUER = "orders.example.com", "https://orders.example.com", "https://id.example.com"
FIELDS = ("x-auth-subject", "x-auth-issuer", "x-auth-client", "x-auth-scope")
SECRET = "s3cret-" + "0123456789abcdef" * 3


def binary(name):
    for folder in BINARIES:
        if os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name)
    sys.exit(f"{name} is not installed: scripts/setup-tests.sh")


HELD = []


def held_port():
    """A port for a program that cannot choose one itself. It is bound here, so that the system gives it to nobody else,
    and not listening, so that the program (which sets SO_REUSEADDR, as servers do) can take it."""
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", 0))
    HELD.append(held)
    return held.getsockname()[1]


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def openssl(*arguments, data=None):
    return subprocess.run(["openssl", *arguments], input=data, capture_output=True, check=True).stdout


class Key:
    """An Ed25519 key that signs JWTs."""

    def __init__(self, folder, name):
        self.file = f"{folder}/{name}.key"
        openssl("genpkey", "-algorithm", "ed25519", "-out", self.file)
        self.x = b64(openssl("pkey", "-in", self.file, "-pubout", "-outform", "DER")[-32:])
        self.jwk = {"kty": "OKP", "crv": "Ed25519", "x": self.x}
        self.jkt = b64(hashlib.sha256(json.dumps(dict(sorted(self.jwk.items())), separators=(",", ":")).encode()).digest())

    def sign(self, header, claims):
        text = ".".join(b64(json.dumps(part).encode()) for part in ({"alg": "EdDSA", **header}, claims))
        with tempfile.NamedTemporaryFile() as data:
            data.write(text.encode())
            data.flush()
            signature = openssl("pkeyutl", "-sign", "-rawin", "-inkey", self.file, "-in", data.name)
        return f"{text}.{b64(signature)}"


def snippet(title):
    """The one indented block under a heading of the manual."""
    manual = open(os.path.join(ROOT, "docs/gate.md")).read()
    section = re.search(rf"^### {title}\n(.*?)(?=^##|\Z)", manual, re.S | re.M).group(1)
    lines = [line[4:] for line in section.splitlines() if line.startswith("    ") or not line]
    return "\n".join(lines).strip("\n") + "\n"


def replaced(text, *pairs):
    for old, new in pairs:
        if old not in text:
            sys.exit(f"the manual's text has no {old!r}")
        text = text.replace(old, new)
    return text


class Upstream(http.server.BaseHTTPRequestHandler):
    """Answers with the header fields that it was sent, as they were spelt."""

    reached = 0

    def do_GET(self):
        Upstream.reached += 1
        body = json.dumps([[name, value] for name, value in self.headers.items()]).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class World:
    """The issuer's key, the gate and the upstream: once for all proxies."""

    def __init__(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.dir = self.temporary.name
        self.processes = []
        self.issuer, self.client = Key(self.dir, "issuer"), Key(self.dir, "client")
        for name, common in (("orders", HOST), ("person", "person"), ("victim", "victim")):
            openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", f"/CN={common}",
                    "-addext", f"subjectAltName=DNS:{common}", "-keyout", f"{self.dir}/{name}.key", "-out", f"{self.dir}/{name}.pem")
        json.dump({"keys": [{**self.issuer.jwk, "kid": "k", "alg": "EdDSA", "use": "sig"}]}, open(self.dir + "/jwks.json", "w"))
        open(self.dir + "/proxy.secret", "w").write(SECRET + "\n")
        upstream = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
        self.gate, self.upstream = held_port(), upstream.server_address[1]
        open(self.dir + "/gate.toml", "w").write(f"""
listen = "127.0.0.1:{self.gate}"
certificate_header = "x-client-cert"
[proxy]
secret_file = "proxy.secret"
[[issuers]]
issuer = "{ISSUER}"
jwks_file = "jwks.json"
[[policies]]
audiences = ["{ORIGIN}"]
realm = "orders"
scopes = ["read"]
origins = ["{ORIGIN}"]
[[policies]]
name = "lax"
audiences = ["{ORIGIN}"]
""")
        threading.Thread(target=upstream.serve_forever, daemon=True).start()
        self.start("gate", SIGNET, "gate", "--config", self.dir + "/gate.toml")
        self.wait("gate", lambda: plain(self.gate, "/health/ready")[0] == 200)

    def start(self, name, *arguments, env=None):
        log = open(f"{self.dir}/{name}.log", "a")
        process = subprocess.Popen(arguments, stdout=log, stderr=log, cwd=self.dir, env={**os.environ, **(env or {})})
        self.processes.append(process)

    def wait(self, name, ready):
        for _ in range(600):
            try:
                if ready():
                    return
            except OSError:
                pass
            if self.processes[-1].poll() is not None:
                break
            time.sleep(0.05)
        sys.exit(f"{name} is not ready:\n{open(f'{self.dir}/{name}.log').read()}")

    def stop(self):
        for process in reversed(self.processes):
            process.terminate()
            process.wait(30)
        self.temporary.cleanup()

    def token(self, **more):
        now = int(time.time())
        claims = {"iss": ISSUER, "aud": ORIGIN, "sub": "alice", "client_id": "web", "jti": os.urandom(8).hex(), "iat": now, "exp": now + 300, "scope": "read"}
        claims = {name: value for name, value in {**claims, **more}.items() if value is not None}
        return self.issuer.sign({"typ": "at+jwt", "kid": "k"}, claims)

    def proof(self, token, url, method="GET"):
        ath = b64(hashlib.sha256(token.encode()).digest())
        claims = {"jti": os.urandom(8).hex(), "htm": method, "htu": url, "iat": int(time.time()), "ath": ath}
        return self.client.sign({"typ": "dpop+jwt", "jwk": self.client.jwk}, claims)


def plain(port, path, headers=()):
    return exchange(http.client.HTTPConnection("127.0.0.1", port, timeout=10), path, headers)


def exchange(connection, path, headers, host=HOST):
    connection.putrequest("GET", path, skip_host=True)
    connection.putheader("host", host)
    for name, value in headers:
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    result = answer.status, answer.headers, answer.read().decode()
    connection.close()
    return result


class Tls(http.client.HTTPSConnection):
    """To loopback, with the name that the certificate is for."""

    def connect(self):
        self.sock = self._context.wrap_socket(socket.create_connection(("127.0.0.1", self.port), 10), server_hostname=HOST)


class Proxy:
    """What every proxy has to hold, as the manual configures it."""

    tls = True
    takes_certificates = False

    @classmethod
    def setUpClass(cls):
        cls.world = WORLD
        cls.port = held_port()
        cls.begin(cls.world)
        cls.world.wait(cls.__name__, lambda: cls("ask").ask()[0] == 401)

    def ask(self, *headers, path="/orders/1?x=1", host=HOST, certificate=None):
        if not self.tls:
            return exchange(http.client.HTTPConnection("127.0.0.1", self.port, timeout=10), path, headers, host)
        context = ssl._create_unverified_context()
        if certificate:
            context.load_cert_chain(f"{self.world.dir}/{certificate}.pem", f"{self.world.dir}/{certificate}.key")
        return exchange(Tls("127.0.0.1", self.port, timeout=10, context=context), path, headers, host)

    def accepted(self, *headers, **more):
        status, _, body = self.ask(*headers, **more)
        self.assertEqual(status, 200, body)
        return json.loads(body)

    def refused(self, *headers, status=401, **more):
        before = Upstream.reached
        got, fields, body = self.ask(*headers, **more)
        self.assertEqual(Upstream.reached, before, f"the upstream was reached: {headers}")
        if status:
            self.assertEqual(got, status, body)
        return fields

    def bearer(self, **more):
        return ("authorization", "Bearer " + self.world.token(**more))

    def test_the_identity_reaches_the_upstream_and_nothing_else_does(self):
        fields = self.accepted(self.bearer())
        told = {name.lower(): value for name, value in fields}
        self.assertEqual([told.get(name) for name in FIELDS], ["alice", ISSUER, "web", "read"])
        for name in ("authorization", "x-gate-secret", "x-client-cert"):
            self.assertNotIn(name, told)
        self.assertNotIn(SECRET, json.dumps(fields))

    def test_identity_fields_of_the_client_do_not_arrive(self):
        names = ["X-Auth-Subject", "x-auth-issuer", "X-AUTH-CLIENT", "X-Auth-Scope", "X_Auth_Subject", "x_auth_scope", "X_Auth_Issuer", "X_Auth_Client"]
        # Also where the token has no claim for a field: nothing of the answer takes its place.
        for more in ({}, {"client_id": None, "azp": "web"}):
            token = self.bearer(**more)
            got = self.ask(token, *((name, "forged") for name in names))
            if got[0] == 200:
                self.assertNotIn("forged", got[2])
                for name in FIELDS:
                    self.assertLessEqual(len([n for n, _ in json.loads(got[2]) if n.lower().replace("_", "-") == name]), 1)
            else:
                self.assertIn(got[0], (400, 401))

    def test_a_refused_request_is_challenged_once(self):
        for headers, status in (((), 401), ((("authorization", "Bearer junk"),), 401), ((self.bearer(scope="other"),), 403)):
            fields = self.refused(*headers, status=status)
            challenges = fields.get_all("www-authenticate")
            self.assertEqual(len(challenges), 1, challenges)
            self.assertIn('realm="orders"', challenges[0])

    def test_a_query_of_the_client_demands_nothing_of_the_gate(self):
        weak = self.bearer(scope="other")
        for query in ("policy=lax", "scope=other", "policy=lax&scope=other", "policy="):
            self.accepted(self.bearer(), path=f"/orders/1?{query}")
            self.refused(weak, status=403, path=f"/orders/1?{query}")

    def test_a_secret_of_the_client_does_not_make_it_a_proxy(self):
        self.refused(("x-gate-secret", "x"))
        self.accepted(self.bearer(), ("x-gate-secret", "x"))

    def test_a_proof_is_for_this_origin_and_url_and_counts_once(self):
        token = self.world.token(cnf={"jkt": self.world.client.jkt})
        authorization = ("authorization", "DPoP " + token)
        proof = ("dpop", self.world.proof(token, ORIGIN + "/orders/1"))
        self.accepted(authorization, proof)
        self.refused(authorization, proof)
        self.refused(authorization)
        self.refused(("authorization", "Bearer " + token))
        self.refused(authorization, ("dpop", self.world.proof(token, ORIGIN + "/orders/2")))
        # A proof that was made for another server, which now sends it on.
        evil = lambda: ("dpop", self.world.proof(token, "https://evil.example/x"))
        self.refused(authorization, evil(), status=None, path="/x", host="evil.example")
        for forged in ((("x-original-url", "https://evil.example/x"),), (("x-forwarded-host", "evil.example"), ("x-forwarded-uri", "/x"), ("x-forwarded-proto", "https"))):
            self.refused(authorization, evil(), *forged, path="/x")
        other = ("dpop", self.world.proof(token, ORIGIN + "/cheap"))
        self.refused(authorization, other, ("x-original-url", ORIGIN + "/cheap"), ("x-forwarded-uri", "/cheap"), path="/dear")
        posted = ("dpop", self.world.proof(token, ORIGIN + "/orders/1", "POST"))
        self.refused(authorization, posted, ("x-original-method", "POST"), ("x-forwarded-method", "POST"))

    def test_a_certificate_in_a_field_of_the_client_proves_nothing(self):
        pem = open(self.world.dir + "/victim.pem").read()
        der = ssl.PEM_cert_to_DER_cert(pem)
        bound = self.bearer(cnf={"x5t#S256": b64(hashlib.sha256(der).digest())})
        percent = "".join(c if c.isalnum() else f"%{ord(c):02X}" for c in pem)
        self.refused(bound)
        for value in (percent, base64.b64encode(der).decode()):
            for name in ("x-client-cert", "X-Client-Cert", "x_client_cert"):
                self.refused(bound, (name, value))
            if self.tls:
                self.refused(bound, ("x-client-cert", value), certificate="person")
        if self.takes_certificates:
            self.accepted(bound, certificate="victim")


class BehindNginx:
    """How NGINX is started with the manual's text of this `title`."""

    @classmethod
    def begin(cls, world):
        open(world.dir + "/gate-secret.conf", "w").write(f'proxy_set_header X-Gate-Secret "{SECRET}";\n')
        text = replaced(snippet(cls.title), ("127.0.0.1:9000", f"127.0.0.1:{world.gate}"), ("127.0.0.1:8000", f"127.0.0.1:{world.upstream}"),
                        ("listen 443 ", f"listen 127.0.0.1:{cls.port} "), ("/etc/nginx/", world.dir + "/"))
        temporary = "".join(f"{kind}_temp_path {world.dir}/nginx-{kind}; " for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        open(world.dir + "/nginx.conf", "w").write(
            f"daemon off; pid {world.dir}/nginx.pid; worker_processes 1;\nevents {{ worker_connections 256; }}\nhttp {{ access_log off; {temporary}\n{text}}}\n")
        world.start(cls.__name__, binary("nginx"), "-p", world.dir, "-e", world.dir + "/nginx-error.log", "-c", world.dir + "/nginx.conf")


class BehindCaddy:
    """How Caddy is started with the manual's text of this `title`."""

    @classmethod
    def begin(cls, world):
        text = replaced(snippet(cls.title), ("orders.example.com {\n", f"https://orders.example.com:{cls.port} {{\n    bind 127.0.0.1\n    tls {world.dir}/orders.pem {world.dir}/orders.key\n"),
                        ("127.0.0.1:9000", f"127.0.0.1:{world.gate}"), ("127.0.0.1:8000", f"127.0.0.1:{world.upstream}"))
        open(world.dir + "/Caddyfile", "w").write(f"{{\n    admin off\n    auto_https disable_redirects\n    storage file_system {world.dir}/caddy\n}}\n{text}")
        world.start(cls.__name__, binary("caddy"), "run", "--config", world.dir + "/Caddyfile", "--adapter", "caddyfile",
                    env={"GATE_SECRET": SECRET, "HOME": world.dir, "XDG_CONFIG_HOME": world.dir, "XDG_DATA_HOME": world.dir})


class BehindTraefik:
    """How Traefik is started with the manual's text of this `title`."""

    @classmethod
    def begin(cls, world):
        text = replaced(snippet(cls.title), ("127.0.0.1:9000", f"127.0.0.1:{world.gate}"), ("127.0.0.1:8000", f"127.0.0.1:{world.upstream}"), ("THE-SECRET", SECRET))
        open(world.dir + "/orders-dynamic.yaml", "w").write(text)
        world.start(cls.__name__, binary("traefik"), f"--entryPoints.web.address=127.0.0.1:{cls.port}", f"--providers.file.filename={world.dir}/orders-dynamic.yaml",
                    "--providers.file.watch=false", "--global.checkNewVersion=false", "--global.sendAnonymousUsage=false", "--log.level=WARN")


class Nginx(Proxy, BehindNginx, unittest.TestCase):
    title = "NGINX"
    takes_certificates = True


class Caddy(Proxy, BehindCaddy, unittest.TestCase):
    title = "Caddy"


class Traefik(Proxy, BehindTraefik, unittest.TestCase):
    title = "Traefik"


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
          route_config:
            virtual_hosts:
            - { name: orders, domains: ["*"], routes: [{ match: { prefix: "/" }, route: { cluster: orders } }], request_headers_to_remove: [authorization, dpop] }
          http_filters:
%(filters)s
  clusters:
  - { name: gate, type: STATIC, load_assignment: { cluster_name: gate, endpoints: [{ lb_endpoints: [{ endpoint: { address: { socket_address: { address: 127.0.0.1, port_value: %(gate)d } } } }] }] } }
  - { name: orders, type: STATIC, load_assignment: { cluster_name: orders, endpoints: [{ lb_endpoints: [{ endpoint: { address: { socket_address: { address: 127.0.0.1, port_value: %(upstream)d } } } }] }] } }
"""


class Envoy(Proxy, unittest.TestCase):
    tls = False

    @classmethod
    def begin(cls, world):
        text = replaced(snippet("Envoy"), ("127.0.0.1:9000", f"127.0.0.1:{world.gate}"), ("THE-SECRET", SECRET))
        filters = "".join(f"          {line}\n" for line in text.splitlines())
        open(world.dir + "/envoy.yaml", "w").write(ENVOY % {"port": cls.port, "gate": world.gate, "upstream": world.upstream, "filters": filters})
        world.start(cls.__name__, binary("envoy"), "-c", world.dir + "/envoy.yaml", "--log-level", "warning", "--concurrency", "1", "--disable-hot-restart")


class Server(unittest.TestCase):
    """The text of docs/operations.md: the server itself behind NGINX, with a second entrance that asks for certificates."""

    @classmethod
    def setUpClass(cls):
        cls.world, cls.port, listener = WORLD, held_port(), held_port()
        folder = cls.world.dir
        manual = open(os.path.join(ROOT, "docs/operations.md")).read()
        section = re.search(r"^## Behind a reverse proxy\n(.*?)(?=^## )", manual, re.S | re.M).group(1)
        lines = [line[4:] for line in section.splitlines() if line.startswith("    ") or not line]
        config, nginx = "\n".join(lines).split("# nginx\n")
        for name, host in (("id", "id.example.com"), ("mtls", "mtls.id.example.com")):
            openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", f"/CN={host}",
                    "-addext", f"subjectAltName=DNS:{host}", "-keyout", f"{folder}/{name}.key", "-out", f"{folder}/{name}.pem")
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=clients",
                "-keyout", f"{folder}/client-ca.key", "-out", f"{folder}/client-ca.pem")
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=reports",
                "-addext", "subjectAltName=DNS:reports.example.com", "-addext", "basicConstraints=critical,CA:FALSE",
                "-CA", f"{folder}/client-ca.pem", "-CAkey", f"{folder}/client-ca.key", "-keyout", f"{folder}/reports.key", "-out", f"{folder}/reports.pem")
        # What the manual's comments say of the secret: one file for each side.
        secret = os.urandom(32).hex()
        os.makedirs(folder + "/secrets", exist_ok=True)
        for file, text in (("secrets/proxy", secret), ("signet-secret.conf", f'proxy_set_header X-Proxy-Secret "{secret}";\n')):
            with open(os.open(f"{folder}/{file}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
                out.write(text)
        cls.listener = listener
        open(folder + "/signet.toml", "w").write(f'data_dir = "{folder}/data"\n' + replaced(config, ("127.0.0.1:8080", f"127.0.0.1:{listener}")) + """
[[clients]]
client_id = "reports"
grant_types = ["client_credentials"]
token_endpoint_auth_method = "tls_client_auth"
tls_client_auth_san_dns = "reports.example.com"
tls_client_certificate_bound_access_tokens = true
scope = ["orders:read"]
resources = ["https://api.example.com"]
[[resources]]
identifier = "https://api.example.com"
name = "The orders API"
scopes = ["orders:read"]
[[scopes]]
name = "orders:read"
description = "See your orders"
""")
        cls.world.start("signet", SIGNET, "serve", "--config", folder + "/signet.toml")
        cls.world.wait("signet", lambda: plain(listener, "/health/ready")[0] == 200)
        text = replaced(nginx, ("127.0.0.1:8080", f"127.0.0.1:{listener}"), ("listen 443 ", f"listen 127.0.0.1:{cls.port} "), ("/etc/nginx/", folder + "/"))
        temporary = "".join(f"{kind}_temp_path {folder}/server-{kind}; " for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        open(folder + "/server.conf", "w").write(
            f"daemon off; pid {folder}/server.pid; worker_processes 1;\nevents {{ worker_connections 256; }}\nhttp {{ access_log off; {temporary}\n{text}}}\n")
        cls.world.start("server-nginx", binary("nginx"), "-p", folder, "-e", folder + "/server-error.log", "-c", folder + "/server.conf")
        cls.world.wait("server-nginx", lambda: cls("ask").ask("id.example.com", "/health/live")[0] == 200)

    def ask(self, host, path, form=None, headers=(), certificate=None):
        context = ssl._create_unverified_context()
        if certificate:
            context.load_cert_chain(f"{self.world.dir}/{certificate}.pem", f"{self.world.dir}/{certificate}.key")
        connection = http.client.HTTPSConnection(host, timeout=10)
        connection.sock = context.wrap_socket(socket.create_connection(("127.0.0.1", self.port), 10), server_hostname=host)
        fields = {"content-type": "application/x-www-form-urlencoded"} if form else {}
        connection.request("POST" if form else "GET", path, form, {**fields, **dict(headers)})
        answer = connection.getresponse()
        result = answer.status, answer.read().decode()
        connection.close()
        return result

    def test_the_server_answers_under_its_name_and_shows_no_figures(self):
        status, body = self.ask("id.example.com", "/.well-known/openid-configuration")
        self.assertEqual((status, json.loads(body)["issuer"]), (200, "https://id.example.com"))
        self.assertEqual(self.ask("id.example.com", "/metrics")[0], 404)

    def test_a_certificate_counts_where_it_was_shown_and_not_where_it_was_written(self):
        form = "grant_type=client_credentials&client_id=reports&scope=orders:read"
        status, body = self.ask("mtls.id.example.com", "/token", form, certificate="reports")
        self.assertEqual(status, 200, body)
        pem = open(self.world.dir + "/reports.pem").read()
        percent = "".join(c if c.isalnum() else f"%{ord(c):02X}" for c in pem)
        structured = f":{base64.b64encode(ssl.PEM_cert_to_DER_cert(pem)).decode()}:"
        for host in ("id.example.com", "mtls.id.example.com"):
            for value in (percent, structured):
                for name in ("Client-Cert", "client-cert", "Client_Cert"):
                    status, body = self.ask(host, "/token", form, {name: value})
                    self.assertEqual((status, json.loads(body)["error"]), (401, "invalid_client"), f"{host} {name}")
        # Another program of the machine has the proxy's address and not its secret.
        connection = http.client.HTTPConnection("127.0.0.1", self.listener, timeout=10)
        fields = {"content-type": "application/x-www-form-urlencoded", "host": "mtls.id.example.com", "client-cert": percent}
        connection.request("POST", "/token", form, fields)
        answer = connection.getresponse()
        self.assertEqual((answer.status, json.loads(answer.read())["error"]), (401, "invalid_client"))
        connection.close()


class Alone(unittest.TestCase):
    def test_the_gate_takes_nobodys_word_without_the_secret(self):
        bearer = ("authorization", "Bearer " + WORLD.token())
        for path in ("/auth/nginx", "/auth/traefik", "/auth/caddy", "/auth/envoy/x"):
            self.assertEqual(plain(WORLD.gate, path, [bearer])[0], 403)
            self.assertEqual(plain(WORLD.gate, path, [bearer, ("x-gate-secret", SECRET[:-1])])[0], 403)
            self.assertEqual(plain(WORLD.gate, path, [bearer, ("x-gate-secret", SECRET)])[0], 200)

    def test_a_proof_that_was_used_stays_used_across_a_reload(self):
        token = WORLD.token(cnf={"jkt": WORLD.client.jkt})
        fields = [("authorization", "DPoP " + token), ("dpop", WORLD.proof(token, ORIGIN + "/x")), ("x-gate-secret", SECRET), ("x-original-url", ORIGIN + "/x")]
        self.assertEqual(plain(WORLD.gate, "/auth/nginx", fields)[0], 200)
        self.assertEqual(plain(WORLD.gate, "/auth/nginx", fields)[0], 401)
        WORLD.processes[0].send_signal(signal.SIGHUP)
        # The next setup counts from nothing.
        WORLD.wait("gate", lambda: "signet_gate_accepted_total 0\n" in plain(WORLD.gate, "/metrics")[2])
        self.assertEqual(plain(WORLD.gate, "/auth/nginx", fields)[0], 401)


if __name__ == "__main__":
    WORLD = World()
    try:
        outcome = unittest.main(verbosity=1, warnings="ignore", exit=False).result
    finally:
        WORLD.stop()
    sys.exit(not outcome.wasSuccessful())
