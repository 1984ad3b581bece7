-- The script of the load tool: one fixed POST, and the result as one line of JSON.
-- The benchmark hands the body and the headers over in the environment.
wrk.method = "POST"
wrk.body = os.getenv("BENCH_BODY")
for name, value in string.gmatch(os.getenv("BENCH_HEADERS"), "([^:\n]+): ([^\n]*)") do
  wrk.headers[name] = value
end

function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    '\nresult {"requests":%d,"durationUs":%d,"bytes":%d,"badStatus":%d,"socketErrors":%d,"p50Us":%d,"p99Us":%d}\n',
    summary.requests, summary.duration, summary.bytes, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50), latency:percentile(99)
  ))
end
