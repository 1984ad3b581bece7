/** What every generation of the Python SDK does with responses and embeddings: tests by title. */
import assert from 'node:assert/strict'
import type { Caller, ClientRig } from './client-rig.ts'
import type { PythonDriver, PythonReport } from './python.ts'

interface Clients {
  readonly rig: ClientRig
  readonly driver: PythonDriver
}

function respond(
  { rig, driver }: Clients,
  action: string,
  caller: Caller,
  body: Readonly<Record<string, unknown>>,
): Promise<PythonReport> {
  return driver.call({
    format: 'responses',
    action,
    base_url: rig.chatUrl,
    secret: caller.key,
    headers: caller.headers,
    body: { model: 'chat-1', max_output_tokens: 200, ...body },
  })
}

export const pythonResponseTests: Readonly<Record<string, (clients: Clients) => Promise<void>>> = {
  'responses: parse() returns an object of the class that was asked for': async (clients) => {
    const { rig } = clients
    const caller = await rig.caller()
    const report = await respond(clients, 'parse', caller, { input: 'A recipe' })
    assert.deepEqual(Object.keys(report.input ?? {}), ['title', 'minutes'])
    assert.match(report.request_id ?? '', /^req_/)
    await rig.assertChargedAsServed(caller)
  },

  'responses: stream() collects typed events and the usage': async (clients) => {
    const { rig } = clients
    const caller = await rig.caller()
    const report = await respond(clients, 'async_helper', caller, { input: 'Good morning' })
    assert.equal(report.types?.[0], 'response.created')
    assert.equal(report.types.at(-1), 'response.completed')
    assert.match(report.text ?? '', /Good morning/)
    assert.equal(report.pieces, report.text)
    const counts = rig.served(caller)[0]?.usage?.counts
    assert.equal(report.usage?.['output_tokens'], counts?.output)
    await rig.assertChargedAsServed(caller)
  },

  'responses: a stored response is continued, read and deleted': async (clients) => {
    const { rig } = clients
    const caller = await rig.caller()
    const report = await respond(clients, 'stored', caller, { input: 'Remember me' })
    assert.match(report.text ?? '', /sent 3 message/)
    assert.equal(new Set(report.ids).size, 1)
    assert.ok((report.kinds ?? []).length > 0)
    assert.equal(report.error?.class, 'NotFoundError')
    assert.equal((await rig.assertChargedAsServed(caller)).requests, 2)
  },

  'responses: background is refused with a BadRequestError that says so': async (clients) => {
    const { rig } = clients
    const caller = await rig.caller()
    const { error } = await respond(clients, 'create', caller, { input: 'Later', background: true })
    assert.equal(error?.class, 'BadRequestError')
    assert.match(error.message, /background/)
    assert.equal(rig.attempts(caller).length, 1)
    await rig.assertUntouched(caller)
  },

  'embeddings: each text gets a vector, charged by its input': async (clients) => {
    const { rig } = clients
    const caller = await rig.caller()
    const report = await clients.driver.call({
      format: 'embeddings',
      action: 'create',
      base_url: rig.chatUrl,
      secret: caller.key,
      headers: caller.headers,
      body: { model: 'embed-1', input: ['soup', 'bread'] },
    })
    const [first = 0, second] = report.choice_counts ?? []
    assert.ok(first > 0 && first === second)
    assert.equal((await rig.assertChargedAsServed(caller)).output_tokens, 0)
  },
}
