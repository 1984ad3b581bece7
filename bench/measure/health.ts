/**
 * How long a proxy's `/health` takes while streams run: one question after the other over one
 * connection, from the core of the load.
 */
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { monotonicUs } from '../programs/stream-protocol.ts'
import { Histogram } from './statistics.ts'

const betweenMs = 5
const answerLimitMs = 10_000
const histogramLimitUs = 5_000_000

export async function measureHealth(
  port: number,
  path: string,
  windowMs: number,
): Promise<Histogram> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  socket.setEncoding('latin1')
  socket.setTimeout(answerLimitMs, () => socket.destroy(new Error('/health did not answer')))
  const question = `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`
  const times = new Histogram(histogramLimitUs)
  const end = performance.now() + windowMs
  try {
    while (performance.now() < end) {
      const askedAtUs = monotonicUs()
      await ask(socket, question)
      times.record(monotonicUs() - askedAtUs)
      await delay(betweenMs)
    }
  } finally {
    socket.destroy()
  }
  return times
}

function ask(socket: Socket, question: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = ''
    const end = (error?: Error): void => {
      socket.off('data', read)
      socket.off('error', end)
      socket.off('close', closed)
      if (error === undefined) resolve()
      else reject(error)
    }
    const closed = (): void => end(new Error('/health closed the connection'))
    const read = (text: string): void => {
      received += text
      if (!isWholeAnswer(received)) return
      if (received.startsWith('HTTP/1.1 200 ')) end()
      else end(new Error(`/health answered: ${received.slice(0, 200)}`))
    }
    socket.on('data', read)
    socket.on('error', end)
    socket.on('close', closed)
    socket.write(question, 'latin1')
  })
}

function isWholeAnswer(text: string): boolean {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd < 0) return false
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(text.slice(0, headEnd))?.[1] ?? '0')
  return text.length >= headEnd + 4 + length
}
