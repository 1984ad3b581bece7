/**
 * The order of system calls, seen from outside the process: before the last bytes of an answer go to
 * the client, the page with that exchange's charge has been written to the write-ahead log and the
 * log has been synced. Linux and strace; where there is none, the proof is missing and the test says
 * so by failing.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { hasEnd, lastEvents } from '../support/answers.ts'
import { type Ask, sendAsk, streamedFormats, type StreamedFormat } from '../support/requests.ts'
import { scenario } from '../support/scenario.ts'

const requests = 64
const parallel = 4

function demandStrace(): void {
  const found = spawnSync('strace', ['-o', '/dev/null', 'true'])
  const reason = found.error?.message ?? found.stderr.toString().trim()
  assert.ok(
    found.status === 0,
    `strace is needed to prove the order of writes and syncs, and does not run here: ${reason}. ` +
      'Install it (apt-get install strace) and allow tracing.',
  )
}

test('an answer’s last bytes follow the sync of its charge', async () => {
  demandStrace()
  const setup = await scenario({ process: 'own' })
  try {
    const trace = join(setup.folder, 'trace')
    const calls = 'trace=fsync,fdatasync,pwrite64,write,writev,sendto,sendmsg'
    const tracer = ['strace', '-f', '-yy', '-s', '20000', '-e', calls, '-o', trace]
    const gateway = await setup.start({}, tracer)
    const account = await setup.createAccount()
    const exchanges: { id: string; ask: StreamedAsk }[] = []
    await Promise.all(
      Array.from({ length: parallel }, async (_, lane) => {
        for (let number = lane; number < requests; number += parallel) {
          const format = streamedFormats[number % 4] ?? 'chat'
          const isStream = number % 8 < 4
          // A response without its last event was cut.
          const hasTerminal = number % 16 >= 8 || format === 'responses'
          const terminal = hasTerminal ? '' : '; terminal=missing'
          // The head leaves with the first event, so that the last one is a write of its own.
          const sandbox = `output=3; event_delay_ms=2${isStream ? terminal : ''}`
          const ask: StreamedAsk = { format, isStream, sandbox }
          const answer = await sendAsk(gateway.url, account.key, ask)
          assert.ok(hasNoTerminal(ask) ? answer.isComplete : hasEnd(answer, ask))
          exchanges.push({ id: String(answer.headers['x-turnpike-request-id']), ask })
        }
      }),
    )
    gateway.signal('SIGTERM')
    assert.equal(await gateway.ended, 0)
    const lines = readTrace(await readFile(trace, 'utf8'))
    assert.equal(exchanges.length, requests)
    for (const { id, ask } of exchanges) assertOrder(lines, id, ask)
  } finally {
    await setup.close()
  }
})

interface StreamedAsk extends Ask {
  readonly format: StreamedFormat
}

interface TraceLine {
  /** The call and its arguments; for one that was interrupted, both halves. */
  readonly text: string
  readonly isDone: boolean
}

/** Calls in the order in which they returned; writes count from when they began. */
function readTrace(text: string): TraceLine[] {
  const begun = new Map<string, string>()
  const lines: TraceLine[] = []
  for (const line of text.split('\n')) {
    const [, thread, rest] = /^(\d+) +(.*)$/.exec(line) ?? []
    if (thread === undefined || rest === undefined) continue
    if (rest.endsWith('<unfinished ...>')) {
      begun.set(thread, rest)
      lines.push({ text: rest, isDone: false })
    } else if (/^<\.\.\. \w+ resumed>/.test(rest)) {
      lines.push({ text: `${begun.get(thread) ?? ''} ${rest}`, isDone: true })
    } else lines.push({ text: rest, isDone: true })
  }
  return lines
}

/** The end of the body is the end of the answer. */
function hasNoTerminal({ sandbox = '' }: Ask): boolean {
  return sandbox.includes('terminal=missing')
}

function assertOrder(lines: readonly TraceLine[], exchangeId: string, ask: StreamedAsk): void {
  const isWal = (text: string): boolean => /^\w+\(\d+<[^>]*\.db-wal>/.test(text)
  const isToClient = (text: string): boolean => /^(write|writev|sendto|sendmsg)\(\d+<TCP/.test(text)
  const find = (what: string, from: number, fits: (line: TraceLine) => boolean): number => {
    const index = lines.findIndex((line, index) => index >= from && fits(line))
    assert.ok(index >= 0, `${exchangeId}: no ${what} in the trace`)
    return index
  }
  const charged = find(
    'charge',
    0,
    ({ text, isDone }) => isDone && isWal(text) && text.includes(exchangeId),
  )
  const synced = find(
    'sync',
    charged + 1,
    ({ text, isDone }) =>
      isDone && /^f(data)?sync/.test(text) && isWal(text) && text.endsWith(' = 0'),
  )
  const head = find('head', 0, ({ text }) => isToClient(text) && text.includes(exchangeId))
  const connection = /<TCP\S*\]>/.exec(lines[head]?.text ?? '')?.[0] ?? ''
  assert.notEqual(connection, '')
  const lastEvent = lastEvents[ask.format]
  // As strace writes the last chunk.
  const end = hasNoTerminal(ask) ? '0\\r\\n\\r\\n' : lastEvent
  const last = ask.isStream
    ? find(
        'last event',
        head,
        ({ text }) => isToClient(text) && text.includes(connection) && text.includes(end),
      )
    : head
  assert.ok(synced < last, `${exchangeId}: the end went out before the charge was on the disk`)
}
