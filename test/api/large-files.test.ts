/**
 * Files that are larger than other bodies may be: exports of a vendor, price lists, catalogues. The gateway
 * relays while a thread reads one, and reads one of a token at a time.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { allEndpoints } from '../../src/operations/all-endpoints.ts'
import { smallBodyBytesMax } from '../../src/api/admin/json-body.ts'
import { fileBodyBytesMax } from '../../src/operations/endpoint.ts'
import { post, type WireAnswer } from '../support/http-client.ts'
import { createAdminToken, exportCatalogue } from '../support/operations.ts'
import { messagesRequest } from '../support/requests.ts'
import { scenario, type Scenario } from '../support/scenario.ts'
import { callRow } from './world.ts'

const mebibyte = 1_048_576
const heading = 'usage_date_utc,model_version,usage_input_tokens_no_cache,usage_output_tokens\n'
const day = new Date().toISOString().slice(0, 10)
const line = `${day},large-1,1000,40\n`
const lineCount = Math.ceil((6 * mebibyte) / line.length)
const usageFile = heading + line.repeat(lineCount)
/** The same size with few rows, which are read soon. */
const wideFile = `model,input,description\n${`large-1,1,${'x'.repeat(65_536)}\n`.repeat(80)}`
const period = { channel: 'all', from: day, to: day }

let gateway: Scenario
let token: string

before(async () => {
  gateway = await scenario()
  token = (await createAdminToken(gateway.context, { name: 'test' })).secret
})

after(() => gateway.close())

function call(id: string, input: Record<string, unknown>): Promise<WireAnswer> {
  const row = allEndpoints.find((one) => one.id === id)
  assert.ok(row !== undefined, id)
  return callRow(gateway.adminUrl, row, input, { authorization: `Bearer ${token}` })
}

function valueOf(answer: WireAnswer): Record<string, unknown> {
  return JSON.parse(answer.body.toString()) as Record<string, unknown>
}

/** Begins a request for a reconciliation with a body of this size, and sends none of it. */
function announce(bodyBytes: number): Socket {
  const socket = connect(Number(new URL(gateway.adminUrl).port), '127.0.0.1')
  socket.write(
    `POST /admin/v1/reconciliations HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n` +
      `content-type: application/json\r\ncontent-length: ${bodyBytes}\r\nexpect: 100-continue\r\n\r\n`,
  )
  return socket
}

/** Resolves with what the server has sent, once it matches. */
async function received(socket: Socket, pattern: RegExp): Promise<string> {
  let text = ''
  for await (const piece of socket.setEncoding('utf8')) {
    text += String(piece)
    if (pattern.test(text)) break
  }
  return text
}

test('a large export is reconciled, and the gateway relays meanwhile', async () => {
  const reading = { isOver: false }
  const reconciled = call('reconciliations.create', {
    ...period,
    vendor_counts: usageFile,
  }).finally(() => {
    reading.isOver = true
  })
  let relayed = 0
  while (!reading.isOver) {
    const served = await post(
      `${gateway.url}/alpha/v1/messages`,
      gateway.account.key,
      messagesRequest(),
    )
    assert.equal(served.status, 200)
    relayed++
  }
  const answer = await reconciled
  assert.equal(answer.status, 200, answer.text.slice(0, 500))
  const { models } = valueOf(answer) as {
    models: { counts: { figure: string; vendor: number }[] }[]
  }
  const input = models[0]?.counts.find(({ figure }) => figure === 'input')
  assert.equal(input?.vendor, 1_000 * lineCount)
  // On the event loop the export alone would take longer than all that is relayed before and after.
  assert.ok(relayed >= 100, `${relayed} requests were relayed meanwhile`)
})

test('a large price list and a large catalogue are read', async () => {
  const prices = { 'large-1': { input_cost_per_token: 4e-6, output_cost_per_token: 2e-5 } }
  const others = Array.from({ length: 80 }, (_, index) => [
    `other-${index}`,
    { input_cost_per_token: 1e-6, output_cost_per_token: 1e-6, note: 'x'.repeat(65_536) },
  ])
  const text = JSON.stringify({ ...Object.fromEntries(others), ...prices })
  assert.ok(text.length > 4 * mebibyte)
  const imported = await call('prices.import', { text, models: ['large-1'], dry_run: true })
  assert.equal(valueOf(imported)['kind'], 'would_apply', imported.text.slice(0, 500))

  const catalogue = await exportCatalogue(gateway.context)
  const commented = `${catalogue}${`# ${'"'.repeat(65_536)}\n`.repeat(40)}`
  const applied = await call('catalogue.apply', { text: commented, dry_run: true })
  assert.equal(valueOf(applied)['kind'], 'unchanged', applied.text.slice(0, 500))
})

test('a catalogue of many models is read in time that grows with its length', async () => {
  const models = Array.from(
    { length: 2_000 },
    (_, index) => `  m-${index}: { vendor: alpha, price: { input: 3, output: 15 } }\n`,
  )
  const text = `models:\n${models.join('')}  m-17: { vendor: alpha }\n`
  const answer = await call('catalogue.apply', { text, dry_run: true })
  const { mistakes } = valueOf(answer) as { mistakes: readonly object[] }
  assert.deepEqual(mistakes, [
    { line: 2_002, column: 3, path: '', message: 'duplicate key in this mapping' },
  ])
})

test('a body beyond the bound is refused before it is sent', async () => {
  const socket = announce(fileBodyBytesMax + 1)
  assert.match(await received(socket, /\r\n/), /^HTTP\/1\.1 413 /)
})

test('a second large body of a token waits for its turn, and others do not', async () => {
  const first = announce(5 * mebibyte)
  await once(first, 'data')
  let isAnswered = false
  const second = call('reconciliations.create', { ...period, vendor_counts: wideFile }).finally(
    () => (isAnswered = true),
  )
  // Other requests have small bodies.
  assert.equal((await call('reconciliations.create', period)).status, 200)
  assert.equal(isAnswered, false)
  first.destroy()
  assert.equal((await second).status, 200)
})

test('the event loop parses no large body, and no file', async () => {
  const { parse } = JSON
  let longest = 0
  JSON.parse = (text: string, reviver?: Parameters<typeof JSON.parse>[1]): unknown => {
    longest = Math.max(longest, text.length)
    return parse(text, reviver)
  }
  try {
    const prices = JSON.stringify({ 'large-1': { note: 'x'.repeat(mebibyte) } })
    await call('prices.import', { text: prices, dry_run: true })
    await call('reconciliations.create', { ...period, vendor_counts: wideFile })
  } finally {
    JSON.parse = parse
  }
  assert.ok(longest < smallBodyBytesMax, `${longest} characters`)
})

test('an export with very many columns or models is refused', async () => {
  const columns = Array.from({ length: 1_000_000 }, (_, index) => `c${index}`).join(',')
  const wide = await call('reconciliations.create', { ...period, vendor_counts: `${columns}\n` })
  assert.equal(wide.status, 400)
  assert.match(wide.text, /more than 1000 columns/)
  const rows = Array.from({ length: 20_000 }, (_, index) => `m-${index},1`).join('\n')
  const long = await call('reconciliations.create', {
    ...period,
    vendor_counts: `model,input\n${rows}\n`,
  })
  assert.equal(long.status, 400)
  assert.match(long.text, /more than 10000 models or fields/)
})

test('a catalogue with very many mistakes shows the first thousand and their number', async () => {
  const models = Array.from({ length: 3_000 }, (_, index) => `  m-${index}: { vendor: none }\n`)
  const text = `models:\n${models.join('')}`
  const answer = await call('catalogue.apply', { text, dry_run: true })
  const { mistakes, detail } = valueOf(answer) as { mistakes: unknown[]; detail: string }
  assert.equal(mistakes.length, 1_000)
  assert.match(detail, /and \d+ more mistakes$/)
})
