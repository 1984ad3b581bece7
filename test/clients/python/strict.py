"""Reads recorded connections with h11: answers as a strict client, requests as a strict server.

Standard input has one JSON document: `answers`, each with a name, the methods of its requests and the bytes
that came back up to the end of the connection, and whether the last of them `isCut` and must be seen to be;
and `requests`, each with the bytes that a vendor received on
one connection. Standard output gets the numbers of messages, and each fault with its name.
"""

import base64
import json
import sys

import h11


def read_message(connection):
    """Returns the first event of the next whole message; None where the connection has ended before it."""
    first = None
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            if first is not None:
                raise ValueError("the message is not complete")
            return None
        if isinstance(event, h11.ConnectionClosed):
            if first is not None:
                raise ValueError("the message is not complete")
            return None
        if isinstance(event, (h11.Request, h11.Response)):
            first = event
        if isinstance(event, h11.EndOfMessage):
            return first


def read_part(connection):
    """Reads a proper head and a part of a body; fails where a client could take it for the whole one."""
    while not isinstance(connection.next_event(), h11.Data):
        pass
    try:
        while not isinstance(connection.next_event(), h11.EndOfMessage):
            pass
    except h11.RemoteProtocolError as fault:
        if "closed connection" in str(fault):
            return
        raise
    raise ValueError("a cut answer looks complete")


def read_answers(recorded):
    connection = h11.Connection(h11.CLIENT)
    connection.receive_data(base64.b64decode(recorded["bytes"]))
    connection.receive_data(b"")
    count = 0
    for method in recorded["methods"]:
        request = h11.Request(method=method, target="/", headers=[("host", "gateway")])
        connection.send(request)
        connection.send(h11.EndOfMessage())
        count += 1
        if recorded["isCut"] and count == len(recorded["methods"]):
            read_part(connection)
            return count
        if read_message(connection) is None:
            raise ValueError(f"{count - 1} answers for {len(recorded['methods'])} requests")
        if count < len(recorded["methods"]):
            connection.start_next_cycle()
    if connection.trailing_data[0] != b"":
        raise ValueError("bytes follow the last answer")
    return count


def read_requests(recorded):
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(base64.b64decode(recorded["bytes"]))
    count = 0
    while True:
        if read_message(connection) is None:
            return count
        count += 1
        connection.send(h11.Response(status_code=200, headers=[("content-length", "0")]))
        connection.send(h11.EndOfMessage())
        if connection.our_state is not h11.DONE or connection.their_state is not h11.DONE:
            return count
        connection.start_next_cycle()


def read_all(recordings, read, faults):
    count = 0
    for recorded in recordings:
        try:
            count += read(recorded)
        except (h11.ProtocolError, ValueError) as fault:
            faults.append({"name": recorded["name"], "fault": str(fault)})
    return count


faults = []
recorded = json.load(sys.stdin)
answers = read_all(recorded["answers"], read_answers, faults)
requests = read_all(recorded["requests"], read_requests, faults)
json.dump({"answers": answers, "requests": requests, "faults": faults}, sys.stdout)
