"""Runs schemathesis with a real service and checks the results.

All checks of schemathesis apply: no 5xx, no undocumented status, no response that violates its schema, no valid request
refused, no invalid one accepted, no access without credentials. In addition each operation must succeed at least once,
and at least half of all requests must pass authentication.
"""

import json
import os
import subprocess
import sys

from service import RunningService

# Documents in which the service writes only described members. The published description does not say so, because a
# generated client would then refuse the members of a later version.
WHOLE = [
    "Error", "EnhancedError", "ClientError", "RegistrationCode", "DeviceRecord",
    "DeviceRecord/properties/sourceApplicationInformation", "Authentication", "Authorization", "MediaToken",
    "Preauthorization", "Preauthorization/properties/resources/items", "UserMetadata", "Provider", "Configuration",
    "Configuration/properties/requestor", "Configuration/properties/requestor/properties/domains/items", "Client",
    "AccessToken", "KeySet", "Health",
]

HERE = os.path.dirname(os.path.abspath(__file__))


def main(programs, cases):
    with open("web/openapi.json") as file:
        description = json.load(file)
    paths = description["paths"]
    # The OAuth operations depend on each other at every step; third-party clients test them (../oauth/run).
    operations = [f"{method.upper()} {path}" for path in paths for method in paths[path]
                  if paths[path][method]["tags"] != ["oauth"]]
    running = RunningService(programs)
    with running as service:
        counts_file = f"{running.folder.name}/counts.json"
        environment = os.environ | {
            "REGENT_TEST_SERVICE": service.save(),
            "REGENT_TEST_CODES": f"{running.approved} {running.pending}",
            "REGENT_TEST_COUNTS": counts_file,
            "PYTHONPATH": HERE,
        }
        # Schemathesis stores files in its working folder, and looks for the hooks there unless their path is absolute.
        config_file = f"{running.folder.name}/schemathesis.toml"
        with open(f"{HERE}/schemathesis.toml") as given, open(config_file, "w") as made:
            made.write(f'hooks = "{HERE}/hooks.py"\n{given.read()}')
        with open(f"{running.folder.name}/openapi.json", "w") as file:
            json.dump(strict(description), file)
        # With a number of cases (`make long`) each run uses another seed. Without one the run is always the same, so
        # that its result depends only on the change under test.
        where = [] if cases else ["--seed", "1"]
        # The examples and the coverage of every keyword are added to these.
        each = max(8, cases // len(operations))
        done = subprocess.run(
            [
                f"{os.path.dirname(sys.executable)}/schemathesis", "--config-file",
                config_file, "run", f"{running.folder.name}/openapi.json",
                "--url", service.url, "--checks", "all", "--max-examples", str(each),
                "--exclude-tag", "oauth", "--workers", "1", "--no-shrink", "--suppress-health-check", "all", *where,
                *os.environ.get("SCHEMATHESIS_OPTIONS", "").split(),
            ],
            env=environment, cwd=running.folder.name, timeout=1200 + cases,
        )
        with open(counts_file) as file:
            counts = json.load(file)
        problems = judge(operations, counts)
        if service.send("GET", "/healthz", {})[0] != 200:
            problems.append("the service does not answer any more")
        log = running.log()
    if "error" in log:
        print(log[-4000:])
    for problem in problems:
        print(f"FAILED: {problem}")
    return 1 if problems or done.returncode != 0 else 0


def strict(description):
    """The description, with additional members forbidden in these documents."""
    for place in WHOLE:
        schema = description["components"]["schemas"]
        for name in place.split("/"):
            schema = schema[name]
        schema["additionalProperties"] = False
    return description


# Operations that no generated request can succeed in: they need an assertion signed by a box, and the one provider that
# takes part. PlatformTests covers both.
UNREACHABLE = {"POST /api/v1/tokens/authn", "GET /api/v1/{requestor}/profile-requests/{provider}"}


def judge(operations, counts):
    sent, past = (sum(count[place] for count in counts.values()) for place in (0, 2))
    print(f"{sent} requests, {past} of them past authentication ({100 * past // max(sent, 1)} %)")
    problems = [f"{name} never succeeded" for name in operations
                if name not in UNREACHABLE and counts.get(name, [0, 0])[1] == 0]
    if past * 2 < sent:
        problems.append("less than half of the requests came past authentication")
    return problems


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
