"""Strings that loops exchange: the states of a machine."""

from __future__ import annotations

RATES = {"a": 1.0, "b": 2.0, "c": 4.0}


class Machine:
    def __init__(self):
        self.state = "idle"
        self.energy = 0.0

    def step(self, v):
        if self.state == "idle":
            if v > 1.5:
                self.state = "run"
        elif self.state == "run":
            self.energy += v
            if v > 3.5:
                self.state = "stop"


def two_states(x, n):
    state, count = "low", 0
    for v in x:
        if state == "low" and v > 2.5:
            state = "high"
            count += 1
        elif state == "high" and v < 3.5:
            state = "low"
    return count + (10.0 if state == "high" else 0.0) + x[0]


def three_states(x, n):
    state, total = "a", 0.0
    for v in x:
        if state == "a":
            total += v
            state = "b"
        elif state == "b":
            total += 2.0 * v
            state = "c"
        else:
            total += 3.0 * v
            state = "a"
    return total


def a_table_of_what_follows(x, n):
    follows = {"a": "b", "b": "c", "c": "a"}
    state, total = "a", 0.0
    for v in x:
        total += RATES[state] * v
        state = follows[state]
    return total


def read_after_the_loop_alone(x, n):
    state = "a"
    for v in x:
        state = "b" if v > 2.0 else "c"
    return RATES[state] * x[0]


def until_it_is_done(x, n):
    state, i, total = "run", 0, 0.0
    while state != "done":
        total += x[i]
        i += 1
        if i >= n or total > 20.0:
            state = "done"
    return total


def state_of_an_object(x, n):
    machine = Machine()
    for v in x:
        machine.step(v)
    return machine.energy + (100.0 if machine.state == "stop" else 0.0)


def state_in_a_dict(x, n):
    d = {"mode": "a", "total": 0.0}
    for v in x:
        d["total"] += v * RATES[d["mode"]]
        d["mode"] = "b" if d["mode"] == "a" else "c"
    return d["total"]


def of_an_inner_loop(x, n):
    total, state = 0.0, "a"
    for v in x:
        for w in x:
            state = "b" if w > v else "a"
        total += RATES[state] * v
    return total


def exchanged_for_each_other(x, n):
    one, two, total = "p", "q", 0.0
    for v in x:
        if one == "p":
            total += v
        one, two = two, one
    return total


def set_before_a_break(x, n):
    state, total = "go", 0.0
    for v in x:
        if v > 3.0:
            state = "stopped"
            break
        total += v
    return total + (50.0 if state == "stopped" else 0.0)


def many_states(x, n):
    state, total = "s0", 0.0
    for v in x:
        if state == "s0":
            state = "s1"
        elif state == "s1":
            state = "s2"
            total += v
        elif state == "s2":
            state = "s3" if v > 2.0 else "s0"
        elif state == "s3":
            state = "s4"
            total -= v
        else:
            state = "s0"
    return total + (7.0 if state == "s4" else 0.0)


def items_of_a_list(x, n):
    names, total = ["a", "b"], 0.0
    for v in x:
        if names[0] == "a":
            total += v
        names[0], names[1] = names[1], names[0]
    return total


def chosen_before_the_loop(x, n):
    state, total = ("a" if x[0] > 0.5 else "b"), 0.0
    for v in x:
        total += RATES[state] * v
        if v > 2.0:
            state = "c"
    return total


def compared_with_each_other(x, n):
    state, before, changes = "a", "b", 0
    for v in x:
        changes += 1 if state != before else 0
        before = state
        state = "a" if v < 2.0 else ("b" if v < 4.0 else "c")
    return changes * x[0], changes + (10.0 if state == before else 0.0)


def one_choice_after_the_other(x, n):
    state, total = "a", 0.0
    for k in range(4):
        for v in (x[0], x[1], x[2], 2.0 * x[0]):
            if state == "a" and v > k:
                state = "b"
            elif state == "b" and v > 1.5:
                state = "c"
            elif v < k:
                state = "a"
            total += RATES[state] * v
    return total


def none_at_first(x, n):
    state = None
    for v in x:
        if v > 2.0:
            state = "end"
    return x[0] if state is None else 2.0 * x[1]


def a_tuple_with_a_state(x, n):
    state = ("a", 0.0)
    for v in x:
        kind, total = state
        state = ("b" if kind == "a" else "a", total + v * RATES[kind])
    return state[1]


def printed(x, n):
    state = "start"
    for v in x:
        if v > 2.0:
            state = "end"
        print(state)
    return x[0]


RIGHT = [
    two_states,
    three_states,
    a_table_of_what_follows,
    read_after_the_loop_alone,
    until_it_is_done,
    state_of_an_object,
    state_in_a_dict,
    of_an_inner_loop,
    exchanged_for_each_other,
    set_before_a_break,
    many_states,
    items_of_a_list,
    chosen_before_the_loop,
    compared_with_each_other,
    one_choice_after_the_other,
]
EITHER = [none_at_first, a_tuple_with_a_state, printed]
