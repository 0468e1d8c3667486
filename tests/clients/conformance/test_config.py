"""oidcc-config-certification-test-plan: its one module, as its conditions are."""

import re
from urllib.parse import urlsplit

from party import metadata, server_keys, trusting


def test_oidcc_discovery_endpoint_verification(op):
    answer = trusting(op.ca).get(op.issuer + "/.well-known/openid-configuration")
    assert answer.status_code == 200
    assert answer.headers["content-type"].split(";")[0] == "application/json"
    meta = answer.json()
    assert meta["issuer"] == op.issuer and not urlsplit(op.issuer).query and not urlsplit(op.issuer).fragment
    assert meta["response_types_supported"] == ["code"]
    assert meta["subject_types_supported"] == ["public"]
    assert "RS256" in meta["id_token_signing_alg_values_supported"]
    assert "none" not in meta["id_token_signing_alg_values_supported"]
    assert "RS256" in meta["userinfo_signing_alg_values_supported"]
    for name in ("authorization_endpoint", "token_endpoint", "userinfo_endpoint", "registration_endpoint", "jwks_uri"):
        assert name in meta
    for name, value in {**meta, **meta["mtls_endpoint_aliases"]}.items():
        if name.endswith(("_endpoint", "_uri")):
            assert urlsplit(value).scheme == "https" and urlsplit(value).hostname and not urlsplit(value).fragment, name
    assert meta["claims_supported"] and "sub" in meta["claims_supported"]
    assert "authorization_code" in meta["grant_types_supported"]
    assert "openid" in meta["scopes_supported"]
    assert all(re.fullmatch(r"[\x21\x23-\x5B\x5D-\x7E]+", scope) for scope in meta["scopes_supported"])
    assert meta["code_challenge_methods_supported"] == ["S256"]
    for name in ("request_parameter_supported", "request_uri_parameter_supported", "claims_parameter_supported"):
        assert isinstance(meta[name], bool)
    # Its default is true (Discovery section 3), so that it must be said.
    assert meta["request_uri_parameter_supported"] is False


def test_the_keys_are_public_distinct_and_of_kinds_that_the_suite_reads(op):
    answer = trusting(op.ca).get(metadata(op)["jwks_uri"])
    assert answer.headers["content-type"].split(";")[0] in ("application/json", "application/jwk-set+json")
    keys = server_keys(op)["keys"]
    assert len({key["kid"] for key in keys}) == len(keys)
    for key in keys:
        assert not {"d", "p", "q", "dp", "dq", "qi", "oth", "k"} & key.keys()
        assert {"RSA": {"n", "e"}, "EC": {"crv", "x", "y"}, "OKP": {"crv", "x"}}[key["kty"]] <= key.keys()
        assert key["use"] == "sig" and key["alg"]


def test_rfc8414_metadata_says_the_same(op):
    answer = trusting(op.ca).get(op.issuer + "/.well-known/oauth-authorization-server")
    assert answer.status_code == 200 and answer.json() == metadata(op)


def test_fapi2_security_profile_final_discovery_end_point_verification(op):
    meta = metadata(op)
    allowed = {"PS256", "ES256", "EdDSA"}
    for name in ("dpop", "id_token", "userinfo", "token_endpoint_auth"):
        assert allowed & set(meta[f"{name}_signing_alg_values_supported"]), name
    assert meta["tls_client_certificate_bound_access_tokens"] is True
    assert {"private_key_jwt", "tls_client_auth"} <= set(meta["token_endpoint_auth_methods_supported"])
    assert meta["authorization_response_iss_parameter_supported"] is True
    aliases = meta["mtls_endpoint_aliases"]
    for name in ("token_endpoint", "userinfo_endpoint", "pushed_authorization_request_endpoint"):
        assert aliases[name] != meta[name]
    assert "authorization_endpoint" not in aliases, "browsers are not asked for certificates"
    assert "S256" in meta["code_challenge_methods_supported"] and "plain" not in meta["code_challenge_methods_supported"]
