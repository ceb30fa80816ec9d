"""Calls to the service: signed headers, deadlines, no redirects, and errors as sentences."""

import base64
import email.utils
import hmac
import http.client
import json
import os
import re
import socket
import ssl
import threading
import time
import urllib.parse
import uuid

from . import proxies
from .daemon import RegentError

_LONGEST = 65536
# The file of Kodi's certificate authorities, used on a system that has none.
authorities = None


class Cancelled(Exception):
    """The program cancelled the call."""


class Failure(RegentError):
    """A call that failed. `status`, `details` and `retry` (in seconds) are those of the response; None without one.

    `host` is that of the service."""

    def __init__(self, code, message, hint=None, exit=6, status=None, details=None, retry=None, host=None):
        super().__init__(code, message, hint, exit)
        self.status, self.details, self.retry, self.host = status, details, retry, host

    @property
    def passes(self):
        """Whether the same call may succeed later."""
        return self.status is None or self.status >= 500 or self.status in (408, 429)


class Answer:
    def __init__(self, status, headers, body, lasted):
        self.status, self.headers, self.body, self.lasted = status, headers, body, lasted
        try:
            self.document = json.loads(body.decode("utf-8")) if body else {}
        except (ValueError, RecursionError):
            self.document = None

    @property
    def was_held(self):
        return "wait" in (self.headers.get("Preference-Applied") or "")

    @property
    def date(self):
        """The service's clock in seconds, or None."""
        try:
            return email.utils.parsedate_to_datetime(self.headers["Date"]).timestamp()
        except (KeyError, TypeError, ValueError, OverflowError):
            return None


class Clock:
    """The time of the service: its last `Date`, and the monotonic clock since then."""

    def __init__(self):
        self._anchor = None

    def now(self):
        if self._anchor is None:
            return time.time()
        date, uptime = self._anchor
        return date + time.monotonic() - uptime

    def learn(self, date):
        if date is None or abs(self.now() - date) <= 5 and self._anchor is not None:
            return
        # The `Date` header has whole seconds, so a local clock that is right within 5 seconds is more precise.
        self._anchor = (date if abs(time.time() - date) > 5 else time.time(), time.monotonic())

    def correct(self, date):
        """After a refused call: sets the time so that the next signature is not older than the service's `Date`."""
        if date is not None:
            here = self.now()
            self._anchor = (max(here, date + 1) if abs(here - date) <= 5 else date, time.monotonic())


class Line:
    """Calls one service. `cancel` ends the running call and refuses others until `resume`."""

    def __init__(self, address):
        self.address = address.rstrip("/")
        place = urllib.parse.urlsplit(self.address)
        self.scheme, self.host, self.port, self.prefix = place.scheme, place.hostname, place.port, place.path
        self.netloc = place.netloc
        self.clock = Clock()
        self._lock, self._open, self._is_cancelled = threading.Lock(), set(), False

    def cancel(self):
        with self._lock:
            self._is_cancelled = True
            for connection in self._open:
                _shut(connection)

    def resume(self):
        with self._lock:
            self._is_cancelled = False

    def send(self, method, path, body=None, headers=None, timeout=30):
        """Sends a request and returns the response, whatever its status. The response is complete within `timeout`."""
        began = time.monotonic()
        proxy = proxies.route(self.scheme, self.host, self.port or (443 if self.scheme == "https" else 80))
        connection, target = self._connection(proxy, timeout), self.prefix + path
        if proxy and self.scheme != "https":
            target = self.scheme + "://" + self.netloc + target
        with self._lock:
            if self._is_cancelled:
                raise Cancelled()
            self._open.add(connection)
        # The timeout of a connection begins anew with each byte, so a timer ends the call as a whole.
        late = threading.Event()
        timer = threading.Timer(timeout, lambda: (late.set(), _shut(connection)))
        timer.daemon = True
        timer.start()
        try:
            connection.connect()
            connection.opened = connection.sock  # `getresponse` forgets the socket when the response ends with it.
            _probe(connection.sock)
            with self._lock:
                if self._is_cancelled:
                    raise Cancelled()
            connection.request(method, target, body, headers or {})
            response = connection.getresponse()
            content = response.read(_LONGEST + 1)
            if late.is_set():
                raise TimeoutError("timed out")
            answer = Answer(response.status, response.headers, content, time.monotonic() - began)
        except ssl.SSLCertVerificationError as error:
            raise self._certificate(error) from None
        except (OSError, http.client.HTTPException) as error:
            if self._is_cancelled:
                raise Cancelled() from None
            reason = "timed out" if late.is_set() else error or type(error).__name__
            raise Failure(
                "unreachable", f"the service at {self.host} cannot be reached{_through(proxy)}: {reason}",
                "check the proxy" if proxy else "check the network", host=self.host) from None
        finally:
            timer.cancel()
            with self._lock:
                self._open.discard(connection)
            connection.close()
        if answer.status == 407:
            raise Failure(
                "unreachable", f"the service at {self.host} cannot be reached{_through(proxy)}: it wants a user name and a password",
                "use a proxy without a password", host=self.host)
        if len(content) > _LONGEST or 300 <= answer.status < 400 or answer.status == 511:
            raise self._portal(answer.status)
        return answer

    def _connection(self, proxy, timeout):
        host, port = proxy or (self.host, self.port)
        if self.scheme != "https":
            return http.client.HTTPConnection(host, port, timeout=timeout)
        context = ssl.create_default_context()
        usual = ssl.get_default_verify_paths()
        if not usual.cafile and not usual.capath and authorities and os.path.exists(authorities):
            context.load_verify_locations(authorities)
        connection = http.client.HTTPSConnection(host, port, timeout=timeout, context=context)
        if proxy:
            connection.set_tunnel(self.host, self.port or 443)
        return connection

    def _certificate(self, error):
        # X509_V_ERR_CERT_NOT_YET_VALID and CERT_HAS_EXPIRED: usually the clock of a device without a battery is
        # wrong.
        if error.verify_code in (9, 10):
            return Failure("clock", "the service's certificate is not valid at this device's time", "set date and time", host=self.host)
        return Failure(
            "certificate", f"the service's certificate is not trusted: {error.verify_message}", "check address and network",
            host=self.host)

    def _portal(self, status):
        return Failure(
            "captive-portal", f"what answers at {self.host} ({status}) is not the service",
            "sign in to this network first, or check the address", host=self.host, status=None)

    def failure(self, answer):
        """The Failure for a response with an error."""
        status, document = answer.status, answer.document
        is_ours = isinstance(document, dict) and ("message" in document or "error" in document)
        if status not in (401, 408, 429) and status < 500 and not is_ours:
            return self._portal(status)
        details = document.get("details") if is_ours else None
        retry = answer.headers.get("Retry-After") or ""
        retry = min(int(retry), 86400) if re.fullmatch("[0-9]{1,9}", retry) else None
        if status == 401:
            return Failure(
                "not-trusted", "the service does not accept this device's credentials", "enrol this device with a new code", 1, status)
        if status == 429 or status == 503 and retry is not None:
            return Failure("busy", "the service is busy", f"try again in {retry or 1} s", 6, status, details, retry, self.host)
        message = document.get("message") if is_ours else None
        return Failure(
            "service", f"the service answers {status}" + (f": {message}" if message else ""), None, 1, status, details, retry, self.host)


class Caller:
    """Signs calls of one device with its key pair (docs/protocol.md, "The signed header")."""

    def __init__(self, line, requestor, public_key, secret, device, information):
        self.line, self.requestor, self.device = line, requestor, device
        self._public_key, self._secret = public_key, secret
        self._information = base64.b64encode(json.dumps(information, sort_keys=True).encode()).decode()

    def call(self, method, path, query=None, form=None, prefer=None, timeout=30):
        """Sends a signed call; the response may be an error. A call refused because of its time is signed once more."""
        asked = "?" + urllib.parse.urlencode(query) if query else ""
        body = urllib.parse.urlencode(form).encode() if form is not None else None
        headers = {"Accept": "application/json", "X-Device-Info": self._information, "User-Agent": "script.module.regent"}
        if body is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        if prefer:
            headers["Prefer"] = f"wait={prefer}"
        for is_second in (False, True):
            signed = {**headers, "Authorization": self._header(method, path)}
            answer = self.line.send(method, path + asked, body, signed, timeout + (prefer or 0))
            if answer.status != 401 or answer.date is None or is_second:
                self.line.clock.learn(answer.date)
                return answer
            self.line.clock.correct(answer.date)

    def _header(self, method, path):
        text = (f"{method} requestor_id={self.requestor}, nonce={uuid.uuid4()}, signature_method=HMAC-SHA256, "
                f"request_time={int(self.line.clock.now() * 1000)}, request_uri={path}")
        return f"{text}, public_key={self._public_key}, signature={signature(self._secret, text)}"


def moment(document, name):
    """A time in milliseconds of a response; raises a Failure if there is none. Floats may be infinite, texts very long."""
    value = document.get(name) if isinstance(document, dict) else None
    if isinstance(value, str) and re.fullmatch("[0-9]{1,15}", value):
        return int(value)
    if type(value) is int and 0 <= value < 10**15:
        return value
    raise unreadable()


def unreadable(status=200):
    return Failure("service", "the service's answer is not one of this protocol", status=status)


def signature(secret, text, method="sha256"):
    return base64.b64encode(hmac.new(secret.encode(), text.encode(), method).digest()).decode()


def _shut(connection):
    try:
        getattr(connection, "opened", connection.sock).shutdown(socket.SHUT_RDWR)
    except (AttributeError, OSError):
        pass  # The connection is not open yet, or already closed.


def _through(proxy):
    return " through the proxy {}:{}".format(*proxy) if proxy else ""


def _probe(connection):
    """Lets the kernel detect a connection that a router has dropped; a long poll would otherwise wait on it in vain."""
    try:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in (("TCP_KEEPIDLE", 4), ("TCP_KEEPINTVL", 1), ("TCP_KEEPCNT", 3)):
            if hasattr(socket, name):
                connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    except OSError:
        pass  # The call's own deadline is left.
