"""Sends the credential that each operation of the account holder's APIs needs, and completes generated input.

The figures below /v1/usage need a read-only token; the member API needs the session of the page itself.
"""

import itertools
import json
import os

import callers
import generated
import schemathesis
from generated import printable
from schemathesis.generation import GenerationMode

# Ids of the members whose sessions the run uses: it would end without them.
PROTECTED = json.loads(os.environ["PROTECTED"])
# For each account: id in an example of the document → one that exists.
EXISTING = json.loads(os.environ["EXISTING"])
# Top-up codes that are not redeemed.
CODES = json.loads(os.environ["CODES"])
# The headers of a member whose sessions the run may end.
LEAVER = json.loads(os.environ["LEAVER"])

# The next account for each request: one account has a number of questions a minute.
turns = itertools.cycle(range(len(callers.GROUPS)))


@schemathesis.hook
def before_call(ctx, case, kwargs):
    operation = case.operation.definition.raw["operationId"]
    turn = next(turns)
    credential = credential_for(operation, callers.GROUPS[turn])
    case.headers = {**(case.headers or {}), **credential, callers.GROUP_HEADER: str(turn)}
    path = case.path_parameters
    if isinstance(path, dict):
        for name, value in path.items():
            if isinstance(value, str):
                existing = EXISTING[turn].get(value, value)
                path[name] = "mem_another" if value in PROTECTED else existing
    if case.meta is None or case.meta.generation.mode is not GenerationMode.POSITIVE:
        return
    if isinstance(case.query, dict):
        case.query = complete(operation, case.query)
    if isinstance(case.body, dict):
        case.body = complete(operation, case.body)
    if isinstance(path, dict):
        for name, value in path.items():
            path[name] = printable(value)


def credential_for(operation, group):
    if operation.startswith("usage."):
        return group["reader"]["headers"]
    if operation in group["owner"]["skips"]:
        return LEAVER
    return group["owner"]["headers"]


def complete(operation, given):
    fields = generated.complete(given)
    if fields.get("models"):
        fields["models"] = ["large-1"]
    if operation in ("own.redeemCode", "own.sign_up") and "code" in fields and CODES:
        # A code has a check digit, and is good once.
        fields["code"] = CODES.pop() if operation == "own.redeemCode" else CODES[0]
    if operation == "own.beginCheckout" and "amount_usd" in fields:
        # Whole cents, within the bounds of the settings.
        fields["amount_usd"] = "25"
    return fields
