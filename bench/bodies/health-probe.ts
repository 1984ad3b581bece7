/** Asks a gateway for `/health` every millisecond on one connection; answers with the slowest time. */
import { connect } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'

const { port } = workerData as { readonly port: number }
const question = 'GET /health HTTP/1.1\r\nHost: bench\r\n\r\n'
const socket = connect(port, '127.0.0.1')
socket.setNoDelay(true)

let askedMs = 0
let longestMs = 0

function ask(): void {
  askedMs = performance.now()
  socket.write(question)
}

/** An answer is one small piece. */
socket.on('data', () => {
  longestMs = Math.max(longestMs, performance.now() - askedMs)
  setTimeout(ask, 1)
})
socket.once('connect', ask)

parentPort?.on('message', (what: 'start' | 'stop') => {
  // An answer that is still awaited has waited so long already.
  const waitedMs = what === 'stop' ? performance.now() - askedMs : 0
  parentPort?.postMessage(Math.max(longestMs, waitedMs), [])
  longestMs = 0
})
