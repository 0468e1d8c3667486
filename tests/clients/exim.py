"""Debian's exim4 on a free loopback port, as whoever runs the tests: STARTTLS, a password, and every mail into one folder."""

import os
import re
import shutil
import smtplib
import subprocess
import tempfile
import time
from email import message_from_bytes, policy
from pathlib import Path

from deployment import Authority, held_port

UNPACKED = Path(__file__).parent / ".debian"
PASSWORD = "the password of a mail server, for tests"


class Exim:
    def __init__(self):
        # exim4 delivers nothing as root: then it is somebody who has no rights.
        root = os.geteuid() == 0
        uid, gid = (65534, 65534) if root else (os.geteuid(), os.getegid())
        self.folder = folder = Path(tempfile.mkdtemp(prefix="signet-exim-"))
        self.port = held_port()
        shutil.copytree(UNPACKED / "usr", folder / "usr", symlinks=True)
        for name in ("spool", "box"):
            (folder / name).mkdir()
        # The program looks its own user up by name.
        (folder / "passwd").write_text(f"Debian-exim:x:{uid}:{gid}::{folder}:/bin/false\nroot:x:0:0::/root:/bin/sh\n")
        (folder / "group").write_text(f"Debian-exim:x:{gid}:\nroot:x:0:\nmail:x:8:\n")
        self.authority = Authority(folder, "mail")
        self.ca = str(self.authority.pem)
        certificate, key = self.authority.issue("localhost", server=True)
        config = folder / "exim.conf"
        config.write_text(
            f"""primary_hostname = mail.example.test
local_interfaces = 127.0.0.1
spool_directory = {folder}/spool
log_file_path = {folder}/%slog
pid_file_path = {folder}/pid
log_selector = +tls_cipher
deliver_drop_privilege = true
keep_environment =
never_users =
tls_advertise_hosts = *
tls_certificate = {certificate}
tls_privatekey = {key}
auth_advertise_hosts = ${{if def:tls_in_cipher {{*}}{{}}}}
acl_smtp_rcpt = rcpt
acl_smtp_data = data
begin acl
rcpt:
  accept encrypted = *
         authenticated = *
data:
  accept
begin routers
all:
  driver = accept
  transport = box
begin transports
box:
  driver = appendfile
  directory = {folder}/box
  maildir_format
  envelope_to_add
  user = Debian-exim
  group = Debian-exim
begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_condition = ${{if and {{{{eq {{$auth2}}{{signet}}}}{{eq {{$auth3}}{{{PASSWORD}}}}}}}}}
  server_set_id = $auth2
"""
        )
        libraries = next(folder.glob("usr/lib/*-linux-gnu*"))
        environment = {
            "PATH": os.environ["PATH"],
            "LD_LIBRARY_PATH": str(libraries),
            "LD_PRELOAD": str(libraries / "libnss_wrapper.so"),
            "NSS_WRAPPER_PASSWD": str(folder / "passwd"),
            "NSS_WRAPPER_GROUP": str(folder / "group"),
        }
        other = {"user": uid, "group": gid, "extra_groups": []} if root else {}
        if root:
            for one in (folder, *folder.glob("*"), *map(Path, (certificate, key))):
                os.chown(one, uid, gid)
        folder.chmod(0o755)
        with open(folder / "out", "wb") as out:
            self.process = subprocess.Popen(
                [str(folder / "usr/sbin/exim4"), "-bdf", "-C", str(config), "-oX", f"127.0.0.1.{self.port}"],
                env=environment, stdout=out, stderr=subprocess.STDOUT, cwd=folder, **other,
            )
        for _ in range(100):
            assert self.process.poll() is None, (folder / "out").read_text()
            try:
                smtplib.SMTP("127.0.0.1", self.port, timeout=2).close()
                return
            except OSError:
                time.sleep(0.1)
        raise AssertionError(self.log)

    @property
    def log(self):
        return "".join(file.read_text() for file in (self.folder / "out", *self.folder.glob("*log")))

    def mails(self):
        files = sorted((self.folder / "box").glob("new/*"))
        return [message_from_bytes(file.read_bytes(), policy=policy.default) for file in files]

    def next(self, before, subject):
        """The first mail beyond these whose subject is like this; what else is told meanwhile is passed over."""
        for _ in range(150):
            for mail in self.mails():
                if mail["message-id"] not in before and re.search(subject, mail["subject"]):
                    return mail
            time.sleep(0.1)
        raise AssertionError(f"no mail arrived: {self.log[-2000:]}")

    def stop(self):
        self.process.terminate()
        self.process.wait(20)
        shutil.rmtree(self.folder)
