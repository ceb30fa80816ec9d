"""A minimal Debian under systemd-nspawn with this build installed, for tests that need a real service manager."""

import contextlib, fcntl, os, pathlib, re, select, shutil, struct, subprocess, time

from service import until

SECONDS = 60
PACKAGES = (
    "systemd systemd-sysv dbus util-linux procps curl ca-certificates fail2ban python3-systemd iptables"
    " libsqlite3-0 libssl3 libqrencode4 libcurl4 libargon2-1 libexpat1 libstdc++6").split()
# The additional packages of packages.py and repository.py, which share one root of each Debian.
PACKAGING = ("autopkgtest", "dpkg-dev", "avahi-daemon", "avahi-utils", "iproute2", "python3-minimal")
TERMINAL_NUMBER, UNLOCK_TERMINAL, TERMINAL_SIZE = 0x80045430, 0x40045431, 0x5414


class Unavailable(Exception):
    """A container cannot be started on this machine."""


class Container:
    """A running container; commands run in it as root."""

    def __init__(self, folder, programs=None, binds=(), devices=(), more=(), suite=None):
        """Boots it. `programs` are installed in it, and the Debian packages `more`. `suite` is Debian's release, by
        default that of this machine. `binds` are folders that it can read, `devices` those of this machine that it may
        use.
        """
        if os.geteuid() != 0:
            raise Unavailable("only root can")
        for program in ("systemd-nspawn", "mmdebstrap", "nsenter"):
            if shutil.which(program) is None:
                raise Unavailable(f"{program} is missing: deploy/bootstrap --test")
        root = folder / "root"
        self.make(root, folder / "made-of", suite, more)
        libraries = self.installed(root, programs) if programs else set()
        self.said = folder / "boot.log"
        with open(self.said, "wb") as log:
            self.process = subprocess.Popen(
                ["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--volatile=overlay", "--private-network",
                 f"--machine=regent-test-{os.getpid()}", "--console=pipe", f"--directory={root}", "--boot",
                 *(f"--bind-ro={path}" for path in sorted(libraries) + list(binds)),
                 *(f"--bind={path}" for path in devices)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            self.leader = until("a first process", self.first_process)
            state = ("systemctl", "is-system-running")
            until("the system has booted", lambda: self.run(*state, fails=None).strip() in ("running", "degraded"))
        except (TimeoutError, Unavailable) as reason:
            self.stop()
            raise Unavailable(f"{reason}; {self.said.read_text()[-2000:]}") from None

    @staticmethod
    def installed(root, programs):
        subprocess.run(
            ["deploy/install", "install", "/usr"], check=True, capture_output=True,
            env=os.environ | {"DESTDIR": str(root), "PROGRAMS": programs})
        # A debug build loads Swift's libraries from the folder of the compiler.
        linked = subprocess.run(["ldd", f"{programs}/regentd"], check=True, capture_output=True, text=True).stdout
        return {os.path.dirname(path) for path in re.findall(r"=> (/\S*/libswift\S*)", linked)}

    @staticmethod
    def codename():
        release = dict(re.findall(r'^(\w+)="?([^"\n]*)', pathlib.Path("/etc/os-release").read_text(), re.M))
        return release.get("VERSION_CODENAME", "stable")

    @staticmethod
    def packaging_folder(suite=None):
        """The folder of the root for PACKAGING, below .build."""
        return "packages" if suite in (None, Container.codename()) else f"packages-{suite}"

    @staticmethod
    def make(root, mark, suite, more):
        packages = (*PACKAGES, *more)
        wanted = " ".join([suite or Container.codename(), *packages])
        if mark.exists() and mark.read_text() == wanted:
            return
        shutil.rmtree(root, ignore_errors=True)
        root.parent.mkdir(parents=True, exist_ok=True)
        print("   making a Debian that boots, once", flush=True)
        made = subprocess.run(
            ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={','.join(packages)}", wanted.split()[0],
             str(root)],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240)
        if made.returncode != 0:
            shutil.rmtree(root, ignore_errors=True)
            raise Unavailable(f"no Debian from the mirror: {made.stderr[-1000:]}")
        mark.write_text(wanted)

    def first_process(self):
        if self.process.poll() is not None:
            raise Unavailable(f"systemd-nspawn ended with {self.process.returncode}")
        number = self.process.pid
        for child in pathlib.Path(f"/proc/{number}/task/{number}/children").read_text().split():
            # On a busy machine the first child may be the process that only creates the first process, and ends.
            with contextlib.suppress(OSError):
                if re.search(r"^NSpid:.*\t1$", pathlib.Path(f"/proc/{child}/status").read_text(), re.M):
                    return int(child)
        return None

    def stop(self):
        """Asks it to shut down, and kills it if it does not."""
        self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    until = staticmethod(until)

    def started(self, *words, text=None):
        return subprocess.run(
            ["nsenter", "-t", str(self.leader), "-a", "--", *words], input=text, capture_output=True, text=True,
            stdin=subprocess.DEVNULL if text is None else None, timeout=SECONDS, env={
                "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/root"})

    def code(self, *words):
        return self.started(*words).returncode

    def run(self, *words, text=None, fails=False):
        """Runs a command and returns its output. `fails` is the expected exit code; True is any error, None any code."""
        done = self.started(*words, text=text)
        is_right = fails is None or (done.returncode != 0 if fails is True else done.returncode == int(fails))
        assert is_right, f"{words} ended with {done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout + (done.stderr if fails else "")

    def show(self, unit, name):
        return self.run("systemctl", "show", "--value", "-p", name, unit).strip()

    def log(self, *units, lines=500):
        names = [word for unit in units for word in ("-u", unit)]
        return self.run("journalctl", "--no-pager", "-o", "short", "-n", str(lines), *names, fails=None)

    def write(self, path, text, mode=0o644):
        target = pathlib.Path(f"/proc/{self.leader}/root{path}")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        target.chmod(mode)

    @contextlib.contextmanager
    def console(self):
        screen = Screen(self.leader)
        try:
            yield screen
        finally:
            screen.close()

    @contextlib.contextmanager
    def memory(self, unit, pid, room):
        """Limits a running unit to that many more bytes of memory, with `MemoryMax` where the kernel supports it."""
        limit = UnifiedLimit(self, unit, room) if self.has_unified_memory() else GroupLimit(self, pid, room)
        try:
            yield limit
        finally:
            limit.end()

    def has_unified_memory(self):
        return "memory" in self.run("sh", "-c", "cat /sys/fs/cgroup/cgroup.controllers 2>/dev/null || :")

    def host_process(self, pid):
        """The process id outside of the container."""
        for status in pathlib.Path("/proc").glob("[0-9]*/status"):
            with contextlib.suppress(OSError):
                found = re.search(r"^NSpid:\t(\d+)\t(\d+)$", status.read_text(), re.M)
                if found and int(found[2]) == pid and os.stat(f"/proc/{found[1]}/ns/pid") == os.stat(
                        f"/proc/{self.leader}/ns/pid"):
                    return int(found[1])
        raise AssertionError(f"no process {pid}")

    def fill(self, port):
        """Starts an attacker who begins large requests and never ends them."""
        return subprocess.Popen(
            ["nsenter", "-t", str(self.leader), "-n", "--", "python3", "-c", HOG, str(port)], stderr=subprocess.DEVNULL)


class Screen:
    """A console of the container, as seen on its screen."""

    def __init__(self, leader):
        self.master = os.open(f"/proc/{leader}/root/dev/pts/ptmx", os.O_RDWR | os.O_NOCTTY)
        fcntl.ioctl(self.master, UNLOCK_TERMINAL, struct.pack("i", 0))
        self.number = struct.unpack("I", fcntl.ioctl(self.master, TERMINAL_NUMBER, b"\0" * 4))[0]
        fcntl.ioctl(self.master, TERMINAL_SIZE, struct.pack("HHHH", 48, 120, 0, 0))
        self.shown = ""

    def code(self, other_than=None):
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            codes = re.findall(r"\b([B-Z]{4}-[B-Z]{4})\b", re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", " ", self.shown))
            if codes and codes[-1] != other_than:
                return codes[-1]
            if select.select([self.master], [], [], 1)[0]:
                # Reading fails for a moment, when the unit hangs up the line at its start.
                with contextlib.suppress(OSError):
                    self.shown += os.read(self.master, 65536).decode(errors="replace")
        raise AssertionError(f"no code on the screen: {self.shown[-2000:]!r}")

    def close(self):
        os.close(self.master)


class UnifiedLimit:
    """A limit by systemd's MemoryMax."""

    def __init__(self, machine, unit, room):
        self.machine, self.unit = machine, unit
        group = machine.show(unit, "ControlGroup")
        self.events = f"/sys/fs/cgroup{group}/memory.events"
        limit = int(machine.show(unit, "MemoryCurrent")) + room
        self.before = machine.show(unit, "NRestarts")
        machine.run("systemctl", "set-property", "--runtime", unit, f"MemoryMax={limit}", "MemorySwapMax=0")

    def fill(self, port):
        return self.machine.fill(port)

    def kills(self):
        return "oom-kill" in self.machine.log(self.unit)

    def end(self):
        self.machine.run("systemctl", "revert", self.unit)


class GroupLimit:
    """A limit by a control group of version 1, where the container's systemd cannot use the memory controller."""

    def __init__(self, machine, pid, room):
        self.machine = machine
        lines = pathlib.Path("/proc/self/cgroup").read_text().splitlines()
        mine = next((line.split(":", 2)[2] for line in lines if "memory" in line.split(":")[1].split(",")), None)
        assert mine is not None, "this kernel has no memory controller"
        self.group = pathlib.Path(f"/sys/fs/cgroup/memory{mine}/regent-units-{os.getpid()}")
        self.group.mkdir()
        # Existing memory stays counted in the old group; the limit applies to new memory.
        (self.group / "memory.limit_in_bytes").write_text(str(room))
        (self.group / "cgroup.procs").write_text(str(machine.host_process(pid)))

    def fill(self, port):
        return self.machine.fill(port)

    def kills(self):
        return int(re.search(r"oom_kill (\d+)", (self.group / "memory.oom_control").read_text())[1])

    def end(self):
        until("the group is empty", lambda: not (self.group / "cgroup.procs").read_text())
        self.group.rmdir()


HOG = """
import socket, sys, time
head = b"POST /reggie/v1/acme/regcode HTTP/1.1\\r\\nHost: tv.example.org\\r\\nContent-Length: 262144\\r\\n\\r\\n"
held = []
while True:
  try:
    held.append(socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=5))
    held[-1].sendall(head + b"a" * 262000)
  except OSError:
    time.sleep(0.1)
"""
