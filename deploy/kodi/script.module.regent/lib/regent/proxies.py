"""The HTTP proxy of a call: the setting, or http_proxy, https_proxy and no_proxy, with the same rules as the agent."""

import ipaddress
import os
import urllib.parse

from .daemon import RegentError

# The setting of the add-on: `http://HOST:PORT`, which replaces http_proxy and https_proxy, or `none`. Empty: the
# environment decides.
setting = ""


def route(scheme, host, port):
    """Host and port of the proxy for a server; None for a direct connection."""
    # HTTP_PROXY is not read, because a client of a CGI program can set it.
    names = ["https_proxy", "HTTPS_PROXY"] if scheme == "https" else ["http_proxy"]
    known = [("the setting proxy", setting)] + [(name, os.environ.get(name, "")) for name in names]
    source, text = next(((source, text.strip()) for source, text in known if text.strip()), (None, ""))
    if not text or text == "none" or _is_loopback(host):
        return None
    exceptions = os.environ.get("no_proxy", os.environ.get("NO_PROXY", ""))
    if any(_excepts(entry, host, port) for entry in exceptions.replace(",", " ").split()):
        return None
    return _parsed(text, source)


def _parsed(text, source):
    place = urllib.parse.urlsplit(text if "://" in text else "http://" + text)
    try:
        number = place.port or 80
    except ValueError:
        number = None
    # A proxy with a user name or over TLS is not supported, as in the agent.
    is_plain = place.scheme == "http" and place.hostname and "@" not in place.netloc and place.path in ("", "/")
    if not is_plain or number is None or place.query or place.fragment:
        raise RegentError("proxy", f"{source} does not name a proxy", "use the form http://HOST:PORT", 2)
    return place.hostname, number


def _excepts(entry, host, port):
    """Whether an entry of no_proxy (`*`, a name with its subdomains, an address or a network) means this server."""
    if entry == "*":
        return True
    name, colon, number = entry.rpartition(":")
    if colon and number.isdigit() and (name.endswith("]") or ":" not in name):
        if int(number) != port:
            return False
        entry = name
    entry = entry.strip("[]").lower()
    address = _address(host)
    try:
        network = ipaddress.ip_network(entry, strict=False)
    except ValueError:
        domain = entry[2:] if entry.startswith("*.") else entry.lstrip(".")
        return address is None and bool(domain) and (host.lower() == domain or host.lower().endswith("." + domain))
    return address is not None and address in network


def _address(host):
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _is_loopback(host):
    address = _address(host)
    return address.is_loopback if address else host == "localhost" or host.endswith(".localhost")
