"""Sends each generated request again as every other caller, and compares the answer with the caller's rights.

A caller without the right is refused; where the request is wrong for every caller, the answer may say that
instead. No caller gets a 5xx, and each answer conforms to the document. What each caller may do comes with
the callers, from the rows of the program.
"""

import atexit
import itertools
import json
import os

import requests
import schemathesis
from schemathesis.specs.openapi import checks as conformance

# From a file, one for each account: name of a caller → {"headers", "may", "skips"}. `may` has the operations that it may
# call, `skips` those that would end the run.
with open(os.environ["CALLERS"], encoding="utf-8") as given:
    GROUPS = json.load(given)
# Says to which of them the first caller belongs.
GROUP_HEADER = "X-Test-Group"
ANSWER_CHECKS = [
    conformance.status_code_conformance,
    conformance.content_type_conformance,
    conformance.response_headers_conformance,
    conformance.response_schema_conformance,
]
CREDENTIAL_HEADERS = ("Authorization", "Cookie", "X-Api-Key")

# Whether every caller sends every request. Otherwise all send the first that succeeds of an operation, and one
# in turn any other.
SENDS_ALL = os.environ["SENDS_ALL"] == "yes"

figures = {name: {"sent": 0, "done": 0, "refused": 0} for name in GROUPS[0]}
connections = requests.Session()
turns = itertools.count()
# Operations that have succeeded once.
succeeded = set()
# Operation and status of refusals whose form was checked: they do not differ.
checked = set()


@schemathesis.check
def each_caller_has_its_own_rights(ctx, response, case):
    request = response.request
    # Another method of the same path is another operation.
    if request.method != case.operation.method.upper():
        return
    operation = case.operation.definition.raw["operationId"]
    group = GROUPS[int(request.headers.get(GROUP_HEADER, 0))]
    for name in names_for(operation, response):
        caller = group[name]
        if operation in caller["skips"] or is_by(caller, request):
            continue
        answer = send_again(request, caller["headers"])
        compare(name, caller, operation, response, answer)
        form = (operation, answer.status_code)
        if answer.status_code in (401, 403) and form in checked:
            continue
        case.validate_response(answer, checks=ANSWER_CHECKS)
        checked.add(form)


def names_for(operation, response):
    if SENDS_ALL:
        return list(figures)
    if response.status_code < 300 and operation not in succeeded:
        succeeded.add(operation)
        return list(figures)
    names = list(figures)
    return [names[next(turns) % len(names)]]


def compare(name, caller, operation, first, answer):
    status = answer.status_code
    figures[name]["sent"] += 1
    figures[name]["done"] += status < 300
    figures[name]["refused"] += status in (401, 403)
    assert status < 500, f"{name} gets {status} of {operation}: {answer.text}"
    if operation in caller["may"]:
        return
    is_wrong_for_all = status == first.status_code and status >= 400
    is_refused = status in (401, 403) or is_wrong_for_all
    assert is_refused, f"{name} may not call {operation}: {status} {answer.text}"


def is_by(caller, request):
    given = caller["headers"]
    return given and all(request.headers.get(name) == value for name, value in given.items())


def send_again(request, headers):
    again = request.copy()
    for name in CREDENTIAL_HEADERS:
        again.headers.pop(name, None)
    again.headers.update(headers)
    return connections.send(again, timeout=60, allow_redirects=False)


@atexit.register
def write_figures():
    with open(os.environ["FIGURES"], "w", encoding="utf-8") as file:
        json.dump(figures, file)
