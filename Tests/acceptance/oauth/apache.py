"""Apache with Debian's mod_auth_openidc before a protected page: tokens are checked by keys, and by introspection."""

import base64
import grp
import json
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import tempfile
import urllib.error
import urllib.request

import clients
from issuer import PATIENCE, Issuer, free_port
from regentd import let_others_hear
from service import until

MODULES = "/usr/lib/apache2/modules"


class Apache:
    """A separate Apache process with its own folder; the machine's Apache service is not touched."""

    def __init__(self, issuer):
        self.by_keys, self.by_introspection = free_port(), free_port()
        api, secret = issuer.client("Apache", "--secret")
        self.folder = tempfile.TemporaryDirectory(prefix="regent-apache-")
        home = pathlib.Path(self.folder.name)
        # As root it serves as another user, who must be able to read the folder.
        home.chmod(0o755)
        shutil.copy(issuer.authority.ca, home / "ca.pem")
        (home / "ca.pem").chmod(0o644)
        (home / "www").mkdir(mode=0o755)
        (home / "www/film").write_text("the film\n")
        user, group = "www-data", "www-data"
        if os.getuid():
            user, group = pwd.getpwuid(os.getuid()).pw_name, grp.getgrgid(os.getgid()).gr_name
        modules = "\n".join(
            f"LoadModule {name}_module {MODULES}/mod_{name}.so"
            for name in ("mpm_event", "authn_core", "authz_core", "authz_user", "auth_openidc"))

        def place(port, checks):
            return f"""
                Listen 127.0.0.1:{port}
                <VirtualHost 127.0.0.1:{port}>
                  ServerName localhost
                  DocumentRoot {home}/www
                  OIDCCryptoPassphrase not-a-secret-of-anybody
                  OIDCCABundlePath {home}/ca.pem
                  OIDCOAuthSSLValidateServer On
                  OIDCOAuthRemoteUserClaim sub
                  {checks}
                  <Location />
                    AuthType oauth20
                    # A token of another API is not for this one.
                    Require claim aud:{issuer.url}
                  </Location>
                </VirtualHost>"""
        (home / "apache.conf").write_text(f"""
            {modules}
            ServerRoot {home}
            PidFile {home}/apache.pid
            DefaultRuntimeDir {home}
            Mutex file:{home} default
            User {user}
            Group {group}
            ServerName localhost
            ErrorLog {home}/error.log
            LogLevel warn auth_openidc:info
            {place(self.by_keys, f"OIDCOAuthVerifyJwksUri {issuer.issuer}/keys")}
            {place(self.by_introspection, f'''
                  OIDCOAuthIntrospectionEndpoint {issuer.issuer}/introspect
                  OIDCOAuthIntrospectionEndpointAuth client_secret_basic
                  OIDCOAuthClientID {api}
                  OIDCOAuthClientSecret {secret}
                  # Every time: what was ended is ended at once.
                  OIDCOAuthTokenIntrospectionInterval -1''')}
            """)
        self.log = home / "error.log"
        self.process = subprocess.Popen(
            ["/usr/sbin/apache2", "-f", home / "apache.conf", "-DFOREGROUND"], stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        until("Apache listens", self.listens)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=PATIENCE)
        self.folder.cleanup()

    def listens(self):
        if self.process.poll() is not None:
            raise SystemExit(f"Apache did not start: {self.process.stderr.read()}")
        try:
            for port in (self.by_keys, self.by_introspection):
                socket.create_connection(("127.0.0.1", port), timeout=PATIENCE).close()
            return True
        except OSError:
            return False

    def film(self, port, token):
        """The status for a program with this token, and the text if it gets one."""
        request = urllib.request.Request(f"http://127.0.0.1:{port}/film")
        if token:
            request.add_header("Authorization", "Bearer " + token)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, None


def opens_with_our_tokens(shared):
    # With an earlier clock, so that a new key becomes active with the restart and not after ten minutes.
    issuer = Issuer(shared.programs, shared.prefix, clock="-11m")
    try:
        opens(issuer)
    finally:
        issuer.stop()


def opens(issuer):
    client = clients.Curl(issuer)
    issuer.approve(client.begin())
    clients.pause()
    tokens = client.ask()
    token = tokens["access_token"]
    with Apache(issuer) as apache:
        both = (apache.by_keys, apache.by_introspection)

        def shown(token):
            return [apache.film(port, token)[0] for port in both]

        try:
            assert apache.film(both[0], token) == apache.film(both[1], token) == (200, "the film\n"), shown(token)
            assert shown(None) == [401, 401], shown(None)
            assert shown(token[:-8] + "AAAAAAAA") == [401, 401], shown(token)
            # An ID token has the same issuer and keys, but is not an access token.
            assert 200 not in shown(tokens["id_token"]), shown(tokens["id_token"])
            other = clients.Curl(issuer)
            issuer.control("client", "set", other.id, "--audience", "https://api.example.org")
            issuer.approve(other.begin())
            elsewhere = other.ask()["access_token"]
            assert 200 not in shown(elsewhere), shown(elsewhere)
            rotate(issuer)
            fresh = client.refresh(tokens)["access_token"]
            assert key_of(fresh) != key_of(token), "the old key still signs"
            assert shown(fresh) == [200, 200], shown(fresh)
            # The old keys stay published as long as tokens signed with them are valid.
            assert shown(token) == [200, 200], shown(token)
            grant, = [one["id"] for one in issuer.control("grant", "list") if one["client"] == client.id]
            issuer.control("grant", "revoke", grant)
            # Introspection reports the revocation at once; a signature check accepts the token until it expires within
            # an hour.
            assert shown(fresh) == [200, 401], shown(fresh)
        except BaseException:
            print(apache.log.read_text()[-3000:])
            raise


def rotate(issuer):
    """Publishes a new key and makes it active."""
    published = len(issuer.document(issuer.issuer + "/keys")["keys"])
    issuer.control("signing-key", "rotate", "--purpose", "oauth", "--algorithm", "RS256")
    let_others_hear()
    assert len(issuer.document(issuer.issuer + "/keys")["keys"]) == published + 1
    issuer.restart()


def key_of(token):
    return json.loads(base64.urlsafe_b64decode(token.split(".")[0] + "==="))["kid"]


STORIES = {"Apache opens with our tokens": opens_with_our_tokens}
