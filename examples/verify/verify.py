"""Checks a statement of Turnpike without the gateway: python3 verify.py FILE [--key KEY] [--older FILE]

FILE is a statement as JSON. The new one must continue an older one. Rules: docs/verify.md. Needs Python 3.8 alone.
"""
import argparse, json, sys
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256, sha512

# --- Ed25519 (RFC 8032, section 5.1): points as (X, Y, Z, T) with x = X/Z, y = Y/Z, xy = T/Z -------------------
P, ORDER = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P

def add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]), (p[1] + p[0]) * (q[1] + q[0])
    c, d = 2 * D * p[3] * q[3], 2 * p[2] * q[2]
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P
def multiply(number, point):
    result = (0, 1, 1, 0)
    for bit in bin(number)[2:]:
        result = add(add(result, result), point) if bit == "1" else add(result, result)
    return result
def point_of(data):
    y, sign = int.from_bytes(data, "little") & (2**255 - 1), data[31] >> 7
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    x = x if x * x % P == square else x * pow(2, (P - 1) // 4, P) % P
    if y >= P or x * x % P != square or (x == 0 and sign):
        raise ValueError("no point of the curve")
    x = P - x if x & 1 != sign else x
    return x, y, 1, x * y % P

def is_signed(public_key, text, signature):
    try:
        key, signature = bytes.fromhex(public_key), bytes.fromhex(signature)
        r, s = signature[:32], int.from_bytes(signature[32:], "little")
        k = int.from_bytes(sha512(r + key + text.encode()).digest(), "little") % ORDER
        left, right = multiply(s, point_of(bytes([88] + 31 * [102]))), add(point_of(r), multiply(k, point_of(key)))
    except (ValueError, TypeError, IndexError):
        return False
    is_same = all((left[i] * right[2] - right[i] * left[2]) % P == 0 for i in (0, 1))
    return is_same and s < ORDER and len(key + signature) == 96

# --- the books -------------------------------------------------------------------------------------------------
USES = ("web_search", "file_search", "code_interpreter", "image_generation")
problems = []
digest = lambda text: sha256(text.encode()).hexdigest()
picos = lambda usd: int(Decimal(usd).scaleb(12))
moment = lambda text: datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ")
form = lambda name, **members: json.dumps({"form": name, **members}, ensure_ascii=False, separators=(",", ":"))

def amount_of(bill):
    total = Fraction(int(bill.get("fee", 0)))
    for part in bill["parts"]:
        factor = Fraction(1)
        for _kind, _name, millionths in part.get("modifiers", []):
            factor *= Fraction(millionths, 10**6)
        for price_class, count, price in part["lines"]:
            total += count * int(price) * (1 if price_class in USES else factor)
    amount = -int(-total * Fraction(bill.get("multiplier", 10**6), 10**6) // 1)
    return min(amount, int(bill["cap"])) if "cap" in bill else amount

def check_sums(statement):
    balance = picos(statement["opening_balance"])
    for line in statement["entries"]:
        balance += picos(line["amount"])
        if balance != picos(line["balance"]):
            problems.append(f"{line['reference']}: the balance after the line is not the sum")
    if balance != picos(statement["closing_balance"]):
        problems.append("the lines do not add up to the closing balance")

def leaf_of(account, line):
    proof, name = line["proof"], line["reference"]
    if proof["bill"] is not None:
        if digest(proof["bill"]) != proof["bill_hash"]:
            problems.append(f"{name}: the bill is not the one that was sealed")
        if -picos(line["amount"]) != amount_of(json.loads(proof["bill"])):
            problems.append(f"{name}: counts × prices are not the amount")
    return digest(form("turnpike-entry-1", account=account, place=str(proof["place"]),
                       sequence=str(line["sequence"]), kind=line["kind"], reference=name,
                       amount=str(picos(line["amount"])), at=line["at"], bill=proof["bill_hash"]))

def trusted_keys(keys, trusted):
    """The keys that lead from the trusted one, each signed by one before it; without one, from the first."""
    found = {}
    for key in keys:
        signer = found.get(key["signed_by"])
        text = form("turnpike-key-1", key=key["id"], public_key=key["public_key"], created=key["created_at"])
        is_start = trusted in (key["id"], key["public_key"]) if trusted else key is keys[0]
        if sha256(bytes.fromhex(key["public_key"])).hexdigest()[:16] != key["id"]:
            problems.append(f"the id of key {key['id']} is not that of its bytes")
        elif is_start or (signer and is_signed(signer, text, key["signature"])):
            found[key["id"]] = key["public_key"]
    return found

def check_chain(statement, trusted):
    account, proof = statement["account_id"], statement["proof"] or {"heads": [], "gaps": [], "keys": []}
    lines = {line["proof"]["place"]: line for line in statement["entries"] if line["proof"]}
    leaves = {gap["place"]: gap["leaf"] for gap in proof["gaps"]}
    leaves.update((place, leaf_of(account, line)) for place, line in lines.items())
    keys, hashes, before = trusted_keys(proof["keys"], trusted), {}, {"count": 0, "sum": "0", "hash": "00" * 32}
    for head in proof["heads"]:
        text = form("turnpike-head-1", account=account, hour=head["hour"], count=str(head["count"]),
                    sum=str(picos(head["sum"])), hash=head["hash"], key=head["key"])
        if not is_signed(keys.get(head["key"], ""), text, head["signature"]):
            problems.append(f"the head of {head['hour']} is not signed by a key that you can trust")
        places = range(before["count"] + 1, head["count"] + 1)
        if places and (places[0] in leaves or places[-1] in leaves):
            value = bytes.fromhex(before["hash"])
            for place in places:
                value = sha256(value + bytes.fromhex(leaves.get(place, ""))).digest()
                hashes[place] = value.hex()
                if place in lines and lines[place]["proof"]["hash"] != value.hex():
                    problems.append(f"place {place}: the line does not follow from the lines before it")
            if value.hex() != head["hash"]:
                problems.append(f"the head of {head['hour']} is not the end of its lines")
            amounts = [picos(lines[place]["amount"]) for place in places if place in lines]
            if len(amounts) == len(places) and picos(before["sum"]) + sum(amounts) != picos(head["sum"]):
                problems.append(f"the head of {head['hour']} has another sum than its lines")
        before, hashes[head["count"]] = head, head["hash"]
    problems.extend(f"place {place}: no signed head in the file proves it" for place in lines if place not in hashes)
    problems.extend(f"{line['reference']}: the line is older than a signed head and is not sealed"
                    for line in statement["entries"] if proof["heads"] and not line["proof"]
                    and moment(line["at"]) < moment(proof["heads"][-1]["hour"]) - timedelta(hours=2))
    return hashes

def check_continues(older, statement, hashes):
    heads = (older["proof"] or {"heads": []})["heads"]
    if older["account_id"] != statement["account_id"] or not heads:
        return problems.append("the older statement is of another account, or has no signed head")
    if heads[-1]["count"] not in hashes:
        problems.append("the newer statement does not reach back to the last head of the older one")
    problems.extend(f"the head of {head['hour']} that you kept is not in the newer books"
                    for head in heads if hashes.get(head["count"], head["hash"]) != head["hash"])

parser = argparse.ArgumentParser()
parser.add_argument("file")
parser.add_argument("--key", help="the public key, or its id, that you trust")
parser.add_argument("--older", help="a statement that the new one must continue")
options = parser.parse_args()
statement = json.load(open(options.file, encoding="utf-8"))
check_sums(statement)
hashes = check_chain(statement, options.key)
if options.older:
    check_continues(json.load(open(options.older, encoding="utf-8")), statement, hashes)
sealed = sum(1 for line in statement["entries"] if line["proof"])
print(*problems, f"{len(statement['entries'])} lines, {sealed} of them sealed, {len(problems)} problems", sep="\n")
sys.exit(1 if problems else 0)
