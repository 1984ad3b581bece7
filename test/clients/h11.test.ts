/**
 * Every byte that the gateway writes is read by h11, a strict and independent parser: as a client, answers
 * of each kind from both listeners; as a server, each connection of the gateway to its vendors. Where the
 * machine has no usable python3, this is reported as not run.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { reportFigures } from '../outside/report.ts'
import { demoCatalogueWith } from '../support/catalogues.ts'
import { post, send } from '../support/http-client.ts'
import {
  malformedRequests,
  writeRequest,
  type ProperRequest,
} from '../support/malformed-requests.ts'
import { createAdminToken } from '../support/operations.ts'
import {
  bodyFormats,
  chatPath,
  formsOf,
  messagesPath,
  messagesRequest,
} from '../support/requests.ts'
import { scenario, type Scenario } from '../support/scenario.ts'
import { runChild } from './support/child.ts'
import { preparePython } from './support/python.ts'

interface Recorded {
  readonly name: string
  /** Base64. */
  readonly bytes: string
}

interface RecordedAnswers extends Recorded {
  readonly methods: readonly string[]
  /** Of the last answer a part came, which no client may take for the whole one. */
  readonly isCut: boolean
}

interface Reading {
  readonly answers: number
  readonly requests: number
  readonly faults: readonly { readonly name: string; readonly fault: string }[]
}

async function read(
  python: string,
  recorded: {
    readonly answers: readonly RecordedAnswers[]
    readonly requests: readonly Recorded[]
  },
): Promise<Reading> {
  const { code, stdout, stderr } = await runChild({
    command: python,
    args: [join(import.meta.dirname, 'python', 'strict.py')],
    env: {},
    cwd: import.meta.dirname,
    input: JSON.stringify(recorded),
    timeoutMs: 120_000,
  })
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout) as Reading
}

/** Passes a vendor's connections on, and keeps what the gateway has written on each. */
class VendorTap {
  target = 0
  readonly connections: Buffer[][] = []
  readonly #server = createServer((gateway) => {
    const written: Buffer[] = []
    this.connections.push(written)
    gateway.on('data', (piece: Buffer) => written.push(piece))
    const vendor = connect({ host: '127.0.0.1', port: this.target })
    gateway.pipe(vendor).pipe(gateway)
    for (const socket of [gateway, vendor]) socket.on('error', () => undefined)
    vendor.on('close', (isReset) => (isReset ? gateway.resetAndDestroy() : gateway.end()))
  })

  async open(): Promise<number> {
    this.#server.listen({ host: '127.0.0.1', port: 0 })
    await once(this.#server, 'listening')
    return (this.#server.address() as AddressInfo).port
  }

  close(): void {
    this.#server.close()
  }
}

interface Exchange {
  readonly name: string
  readonly bytes: string
  readonly methods?: readonly string[]
  readonly isCut?: boolean
}

/** Writes the bytes, and keeps everything that comes up to the end of the connection. */
async function record(
  url: string,
  { name, bytes, methods = ['GET'], isCut = false }: Exchange,
): Promise<RecordedAnswers> {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) })
  const pieces: Buffer[] = []
  socket.on('data', (piece: Buffer) => pieces.push(piece))
  socket.on('error', () => undefined)
  socket.write(Buffer.from(bytes, 'latin1'))
  await once(socket, 'close')
  return { name, methods, isCut, bytes: Buffer.concat(pieces).toString('base64') }
}

function describeReading(python: string): void {
  const tap = new VendorTap()
  let gateway: Scenario
  let operator: string
  before(async () => {
    const port = await tap.open()
    gateway = await scenario({
      catalogue: (vendorUrl) => {
        tap.target = Number(new URL(vendorUrl).port)
        return demoCatalogueWith({})(`http://127.0.0.1:${port}`)
      },
      settings: { body_max_bytes: '400000' },
    })
    operator = (await createAdminToken(gateway.context, { name: 'h11' })).secret
  })
  after(async () => {
    await gateway.close()
    tap.close()
  })

  async function check(part: string, answers: readonly RecordedAnswers[]): Promise<void> {
    const reading = await read(python, { answers, requests: [] })
    assert.deepEqual(reading.faults, [])
    const expected = answers.reduce((sum, { methods }) => sum + methods.length, 0)
    assert.equal(reading.answers, expected)
    reportFigures({
      set: 'h11',
      part,
      cases: answers.length,
      exceptions: 0,
      figures: `${reading.answers} answers read`,
    })
  }

  const last = 'Connection: close\r\n'
  const plain = (method: string, path: string, lines = ''): string =>
    `${method} ${path} HTTP/1.1\r\nHost: gateway\r\n${lines}`

  test('finds a broken answer and a broken request', async () => {
    const base64 = (text: string): string => Buffer.from(text).toString('base64')
    const twice = base64('HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nxHTTP/1.1 200 OK\r\n\r\n')
    const whole = base64('HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx')
    const cut = base64('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nx')
    const spaced = base64('GET / HTTP/1.1\r\nhost: a\r\nx : y\r\n\r\n')
    const { faults } = await read(python, {
      answers: [
        { name: 'twice', methods: ['GET'], bytes: twice, isCut: false },
        { name: 'whole', methods: ['GET'], bytes: whole, isCut: true },
        { name: 'cut', methods: ['GET'], bytes: cut, isCut: true },
      ],
      requests: [{ name: 'spaced', bytes: spaced }],
    })
    assert.deepEqual(
      faults.map(({ name }) => name),
      ['twice', 'whole', 'spaced'],
    )
  })

  test('reads each kind of answer of the public listener', async () => {
    const { url, account } = gateway
    const key = `Authorization: Bearer ${account.key}\r\n`
    const proper: ProperRequest = {
      path: messagesPath,
      credential: () => account.key,
      body: JSON.stringify(messagesRequest()),
    }
    const asking = (fields: object, lines: string, target = messagesPath): string => {
      const content = JSON.stringify({ ...messagesRequest(), ...fields })
      const head = [`Content-Length: ${content.length}\r\n`, lines]
      return writeRequest(proper, { line: `POST ${target} HTTP/1.1`, lines: head }, content)
    }
    const answers: RecordedAnswers[] = []
    const add = async (name: string, bytes: string, methods?: string[]): Promise<void> => {
      answers.push(await record(url, { name, bytes, ...(methods !== undefined && { methods }) }))
    }
    for (const path of [
      '/health',
      '/v1/usage',
      '/account',
      '/account/',
      '/nothing',
      '/alpha/v1/models',
    ])
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'DELETE'])
        await add(`${method} ${path}`, `${plain(method, path, key + last)}\r\n`, [method])
    await add(
      'kept alive',
      [
        `${plain('GET', '/health')}\r\n`,
        `${plain('HEAD', '/health')}\r\n`,
        `${plain('GET', '/v1/usage', key + last)}\r\n`,
      ].join(''),
      ['GET', 'HEAD', 'GET'],
    )
    await add('HTTP/1.0', `GET /health HTTP/1.0\r\n\r\n`)
    await add('a whole answer', asking({}, last), ['POST'])
    await add('a stream', asking({ stream: true }, last), ['POST'])
    await add(
      'a stream in HTTP/1.0',
      asking({ stream: true }, '').replace('HTTP/1.1', 'HTTP/1.0'),
      ['POST'],
    )
    await add('a stream of chat', asking({ model: 'chat-1', stream: true }, last, chatPath), [
      'POST',
    ])
    const faulty = (fault: string, fields: object = {}, path = messagesPath): string =>
      asking({ stream: true, ...fields }, `X-Sandbox: ${fault}\r\n${last}`, path)
    const addCut = async (name: string, bytes: string): Promise<void> =>
      void answers.push(await record(url, { name, bytes, methods: ['POST'], isCut: true }))
    await addCut('a stream with an error', faulty('error_at=2'))
    for (const how of ['destroy', 'reset', 'end'])
      for (const [format, bytes] of [
        ['messages', faulty(`cut_event=3; cut_as=${how}`)],
        ['chat', faulty(`cut_event=3; cut_as=${how}`, { model: 'chat-1' }, chatPath)],
      ] as const) {
        await addCut(`a stream of ${format} that the vendor cuts (${how})`, bytes)
      }
    await add('two streams', asking({ stream: true }, '') + asking({ stream: true }, last), [
      'POST',
      'POST',
    ])
    await add('100 Continue', asking({}, `Expect: 100-continue\r\n${last}`), ['POST'])
    await add('an unknown model', asking({ model: 'none' }, last), ['POST'])
    await add('an unknown key', asking({}, last).replace(account.key, 'cr_no'), ['POST'])
    await add(
      'an early refusal',
      `${plain('POST', messagesPath, 'X-Api-Key: cr_no\r\nContent-Length: 5000000\r\n')}\r\n{"a":`,
      ['POST'],
    )
    await add(
      'too large',
      `${plain('POST', messagesPath, `${key}Content-Type: application/json\r\nContent-Length: 5000000\r\n`)}\r\n{"a":`,
      ['POST'],
    )
    await add('too many headers', `${plain('GET', '/health', 'a: b\r\n'.repeat(300))}\r\n`)
    for (const [name, bytes] of Object.entries(malformedRequests(proper))) await add(name, bytes())
    await check('answers of the public listener', answers)
  })

  test('reads each kind of answer of the admin listener', async () => {
    const { adminUrl } = gateway
    const path = '/admin/v1/accounts'
    const bearer = `Authorization: Bearer ${operator}\r\n`
    const answers: RecordedAnswers[] = []
    const add = async (name: string, bytes: string, methods?: string[]): Promise<void> => {
      answers.push(
        await record(adminUrl, { name, bytes, ...(methods !== undefined && { methods }) }),
      )
    }
    for (const each of [
      path,
      '/admin/v1/openapi.json',
      '/console/',
      '/metrics',
      '/livez',
      '/readyz',
      '/nothing',
    ])
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'DELETE'])
        await add(`${method} ${each}`, `${plain(method, each, bearer + last)}\r\n`, [method])
    await add('no credential', `${plain('GET', path, last)}\r\n`)
    await add(
      'kept alive',
      `${plain('GET', path, bearer)}\r\n${plain('HEAD', path, bearer)}\r\n${plain('GET', '/livez', last)}\r\n`,
      ['GET', 'HEAD', 'GET'],
    )
    const content = '{"name":'
    await add(
      'a broken body',
      `${plain('POST', path, `${bearer}${last}Content-Type: application/json\r\nContent-Length: ${content.length}\r\n`)}\r\n${content}`,
      ['POST'],
    )
    const proper: ProperRequest = { path, credential: () => operator, body: '{"name":"a"}' }
    for (const [name, bytes] of Object.entries(malformedRequests(proper))) await add(name, bytes())
    await check('answers of the admin listener', answers)
  })

  test('reads each request to a vendor', async () => {
    const { url, account, sandbox } = gateway
    for (const format of bodyFormats)
      for (const isStream of formsOf(format)) await gateway.ask({ format, isStream })
    const many = messagesRequest({ messages: [{ role: 'user', content: 'é'.repeat(150_000) }] })
    assert.equal((await post(url + messagesPath, account.key, many)).status, 200)
    // What an operator has sent to a channel; each gateway sends a request for each model.
    for (const channel of ['alpha-main', 'beta-main']) {
      const check = await send(`${gateway.adminUrl}/admin/v1/channels/${channel}/check`, {
        method: 'POST',
        headers: { authorization: `Bearer ${operator}` },
      })
      assert.equal((JSON.parse(check.text) as { ok: boolean }).ok, true, check.text)
    }
    // Failures, and other attempts behind them.
    sandbox.faults.set('alpha-main', 'status=500')
    for (let times = 0; times < 3; times++)
      await gateway.ask({ format: 'messages', isStream: times === 1 })
    sandbox.faults.clear()
    for (const path of ['/alpha/v1/models', '/beta/v1/models'])
      await send(url + path, { headers: { authorization: `Bearer ${account.key}` } })
    await post(`${url}${messagesPath}/count_tokens`, account.key, messagesRequest())
    const requests = tap.connections.map((written, index) => ({
      name: `connection ${index}`,
      bytes: Buffer.concat(written).toString('base64'),
    }))
    const { faults, requests: count } = await read(python, { answers: [], requests })
    assert.deepEqual(faults, [])
    assert.equal(count, sandbox.log.records.length)
    reportFigures({
      set: 'h11',
      part: 'requests to vendors',
      cases: requests.length,
      exceptions: 0,
      figures: `${count} requests read`,
    })
  })
}

const environment = await preparePython('h11')
if (environment.kind === 'ready') describe('h11', () => describeReading(environment.python))
else process.stdout.write(`not run: h11, because ${environment.reason}\n`)
