"""Signs generated requests, and inserts values that a generator cannot know: existing codes, devices and names."""

import atexit
import json
import os
import random
import threading

import requests
import schemathesis
from schemathesis.core.parameters import ParameterLocation

from service import REQUESTOR, Service

service = Service.load(os.environ["REGENT_TEST_SERVICE"])
approved, pending = os.environ["REGENT_TEST_CODES"].split()
client_id, client_secret = service.register()
lock = threading.Lock()
# For each operation: all requests, successful ones, and those that passed authentication.
counts = {}

# The codes of each device: after thirty replaced codes a device must slow down.
codes_of = {}

# Replaced by the signature once the request is complete.
TO_BE_SIGNED = "to be signed"
signed = set()


@schemathesis.auth(refresh_interval=None)
class Signature:
    def get(self, case, context):
        return TO_BE_SIGNED

    def set(self, case, data, context):
        if needs_signature(case.operation):
            case.headers = {**(case.headers or {}), "Authorization": data}


def needs_signature(operation):
    return operation.path.startswith(("/api/", "/reggie/")) and operation.path != "/api/v1/authenticate"


@schemathesis.hook
def before_call(context, case, kwargs):
    complete(case)
    header = (case.headers or {}).get("Authorization")
    if header == TO_BE_SIGNED or header in signed:
        query = dict(case.query or {})
        # Credentials only once; another test sends them twice.
        query.pop("access_token", None)
        case.query = query
        case.headers["Authorization"] = service.keys.header(case.method.upper(), path_of(case))
        with lock:
            signed.add(case.headers["Authorization"])


@schemathesis.hook
def after_call(context, case, response):
    with lock:
        count = counts.setdefault(case.operation.label, [0, 0, 0])
        count[0] += 1
        count[1] += 200 <= response.status_code < 400
        count[2] += response.status_code != 401


def path_of(case):
    """The path as sent on the wire."""
    url = requests.Request("GET", service.url + case.formatted_path).prepare().url
    return url[len(service.url):].split("?")[0]


def is_wrong(case, location):
    """Whether this part of a request is invalid on purpose."""
    return case.meta is not None and case.meta.is_negative_at(location)


def complete(case):
    """Inserts existing names in those parts of a request that are valid."""
    path, query = dict(case.path_parameters or {}), dict(case.query or {})
    body = dict(case.body) if isinstance(case.body, dict) else None
    if is_wrong(case, ParameterLocation.PATH):
        path = {}
    if is_wrong(case, ParameterLocation.QUERY):
        query = {}
    if is_wrong(case, ParameterLocation.BODY):
        body = None
    operation = case.operation.definition.raw.get("operationId")
    if "requestor" in path:
        path["requestor"] = REQUESTOR
    for holder in (query, body or {}):
        for name, value in (
            ("requestor", REQUESTOR), ("requestor_id", REQUESTOR), ("mvpd", "local"),
            ("mso_id", "pass"), ("domain_name", "example.com"), ("redirect_uri", "https://example.com/"),
        ):
            if name in holder:
                holder[name] = value
    if "code" in path and random.random() < 0.7:
        path["code"] = {
            "deleteCode": lambda: service.new_code("to be deleted"),
            "readCode": lambda: pending,
        }.get(operation, lambda: approved)()
    if operation == "deleteCode" and "code" in path and not is_wrong(case, ParameterLocation.QUERY):
        # Only the device that has the code may withdraw it.
        query["deviceId"] = "to be deleted"
    if "deviceId" in query and operation not in ("logout", "logoutByGet", "deleteCode") and random.random() < 0.7:
        query["deviceId"] = "guest"
        if "resource" in query:
            query["resource"] = "news,sports" if operation == "preauthorize" else "news"
    if operation == "createCode":
        for holder in (query, body or {}):
            device = holder.get("deviceId")
            if isinstance(device, str) and device:
                codes_of[device] = codes_of.get(device, 0) + 1
                # A similar device id, so that the generator's variation is kept.
                if codes_of[device] > 20:
                    holder["deviceId"] = f"{device[:40]}-{codes_of[device]}"
    if operation == "registerClient" and body is not None:
        body["software_statement"] = service.statement
    if operation == "clientToken" and body is not None:
        body["client_id"], body["client_secret"] = client_id, client_secret
        (case.headers or {}).pop("Authorization", None)
    if operation == "beginSignIn" and query:
        query.update(reg_code=pending, mso_id="local")
        query.pop("redirect_url", None)
        query["redirect_url"] = "https://example.com/done"
    if operation in ("askBrowserLogout", "browserLogout") and query:
        query = {"requestor_id": REQUESTOR, "redirect_url": "https://example.com/done"}
    if operation == "browserLogout" and body is not None:
        cookies, token = service.logout_form()
        body = {"csrf": token}
        case.headers = {**(case.headers or {}), "Cookie": cookies, "Origin": service.url}
        case.media_type = "application/x-www-form-urlencoded"
    if path:
        case.path_parameters = path
    if query:
        case.query = query
    if body is not None:
        case.body = body


@atexit.register
def save():
    with open(os.environ["REGENT_TEST_COUNTS"], "w") as file:
        json.dump(counts, file)
