"""Signs a Kodi add-on in by the box's TV provider account: no code, no password, and the viewer is asked once, on the box."""

import base64, hashlib, hmac, json, time, urllib.error, urllib.parse, urllib.request, uuid

from regent import Regent, RegentError


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """urllib would send the signed header along to the address that a redirect names, on another host too."""

    def redirect_request(self, *_):
        return None


SERVICE = urllib.request.build_opener(NoRedirect)


def come_in(service, requestor, public_key, secret, device):
    """True when the add-on is signed in afterwards; else why it is not, in a sentence for the viewer."""
    box = Regent()

    def call(method, path, fields=None):
        text = (f"{method} requestor_id={requestor}, nonce={uuid.uuid4()}, signature_method=HMAC-SHA256, "
                f"request_time={int(time.time() * 1000)}, request_uri={path}")
        code = base64.b64encode(hmac.new(secret.encode(), text.encode(), hashlib.sha256).digest()).decode()
        return SERVICE.open(urllib.request.Request(
            f"{service}{path}?deviceId={urllib.parse.quote(device)}", method=method,
            data=urllib.parse.urlencode(fields).encode() if fields else None,
            headers={"Authorization": f"{text}, public_key={public_key}, signature={code}", "Accept": "application/json"}), timeout=30).read()

    try:
        standing = box.platform_access(requestor, prompt=True)
        if standing["permission"] != "granted":
            return "Allow this add-on on the box, or on your phone at My screens"
        if not standing["signedIn"]:
            return "Sign this box in first"
        provider = standing["provider"]
        request = call("GET", f"/api/v1/{requestor}/profile-requests/{provider}")
        word = box.platform_account(requestor, provider, base64.b64encode(request).decode())["assertion"]
        call("POST", "/api/v1/tokens/authn", {"mvpd": provider, "SAMLResponse": word, "deviceType": "kodi"})
        return True
    except RegentError as error:
        return str(error)
    except urllib.error.HTTPError as error:
        answer = error.read()
        reason = json.loads(answer).get("details") if answer[:1] == b"{" else None
        return f"The service does not let this add-on in: {reason or error}"
    except OSError as error:
        return f"The service does not let this add-on in: {error}"
