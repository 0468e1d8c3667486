# A service that acts for itself. pip install authlib requests; python3 service.py
import os

import requests
from authlib.integrations.requests_client import OAuth2Session

server = requests.get(os.environ["ISSUER"] + "/.well-known/oauth-authorization-server", timeout=10).json()
oauth = OAuth2Session(os.environ["CLIENT_ID"], os.environ["CLIENT_SECRET"])
token = oauth.fetch_token(server["token_endpoint"], grant_type="client_credentials")
print(token["access_token"])

# A call to an API: oauth.get("https://api.example.com/orders")
