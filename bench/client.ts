/** Small requests and how long each takes, and a vendor that answers at once. */
import { once } from 'node:events'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerBodies, formatPaths } from './exchanges.ts'

export interface Ask {
  readonly port: number
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** With a body it is a POST. */
  readonly body?: string
}

/** An answer later than this counts as failed, with this time. */
const answerLimitMs = 20_000

/** Resolves with whether the whole answer came, with 200. */
export function askOnce({ port, path, headers, body }: Ask, agent: Agent): Promise<boolean> {
  return new Promise((resolve) => {
    const method = body === undefined ? 'GET' : 'POST'
    const type = { 'content-type': 'application/json' }
    const options = { port, host: '127.0.0.1', path, method, agent, timeout: answerLimitMs }
    const sent = request({ ...options, headers: { ...headers, ...type } }, (answer) => {
      answer.resume()
      answer.on('close', () => resolve(answer.complete && answer.statusCode === 200))
    })
    sent.on('timeout', () => sent.destroy())
    sent.on('error', () => resolve(false))
    sent.end(body)
  })
}

/** Sends as many requests as fast as they are answered; returns the milliseconds of each. */
export async function askOften(
  what: Ask,
  { count, atOnce = 1 }: { readonly count: number; readonly atOnce?: number },
): Promise<readonly number[]> {
  const agent = new Agent({ keepAlive: true })
  const times: number[] = []
  let left = count
  const connection = async (): Promise<void> => {
    while (left-- > 0) {
      const startedMs = performance.now()
      if (!(await askOnce(what, agent))) throw new Error(`${what.path} did not answer with 200`)
      times.push(performance.now() - startedMs)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, connection))
  agent.destroy()
  return times
}

/** Starts a vendor of whole answers, which ends with this process; returns its port. */
export async function startVendor(): Promise<number> {
  const server = createServer((received, response) => {
    const isChat = received.url?.endsWith(formatPaths.chat) === true
    received.resume().once('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(answerBodies[isChat ? 'chat' : 'messages'])
    })
  })
  server.unref().listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
