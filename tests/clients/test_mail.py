"""Mails as a mail server receives them: Debian's exim4, STARTTLS, a password; read in three languages, one of them from right to left."""

import re
import smtplib
import ssl
from pathlib import Path
from urllib.parse import urljoin

import pytest
from agent import Form
from apps import Served
from exim import PASSWORD, Exim
from party import trusting

# No word ends between a digit and a letter of Japanese.
CODE = r"(?<!\d)\d{6}(?!\d)"
TEXTS = Path(__file__).parents[2] / "crates" / "texts" / "locales"


def text_of(language, name):
    """A message of the sources that has no variables, or what stands before the first."""
    found = re.search(rf"^{name} = (.*)$", (TEXTS / language / "mail.ftl").read_text(), re.M)
    return found.group(1)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    exim = Exim()
    try:
        folder = tmp_path_factory.mktemp("op")
        (folder / "smtp").write_text(PASSWORD)
        mail = (
            '[mail]\nfrom = "Anmeldung <login@example.test>"\n\n[mail.smtp]\nhost = "localhost"\n'
            f'port = {exim.port}\nsecurity = "starttls"\ntrust = "{exim.ca}"\nusername = "signet"\npassword = {{ file = "smtp" }}\n'
        )
        server = Served(folder, mail)
        try:
            yield server, exim
        finally:
            server.stop()
    finally:
        exim.stop()


def ask(server, language):
    """A login page in a language, and a code asked for; (the browser, the page with the field of the code)."""
    http = trusting(server.ca)
    http.headers["accept-language"] = language
    page = http.get(f"{server.issuer}/account")
    assert f'<html lang="{language}"' in page.text
    form = Form(page.text)
    fields = {**form.fields, "username": "alice", "password": "", "decision": "email"}
    page = http.post(urljoin(page.url, form.action), data=fields)
    assert 'name="otp"' in page.text
    return http, page


@pytest.mark.parametrize("language", ["de", "ar", "ja"])
def test_the_code_of_a_received_mail_logs_in(served, language):
    server, exim = served
    before = {mail["message-id"] for mail in exim.mails()}
    http, page = ask(server, language)
    mail = exim.next(before, CODE)
    assert mail["to"].addresses[0].addr_spec == "alice@example.test"
    assert mail["envelope-to"] == "alice@example.test"
    assert mail["from"].addresses[0].addr_spec == "login@example.test" and mail["from"].addresses[0].display_name == "Anmeldung"
    assert mail["message-id"] and mail["date"].datetime
    assert not mail.defects

    assert mail.get_content_type() == "multipart/alternative"
    plain, rich = (mail.get_body((kind,)) for kind in ("plain", "html"))
    assert not plain.defects and not rich.defects
    text, html = plain.get_content(), rich.get_content()
    (code,) = set(re.findall(CODE, mail["subject"]))
    assert code in text and code in html
    # In the reader's language, in all three places, and not as marks of a wrong encoding.
    for piece in re.split(r"\{[^}]*\}", text_of(language, "mail-code-subject")):
        assert piece.strip() in mail["subject"], (piece, mail["subject"])
    assert f'lang="{language}"' in html and ('dir="rtl"' in html) == (language == "ar")
    letters = {"de": r"[a-zäöüß]{4}", "ar": r"[\u0600-\u06ff]{3}", "ja": r"[\u3040-\u30ff]{2}"}[language]
    assert re.search(letters, text) and re.search(letters, html) and "�" not in text + html
    # It loads nothing.
    assert not re.search(r"<(img|link|script)\b|url\(", html)

    form = Form(page.text)
    done = http.post(urljoin(page.url, form.action), data={**form.fields, "otp": code, "decision": "allow"})
    assert done.status_code == 200 and 'id="sessions"' in done.text
    assert f'<html lang="{language}"' in done.text


def test_the_mails_came_by_tls_and_with_the_password(served):
    _, exim = served
    arrived = [line for line in exim.log.splitlines() if "<= login@example.test" in line]
    assert arrived
    for line in arrived:
        assert re.search(r" X=TLS1\.[23]:", line) and " A=plain:signet " in line, line
    # The server itself takes nothing from who shows neither.
    context = ssl.create_default_context(cafile=exim.ca)
    with smtplib.SMTP("localhost", exim.port, timeout=5) as smtp:
        smtp.starttls(context=context)
        with pytest.raises(smtplib.SMTPRecipientsRefused):
            smtp.sendmail("a@example.test", ["alice@example.test"], "Subject: no\r\n\r\nno")
