"""Verifies tokens for some seconds: python3 verify.py LIBRARY DIRECTORY ALGORITHM SECONDS

tokens: one a line; jwk.json: the public key. Prints operations a second.
"""
import json
import sys
import time
from pathlib import Path

library, directory, algorithm, seconds = sys.argv[1:]
tokens = Path(directory, "tokens").read_text().split()
public = json.loads(Path(directory, "jwk.json").read_text())
ISSUER, AUDIENCE = "https://id.example.com", "https://orders.example.com"


def pyjwt():
    import jwt

    key = jwt.PyJWK(public).key
    return lambda token: jwt.decode(token, key, [algorithm], issuer=ISSUER, audience=AUDIENCE)


def joserfc():
    from joserfc import jwk, jwt

    key = jwk.import_key(public)
    claims = jwt.JWTClaimsRegistry(iss={"essential": True, "value": ISSUER}, aud={"essential": True, "value": AUDIENCE})

    def verify(token):
        claims.validate(jwt.decode(token, key, algorithms=[algorithm]).claims)

    return verify


def run(verify, length):
    begun, count = time.monotonic(), 0
    while time.monotonic() - begun < length:
        for n in range(16):
            verify(tokens[(count + n) % len(tokens)])
        count += 16
    return count / (time.monotonic() - begun)


chosen = {"PyJWT": pyjwt, "joserfc": joserfc}[library]()
run(chosen, float(seconds) / 2)
print(run(chosen, float(seconds)))
