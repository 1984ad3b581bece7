/** The log: exact, durable before a client can see the answer, readable from another process. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { parse } from 'yaml'
import { demoCatalogue, demoCatalogueText, demoCredentials } from './demo.ts'
import { readSandboxLog } from './log.ts'
import type { LoggedRecord } from './log.ts'
import { sendToVendor } from '../test/support/http-client.ts'
import { startSandbox } from './sandbox.ts'
import type { Sandbox, SandboxOptions } from './sandbox.ts'

async function open(context: TestContext, options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox(options)
  context.after(() => sandbox.close())
  return sandbox
}

function body(content: string, stream = true) {
  const messages = [{ role: 'user', content }]
  return { model: 'chat-1', max_tokens: 99, stream, messages }
}

const path = '/beta-main/v1/chat/completions'

const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex')

test('records requests and answers to the byte', async (context) => {
  const sandbox = await open(context)
  for (const stream of [true, false]) {
    const text = JSON.stringify(body('hi [[marker: m-1]]', stream))
    const headers = { authorization: 'Bearer very-secret-credential', 'x-extra': 'kept' }
    const received = await sendToVendor(`${sandbox.url}${path}?q=1`, { body: text, headers })
    const record = await sandbox.log.waitFor(
      (record) => record.isStream === stream && record.phase === 'closed',
    )
    assert.equal(record.marker, 'm-1')
    assert.equal(record.channel, 'beta-main')
    assert.equal(record.target, `${path}?q=1`)
    assert.equal(record.requestDigest, sha256(text))
    assert.equal(record.requestBytes, Buffer.byteLength(text))
    assert.equal(record.requestBody, undefined)
    assert.equal(record.responseDigest, sha256(received.body))
    assert.equal(record.responseBytes, received.body.length)
    assert.equal(record.isTerminalFlushed, true)
    assert.equal(record.closedBy, 'sandbox')
    assert.deepEqual(record.credential, { header: 'authorization', head: 'very-se…' })
    assert.ok(record.rawHeaders.includes('x-extra'))
    assert.ok(!JSON.stringify(record).includes('very-secret'))
  }
  assert.equal(sandbox.log.forMarker('m-1').length, 2)
  assert.equal(sandbox.log.forChannel('beta-main').length, 2)
  await sendToVendor(`${sandbox.url}/beta-main/v1/files`, { body: '{}' })
  assert.equal(sandbox.log.strayCount, 1)
  sandbox.log.clear()
  assert.deepEqual([sandbox.log.records.length, sandbox.log.strayCount], [0, 0])
})

test('keeps bodies when the option is set', async (context) => {
  const sandbox = await open(context, { keepBodies: true })
  const text = JSON.stringify(body('hi'))
  const received = await sendToVendor(sandbox.url + path, { body: text })
  const record = await sandbox.log.waitFor((record) => record.phase === 'closed')
  assert.equal(record.requestBody?.toString(), text)
  assert.deepEqual(record.responseBody, received.body)
})

test('tells a client that left from an answer that was cut', async (context) => {
  const sandbox = await open(context)
  await sendToVendor(sandbox.url + path, {
    body: body('[[sandbox: hold=never@first_event]]'),
    onChunk: () => 'leave',
  })
  const record = await sandbox.log.waitFor((record) => record.phase === 'closed')
  assert.equal(record.closedBy, 'client')
  assert.equal(record.isTerminalSent, false)
  assert.equal(record.isUsageSent, false)
  assert.ok((record.usage?.counts.output ?? 0) > 0)
})

test('writes the end of an answer to disk before the client can see it', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-log-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const logFile = join(folder, 'served.jsonl')
  const sandbox = await startSandbox({ logFile })
  try {
    const sent = sendToVendor(sandbox.url + path, {
      body: body('[[marker: m]] [[sandbox: output=3; hold=end@before_terminal]]'),
    })
    await sandbox.faults.reached('end')
    assert.equal(readSandboxLog(logFile)[0]?.phase, 'received')
    sandbox.faults.release('end')
    await sent
    await sandbox.log.waitFor((record) => record.phase === 'closed')
  } finally {
    await sandbox.close()
  }
  const [record] = readSandboxLog(logFile)
  assert.equal(record?.phase, 'closed')
  assert.equal(record.marker, 'm')
  assert.equal(record.usage?.counts.output, 3)
  const lines = readFileSync(logFile, 'utf8').split('\n').filter(Boolean)
  const steps = lines.map((line) => JSON.parse(line) as LoggedRecord)
  // The line of the phase `terminal` was complete before any byte of the terminal event was sent.
  assert.deepEqual(
    steps.map((step) => [step.phase, step.isTerminalSent]),
    [
      ['received', false],
      ['terminal', false],
      ['closed', true],
    ],
  )
  assert.ok(!lines.join('').includes('requestBody'))
})

test('appends several runs to one file and skips torn lines', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-log-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const logFile = join(folder, 'served.jsonl')
  for (const run of [0, 1]) {
    const sandbox = await startSandbox({ logFile })
    await sendToVendor(sandbox.url + path, { body: body(`[[marker: run-${run}]]`, false) })
    await sandbox.close()
    appendFileSync(logFile, '{"run":7,"ind')
  }
  const records = readSandboxLog(logFile)
  assert.deepEqual(
    records.map((record) => [record.run, record.index, record.marker, record.isTerminalSent]),
    [
      [0, 0, 'run-0', true],
      [1, 0, 'run-1', true],
    ],
  )
})

test('completes the records of running exchanges when it closes', async () => {
  const sandbox = await startSandbox()
  const sent = sendToVendor(sandbox.url + path, {
    body: body('[[sandbox: hold=never@first_event]]'),
  })
  await sandbox.faults.reached('never')
  const pending = sandbox.log.waitFor((record) => record.marker === 'none')
  await Promise.all([sandbox.close(), assert.rejects(pending)])
  assert.equal((await sent).isComplete, false)
  assert.equal(sandbox.log.records[0]?.phase, 'closed')
})

test('accepts commands from another process over HTTP', async (context) => {
  const sandbox = await open(context)
  const control = async (method: string, target: string, text?: string) => {
    const received = await sendToVendor(`${sandbox.url}/_sandbox${target}`, { method, body: text })
    return { status: received.status, content: JSON.parse(received.text) as unknown }
  }
  const help = (await control('GET', '')).content as { directives: string[] }
  assert.ok(help.directives.includes('retry_after'))
  assert.equal((await control('PUT', '/faults/beta-main', 'statsu=1')).status, 400)
  assert.equal((await control('PUT', '/faults/beta-main', 'status=429\nhold=g@mid')).status, 200)
  assert.equal(
    (await sendToVendor(sandbox.url + path, { body: body('[[marker: m]]') })).status,
    429,
  )
  const held = sendToVendor(sandbox.url + path, { body: body('x') })
  assert.equal((await control('GET', '/reached/g')).status, 200)
  await control('POST', '/release/g')
  assert.equal((await held).status, 200)
  const marked = (await control('GET', '/log?marker=m')).content as { status: number }[]
  assert.deepEqual(
    marked.map((record) => record.status),
    [429],
  )
  assert.equal(((await control('GET', '/log')).content as unknown[]).length, 2)
  await control('DELETE', '/faults')
  await control('DELETE', '/log')
  assert.equal(sandbox.log.records.length, 0)
  assert.equal((await control('GET', '/nothing')).status, 404)
})

test('serves the channels of the demo catalogue with their credentials', async (context) => {
  const sandbox = await open(context, { credentials: demoCredentials })
  const catalogue = demoCatalogue(sandbox.url)
  const text = parse(demoCatalogueText(sandbox.url)) as typeof catalogue
  for (const channel of Object.values(text.channels)) {
    assert.ok(Reflect.has(channel, 'cost'), 'the demo shows a margin')
    Reflect.deleteProperty(channel, 'cost')
  }
  assert.deepEqual(text, catalogue)
  for (const channel of Object.values(catalogue.channels)) {
    const isAlpha = channel.vendor === 'alpha'
    const received = await sendToVendor(
      channel.url + (isAlpha ? '/v1/messages' : '/v1/chat/completions'),
      {
        body: { ...body('hi', false), model: channel.models[0] },
        headers: isAlpha
          ? { authorization: '', 'x-api-key': channel.credential }
          : { authorization: `Bearer ${channel.credential}` },
      },
    )
    assert.equal(received.status, 200, channel.url)
  }
})

test('runs as a program until it is interrupted', async () => {
  const module = new URL('./sandbox.ts', import.meta.url).href
  const script = `import(${JSON.stringify(module)}).then((it) => it.runSandbox({}, (url) => console.log(url)))`
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const url = line.toString().trim()
  assert.equal((await sendToVendor(url + path, { body: body('hi') })).status, 200)
  child.kill('SIGINT')
  assert.equal(await exited, 0)
})
