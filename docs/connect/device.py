# A device without a browser. pip install requests; python3 device.py
import os
import time

import requests

CLIENT_ID = os.environ["CLIENT_ID"]
server = requests.get(os.environ["ISSUER"] + "/.well-known/openid-configuration", timeout=10).json()
request = {"client_id": CLIENT_ID, "scope": "openid profile"}
device = requests.post(server["device_authorization_endpoint"], data=request, timeout=10).json()
print(f"Open {device['verification_uri']} and type {device['user_code']}", flush=True)

poll = {"client_id": CLIENT_ID, "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": device["device_code"]}
wait = device.get("interval", 5)
while True:
    time.sleep(wait)
    answer = requests.post(server["token_endpoint"], data=poll, timeout=10).json()
    if answer.get("error") == "slow_down":
        wait += 5
    elif answer.get("error") != "authorization_pending":
        break
print(answer.get("access_token") or answer["error"])
