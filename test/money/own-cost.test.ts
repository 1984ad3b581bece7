/**
 * What a request costs the operator: a channel with cost prices, the sandbox vendor's own log, and the
 * report of the day. The account pays by its multiplier; own cost does not know it.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { formatUsd, picos } from '../../src/base/money.ts'
import { valueOf } from '../../src/operations/operation.ts'
import { readReport } from '../../src/operations/reports/report.ts'
import { only, vendorPrice } from '../support/money.ts'
import { places, sendAsk } from '../support/requests.ts'
import { scenario, type Scenario } from '../support/scenario.ts'

const { main } = places.messages

describe('what a request costs the operator', () => {
  let gateway: Scenario
  before(async () => {
    gateway = await scenario({
      channels: { named: { [main]: { cost: { factor: 0.5 } } } },
    })
  })
  after(() => gateway.close())

  for (const isStream of [true, false])
    test(`is exact for ${isStream ? 'a stream' : 'a whole answer'}, and free of the multiplier`, async () => {
      const account = await gateway.createAccount({ price_multiplier: 3 })
      const from = gateway.sandbox.log.records.length
      await sendAsk(gateway.url, account.key, { format: 'messages', isStream })
      const { amountPicos } = only(await gateway.ended(account, 1))
      const [record] = gateway.sandbox.log.records.slice(from)
      assert.ok(record !== undefined)
      const vendor = vendorPrice(record)
      assert.equal(amountPicos, vendor * 3n)
      const [row] = valueOf(
        await readReport(gateway.context, {
          by: 'account,channel',
          account: account.id,
        }),
      ).items
      assert.ok(row !== undefined)
      const ownCost = picos(vendor / 2n)
      assert.deepEqual(
        [row.channel, row.revenue_usd, row.own_cost_usd, row.estimated_cost_usd, row.margin_usd],
        [
          main,
          formatUsd(picos(vendor * 3n)),
          formatUsd(ownCost),
          '0',
          formatUsd(picos(vendor * 3n - ownCost)),
        ],
      )
    })

  test('of a broken stream is an estimate, and the margin is below zero', async () => {
    const account = await gateway.createAccount()
    const sandbox = 'cut_event=4'
    await sendAsk(gateway.url, account.key, {
      format: 'messages',
      isStream: true,
      sandbox,
    })
    await gateway.ended(account, 1)
    const [row] = valueOf(
      await readReport(gateway.context, { by: 'total', account: account.id }),
    ).items
    assert.ok(row !== undefined)
    assert.deepEqual([row.revenue_usd, row.own_cost_usd, row.errors], ['0', '0', 1])
    assert.ok(Number(row.estimated_cost_usd) > 0)
    assert.equal(row.margin_usd, `-${row.estimated_cost_usd}`)
  })
})
