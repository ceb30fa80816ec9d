"""A TCP proxy between a browser and the service that drops one response, after the service has processed the form."""

import copy
import socket
import threading
import urllib.parse


class Losing:
    """Listens on a loopback port, with plain http, so that it can recognize requests."""

    def __init__(self, service):
        place = urllib.parse.urlsplit(service.url)
        self.target = place.hostname, place.port
        self.listener = socket.create_server(("127.0.0.1", 0))
        # The service at the address of this proxy.
        self.service = copy.copy(service)
        self.service.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.armed, self.silent, self.lost = False, False, threading.Event()
        threading.Thread(target=self.accept, daemon=True).start()

    def lose(self, silent):
        """Drops the response to the next form: the connection stays open in silence, or is closed."""
        self.lost.clear()
        self.armed, self.silent = True, silent

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        server = socket.create_connection(self.target)
        doomed = threading.Event()
        answers = threading.Thread(target=self.answers, args=(client, server, doomed), daemon=True)
        answers.start()
        try:
            while data := client.recv(65536):
                # The page's script renews its lease by itself; that is not a form of the viewer's.
                if self.armed and data.startswith(b"POST ") and b"/renew " not in data.split(b"\r\n")[0]:
                    self.armed = False
                    doomed.set()
                server.sendall(data)
        except OSError:
            pass
        finally:
            end(server)
            answers.join()
            client.close()
            server.close()

    def answers(self, client, server, doomed):
        try:
            while data := server.recv(65536):
                if not doomed.is_set():
                    client.sendall(data)
                    continue
                self.lost.set()
                if not self.silent:
                    break
        except OSError:
            pass
        # A silent connection stays open until the browser closes it.
        if not (doomed.is_set() and self.silent):
            end(client)

    def stop(self):
        self.listener.close()


def end(connection):
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
