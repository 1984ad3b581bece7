"""Completes generated input of the admin API where JSON Schema cannot say what is valid.

Only input that is meant to be valid is changed: input that breaks the document is sent as it is.
Each function names the rule that a schema cannot hold.
"""

import json
import os
from decimal import Decimal

import callers  # noqa: F401 (it registers a check)
import generated
import schemathesis
from generated import printable
from schemathesis.generation import GenerationMode

# Ids of the tokens that the run uses: it would end without them.
PROTECTED = json.loads(os.environ["PROTECTED"])
CATALOGUE = os.environ["CATALOGUE"]
# Id in an example of the document → one that exists.
EXISTING = json.loads(os.environ["EXISTING"])
PRICES = '{"large-1":{"input_cost_per_token":0.000003,"output_cost_per_token":0.000015}}'


@schemathesis.hook
def before_call(ctx, case, kwargs):
    path = case.path_parameters
    if isinstance(path, dict) and path.get("id") in PROTECTED:
        path["id"] = "key_another"
    if isinstance(path, dict):
        for name, value in path.items():
            path[name] = EXISTING.get(value, value) if isinstance(value, str) else value
    if case.meta is None or case.meta.generation.mode is not GenerationMode.POSITIVE:
        return
    operation = case.operation.definition.raw["operationId"]
    if operation == "keys.find":
        # A search is for one thing.
        given = case.body if isinstance(case.body, dict) else {}
        one = {"hash": given["hash"]} if "hash" in given else {"head": "cr_ab12"}
        case.body, case.media_type = one, "application/json"
    if operation in ("session.begin", "session.oidc.begin"):
        # A page that signs in says so by its content type, also without a body.
        case.headers = {**(case.headers or {}), "Content-Type": "application/json"}
    if isinstance(case.query, dict):
        case.query = complete(operation, case.query)
    if operation.endswith(".retire"):
        # Others ask for the same entry.
        case.query = {**(case.query or {}), "dry_run": "true"}
    if isinstance(case.body, dict):
        case.body = complete(operation, case.body)
        name_what_exists(operation, case.body)
    if isinstance(path, dict):
        for name, value in path.items():
            path[name] = printable(value)


def complete(operation, given):
    fields = generated.complete(given)
    if operation == "reports.read":
        # No dimension stands twice.
        if "by" in fields:
            fields["by"] = ",".join(dict.fromkeys(fields["by"].split(",")))
        # A report is sorted by a key only where it has the key.
        if fields.get("sort") in DIMENSIONS and fields["sort"] not in fields.get("by", "day"):
            fields.pop("sort")
    # CSV has no pages.
    if fields.get("format") == "csv":
        fields.pop("limit", None)
        # Its order is its own, and it has no other period beside it.
        for name in ("sort", "order", "compare") if operation == "reports.read" else ():
            fields.pop(name, None)
    if operation == "notes.list":
        about_one_thing(fields)
    if operation == "accounts.create" and Decimal(str(fields.get("balance_usd", 0))) > 1000:
        # So that a later credit fits below the largest balance.
        fields["balance_usd"] = "25"
    if operation == "accounts.credit" and abs(Decimal(str(fields.get("amount_usd", 0)))) > 1000:
        # The balance stays in its range.
        fields["amount_usd"] = "12.5"
    if operation == "requests.refund" and "amount_usd" in fields:
        # A refund is at most the charge.
        fields["amount_usd"] = "0.000001"
    return fields


def name_what_exists(operation, fields):
    """Files have a content, and models exist."""
    if operation in ENTRIES:
        fields.clear()
        fields.update(ENTRIES[operation])
    if operation == "catalogue.apply":
        fields["text"] = CATALOGUE
    if operation == "prices.import":
        fields.update(text=PRICES, names={}, models=["large-1"])
    if operation == "reconciliations.create" and "vendor_counts" in fields:
        fields["vendor_counts"] = ["model,requests\nlarge-1,1\n"]
    elif operation == "reconciliations.create":
        # A result is accepted with the files that it is of.
        fields.pop("accept", None)
    if operation == "payments.compare":
        columns = "payment_intent_id,reporting_category,currency,gross"
        fields["text"] = f"{columns}\npi_example,charge,usd,25.00\n"
    if operation == "notes.add":
        about_one_thing(fields)
    if operation == "alerts.snooze":
        # For a time or until one.
        fields.pop("until", None)
        fields["for"] = "4h"
    if operation.startswith("keys.") and fields.get("models"):
        fields["models"] = ["large-1"]
    if operation == "alerts.create":
        fields["address"] = ADDRESSES.get(fields.get("format"), fields.get("address"))


def about_one_thing(fields):
    """A note is about an account, a key or a channel."""
    for name in ("key", "channel"):
        fields.pop(name, None)
    fields["account"] = "acme"


DIMENSIONS = ("day", "account", "key", "model", "channel", "label")

# Entries of the catalogue fit each other, and a small request needs no draft.
ENTRIES = {
    "catalogue.edit": {"channels": {"alpha-main": {"weight": 2}}},
    "vendors.create": {"name": "gamma", "format": "chat"},
    "vendors.edit": {"stored_responses": "own"},
    "models.create": {"id": "spare-0", "vendor": "alpha"},
    "models.edit": {"image_tokens": 5000},
    "channels.create": {
        "name": "spare",
        "vendor": "alpha",
        "url": "https://spare.example",
        "credential": "env:ALPHA_MAIN_KEY",
        "models": ["large-1"],
    },
    "channels.edit": {"weight": 2},
    "channels.test": {},
    "channels.models": {},
    "channels.replace_credential": {"credential": "a-vendor-canary", "force": True},
}

ADDRESSES = {
    "webhook": "https://hooks.example/alerts",
    "slack": "https://chat.example/hooks/1",
    "email": "ops@example.com",
}
