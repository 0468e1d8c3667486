"""A browser in miniature: keeps cookies, follows redirects, fills the forms it meets."""

import json
import os
from html.parser import HTMLParser
from urllib.parse import parse_qs, urljoin, urlsplit

import requests

DEV = json.load(open(os.environ["SIGNET_DEV_JSON"], encoding="utf-8"))
ISSUER = DEV["issuer"]


class Form(HTMLParser):
    """The first form of a page: its action, its fields, the values of its `decision` buttons."""

    def __init__(self, html):
        super().__init__()
        self.action, self.method, self.fields, self.decisions, self.inside, self.seen = None, "get", {}, [], False, False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        if tag == "form" and not self.seen:
            self.inside, self.seen = True, True
            self.action, self.method = a.get("action", ""), a.get("method", "get").lower()
        elif self.inside and tag == "input" and a.get("name"):
            self.fields[a["name"]] = a.get("value", "")
        elif self.inside and tag == "button" and a.get("name") == "decision":
            self.decisions.append(a.get("value"))

    def handle_endtag(self, tag):
        if tag == "form":
            self.inside = False


class Agent:
    """Logs in and consents as the development user, and stops at the redirect back to the client."""

    def __init__(self, username=None, password=None):
        self.http = requests.Session()
        self.username = username or DEV["user"]["username"]
        self.password = password or DEV["user"]["password"]
        self.pages = []

    def authorize(self, url, redirect_uri):
        """Opens `url`, does what the pages ask for, and returns the full address of the redirect to the client."""
        answer = self.http.get(url, allow_redirects=False)
        for _ in range(12):
            if answer.is_redirect:
                target = urljoin(answer.url, answer.headers["location"])
                if target.split("?")[0] == redirect_uri.split("?")[0]:
                    return target
                answer = self.http.get(target, allow_redirects=False)
                continue
            assert answer.status_code == 200, f"{answer.status_code} {answer.text[:600]}"
            form = Form(answer.text)
            assert form.seen, f"a page without a form: {answer.text[:600]}"
            fields = dict(form.fields)
            self.pages.append("login" if "password" in fields else "consent")
            if "password" in fields:
                fields.update(username=self.username, password=self.password)
            fields["decision"] = "allow"
            answer = self.http.request(form.method, urljoin(answer.url, form.action), data=fields, allow_redirects=False)
        raise AssertionError("the login did not come to an end")


def query(url):
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
