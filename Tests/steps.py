"""The steps of `make test` and `make check`, which Tests/run performs.

`after` names steps that must have passed before. Steps with the same resource in `uses` never run at the same time. A
step with `alone` runs without any other. `limit` is in seconds, about five times what the step takes on an idle
machine.
"""

import dataclasses

DEBUG, RELEASE = ".build/debug", ".build/release"


@dataclasses.dataclass(frozen=True)
class Step:
    name: str
    title: str
    command: tuple
    limit: int
    after: tuple = ("build",)
    uses: tuple = ()
    alone: bool = False


def shell(text):
    return ("bash", "-euo", "pipefail", "-c", text)


def swift_tests(group):
    return Step(f"tests-{group}", f"Swift tests: {group}", ("Tests/swift-tests", group), 1200)


BUILD = Step(
    "build", "debug build, warnings are errors", ("swift", "build", "--no-color-diagnostics", "--build-tests", "--quiet"), 2400, ())

TEST = (
    BUILD,
    Step("format", "format of the Swift sources",
         ("swift", "format", "lint", "--strict", "--recursive", "--parallel", "Package.swift", "Sources", "Tests"), 120, ()),
    Step("scripts", "shell scripts parse", shell(
        r"find . \( -name .git -o -name .build -o -name .swiftpm -o -name __pycache__ \) -prune -o -type f -print0 |"
        r" xargs -0 grep -lE -m 1 '^#!.*\bbash$' | xargs -n 1 bash -n; Tests/comments-only --self-test"), 60, ()),
    Step("portable", "no code for one kind of processor only", ("Tests/portable",), 60, ()),
    Step("mutations", "every mutation can be planted", ("Tests/mutations/run", "--check"), 60, ()),
    swift_tests("services"),
    swift_tests("others"),
    Step("journey", "a box, a service and a phone's browser", ("Tests/acceptance/run", "box", "--only", "approved"), 300),
)

CHECK = (
    BUILD,
    # First, because the packages, the instruction counts and the image are made of its programs.
    Step("release-build", "release build", ("make", "--no-print-directory", "build", "benchmarks"), 2400),
    swift_tests("programs"),
    swift_tests("servers"),
    Step("archive", "source archive", ("Tests/dist",), 120, ()),
    Step("arm", "C headers and the Kodi module for ARM", ("Tests/acceptance/arm.py", DEBUG), 300),
    Step("rows", "the test of every row of the entitlement API has run", shell(
        'for xml in .build/results/tests-{services,others}.xml; do [ -f "$xml" ] || '
        '{ echo "$xml is missing; run make test first" >&2; exit 1; }; done; '
        # Named one by one, because the servers' tests may still be writing their file.
        'Tests/rows-ran .build/results/tests-{services,others,programs}.xml'),
         60, ("tests-programs",)),
    Step("nodes-sabotage", "every fault of several nodes can be planted", ("Tests/acceptance/nodes/sabotage", "--check"), 60, ()),
    Step("docc", "documentation of the libraries", ("Tests/docc",), 300),
    Step("sdk-consumer", "a package that uses the libraries", ("Tests/acceptance/sdk-consumer",), 900),
    Step("fixtures", "databases of earlier versions", ("Tests/fixtures/check", DEBUG), 300),
    Step("stories", "random stories against an oracle", (f"{DEBUG}/SequenceFuzz", "--self-test", "--acts", "3000"), 600),
    Step("pages", "pages in a browser", ("Tests/acceptance/run", "pages", "--languages", "en,qps"), 900),
    Step("phone", "the phone in a browser", ("Tests/acceptance/run", "phone"), 900),
    Step("box", "the box and a browser", ("Tests/acceptance/run", "box"), 600),
    Step("app", "an app and its browser", ("Tests/acceptance/run", "app"), 300),
    Step("fresh-box", "a fresh box and its apps", ("Tests/acceptance/run", "fresh_box"), 300),
    # Alone, because it measures milliseconds from the approval to the box.
    Step("quick-viewer", "an approval within seconds of opening the page", ("Tests/acceptance/quick_viewer.py", DEBUG), 400, alone=True),
    # Alone, because it compares times. `make long ONLY=disk` runs the attack for half an hour.
    Step("full-disk", "a small disk filled by one viewer, one address and one app", ("Tests/acceptance/full_disk.py", DEBUG), 400, alone=True),
    Step("engines", "the pages in three browser engines", ("Tests/acceptance/run", "engines"), 900),
    Step("box-kills", "a box that is killed at random moments", ("Tests/acceptance/box-kills.py", DEBUG, "24"), 600),
    Step("account", "apps that use the box's account, also killed and hostile ones", ("Tests/acceptance/account.py", DEBUG, "10"), 900),
    Step("account-dialog", "getAuthentication of the SDK beside a real daemon and service", ("Tests/acceptance/account_dialog.py", DEBUG), 300),
    Step("oauth-kills", "OAuth clients while the service is killed", ("Tests/acceptance/oauth/kills.py", DEBUG, "24"), 600),
    # Every kind of failure once and some twice; `make long ONLY=nodes` runs a thousand rounds of all stories.
    Step("nodes-rounds", "several nodes and a database that are killed",
         ("Tests/acceptance/nodes/rounds.py", DEBUG, "--rounds", "20"), 1200),
    Step("nodes-boxes", "boxes at several nodes that are killed", ("Tests/acceptance/nodes/boxes.py", DEBUG), 600),
    Step("nodes-pooler", "a connection pooler before the database", ("Tests/acceptance/nodes/pooler.py", DEBUG), 300),
    Step("nodes-phone", "the phone at three nodes",
         ("env", "REGENT_NODES=3", "Tests/acceptance/run", "phone", "--only", "scanned_link"), 300),
    Step("nodes-oauth", "OAuth clients at three nodes",
         ("env", "REGENT_NODES=3", "Tests/acceptance/oauth/run", "--only", "Curl pairs,oidc-agent pairs"), 300),
    # Alone, because its bars are seconds: it would measure the other steps.
    Step("living-room", "a box at home: its router, its addresses, its clock, its certificates",
         ("Tests/acceptance/living_room.py", DEBUG), 600, alone=True),
    Step("units", "the units under a real systemd", ("Tests/acceptance/units.py", DEBUG), 900, uses=("container",)),
    Step("instructions", "instruction budgets", ("Tests/acceptance/instructions.py", RELEASE), 1200, ("release-build",)),
    Step("deb", "Debian packages", ("deploy/deb",), 300, ("release-build",)),
    Step("packages", "the packages under a real systemd", ("Tests/acceptance/packages.py", ".build/deb"), 900, ("deb",), ("container",)),
    Step("mistakes", "thirty mistakes of an operator, and following what is said",
         ("Tests/acceptance/mistakes.py", ".build/deb"), 600, ("deb",), ("container",)),
    Step("bare-environment", "every program and script without variables, HOME and terminal",
         ("Tests/acceptance/bare_environment.py", ".build/deb"), 600, ("deb",), ("container",)),
    Step("packages-13", "the packages under Debian 13", ("Tests/acceptance/packages.py", ".build/deb", "trixie"), 600, ("deb",), ("container",)),
    Step("repository", "the apt repository under Debian 12 and 13", ("Tests/acceptance/repository.py", ".build/deb"), 450, ("deb",), ("container",)),
    Step("release", "tarball and SBOM", ("Tests/acceptance/release.py", RELEASE), 300, ("release-build",)),
    Step("containers", "the images and the compose file", ("Tests/acceptance/containers.py", RELEASE), 600, ("release-build",)),
    Step("oauth", "third-party OAuth clients", ("Tests/acceptance/oauth/run",), 900),
    Step("kodi", "the Kodi module outside of Kodi, killed at every step", ("Tests/acceptance/kodi.py", DEBUG), 400),
    Step("oauth-examples", "the OAuth examples at a hostile server", ("Tests/acceptance/oauth/examples.py",), 120, ()),
    Step("description", "requests generated from openapi.json", ("Tests/acceptance/schemathesis/run",), 900),
)

STAGES = {"test": TEST, "check": CHECK}
