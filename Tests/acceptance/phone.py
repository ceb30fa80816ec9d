#!/usr/bin/env python3
"""The whole sign-in in Chromium with a real regentd and waiting boxes.

    phone.py PROGRAMS [--only STORY,STORY] [--times]

PROGRAMS is the folder with regentd and regentctl. Every page of a story is checked: axe-core in both colour schemes,
the validator, no message in the browser's log. Each story runs with scripts in English; the most important ones also
run in all languages, without scripts, and over https.
"""

import argparse
import pathlib
import sys
import tempfile
import time
import traceback

import pages
from browser import LANGUAGES, Phone
from phone_codes import deny, expired_code, family, live_result, number, race, scanned_link, typed_code, wrong_code
from phone_pages import (
    guest, keyboard, language_switch, no_frame, paints_first, screens, way_back, way_back_is_shut)
from phone_taps import held_key, rests
from service import Failure, Service

EVERYTHING = (
    typed_code, scanned_link, live_result, wrong_code, expired_code, deny, number, family, race, screens, guest,
    language_switch, way_back, keyboard, way_back_is_shut, no_frame, paints_first,
    rests, held_key)
IN_ALL_LANGUAGES = (typed_code, number, screens)
WITHOUT_SCRIPT = (typed_code, scanned_link, live_result, wrong_code, deny, number, screens, guest, way_back, way_back_is_shut,
                  rests, held_key)
OVER_HTTPS = (typed_code, scanned_link, screens, way_back_is_shut)
BELOW_A_PATH = (typed_code, scanned_link, screens, language_switch)


def runs():
    """The kind of service, with or without scripts, the language, and the stories."""
    yield "", True, "en", EVERYTHING
    for tag in LANGUAGES[1:]:
        yield "", True, tag, IN_ALL_LANGUAGES
    yield "", False, "en", WITHOUT_SCRIPT
    yield "https", True, "en", OVER_HTTPS
    yield "below /tv", True, "en", BELOW_A_PATH
    yield "below /tv, which the proxy takes away", False, "en", BELOW_A_PATH[:2]


def start(programs, kind):
    if kind.startswith("below"):
        return Service(programs, proxy="strips" if "takes" in kind else "keeps")
    return Service(programs, https=kind == "https")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("--only", type=lambda text: text.split(","))
    parser.add_argument("--times", action="store_true", help="print the seconds of each story")
    arguments = parser.parse_args()
    problems, told, sources = [], 0, []
    services, phones = {}, {}
    try:
        for kind, script, language, stories in runs():
            stories = [story for story in stories if not arguments.only or story.__name__ in arguments.only]
            if not stories:
                continue
            if kind not in services:
                services[kind] = start(arguments.programs, kind)
            if (kind, script) not in phones:
                phones[kind, script] = Phone(services[kind], script=script)
            phone = phones[kind, script]
            for story in stories:
                where = f"{story.__name__} ({language}{'' if script else ', no script'}{kind and ', ' + kind})"
                began = time.monotonic()
                told += 1
                try:
                    phone.fresh(language)
                    story(phone)
                except Exception as error:
                    detail = str(error) if isinstance(error, Failure) else traceback.format_exc()
                    problems.append(f"{where}: {detail}")
                if arguments.times:
                    print(f"{time.monotonic() - began:6.1f} s  {where}", flush=True)
                problems += [f"{where}: {problem}" for problem in phone.problems]
                problems += [f"{where}: browser: {message}" for message in phone.complaints()]
                phone.problems = []
    finally:
        for phone in phones.values():
            sources += phone.sources
            phone.driver.quit()
        for service in services.values():
            if code := service.stop():
                problems.append(f"regentd ended with {code}")
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for place, (name, source) in enumerate(sources):
            file = pathlib.Path(folder, f"{place}-{name}.html")
            file.write_text("<!DOCTYPE html>\n" + source if not source.startswith("<!") else source)
            names.append(file.name)
        problems += pages.check_markup(pathlib.Path(folder), names)
    for problem in problems:
        print(problem)
    print(f"{told} stories, {len(sources)} pages checked: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
