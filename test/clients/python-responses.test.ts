/**
 * Responses and embeddings with the Python SDK of two generations. Where the machine has no usable
 * python3, they are reported as not run.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startClientRig, type Caller, type ClientRig } from './support/client-rig.ts'
import { preparePython, PythonDriver } from './support/python.ts'

for (const list of ['earlier', 'newest']) {
  const environment = await preparePython(list)
  if (environment.kind === 'ready') describeResponses(list, environment.python)
  else process.stdout.write(`not run: Python ${list}, because ${environment.reason}\n`)
}

function describeResponses(list: string, python: string): void {
  let rig: ClientRig
  let driver: PythonDriver

  describe(`Python ${list}`, () => {
    before(async () => {
      rig = await startClientRig()
      driver = new PythonDriver(python)
    })
    after(async () => {
      await driver.close()
      await rig.close()
    })

    const call = (action: string, caller: Caller, body: Readonly<Record<string, unknown>>) =>
      driver.call({
        format: 'responses',
        action,
        base_url: rig.chatUrl,
        secret: caller.key,
        headers: caller.headers,
        body: { model: 'chat-1', max_output_tokens: 200, ...body },
      })

    test('responses: parse() returns an object of the class that was asked for', async () => {
      const caller = await rig.caller()
      const report = await call('parse', caller, { input: 'A recipe' })
      assert.deepEqual(Object.keys(report.input ?? {}), ['title', 'minutes'])
      assert.match(report.request_id ?? '', /^req_/)
      await rig.assertChargedAsServed(caller)
    })

    test('responses: stream() collects typed events and the usage', async () => {
      const caller = await rig.caller()
      const report = await call('async_helper', caller, { input: 'Good morning' })
      assert.equal(report.types?.[0], 'response.created')
      assert.equal(report.types.at(-1), 'response.completed')
      assert.match(report.text ?? '', /Good morning/)
      assert.equal(report.pieces, report.text)
      const counts = rig.served(caller)[0]?.usage?.counts
      assert.equal(report.usage?.['output_tokens'], counts?.output)
      await rig.assertChargedAsServed(caller)
    })

    test('responses: a stored response is continued, read and deleted', async () => {
      const caller = await rig.caller()
      const report = await call('stored', caller, { input: 'Remember me' })
      assert.match(report.text ?? '', /sent 3 message/)
      assert.equal(new Set(report.ids).size, 1)
      assert.ok((report.kinds ?? []).length > 0)
      assert.equal(report.error?.class, 'NotFoundError')
      assert.equal((await rig.assertChargedAsServed(caller)).requests, 2)
    })

    test('responses: background is refused with a BadRequestError that says so', async () => {
      const caller = await rig.caller()
      const { error } = await call('create', caller, { input: 'Later', background: true })
      assert.equal(error?.class, 'BadRequestError')
      assert.match(error.message, /background/)
      assert.equal(rig.attempts(caller).length, 1)
      await rig.assertUntouched(caller)
    })

    test('embeddings: each text gets a vector, charged by its input', async () => {
      const caller = await rig.caller()
      const report = await driver.call({
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
    })
  })
}
