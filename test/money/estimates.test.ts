/**
 * What is charged where a vendor gives no count: the same text costs the same, however its request is
 * written.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { only } from '../support/money.ts'
import { formats, type JsonFields } from '../support/requests.ts'
import { scenario } from '../support/scenario.ts'

const gateway = await scenario()
after(() => gateway.close())

const shapes: readonly JsonFields[] = [
  {},
  { messages: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }] },
  { metadata: { user_id: 'a-client-with-a-very-long-name-of-its-own' } },
  { stop: ['never'], stop_sequences: ['never'], temperature: 0.25 },
]

for (const format of formats)
  test(`estimates a ${format} prompt by its text, not by the JSON around it`, async () => {
    const charged: unknown[] = []
    for (const more of shapes)
      for (const isStream of [true, false]) {
        const account = await gateway.createAccount()
        const sandbox = 'output=4; usage=none'
        await gateway.ask({ format, isStream, more, sandbox, key: account.key })
        const { usage, marks, amountPicos } = only(await gateway.ended(account, 1))
        assert.deepEqual(marks, ['estimated'])
        assert.ok(amountPicos > 0n)
        charged.push(usage)
      }
    assert.deepEqual(
      charged,
      charged.map(() => charged[0]),
    )
    assert.match(JSON.stringify(charged[0]), /"input":2\b/)
  })

for (const format of ['chat', 'responses'] as const)
  for (const isStream of [true, false])
    test(`estimates a ${format} answer, ${isStream ? 'streamed' : 'whole'}, at the tier that it names`, async () => {
      const amounts: bigint[] = []
      for (const tier of ['default', 'flex', 'priority']) {
        const account = await gateway.createAccount()
        const sandbox = `output=4; usage=none; tier=${tier}`
        const more = { service_tier: tier }
        await gateway.ask({ format, isStream, more, sandbox, key: account.key })
        const { marks, amountPicos } = only(await gateway.ended(account, 1))
        assert.ok(marks.includes('estimated'))
        amounts.push(amountPicos)
      }
      const [list = 0n, flex = 0n, priority = 0n] = amounts
      assert.deepEqual([flex * 2n, priority], [list, list * 2n])
    })
