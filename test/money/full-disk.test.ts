/**
 * No space for another charge. Goal: no complete answer is given away, requests are refused while it
 * lasts, a client without an answer is not charged for it, and all goes on by itself once there
 * is space again. The clock stands still, so the ledger tries again only when a test lets it.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FormatName } from '../../src/formats/format.ts'
import { hasEnd, hasTerminalEvent, isErrorEvent } from '../support/answers.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { byValue, chargesOf, vendorPrice } from '../support/money.ts'
import { type Ask, formats, sendAsk } from '../support/requests.ts'
import type { TestAccount } from '../support/accounts.ts'
import { type Scenario, withScenario } from '../support/scenario.ts'
import { send, usage, type WireAnswer } from '../support/http-client.ts'

/** More than the schema, the catalogue and a few accounts take; the rest is filled. */
const pagesMax = 160

for (const format of formats)
  for (const isStream of [true, false])
    test(`gives no answer away on a full disk and recovers by itself (${format}, ${isStream ? 'streamed' : 'whole'})`, async () => {
      const clock = new ManualClock()
      await withScenario({ clock, storePagesMax: pagesMax }, async (gateway) => {
        const account = await gateway.createAccount()
        await fillDisk(gateway)
        const ask: Ask = { format, isStream }
        const { answers, unbooked } = await askUntilFull(gateway, account, ask)
        assertWithheld(unbooked, format, isStream)
        await assertDown(gateway, account)

        await gateway.context.database.query('DROP TABLE filler')
        clock.advance(10_000)
        await untilUp(gateway)
        const again = await sendAsk(gateway.url, account.key, ask)
        assert.ok(hasEnd(again, ask), again.body.toString())

        const charges = [...(await chargesOf(gateway.context.database, account.id)).values()]
        const served = gateway.sandbox.log.records.map(vendorPrice)
        const withheld = served.splice(answers, 1)
        assert.equal(withheld.length, 1)
        assert.deepEqual(
          charges.toSorted(byValue),
          served.toSorted(byValue),
          'withheld: not charged',
        )
        const figures = await usage(gateway.url, account.token)
        assert.equal((figures['usage'] as { requests: number }).requests, answers + 1)
      })
    })

test('the log reports a full disk, and when charges can be stored again', async () => {
  const clock = new ManualClock()
  const lines: Record<string, unknown>[] = []
  await withScenario(
    { clock, onLogLine: (line) => lines.push(line), storePagesMax: pagesMax },
    async (gateway) => {
      const account = await gateway.createAccount()
      await fillDisk(gateway)
      await askUntilFull(gateway, account, { format: 'messages', isStream: false })
      const whileFull = lines.splice(0)
      await gateway.context.database.query('DROP TABLE filler')
      clock.advance(10_000)
      await untilUp(gateway)
      const again = (line: Record<string, unknown>): boolean => line['msg'] === 'ledger recovered'
      const outages = whileFull.filter(({ code }) => code === 'ledger.unavailable')
      assert.deepEqual(
        outages.map(({ where, reason }) => [where, reason]),
        [['settle', 'disk_full']],
      )
      assert.equal(whileFull.filter(again).length, 0)
      assert.equal(lines.filter(again).length, 1)
    },
  )
})

/** Takes all pages but those that are in use and a few. */
async function fillDisk(gateway: Scenario): Promise<void> {
  const { database } = gateway.context
  const [row] = await database.query('PRAGMA page_count')
  const usedPages = Number(row?.['page_count'])
  assert.ok(usedPages < pagesMax - 20, `${usedPages} pages are in use already`)
  await database.query('CREATE TABLE filler (bytes BLOB)')
  const fillerBytes = (pagesMax - usedPages - 8) * 4_090
  await database.query('INSERT INTO filler VALUES (zeroblob($1))', [fillerBytes])
}

/** Sends one request after another until one cannot be booked. */
async function askUntilFull(
  gateway: Scenario,
  account: TestAccount,
  ask: Ask,
): Promise<{ answers: number; unbooked: WireAnswer }> {
  for (let answers = 0; answers < 500; answers++) {
    const answer = await sendAsk(gateway.url, account.key, ask)
    if (!hasEnd(answer, ask)) return { answers, unbooked: answer }
  }
  throw new Error('the disk has to be full at some time')
}

function assertWithheld(answer: WireAnswer, format: FormatName, isStream: boolean): void {
  const text = answer.body.toString()
  if (!isStream) {
    assert.equal(answer.status, 503)
    assert.ok(!text.includes('simulated'), 'nothing of the answer is in the refusal')
    return
  }
  assert.equal(answer.isComplete, false)
  assert.ok(!hasTerminalEvent(text, format))
  assert.ok(isErrorEvent(text, format), text)
}

async function assertDown(gateway: Scenario, account: TestAccount): Promise<void> {
  const served = gateway.sandbox.log.records.length
  for (const format of formats)
    for (const isStream of [true, false]) {
      const refused = await sendAsk(gateway.url, account.key, { format, isStream })
      assert.equal(refused.status, 503, refused.body.toString())
      assert.match(refused.headers['retry-after'] ?? '', /^\d+$/)
    }
  assert.equal(gateway.sandbox.log.records.length, served, 'no vendor was asked')
  const health = await send(`${gateway.url}/health`)
  assert.equal(health.status, 503)
  assert.equal((JSON.parse(health.body.toString()) as { status: string }).status, 'down')
}

/** Resolves when the ledger's next attempt has been answered. */
async function untilUp(gateway: Scenario): Promise<void> {
  for (;;) {
    const health = await send(`${gateway.url}/health`)
    if (health.status === 200) return
  }
}
