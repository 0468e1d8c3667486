"""Debian's OpenLDAP server on free loopback ports, as whoever runs the tests: LDAPS, and STARTTLS on the other port."""

import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from deployment import Authority, held_port

UNPACKED = Path(__file__).parent / ".debian-ldap"
BASE = "dc=old,dc=example"
BINDS_AS = f"cn=signet,{BASE}"
BIND_PASSWORD = "the password of a bind, for tests alone"


def person(number, name, password):
    return (
        f"dn: uid={name},ou=people,{BASE}\nobjectClass: inetOrgPerson\nuid: {name}\ncn: {name.title()} Old\nsn: Old\n"
        f"givenName: {name.title()}\nmail: {name}@old.example\nuserPassword: {password}\n"
        f"entryUUID: 00000000-0000-4000-8000-{number:012}\n\n"
    )


class Slapd:
    """`people`: their passwords, by name."""

    def __init__(self, people):
        self.folder = folder = Path(tempfile.mkdtemp(prefix="signet-slapd-"))
        self.authority = Authority(folder, "ldap")
        self.ca = str(self.authority.pem)
        certificate, key = self.authority.issue("localhost", server=True)
        self.ports = {"ldap": held_port(), "ldaps": held_port()}
        (folder / "data").mkdir()
        schema = UNPACKED / "etc/ldap/schema"
        config = folder / "slapd.conf"
        config.write_text(
            "".join(f"include {schema}/{name}.schema\n" for name in ("core", "cosine", "inetorgperson"))
            + f"""modulepath {UNPACKED}/usr/lib/ldap
moduleload back_mdb
pidfile {folder}/pid
TLSCertificateFile {certificate}
TLSCertificateKeyFile {key}
# Nothing in the clear: a bind without TLS is refused.
security ssf=128
disallow bind_anon
database mdb
suffix "{BASE}"
directory {folder}/data
maxsize 16777216
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact="{BINDS_AS}" read by * none
"""
        )
        entries = folder / "entries.ldif"
        entries.write_text(
            f"dn: {BASE}\nobjectClass: organization\nobjectClass: dcObject\no: Old\ndc: old\n\n"
            f"dn: ou=people,{BASE}\nobjectClass: organizationalUnit\nou: people\n\n"
            f"dn: {BINDS_AS}\nobjectClass: organizationalRole\nobjectClass: simpleSecurityObject\ncn: signet\n"
            f"userPassword: {BIND_PASSWORD}\n\n"
            + "".join(person(number, name, password) for number, (name, password) in enumerate(people.items()))
        )
        libraries = next(UNPACKED.glob("usr/lib/*-linux-gnu*"))
        environment = {"PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": str(libraries)}
        program = UNPACKED / "usr/sbin"
        loaded = subprocess.run(
            [str(program / "slapadd"), "-f", str(config), "-l", str(entries)],
            env=environment, capture_output=True, text=True, check=False,
        )
        assert loaded.returncode == 0, loaded.stderr
        where = " ".join(f"{scheme}://127.0.0.1:{port}" for scheme, port in self.ports.items())
        with open(folder / "out", "wb") as out:
            self.process = subprocess.Popen(
                [str(program / "slapd"), "-f", str(config), "-h", where, "-d", "256"],
                env=environment, stdout=out, stderr=subprocess.STDOUT,
            )
        for _ in range(100):
            assert self.process.poll() is None, self.log
            if "slapd starting" in self.log:
                return
            time.sleep(0.1)
        raise AssertionError(self.log)

    def url(self, scheme):
        return f"{scheme}://localhost:{self.ports[scheme]}"

    @property
    def log(self):
        return (self.folder / "out").read_text(errors="replace")

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(20)
        shutil.rmtree(self.folder, ignore_errors=True)
