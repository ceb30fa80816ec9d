"""Files that survive a kill at any moment and that only their owner can read: the device id, the key pair, the sign-in.

A file is written under another name, forced to disk and renamed: a reader sees the old content or the new one, never a
part. Files are opened with mode 0600 and not protected by a umask, because a umask would apply to all of Kodi.
"""

import contextlib
import errno
import json
import os
import stat
import threading
import time

from .daemon import RegentError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

# The longest file that is read, in bytes. This module's files are much shorter, so a longer one is not its own.
_LONGEST = 65536
_WITHOUT_FILES = {}
_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class Storage:
    """A folder with one JSON object in each file."""

    def __init__(self, folder):
        self.folder = folder

    def read(self, name):
        """The object in a file, or None if the file does not exist or contains no object."""
        try:
            descriptor = os.open(self._place(name), os.O_RDONLY | _FLAGS)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _failure(error) from None
        with open(descriptor, "rb") as file:
            try:
                if stat.S_IMODE(os.fstat(descriptor).st_mode) & 0o077 and hasattr(os, "fchmod"):
                    # Another program may have copied the file with its own umask.
                    os.fchmod(descriptor, 0o600)
            except OSError:
                pass  # Some storage has no permissions, such as an SD card of Android.
            text = file.read(_LONGEST)
        try:
            found = json.loads(text.decode("utf-8"))
        except ValueError:
            return None
        return found if isinstance(found, dict) else None

    def write(self, name, content):
        """Replaces the file; when this returns the content is on the disk."""
        with self.locked("lock", 20):
            self._replace(self._place(name), content)

    def _replace(self, place, content):
        draft = place + ".new"
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            # A leftover of a process that was killed. This process holds the lock, so no other one is writing the
            # file.
            with contextlib.suppress(FileNotFoundError):
                os.remove(draft)
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600)
            with open(descriptor, "wb") as file:
                file.write(json.dumps(content, sort_keys=True).encode("ascii"))
                file.flush()
                os.fsync(descriptor)
            os.replace(draft, place)
            self._flush()
        except OSError as error:
            with contextlib.suppress(OSError):
                os.remove(draft)
            raise _failure(error) from None

    def remove(self, name):
        try:
            os.remove(self._place(name))
            self._flush()
        except FileNotFoundError:
            pass
        except OSError as error:
            raise _failure(error) from None

    @contextlib.contextmanager
    def locked(self, name, patience):
        """Locks out other threads, add-ons and processes; raises RegentError("busy") after `patience` seconds.

        It locks a file, because each add-on of Kodi has its own Python interpreter. The system releases the lock when
        the process ends."""
        end = time.monotonic() + patience
        if fcntl is None:
            lock = _WITHOUT_FILES.setdefault(name, threading.Lock())
            if not lock.acquire(timeout=max(patience, 0.1)):
                raise _busy()
            try:
                yield
            finally:
                lock.release()
            return
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            descriptor = os.open(self._place(name), os.O_RDWR | os.O_CREAT | _FLAGS, 0o600)
        except OSError as error:
            raise _failure(error) from None
        try:
            while not _is_locked(descriptor):
                if time.monotonic() >= end:
                    raise _busy()
                time.sleep(0.02)
            yield
        finally:
            os.close(descriptor)

    def _place(self, name):
        return os.path.join(self.folder, name)

    def _flush(self):
        """Forces a rename to disk, on systems on which a folder can be opened."""
        try:
            descriptor = os.open(self.folder, os.O_RDONLY)
        except OSError:
            return
        try:
            with contextlib.suppress(OSError):
                os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _is_locked(descriptor):
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        # Some file systems have no locks; then this works without a lock.
        return error.errno not in (errno.EWOULDBLOCK, errno.EACCES)
    return True


def _failure(error):
    return RegentError("storage", f"this device cannot store anything: {error.strerror or error}", "free some space", 1)


def _busy():
    return RegentError("busy", "another add-on signs this device in just now", "wait until it has finished", 1)
