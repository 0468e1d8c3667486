#!/usr/bin/env python3
"""Counts the instructions that one request costs the server, and one validation the gate, under valgrind.

    scripts/count-instructions.py BINARY [BINARY...]

Each binary runs `serve --dev` and `gate` in a directory of its own. Two series of requests of different length are
counted on a kept connection; the difference over the number of further requests is the cost of one, so that the
start, the handshake and the end of the process fall out. Instructions, unlike seconds, do not depend on what else
the machine does. One JSON object a binary is printed. Needs valgrind.
"""
import base64, http.client, json, os, re, shutil, signal, socket, ssl, subprocess, sys, tempfile, time

SHORT, LONG = 100, 500


def wait_for(path, process, seconds):
    for _ in range(seconds * 10):
        if os.path.exists(path) and os.path.getsize(path):
            return
        if process.poll() is not None:
            sys.exit("the process ended before it was ready")
        time.sleep(0.1)
    sys.exit("not ready in time")


HELD = []


def held_port():
    """A port for a program that cannot choose one itself. It is bound here, so that the system gives it to nobody else,
    and not listening, so that the program (which sets SO_REUSEADDR, as servers do) can take it."""
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", 0))
    HELD.append(held)
    return held.getsockname()[1]


class Client:
    def __init__(self, port, ca=None):
        if ca:
            context = ssl.create_default_context(cafile=ca)
            self.http = http.client.HTTPSConnection("localhost", port, context=context, timeout=60)
        else:
            self.http = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def post(self, path, body, headers, expect=200):
        self.http.request("POST", path, body, headers)
        answer = self.http.getresponse()
        content = answer.read()
        if answer.status != expect:
            sys.exit(f"{path}: {answer.status} {content[:200]}")
        return content


def ready(port, ca, path):
    for _ in range(1200):
        try:
            client = Client(port, ca)
            client.http.request("GET", path)
            answer = client.http.getresponse()
            answer.read()
            if answer.status == 200:
                return
        except OSError:
            pass
        time.sleep(0.1)
    sys.exit("not ready in time")


def counted(command, work):
    """Runs `work` beside `command` under callgrind; answers the instructions of the whole process."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        process = subprocess.Popen(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--quiet", *command],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            work()
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(120)
        text = open(out).read()
        found = re.search(r"^(?:summary|totals):\s*(\d+)", text, re.M)
        return int(found.group(1))


def measure(binary):
    folder = tempfile.mkdtemp()
    result = {"binary": os.path.basename(binary)}
    try:
        port = held_port()
        data = os.path.join(folder, "data")
        serve = [binary, "serve", "--dev", "--listen", f"127.0.0.1:{port}", "--data-dir", data]
        # The first start makes keys; it is not counted.
        first = subprocess.Popen(serve, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(os.path.join(data, "dev.json"), first, 60)
        ca = os.path.join(data, "ca.pem")
        ready(port, ca, "/health/ready")
        time.sleep(3)
        first.send_signal(signal.SIGTERM)
        first.wait(60)
        service = json.load(open(os.path.join(data, "dev.json")))["clients"]["service"]
        basic = base64.b64encode(f"{service['client_id']}:{service['client_secret']}".encode()).decode()
        headers = {"Authorization": "Basic " + basic, "Content-Type": "application/x-www-form-urlencoded"}

        def tokens(count):
            client = Client(port, ca)
            for _ in range(count):
                answer = client.post("/token", "grant_type=client_credentials", headers)
            return json.loads(answer)["access_token"]

        def series(step):
            def run(count):
                def work():
                    ready(port, ca, "/health/ready")
                    step(count)
                return counted(serve, work)
            short, long = run(SHORT), run(LONG)
            return round((long - short) / (LONG - SHORT))

        result["client_credentials"] = series(tokens)

        def introspect(count):
            token = tokens(1)
            client = Client(port, ca)
            for _ in range(count):
                client.post("/introspect", "token=" + token, headers)

        result["introspection"] = series(introspect)

        server = subprocess.Popen(serve, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            ready(port, ca, "/health/ready")
            token = tokens(1)
            gate_port = held_port()
            audience = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))["aud"]
            audience = audience[0] if isinstance(audience, list) else audience
            gate = [binary, "gate", "--issuer", f"https://localhost:{port}", "--audience", audience,
                    "--ca-cert", ca, "--listen", f"127.0.0.1:{gate_port}"]
            body = json.dumps({"token": token})

            def gate_series(count):
                def work():
                    ready(gate_port, None, "/health/ready")
                    client = Client(gate_port)
                    for _ in range(count):
                        client.post("/validate", body, {"Content-Type": "application/json"})
                return counted(gate, work)

            short, long = gate_series(SHORT), gate_series(LONG)
            result["gate_seen_token"] = round((long - short) / (LONG - SHORT))
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(60)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return result


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    if not shutil.which("valgrind"):
        sys.exit("valgrind is needed: apt-get install valgrind")
    for binary in sys.argv[1:]:
        print(json.dumps(measure(os.path.abspath(binary))), flush=True)
