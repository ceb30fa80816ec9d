"""The faults of account.py: a full disk, a second daemon, a daemon that hangs, and malformed requests."""

import json
import os
import shutil
import signal
import socket
import subprocess

from account_world import LIMIT, wait


def a_full_disk_of_the_box_loses_no_decision(world, apps):
    """The box's folder is on a small disk, which is full."""
    place = f"{world.home}/box"
    world.daemon.kill()
    world.daemon.wait()
    shutil.move(place, f"{place}.kept")
    os.mkdir(place, 0o700)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k,mode=700", "tmpfs", place], capture_output=True).returncode:
        os.rmdir(place)
        shutil.move(f"{place}.kept", place)
        world.start_daemon()
        return print("   NOT RUN: this machine cannot mount a tmpfs")
    try:
        shutil.copytree(f"{place}.kept", place, dirs_exist_ok=True)
        world.start_daemon()
        app = apps[3]
        assert world.come_in(app, "after-the-full-disk-0") is True
        world.regent("sso", "reset", app.name)
        with open(f"{place}/filler", "wb", buffering=0) as filler:
            try:
                while True:
                    filler.write(b"x" * 4096)
            except OSError:
                pass
        said = world.regent("sso", "grant", app.name, fails=True)
        assert "could not be stored" in said, said
        assert app.ask("platform", "APP")["permission"] == "undetermined", "granted, and not on the disk"
        assert apps[4].ask("platform", "APP")["permission"] == "granted", "another's decision is gone"
        world.kill_daemon()
        assert app.ask("platform", "APP")["permission"] == "undetermined"
        # A sign-out needs no space, even while the service is down, and a restart does not undo it.
        world.service.kill()
        assert "signed out" in world.regent("sso", "sign-out")
        assert not world.is_signed_in()
        world.kill_daemon()
        assert not world.is_signed_in(), "a restart undoes a sign-out"
        world.start_service()
        wait(lambda: not world.is_in("after-the-full-disk-0"), "end of the app's sign-in")
        os.unlink(f"{place}/filler")
        # The daemon sees the next sign-in without a restart.
        world.sign_in()
        assert world.is_signed_in() and apps[4].ask("platform", "APP")["signedIn"]
        world.regent("sso", "grant", app.name)
        assert world.come_in(app, "after-the-full-disk") is True
        world.daemon.kill()
        world.daemon.wait()
        shutil.rmtree(f"{place}.kept")
        shutil.copytree(place, f"{place}.kept")
    finally:
        world.daemon.kill()
        world.daemon.wait()
        subprocess.run(["umount", place], check=True)
        os.rmdir(place)
        shutil.move(f"{place}.kept", place)
        world.start_daemon()


def a_second_daemon_is_refused(world, apps):
    """Two daemons on one state folder would each store decisions that the other does not know."""
    done = subprocess.run(
        [f"{world.programs}/regent", "daemon", "--config", f"{world.home}/agent.conf", "--socket", f"{world.home}/two.sock"],
        env=world.box, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode and f"(process {world.daemon.pid})" in done.stderr, f"{done.returncode}: {done.stderr}"


def the_command_names_a_daemon_that_hangs(world, apps):
    world.daemon.send_signal(signal.SIGSTOP)
    try:
        said = world.regent("sso", "status", fails=True)
    finally:
        world.daemon.send_signal(signal.SIGCONT)
    assert "does not answer" in said and "systemctl restart regent" in said, said


def malformed_requests_do_no_harm(world, apps):
    good = json.dumps({"requestor": "APP"}).encode()
    calls = ["status", "access", "account", "picker", "sign-out"]
    for number in range(world.count * 20):
        body = bytearray(good)
        kind = number % 6
        if kind == 0:
            body = bytearray(world.pick.randbytes(world.pick.randrange(300)))
        elif kind == 1:
            for _ in range(world.pick.randrange(1, 5)):
                body[world.pick.randrange(len(body))] = world.pick.randrange(256)
        elif kind == 2:
            body = bytearray(world.pick.choice([b"[", b'{"a":']) * world.pick.randrange(1, 10_000))
        elif kind == 3:
            body = bytearray(json.dumps({"requestor": world.pick.choice(["APP", "\u202eAPP", "A" * 60_000, 1, None, []]),
                                         "prompt": world.pick.choice([1, "true", None]), "provider": {}, "signIn": world.pick.choice(["x", 1]),
                                         "after": world.pick.choice([-1, 1 << 70, 1.5, "1"]), "wait": world.pick.choice([-1, 1 << 62]),
                                         "profileRequest": world.pick.choice(["===", "A" * 9_000, 7])}).encode())
        head = (f"POST /v1/platform/{world.pick.choice(calls)} HTTP/1.1\r\nHost: localhost\r\n"
                f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n").encode()
        data = head + bytes(body)
        if kind == 4:
            data = data[:world.pick.randrange(len(data))]
        if kind == 5:
            data = bytearray(data)
            for _ in range(world.pick.randrange(1, 4)):
                data[world.pick.randrange(len(head))] = world.pick.randrange(256)
        with socket.socket(socket.AF_UNIX) as one:
            one.settimeout(LIMIT)
            one.connect(world.socket)
            try:
                one.sendall(data)
                one.shutdown(socket.SHUT_WR)
                while one.recv(65536):
                    pass
            except (BrokenPipeError, ConnectionResetError):
                pass
        if number % 50 == 0:
            assert apps[5].ask("platform", "APP")["permission"] == "granted"
    assert world.daemon.poll() is None and apps[5].ask("platform", "APP")["permission"] == "granted"
    print(f"   {world.count * 20} malformed requests")
