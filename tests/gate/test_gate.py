"""The validation service behind a real nginx: what reaches the upstream, and what does not.

Usage: test_gate.py SIGNET_BINARY. Starts a development server, `signet gate`, an upstream that shows what it was sent, and nginx."""

import base64, http.client, http.server, json, os, re, signal, socket, ssl, subprocess, sys, tempfile, threading, time, unittest, urllib.parse

SIGNET = os.path.abspath(sys.argv.pop(1))


def refused_port():
    """A port that refuses whoever connects: bound, so that nobody else gets it, and not listening. Keep the socket."""
    held = socket.socket()
    held.bind(("127.0.0.1", 0))
    return held, held.getsockname()[1]


def port_in(log, process):
    """The port that a gate on 127.0.0.1:0 has got: it logs it when it answers."""
    found = []

    def answering():
        found[:] = re.findall(r"127\.0\.0\.1:(\d+)", "".join(line for line in open(log) if "answering" in line))
        return bool(found)

    wait_for("the gate", answering, process, log)
    return int(found[0])


def wait_for(what, ready, process, log):
    for _ in range(600):
        if ready():
            return
        if process.poll() is not None:
            break
        time.sleep(0.05)
    sys.exit(f"{what} is not ready:\n{open(log).read()}")


def ask(port, path="/", headers=(), method="GET", body=None):
    """One request; header fields may be given twice. Gives status, header fields, body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.putrequest(method, path)
    for name, value in headers:
        connection.putheader(name, value)
    if body is not None:
        connection.putheader("content-length", str(len(body)))
    connection.endheaders(body)
    answer = connection.getresponse()
    result = answer.status, answer.headers, answer.read().decode()
    connection.close()
    return result


class Upstream(http.server.BaseHTTPRequestHandler):
    """Answers with the header fields that it was sent."""

    def do_GET(self):
        body = json.dumps([[name.lower(), value] for name, value in self.headers.items()]).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


NGINX = """
daemon off; pid %(dir)s/nginx.pid; error_log %(dir)s/nginx.log warn; worker_processes 1;
events { worker_connections 256; }
http {
  access_log off;
  client_body_temp_path %(dir)s/t1; proxy_temp_path %(dir)s/t2; fastcgi_temp_path %(dir)s/t3; uwsgi_temp_path %(dir)s/t4; scgi_temp_path %(dir)s/t5;
  upstream gate { server 127.0.0.1:%(gate)d; keepalive 16; }
  server {
    listen 127.0.0.1:%(nginx)d;
    location / {
      auth_request /-auth;
      auth_request_set $subject $upstream_http_x_auth_subject;
      auth_request_set $scope $upstream_http_x_auth_scope;
      auth_request_set $challenge $upstream_http_www_authenticate;
      # Always set, so that what a client sent under these names never arrives.
      proxy_set_header X-Auth-Subject $subject;
      proxy_set_header X-Auth-Scope $scope;
      proxy_set_header X-Auth-Issuer "";
      proxy_set_header X-Auth-Client "";
      proxy_set_header Authorization "";
      add_header WWW-Authenticate $challenge always;
      proxy_pass http://127.0.0.1:%(upstream)d;
    }
    location = /-auth {
      internal;
      proxy_pass http://gate/auth/nginx;
      proxy_http_version 1.1;
      proxy_pass_request_body off;
      proxy_set_header Connection "";
      proxy_set_header Content-Length "";
      proxy_set_header X-Original-Method $request_method;
      proxy_set_header X-Original-URL $scheme://$http_host$request_uri;
    }
  }
}
"""


class Gate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.dir = cls.temporary.name
        cls.processes = []
        data = cls.dir + "/data"
        server = cls.start("server", SIGNET, "serve", "--dev", "--listen", "127.0.0.1:0", "--data-dir", data)
        wait_for("the server", lambda: os.path.exists(data + "/dev.json"), server, cls.dir + "/server.log")
        cls.dev = json.load(open(data + "/dev.json"))
        cls.issuer = cls.dev["issuer"]
        cls.config = cls.dir + "/gate.toml"
        cls.write_config("")
        cls.service = cls.start("gate", SIGNET, "gate", "--config", cls.config)
        cls.gate = port_in(cls.dir + "/gate.log", cls.service)
        wait_for("the gate", lambda: cls.ready(cls.gate), cls.service, cls.dir + "/gate.log")
        upstream = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
        threading.Thread(target=upstream.serve_forever, daemon=True).start()
        # nginx inherits a socket that is bound and listens already (its own way of an upgrade): nobody can take the port in between.
        listening = socket.create_server(("127.0.0.1", 0), backlog=128)
        cls.nginx = listening.getsockname()[1]
        open(cls.dir + "/nginx.conf", "w").write(NGINX % {"dir": cls.dir, "gate": cls.gate, "nginx": cls.nginx, "upstream": upstream.server_address[1]})
        binary = next(path for path in ("/usr/sbin/nginx", "/usr/bin/nginx") if os.path.exists(path))
        nginx = cls.start("nginx", binary, "-p", cls.dir, "-e", cls.dir + "/nginx.log", "-c", cls.dir + "/nginx.conf", listening=listening)
        listening.close()
        wait_for("nginx", lambda: cls.answers(cls.nginx), nginx, cls.dir + "/nginx.log")
        cls.token = cls.fetch_token()

    @classmethod
    def tearDownClass(cls):
        for process in reversed(cls.processes):
            process.terminate()
            process.wait(30)
        cls.temporary.cleanup()

    @classmethod
    def start(cls, name, *arguments, listening=None):
        log = open(f"{cls.dir}/{name}.log", "a")
        more = {}
        if listening is not None:
            descriptor = listening.fileno()
            more = {"pass_fds": [descriptor], "env": os.environ | {"NGINX": f"{descriptor};"}}
        process = subprocess.Popen(arguments, stdout=log, stderr=log, **more)
        cls.processes.append(process)
        return process

    @classmethod
    def write_config(cls, more):
        open(cls.config, "w").write(f"""
listen = "127.0.0.1:0"
[outbound]
allow_loopback = true
trust = "{cls.dev['ca_cert'] if os.path.isabs(cls.dev['ca_cert']) else cls.dir + '/data/ca.pem'}"
[[issuers]]
issuer = "{cls.issuer}"
[[policies]]
audiences = ["{cls.issuer}"]
realm = "orders"
{more}
""")

    @staticmethod
    def answers(port):
        try:
            return bool(ask(port)[0])
        except OSError:
            return False

    @staticmethod
    def ready(port):
        try:
            return ask(port, "/health/ready")[0] == 200
        except OSError:
            return False

    @classmethod
    def fetch_token(cls):
        client = cls.dev["clients"]["service"]
        url = urllib.parse.urlsplit(cls.issuer)
        connection = http.client.HTTPSConnection(url.hostname, url.port, context=ssl.create_default_context(cafile=cls.dir + "/data/ca.pem"))
        basic = base64.b64encode(f"{client['client_id']}:{client['client_secret']}".encode()).decode()
        form = {"authorization": "Basic " + basic, "content-type": "application/x-www-form-urlencoded"}
        connection.request("POST", "/token", "grant_type=client_credentials", form)
        return json.load(connection.getresponse())["access_token"]

    def through_nginx(self, *headers):
        return ask(self.nginx, "/orders/1?x=1", headers)

    def test_a_request_with_a_valid_token_reaches_the_upstream_with_its_identity(self):
        status, _, body = self.through_nginx(("authorization", "Bearer " + self.token))
        self.assertEqual(status, 200)
        fields = json.loads(body)
        self.assertEqual([v for n, v in fields if n == "x-auth-subject"], [self.dev["clients"]["service"]["client_id"]])
        self.assertNotIn("authorization", [n for n, _ in fields])

    def test_forged_identity_fields_do_not_reach_the_upstream(self):
        forged = [("authorization", "Bearer " + self.token)]
        forged += [(name, "admin") for name in ("X-Auth-Subject", "x-auth-subject", "X-AUTH-SCOPE", "X-Auth-Issuer", "X-Auth-Client", "X_Auth_Subject")]
        status, _, body = self.through_nginx(*forged)
        self.assertEqual(status, 200)
        self.assertNotIn("admin", [value for _, value in json.loads(body)])

    def test_requests_without_a_good_token_are_challenged(self):
        for headers in ([], [("authorization", "Bearer junk")], [("authorization", "Bearer " + self.token[:-4] + "AAAA")],
                        [("authorization", "Basic YTpi")], [("authorization", "Bearer " + self.token + " x")], [("authorization", "DPoP " + self.token)]):
            status, fields, body = self.through_nginx(*headers)
            self.assertEqual(status, 401, headers)
            self.assertIn("realm=\"orders\"", fields["www-authenticate"])
            self.assertNotIn("x-auth-subject", body)

    def test_the_service_answers_applications_too(self):
        status, _, body = ask(self.gate, "/validate", [("content-type", "application/json")], "POST", json.dumps({"token": self.token}).encode())
        self.assertEqual((status, json.loads(body)["claims"]["iss"]), (200, self.issuer))
        status, _, body = ask(self.gate, "/metrics")
        self.assertIn("signet_gate_refused_total{reason=\"malformed\"}", body)

    def test_a_reload_drops_no_request_and_takes_effect(self):
        wrong, stop = [], threading.Event()

        def load():
            while not stop.is_set():
                status = self.through_nginx(("authorization", "Bearer " + self.token))[0]
                if status != 200:
                    wrong.append(status)

        threads = [threading.Thread(target=load) for _ in range(4)]
        for thread in threads:
            thread.start()
        for more in ("leeway = 30", "leeway = 31", "this is no configuration", ""):
            self.write_config(more)
            self.service.send_signal(signal.SIGHUP)
            time.sleep(0.4)
        stop.set()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        self.write_config('scopes = ["none-has-this"]')
        self.service.send_signal(signal.SIGHUP)
        for _ in range(100):
            if self.through_nginx(("authorization", "Bearer " + self.token))[0] == 403:
                break
            time.sleep(0.05)
        else:
            self.fail("the new configuration was not taken")
        self.write_config("")
        self.service.send_signal(signal.SIGHUP)
        wait_for("the first configuration", lambda: self.through_nginx(("authorization", "Bearer " + self.token))[0] == 200, self.service, self.dir + "/gate.log")

    def test_the_quick_start_is_one_line_and_ends_gracefully(self):
        quick = self.start("quick", SIGNET, "gate", "--issuer", self.issuer, "--audience", self.issuer, "--ca-cert", self.dir + "/data/ca.pem", "--listen", "127.0.0.1:0")
        port = port_in(self.dir + "/quick.log", quick)
        wait_for("the quick start", lambda: self.ready(port), quick, self.dir + "/quick.log")
        self.assertEqual(ask(port, "/validate", [("authorization", "Bearer " + self.token)], "POST", b"")[0], 200)
        # An issuer that cannot be reached: alive, not ready, and it says why.
        held, refusing = refused_port()
        dead = f"http://127.0.0.1:{refusing}"
        alone = self.start("alone", SIGNET, "gate", "--issuer", dead, "--audience", "a", "--listen", "127.0.0.1:0")
        dead_port = port_in(self.dir + "/alone.log", alone)
        wait_for("the service without an issuer", lambda: self.answers(dead_port), alone, self.dir + "/alone.log")
        self.assertEqual(ask(dead_port, "/health/live")[0], 200)
        status, _, body = ask(dead_port, "/health/ready")
        self.assertEqual(status, 503)
        self.assertIn(dead, body)
        held.close()
        for process in (quick, alone):
            process.terminate()
            self.assertEqual(process.wait(30), 0)


if __name__ == "__main__":
    unittest.main(verbosity=1, warnings="ignore")
