"""Decodes OTLP requests, one per line in base64, with the official classes, and prints each span as JSON."""

import base64
import json
import sys

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


def plain(value):
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [plain(one) for one in value.array_value.values]
    return getattr(value, kind)


def attributes(pairs):
    return {pair.key: plain(pair.value) for pair in pairs}


spans = []
for line in sys.stdin:
    request = ExportTraceServiceRequest.FromString(base64.b64decode(line))
    for of_resource in request.resource_spans:
        for of_scope in of_resource.scope_spans:
            for span in of_scope.spans:
                spans.append(
                    {
                        "resource": attributes(of_resource.resource.attributes),
                        "traceId": span.trace_id.hex(),
                        "spanId": span.span_id.hex(),
                        "parentId": span.parent_span_id.hex(),
                        "name": span.name,
                        "kind": span.kind,
                        "status": span.status.code,
                        "startMs": span.start_time_unix_nano / 1e6,
                        "endMs": span.end_time_unix_nano / 1e6,
                        "attributes": attributes(span.attributes),
                    }
                )
print(json.dumps(spans))
