#!/usr/bin/env python3
"""Whether the time of a refused sign-in tells an unknown name from a wrong password or a locked account.

    timing.py PROGRAMS [--samples 1000]

Real sign-ins over one connection to a real regentd, the three kinds in random order, each from an address of its own.
The Mann-Whitney test compares each two kinds; below p = 0.01 somebody could tell them apart.
"""

import argparse
import html
import http.client
import itertools
import math
import pathlib
import random
import re
import sys
import time
import urllib.parse

from service import PASSWORD, Service

# A name may be wrong so often before it has to wait.
TRIES_OF_A_NAME = 4
LEAST_P = 0.01


def ranks(values):
    """The rank of each value, equal ones sharing theirs."""
    order = sorted(range(len(values)), key=values.__getitem__)
    found = [0.0] * len(values)
    for _, group in itertools.groupby(enumerate(order), key=lambda pair: values[pair[1]]):
        group = list(group)
        for _, place in group:
            found[place] = (group[0][0] + group[-1][0]) / 2 + 1
    return found


def mann_whitney(one, other):
    """The two-sided p value, by the normal approximation: right for hundreds of samples."""
    both = ranks(one + other)
    n, m = len(one), len(other)
    u = sum(both[:n]) - n * (n + 1) / 2
    z = (u - n * m / 2) / math.sqrt(n * m * (n + m + 1) / 12)
    return math.erfc(abs(z) / math.sqrt(2))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("--samples", type=int, default=1000)
    arguments = parser.parse_args()
    service = Service(arguments.programs, options=("--trust-proxy", "127.0.0.0/8"))
    try:
        names = math.ceil(arguments.samples / TRIES_OF_A_NAME)
        for number in range(names):
            for kind in ("wrong", "locked"):
                service.control("account", "add", "aurora", f"{kind}-{number:04}", text=PASSWORD + "\n")
            service.control("account", "disable", "aurora", f"locked-{number:04}")
        place = urllib.parse.urlsplit(service.url)
        connection = http.client.HTTPConnection(place.hostname, place.port)
        connection.request("GET", "/sign-in/aurora")
        answer = connection.getresponse()
        token = html.unescape(re.search(r'name="csrf" value="([^"]*)"', answer.read().decode())[1])
        cookie = answer.headers["Set-Cookie"].split(";")[0]

        tries = [(kind, number % names) for kind in ("none-", "wrong", "locked") for number in range(arguments.samples)]
        random.shuffle(tries)
        times = {"none-": [], "wrong": [], "locked": []}
        for count, (kind, number) in enumerate(tries):
            body = urllib.parse.urlencode({
                "csrf": token, "user": f"{kind}-{number:04}",
                "password": PASSWORD if kind == "locked" else "not this one"})
            source = f"10.{count >> 16 & 255}.{count >> 8 & 255}.{count & 255}"
            start = time.perf_counter()
            connection.request("POST", "/sign-in/aurora", body, {
                "Content-Type": "application/x-www-form-urlencoded", "Cookie": cookie, "X-Forwarded-For": source})
            answer = connection.getresponse()
            answer.read()
            times[kind].append(time.perf_counter() - start)
            if answer.status != 403:
                sys.exit(f"timing.py: {kind} got {answer.status}")
    finally:
        service.stop()
    for kind, found in times.items():
        found.sort()
        middle, late = found[len(found) // 2] * 1000, found[len(found) * 9 // 10] * 1000
        print(f"{kind.strip('-'):8} p50 {middle:7.2f} ms   p90 {late:7.2f} ms")
    bad = 0
    for one, other in itertools.combinations(times, 2):
        p = mann_whitney(times[one], times[other])
        bad += p < LEAST_P
        print(f"{one.strip('-')} and {other.strip('-')}: p = {p:.3f}{'' if p >= LEAST_P else ', they can be told apart'}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
