/**
 * Requests on kept connections while all processes of a gateway are replaced again and again: 500 clients
 * send one every 5 s each, 20 times, and repeat none. Counts those without a whole answer, and compares the
 * answers with the ledger. Needs PostgreSQL. Run: node bench/programs/kept-connections.ts
 */
import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { startPostgres } from '../../test/support/postgres.ts'
import { startProcesses, type Processes } from '../../test/support/processes.ts'

const clientCount = 500
const requestsPerClient = 20
const intervalMs = 5_000

const closers: (() => Promise<void>)[] = []
const context = { after: (close: () => Promise<void>) => void closers.unshift(close) }
const server = await startPostgres()
context.after(() => server.close())
try {
  const environment = { TURNPIKE_LOG_LEVEL: 'info', TURNPIKE_NODE_LEASE: '30s' }
  await measure(await startProcesses(context, { server, environment, balanceUsd: '10000' }))
} finally {
  for (const close of closers) await close()
}

async function measure(processes: Processes): Promise<void> {
  const lost: string[] = []
  const asking = Promise.all(
    Array.from({ length: clientCount }, async (_, index) => {
      await delay((index / clientCount) * intervalMs)
      await askOften(processes, lost)
    }),
  )
  const replacements = await replaceUntil(processes, asking)
  const sent = clientCount * requestsPerClient
  const { requests } = await processes.charged()
  console.log(JSON.stringify({ sent, lost: lost.length, charged: requests, replacements }))
  for (const reason of new Set(lost)) console.log(reason)
}

async function askOften(processes: Processes, lost: string[]): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const startedMs = performance.now()
  for (let count = 1; count <= requestsPerClient; count++) {
    try {
      const answer = await processes.ask('hello', agent)
      if (answer.status !== 200 || !answer.isComplete) lost.push(`status ${answer.status}`)
    } catch (error) {
      lost.push(String(error))
    }
    await delay(startedMs + count * intervalMs - performance.now())
  }
  agent.destroy()
}

/** Returns how many times all processes were replaced. */
async function replaceUntil(processes: Processes, asking: Promise<unknown>): Promise<number> {
  const over = new AbortController()
  void asking.then(() => over.abort())
  let count = 0
  while (!over.signal.aborted) {
    processes.signal('SIGUSR2')
    await processes.until({ msg: 'process replaced' }, ++count * 2)
  }
  return count
}
