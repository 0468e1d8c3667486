"""What is sent to a collector, by OpenTelemetry's own schema: every message is parsed strictly, and says what the server did."""
import base64
import http.server
import json
import os
import re
import subprocess
import threading
import time
import urllib.parse
import urllib.request

import pytest
from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

MESSAGES = {
    "/v1/traces": ExportTraceServiceRequest,
    "/v1/metrics": ExportMetricsServiceRequest,
    "/v1/logs": ExportLogsServiceRequest,
}
SECRET = "a-secret-of-a-client-that-is-long-enough-0123"


def with_bytes(value):
    """OTLP's JSON has ids in hex, where the JSON of protobuf has bytes in base64."""
    if isinstance(value, list):
        return [with_bytes(item) for item in value]
    if not isinstance(value, dict):
        return value
    out = {}
    for name, item in value.items():
        if name in ("traceId", "spanId", "parentSpanId"):
            assert re.fullmatch("[0-9a-f]{%d}" % (32 if name == "traceId" else 16), item), item
            out[name] = base64.b64encode(bytes.fromhex(item)).decode()
        else:
            out[name] = with_bytes(item)
    return out


@pytest.fixture
def collector():
    received = []

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            message = MESSAGES[self.path]()
            try:
                json_format.ParseDict(with_bytes(json.loads(body)), message)
                received.append((self.path, message))
                status = 200
            except Exception as error:  # the test says so, not the server
                received.append((self.path, error))
                status = 400
            self.send_response(status)
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1], received
    server.shutdown()


def test_everything_that_is_sent_is_of_the_schema(tmp_path, collector):
    port, received = collector
    (tmp_path / "secret").write_text(SECRET)
    config = tmp_path / "signet.toml"
    config.write_text(
        f"""
issuer = "https://id.example"
data_dir = "{tmp_path}/data"
keys.algorithms = ["ES256", "RS256"]
telemetry = {{ otlp_endpoint = "http://127.0.0.1:{port}", metrics_interval = "1s" }}
log.requests = "all"
[[listeners]]
address = "127.0.0.1:0"
protocol = "http"
[[clients]]
client_id = "service"
client_secrets = [{{ file = "secret" }}]
grant_types = ["client_credentials"]
"""
    )
    log = tmp_path / "log"
    with open(log, "w") as out:
        server = subprocess.Popen([os.environ["SIGNET_BIN"], "serve", "--config", config], stdout=out, stderr=out)
    try:
        for _ in range(600):
            ready = [line for line in log.read_text().splitlines() if '"ready"' in line]
            if ready:
                break
            assert server.poll() is None, log.read_text()
            time.sleep(0.05)
        address = json.loads(ready[0])["address"]
        form = urllib.parse.urlencode({"grant_type": "client_credentials", "client_id": "service", "client_secret": SECRET})
        with urllib.request.urlopen(f"http://{address}/token", form.encode()) as answer:
            assert answer.status == 200
            request_id = answer.headers["x-request-id"]
    finally:
        server.terminate()
        server.wait(30)
    errors = [(path, message) for path, message in received if isinstance(message, Exception)]
    assert not errors, errors
    assert {path for path, _ in received} == set(MESSAGES)

    spans = [
        span
        for path, message in received
        if path == "/v1/traces"
        for resource in message.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    whole = [span for span in spans if any(a.value.string_value == request_id for a in span.attributes)]
    assert len(whole) == 1 and whole[0].name == "POST /token"
    within = [span for span in spans if span.parent_span_id == whole[0].span_id]
    assert {"authenticate the client", "sign the access token"} <= {span.name for span in within}
    assert all(span.trace_id == whole[0].trace_id for span in within)

    metrics = {
        metric.name: metric
        for path, message in received
        if path == "/v1/metrics"
        for resource in message.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }
    issued = metrics["signet_tokens_issued"]
    assert issued.sum.is_monotonic and sum(point.as_int for point in issued.sum.data_points) == 1
    timed = metrics["signet_request_duration_seconds"].histogram.data_points[0]
    assert len(timed.bucket_counts) == len(timed.explicit_bounds) + 1
    assert sum(timed.bucket_counts) == timed.count

    lines = [
        record
        for path, message in received
        if path == "/v1/logs"
        for resource in message.resource_logs
        for scope in resource.scope_logs
        for record in scope.log_records
    ]
    of_request = [line for line in lines if any(a.key == "request_id" and a.value.string_value == request_id for a in line.attributes)]
    assert any(line.body.string_value == "answered the request" for line in of_request)
