"""The calls of a cluster with their answers, and the check whether one service on one machine could have answered so.

Each call is recorded with its begin, its end and its answer. For each device the checker looks for an order of its
calls in which a simple model of one sign-in gives the same answers: a call takes effect between its begin and its end,
a call without an answer after its begin or not at all. If there is no such order, an acknowledged change was lost or
was made twice.
"""

import itertools
import threading
import time
from dataclasses import dataclass, field, replace

FOREVER = float("inf")
# The seconds after an approval in which a node may still answer "not yet" from its cache: until it gets the change, or,
# when it is cut off, until it notices that.
UNHEARD = 3


@dataclass
class Call:
    """One call: `answer` is None if unknown, `told` is the value that came with it (a code, a sign-in)."""
    kind: str
    begin: float
    end: float = FOREVER
    answer: str | None = None
    told: str | None = None
    where: str = ""
    final: bool = False

    def __str__(self):
        end = "     ?" if self.end == FOREVER else f"{self.end:9.3f}"
        return f"{self.begin:9.3f} to {end} {self.where:>4} {self.kind} -> {self.answer} {self.told or ''}"


@dataclass(frozen=True)
class State:
    """The state of one device. `code` is the pending one, and `signed` the sign-in, once a client got it; `heard` is
    the time at which every node must know it. `unsaid` is the state before a change that was not acknowledged."""
    phase: str = "nothing"
    code: str | None = None
    signed: str | None = None
    heard: float = 0
    unsaid: "State | None" = None


def chain(state):
    """The state and its predecessors, from the newest to the last acknowledged one."""
    while state is not None:
        yield state
        state = state.unsaid


def after(state, call):
    """The states that the model may have after this answer; none if the model would have answered differently."""
    if call.kind == "loss":
        # A primary died with changes that its standby did not have: only unacknowledged changes may be lost.
        return list(chain(state))
    states = answered(state, call)
    if call.answer is None:
        return [changed if changed is state else replace(changed, unsaid=state) for changed in states]
    # An acknowledgement of a change also acknowledges all changes before it.
    return [replace(changed, unsaid=None) if call.answer == "yes" and call.kind != "poll" else changed for changed in states]


def answered(state, call):
    """The states after the answer, without regard to unacknowledged changes."""
    kind, answer = call.kind, call.answer
    if kind == "create":
        # A code that no client got cannot be used.
        return [State("waiting", call.told)] if answer in (None, "yes") else [state]
    if kind == "approve":
        waits = state.phase == "waiting" and state.code == call.told
        if answer == "refused":
            return [] if waits else [state]
        heard = (call.begin if call.end == FOREVER else call.end) + UNHEARD
        return [State("in", call.told, heard=heard)] if waits else ([] if answer == "yes" else [state])
    if kind == "withdraw":
        waits = state.phase == "waiting" and state.code == call.told
        if answer == "refused":
            return [] if waits else [state]
        return [State("ended", call.told)] if waits else ([] if answer == "yes" else [state])
    if kind == "poll":
        if answer == "yes":
            fits = state.phase == "in" and state.signed in (None, call.told)
            return [replace(state, signed=call.told)] if fits else []
        if answer == "no":
            # "Not yet" may be a moment old, but not at the end.
            return [] if state.phase == "in" and (call.begin > state.heard or call.final) else [state]
        if answer == "ended":
            return [] if state.phase in ("in", "waiting") else [state]
        return [state]
    if kind == "logout":
        if answer == "refused":
            return [] if state.phase == "in" else [state]
        return [State("out", state.code)] if state.phase == "in" else [state]
    raise ValueError(kind)


def has_order(calls):
    """Whether there is an order of the calls in which the model gives these answers."""
    calls = sorted((call for call in calls if call.answer is not None or call.kind != "poll"), key=lambda call: call.begin)
    whole, seen = (1 << len(calls)) - 1, set()
    optional = sum(1 << number for number, call in enumerate(calls) if call.answer is None)
    stack = [(0, State())]
    while stack:
        done, state = stack.pop()
        if done | optional == whole:
            return True
        if (done, state) in seen:
            continue
        seen.add((done, state))
        left = [number for number in range(len(calls)) if not done >> number & 1]
        # A call cannot take effect before another one that ended before its begin.
        first_end = min(calls[number].end for number in left)
        for number in left:
            if calls[number].begin > first_end:
                break
            for next_state in after(state, calls[number]):
                stack.append((done | 1 << number, next_state))
    return False


@dataclass
class History:
    """All calls, by device."""
    calls: dict = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, device, kind, where="", told=None, final=False):
        call = Call(kind, time.monotonic(), where=where, told=told, final=final)
        with self.lock:
            self.calls.setdefault(device, []).append(call)
        return call

    @staticmethod
    def end(call, answer, told=None):
        """Records the answer; None if the result of the call is unknown."""
        if answer is not None:
            call.end = time.monotonic()
            call.answer = answer
        if told is not None:
            call.told = told

    def lost(self, begin, end):
        """Records that a standby replaced a primary and may lack unacknowledged changes of this time."""
        with self.lock:
            for calls in self.calls.values():
                calls.append(Call("loss", begin, end, "yes"))

    def failures(self):
        """The devices whose calls have no order, each with its calls, as text."""
        found = []
        for device, calls in self.calls.items():
            if not has_order(calls):
                zero = calls[0].begin
                lines = [str(Call(c.kind, c.begin - zero, c.end - zero, c.answer, c.told, c.where, c.final)) for c in sorted(calls, key=lambda c: c.begin)]
                found.append(f"{device}:\n" + "\n".join(f"  {line}" for line in lines))
        return found


def prove_itself():
    """Checks the checker with histories that are known to be possible or impossible."""
    def told(*calls):
        clock = itertools.count()
        made = []
        for kind, answer, *rest in calls:
            begin = next(clock)
            if kind == "later":
                clock = itertools.count(begin + 10)
                continue
            made.append(Call(kind, begin, FOREVER if answer is None else next(clock), answer, *rest))
        return made

    fine = {
        "a sign-in and a sign-out": told(("create", "yes", "K"), ("poll", "no"), ("approve", "yes", "K"), ("poll", "yes", "1"),
                              ("poll", "yes", "1"), ("logout", "yes"), ("poll", "no")),
        "an approval without an answer that was made": told(("create", "yes", "K"), ("approve", None, "K"), ("poll", "yes", "1")),
        "an approval without an answer that was not made": told(("create", "yes", "K"), ("approve", None, "K"), ("withdraw", "yes", "K"), ("poll", "ended")),
        "an approval without an answer that was made late": told(("create", "yes", "K"), ("approve", None, "K"), ("poll", "no"), ("poll", "yes", "1")),
        "a not-yet answer that is a moment old": told(("create", "yes", "K"), ("approve", "yes", "K"), ("poll", "no"), ("poll", "yes", "1")),
        "a sign-in, and a node that does not know it yet": told(("create", "yes", "K"), ("approve", "yes", "K"), ("poll", "yes", "1"), ("poll", "no")),
        "an unacknowledged approval, lost with the primary": told(
            ("create", "yes", "K"), ("approve", None, "K"), ("poll", "yes", "1"), ("loss", "yes"), ("poll", "no", None, "", True)),
        "two unacknowledged changes, both lost": told(
            ("create", "yes", "K"), ("approve", None, "K"), ("poll", "yes", "1"), ("logout", None), ("loss", "yes"),
            ("withdraw", "yes", "K"), ("poll", "ended")),
        "two unacknowledged changes, one lost": told(
            ("create", "yes", "K"), ("approve", None, "K"), ("poll", "yes", "1"), ("logout", None), ("poll", "no"), ("loss", "yes"),
            ("later", ""), ("poll", "yes", "1")),
        "a second approval": told(("create", "yes", "K"), ("approve", "yes", "K"), ("approve", "refused", "K")),
    }
    wrong = {
        "a lost code": told(("create", "yes", "K"), ("approve", "refused", "K")),
        "a lost approval": told(("create", "yes", "K"), ("approve", "yes", "K"), ("poll", "no", None, "", True)),
        "an acknowledged approval, lost with the primary": told(
            ("create", "yes", "K"), ("approve", "yes", "K"), ("loss", "yes"), ("poll", "no", None, "", True)),
        "a lost approval that a later answer depended on": told(
            ("create", "yes", "K"), ("approve", None, "K"), ("poll", "yes", "1"), ("logout", "yes"), ("loss", "yes"),
            ("poll", "yes", "1")),
        "an acknowledged code, lost with the primary": told(("create", "yes", "K"), ("loss", "yes"), ("approve", "refused", "K")),
        "a sign-in that was seen after the loss, and is lost": told(
            ("create", "yes", "K"), ("approve", None, "K"), ("loss", "yes"), ("poll", "yes", "1"), ("later", ""),
            ("poll", "no", None, "", True)),
        "two sign-ins for one code": told(("create", "yes", "K"), ("approve", "yes", "K"), ("poll", "yes", "1"), ("poll", "yes", "2")),
        "signed in after the sign-out": told(("create", "yes", "K"), ("approve", "yes", "K"), ("poll", "yes", "1"), ("logout", "yes"),
                                         ("poll", "yes", "1")),
        "signed in after the withdrawal": told(("create", "yes", "K"), ("withdraw", "yes", "K"), ("poll", "yes", "1")),
        "approved twice": told(("create", "yes", "K"), ("approve", "yes", "K"), ("approve", "yes", "K")),
        "signed out without a sign-out": told(("create", "yes", "K"), ("approve", "yes", "K"), ("poll", "yes", "1"), ("later", ""),
                                 ("poll", "no")),
        "ended without a withdrawal": told(("create", "yes", "K"), ("poll", "ended")),
        "withdrawn and approved": told(("create", "yes", "K"), ("withdraw", "yes", "K"), ("approve", "yes", "K")),
    }
    for name, calls in fine.items():
        assert has_order(calls), f"the checker refuses {name}"
    for name, calls in wrong.items():
        assert not has_order(calls), f"the checker accepts {name}"


if __name__ == "__main__":
    prove_itself()
    print("the checker accepts possible histories and refuses impossible ones")
