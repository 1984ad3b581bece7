-- The script of the load tool: one fixed POST, and the result as one line of JSON.
-- The benchmark hands the body, the headers and the ports over in the environment; with BENCH_KEYS, a
-- file of keys, each request takes the next key of it. Each thread has a port of its own.
wrk.method = "POST"
wrk.body = os.getenv("BENCH_BODY")
for name, value in string.gmatch(os.getenv("BENCH_HEADERS"), "([^:\n]+): ([^\n]*)") do
  wrk.headers[name] = value
end

local ports = {}
for port in string.gmatch(os.getenv("BENCH_PORTS"), "%d+") do table.insert(ports, port) end

local threadCount = 0
function setup(thread)
  thread.addr = wrk.lookup("127.0.0.1", ports[threadCount % #ports + 1])[1]
  thread:set("threadIndex", threadCount)
  threadCount = threadCount + 1
end

if os.getenv("BENCH_KEYS") then
  local texts, turn = {}, 0
  function init()
    for key in io.lines(os.getenv("BENCH_KEYS")) do
      wrk.headers["authorization"] = "Bearer " .. key
      table.insert(texts, wrk.format())
    end
    -- Threads begin far apart, so that they do not ask for the same accounts at the same time.
    turn = math.floor(threadIndex * #texts / #ports)
  end
  function request()
    turn = turn % #texts + 1
    return texts[turn]
  end
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
