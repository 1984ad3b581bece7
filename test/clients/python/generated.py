"""Completes generated values that are meant to be valid, where JSON Schema cannot say what is valid."""

import re
import unicodedata
from datetime import date, timedelta


def complete(given):
    """Rules that hold for the fields of every API."""
    fields = printable(given)
    # A cursor comes from the page before.
    fields.pop("cursor", None)
    # A revision comes from an answer.
    fields.pop("revision", None)
    order_times(fields)
    for name in ("name", "reference"):
        # Names do not look like ids, and references do not look like those of charges and refunds.
        if re.match("(acc|key|tgt|ex)_|refund:", str(fields.get(name))):
            fields[name] = "x" + fields[name][:60]
    if fields.get("ip"):
        # Addresses, not only their characters.
        fields["ip"] = ["192.0.2.0/24"]
    return fields


def order_times(fields):
    """A period ends after it begins and is not removed yet; new prices and expiries are later than now."""
    today = date.today()
    for name, day in (("from", today - timedelta(days=7)), ("to", today)):
        if name in fields:
            fields[name] = day.isoformat()
    for name in ("expires", "valid_from"):
        if fields.get(name):
            fields[name] = "2090-01-01"


def printable(value):
    """Schemathesis takes some code points for printable that Unicode has not assigned."""
    if isinstance(value, dict):
        return {printable(name): printable(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [printable(inner) for inner in value]
    if not isinstance(value, str):
        return value
    kept = "".join("x" if unicodedata.category(c)[0] in "CZ" and c != " " else c for c in value)
    return unicodedata.normalize("NFC", kept)
