"""Third-party OAuth libraries, unmodified, each as a box that pairs: begin, poll once, refresh."""

import json
import subprocess
import time

import msal
import requests
from authlib.integrations.base_client import OAuthError as AuthlibError
from authlib.integrations.requests_client import OAuth2Session as AuthlibSession
from oauthlib.oauth2 import DeviceClient, OAuth2Error
from requests_oauthlib import OAuth2Session

GRANT = "urn:ietf:params:oauth:grant-type:device_code"
SCOPE = "openid profile offline_access entitlements"
# The seconds between two polls that the service demands; a client that polls sooner gets slow_down.
INTERVAL = 5


class Curl:
    """curl, as a shell script uses it."""

    def __init__(self, issuer, kind="--public"):
        self.issuer = issuer
        self.id, self.secret = issuer.client("curl", kind)

    def post(self, path, **fields):
        words = ["curl", "-sS", "--cacert", self.issuer.authority.ca, self.issuer.issuer + path]
        for name, value in {"client_id": self.id, **fields}.items():
            words += ["--data-urlencode", f"{name}={value}"]
        if self.secret:
            words += ["-u", f"{self.id}:{self.secret}"]
        return json.loads(subprocess.run(words, check=True, capture_output=True, timeout=60).stdout)

    def begin(self):
        self.flow = self.post("/device_authorization", scope=SCOPE)
        return self.flow["user_code"]

    def ask(self):
        return self.post("/token", grant_type=GRANT, device_code=self.flow["device_code"])

    def refresh(self, tokens):
        return self.post("/token", grant_type="refresh_token", refresh_token=tokens["refresh_token"])


class Confidential(Curl):
    """curl with the secret in the header and the client id also in the body."""

    def __init__(self, issuer):
        super().__init__(issuer, "--secret")


class MSAL:
    """Microsoft's library, with any OpenID provider as its authority."""

    def __init__(self, issuer):
        self.issuer = issuer
        self.id, _ = issuer.client("MSAL", "--public")

    def begin(self):
        self.app = msal.PublicClientApplication(
            self.id, oidc_authority=self.issuer.issuer, verify=self.issuer.authority.ca, instance_discovery=False)
        # MSAL adds openid, profile and offline_access by itself, and refuses them as arguments.
        self.flow = self.app.initiate_device_flow(["entitlements"])
        return self.flow["user_code"]

    def ask(self):
        # Polls once, not until the flow has ended.
        return self.app.acquire_token_by_device_flow(self.flow, exit_condition=lambda flow: True)

    def refresh(self, tokens):
        account, = self.app.get_accounts()
        fresh = self.app.acquire_token_silent(["entitlements"], account, force_refresh=True)
        return fresh or {"error": "msal gave nothing"}


class Authlib:
    """Authlib on requests."""

    def __init__(self, issuer):
        self.issuer = issuer
        self.id, _ = issuer.client("Authlib", "--public")
        self.token = issuer.issuer + "/token"

    def begin(self):
        self.session = AuthlibSession(self.id, token_endpoint=self.token, token_endpoint_auth_method="none", scope=SCOPE)
        self.session.verify = self.issuer.authority.ca
        answer = requests.post(
            self.issuer.issuer + "/device_authorization", {"client_id": self.id, "scope": SCOPE},
            verify=self.issuer.authority.ca, timeout=60)
        self.flow = answer.json()
        return self.flow["user_code"]

    def ask(self):
        try:
            return dict(self.session.fetch_token(self.token, grant_type=GRANT, device_code=self.flow["device_code"]))
        except AuthlibError as error:
            return {"error": error.error}

    def refresh(self, tokens):
        return dict(self.session.refresh_token(self.token, refresh_token=tokens["refresh_token"]))


class RequestsOAuthlib:
    """requests-oauthlib with oauthlib's device client."""

    def __init__(self, issuer):
        self.issuer = issuer
        self.id, _ = issuer.client("oauthlib", "--public")
        self.token = issuer.issuer + "/token"

    def begin(self):
        self.session = OAuth2Session(client=DeviceClient(self.id), scope=SCOPE.split())
        self.session.verify = self.issuer.authority.ca
        answer = self.session.post(
            self.issuer.issuer + "/device_authorization", {"client_id": self.id, "scope": SCOPE},
            withhold_token=True, timeout=60)
        self.flow = answer.json()
        return self.flow["user_code"]

    def ask(self):
        try:
            return dict(self.session.fetch_token(
                self.token, device_code=self.flow["device_code"], include_client_id=True,
                verify=self.issuer.authority.ca))
        except OAuth2Error as error:
            return {"error": error.error}

    def refresh(self, tokens):
        return dict(self.session.refresh_token(
            self.token, refresh_token=tokens["refresh_token"], client_id=self.id, verify=self.issuer.authority.ca))


LIBRARIES = (Curl, Confidential, MSAL, Authlib, RequestsOAuthlib)


def pause():
    time.sleep(INTERVAL)
