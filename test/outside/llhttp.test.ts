/**
 * The inputs of the test lists of Node's parser, nodejs/llhttp 9.4.2, in test/request and test/response.
 * What it refuses, or accepts only in a lenient mode, the gateway must refuse. What it accepts in strict
 * mode, the gateway reads as the same messages. Exceptions have reasons. Lists about callbacks are left out.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { systemClock } from '../../src/base/clock.ts'
import { listen, type Listener } from '../../src/http/server/listener.ts'
import type { IncomingRequest } from '../../src/http/server/request.ts'
import type { ResponseWriter } from '../../src/http/server/response-writer.ts'
import { ResponseReader } from '../../src/http/wire/response-reader.ts'
import { connectRaw } from '../support/http-client.ts'
import { listenerDefaults } from '../support/listener-options.ts'
import { reportFigures } from './report.ts'

/** A line of llhttp.jsonl. */
interface Case {
  /** File and line in llhttp's lists. */
  readonly at: string
  readonly mode: string
  readonly input: string
  /** Bytes of body of each message that llhttp completes. */
  readonly bodies: readonly number[]
  /** It reads on, fails, or leaves the connection to another protocol. */
  readonly end: 'open' | 'error' | 'upgrade'
}

const cases = readFileSync(join(import.meta.dirname, 'llhttp.jsonl'), 'utf8')
  .split('\n')
  .filter(Boolean)
  .map((line) => JSON.parse(line) as Case)
const requests = cases.filter(({ at }) => at.startsWith('request/'))
const responses = cases.filter(({ at }) => at.startsWith('response/'))

interface Reading {
  /** Bytes of body of each message that was read whole. */
  readonly bodies: readonly number[]
  /** A refusal, an orderly last message, or a connection on which more may come. */
  readonly end: 'refused' | 'closed' | 'open'
}

type Exceptions = Readonly<Record<string, readonly string[]>>

/** By reason, the cases in which the gateway differs from llhttp. */
const requestExceptions: Exceptions = {
  'The gateway judges a head when its empty line has come, and ends the wait for it after head_timeout.':
    [
      'request/content-length.md:77',
      'request/content-length.md:102',
      'request/invalid.md:492',
      'request/invalid.md:511',
      'request/lenient-header-value-relaxed.md:140',
    ],
  'Any word in capitals is a method (RFC 9110 section 9.1). The router refuses those that no endpoint serves.':
    ['request/invalid.md:68', 'request/invalid.md:358'],
  'ICE, RTSP and HTTP/0.9 are other protocols.': [
    'request/method.md:374',
    'request/method.md:404',
    'request/method.md:432',
    'request/sample.md:316',
  ],
  'The gateway decodes no transfer coding but chunks, and must not pass such a body on as it came.':
    ['request/transfer-encoding.md:753', 'request/transfer-encoding.md:795'],
}
const responseExceptions: Exceptions = {
  'The gateway judges a head when its empty line has come; the time limits of an attempt end the wait.':
    ['response/invalid.md:214'],
  'ICE, RTSP and HTTP/0.9 are other protocols.': [
    'response/sample.md:42',
    'response/sample.md:62',
    'response/sample.md:647',
  ],
  'A body up to the end of the connection in a coding that the gateway does not decode is no answer.':
    [
      'response/transfer-encoding.md:45',
      'response/transfer-encoding.md:76',
      'response/transfer-encoding.md:114',
    ],
  'Empty lines before an answer belong to no answer: the vendor may be out of step.': [
    'response/connection.md:588',
    'response/sample.md:697',
  ],
}

/** Whether the reading is as strict as the mode of the case asks for. */
function agrees({ mode, bodies, end }: Case, reading: Reading): boolean {
  const isSame = JSON.stringify(reading.bodies) === JSON.stringify(bodies)
  const isLess = reading.bodies.length <= bodies.length
  if (mode.includes('lenient')) return reading.end !== 'open' && isLess
  // The gateway serves no other protocol: it ignores the wish for one, or refuses.
  if (end === 'upgrade') return reading.bodies.length <= 1
  return isSame && (end === 'error' ? reading.end !== 'open' : reading.end !== 'refused')
}

function check(one: Case, reading: Reading, exceptions: Exceptions): void {
  const isException = Object.values(exceptions).some((places) => places.includes(one.at))
  const { at, ...expected } = one
  assert.equal(agrees(one, reading), !isException, JSON.stringify({ at, expected, reading }))
}

// --- requests, by a listener on a real socket -----------------------------------------------------------

let listener: Listener
const served: number[] = []
before(async () => {
  listener = await listen({ ...listenerDefaults, clock: systemClock }, answer)
})
after(() => listener.close())

function answer({ body }: IncomingRequest, response: ResponseWriter): void {
  let bytes = 0
  body.readInto({
    onContent: (content) => (bytes += content.length),
    onEnd() {
      served.push(bytes)
      response.writeHead(200, [])
      response.end()
    },
    onGone: () => undefined,
  })
}

/** Adds the host that HTTP/1.1 requires and most of the inputs lack. */
function withHost(input: string): string {
  return input.replaceAll(/^([A-Z-]+ \S+ HTTP\/1\.1\r\n)((?:.+\r\n)*)/gm, (head, line, fields) =>
    /^host[ \t]*:/im.test(String(fields)) ? head : `${line}Host: a\r\n${fields}`,
  )
}

async function readRequests(input: string): Promise<Reading> {
  served.length = 0
  const connection = await connectRaw(`http://127.0.0.1:${listener.address.port}`)
  connection.write(Buffer.from(withHost(input), 'latin1'))
  connection.socket.end()
  let end: Reading['end'] = 'open'
  for (let next = await connection.next(); next; next = await connection.next()) {
    if (next.status >= 400) end = 'refused'
    else if (next.headers['connection'] === 'close') end = 'closed'
  }
  connection.close()
  return { bodies: [...served], end }
}

describe('a request of llhttp’s lists', () => {
  for (const one of requests)
    test(`${one.at} (${one.mode})`, async () => {
      check(one, await readRequests(one.input), requestExceptions)
    })
})

// --- answers --------------------------------------------------------------------------------------------

/** Reads one answer: bytes behind it end the connection. */
function readAnswer(input: string): Reading {
  const reader = new ResponseReader(8_192)
  reader.expect()
  const reading = reader.read(Buffer.from(input, 'latin1'))
  if (reading === 'malformed') return { bodies: [], end: 'refused' }
  if (reading === 'more') return { bodies: [], end: 'open' }
  const isLast = reader.hasLeftover || reader.head?.keepAliveMs === 0
  return { bodies: [reader.end - reader.start], end: isLast ? 'closed' : 'open' }
}

const interim = /^HTTP\/1\.1 1(?!01)\d\d/

describe('an answer of llhttp’s lists', () => {
  for (const one of responses)
    test(`${one.at} (${one.mode})`, () => {
      // The gateway skips interim answers, and reads the first one that is final.
      const [first] = one.bodies.slice(interim.test(one.input) ? 1 : 0)
      const bodies = first === undefined ? [] : [first]
      check({ ...one, bodies }, readAnswer(one.input), responseExceptions)
    })
})

after(() => {
  for (const [part, list, exceptions] of [
    ['requests', requests, requestExceptions],
    ['answers', responses, responseExceptions],
  ] as const)
    reportFigures({
      set: 'llhttp',
      part,
      cases: list.length,
      exceptions: Object.values(exceptions).flat().length,
      figures: `${list.filter(({ mode }) => mode.includes('lenient')).length} of them lenient`,
    })
})
