// Loaded into a gateway: measures the longest turn of its event loop in CPU time, which other work of the
// machine does not lengthen. Each connection to its socket gets the longest turn since the one before, in
// milliseconds. Plain JavaScript, because the launcher's Node loads it as well.
import { createServer } from 'node:net'
import { isMainThread } from 'node:worker_threads'

const socketPath = process.env.BENCH_TURNS
if (isMainThread && socketPath !== undefined && process.threadCpuUsage !== undefined) {
  let longestUs = 0
  let before = process.threadCpuUsage()
  // Timers run once in each turn, so that between two of them there is at most one long turn.
  setInterval(() => {
    const now = process.threadCpuUsage()
    longestUs = Math.max(longestUs, now.user + now.system - before.user - before.system)
    before = now
  }, 1).unref()
  const server = createServer((socket) => {
    socket.end(String(longestUs / 1_000))
    longestUs = 0
  })
  server.listen(socketPath).unref()
}
