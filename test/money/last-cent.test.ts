/**
 * Fifty requests at once where there is room for one, of several operations mixed: exactly one is
 * admitted, however often it is tried, and what it held is free again afterwards. All fifty have
 * been decided before the vendor may answer the one.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasEnd } from '../support/answers.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { assertClean, chargesOf } from '../support/money.ts'
import { type Ask, sendAsk } from '../support/requests.ts'
import type { TestAccount } from '../support/accounts.ts'
import { scenario, type Scenario } from '../support/scenario.ts'
import type { WireAnswer } from '../support/http-client.ts'

const parallel = 50
const rounds = 20
/** Each ask holds between 0.0015 and 0.0018 USD, so there is room for one and not for two. */
const roomForOne = '0.002'
const asks: readonly Ask[] = [
  { format: 'messages', isStream: false, maxTokens: 100 },
  { format: 'chat', isStream: true, maxTokens: 150 },
  { format: 'messages', isStream: true, maxTokens: 100 },
  { format: 'chat', isStream: false, maxTokens: 150 },
  { format: 'responses', isStream: true, maxTokens: 150 },
  { format: 'completions', isStream: false, maxTokens: 150 },
]
const small = 'input=1; output_tokens=1'

interface Race {
  readonly admitted: readonly WireAnswer[]
  readonly refused: readonly WireAnswer[]
}

interface Field {
  readonly gateway: Scenario
  readonly race: (account: TestAccount, round: number) => Promise<Race>
}

async function openField(clock?: ManualClock): Promise<Field> {
  let decided = 0
  let onDecided: () => void = () => undefined
  const decide = (): void => {
    decided++
    onDecided()
  }
  const gateway = await scenario({
    // The gateway’s own checks are no answer to anybody’s requests.
    settings: { check_interval: '1440m' },
    ...(clock === undefined ? {} : { clock }),
    onTracePoint: (point) => {
      if (point === 'hold_placed') decide()
    },
  })
  return {
    gateway,
    async race(account, round) {
      decided = 0
      const gate = `round-${round}-${account.name}`
      onDecided = () => {
        if (decided === parallel) gateway.sandbox.faults.release(gate)
      }
      const answers = await Promise.all(
        Array.from({ length: parallel }, async (_, index) => {
          const ask = asks[index % asks.length] ?? { format: 'chat', isStream: false }
          const sandbox = `${small}; hold=${gate}@before_head`
          const answer = await sendAsk(gateway.url, account.key, { ...ask, sandbox })
          if (answer.status === 200) assert.ok(hasEnd(answer, ask))
          else decide()
          return answer
        }),
      )
      return {
        admitted: answers.filter((answer) => answer.status === 200),
        refused: answers.filter((answer) => answer.status !== 200),
      }
    },
  }
}

function assertOneAdmitted({ admitted, refused }: Race, status: number): void {
  assert.equal(admitted.length, 1)
  assert.equal(refused.length, parallel - 1)
  for (const answer of refused) assert.equal(answer.status, status, answer.body.toString())
}

test('a balance for one request admits one of fifty; the others get x-should-retry true', async () => {
  const { gateway, race } = await openField()
  try {
    for (let round = 0; round < rounds; round++) {
      const account = await gateway.createAccount({ balance_usd: roomForOne })
      const result = await race(account, round)
      assertOneAdmitted(result, 402)
      for (const { headers } of result.refused) {
        assert.equal(headers['x-should-retry'], 'true')
        assert.match(headers['retry-after'] ?? '', /^[1-5]$/)
      }
      // What the one held is free again: the same fits once more, and again only once.
      assertOneAdmitted(await race(account, rounds + round), 402)
      assert.equal((await chargesOf(gateway.context.database, account.id)).size, 2)
    }
    const served = gateway.sandbox.log.records.length
    assert.equal(served, 2 * rounds, 'no refused request has reached a vendor')
    await assertClean(gateway)
  } finally {
    await gateway.close()
  }
})

test('a balance below one request gets x-should-retry false', async () => {
  const { gateway, race } = await openField()
  try {
    const account = await gateway.createAccount({ balance_usd: '0.001' })
    const { admitted, refused } = await race(account, 0)
    assert.equal(admitted.length, 0)
    for (const { status, headers } of refused) {
      assert.equal(status, 402)
      assert.equal(headers['x-should-retry'], 'false')
      assert.equal(headers['retry-after'], undefined)
    }
  } finally {
    await gateway.close()
  }
})

test('a daily limit for one request admits one of fifty; the others get x-should-retry false', async () => {
  const { gateway, race } = await openField(new ManualClock())
  try {
    for (let round = 0; round < rounds; round++) {
      const account = await gateway.createAccount({ daily_usd: roomForOne })
      const result = await race(account, round)
      assertOneAdmitted(result, 429)
      for (const { headers } of result.refused) {
        assert.equal(headers['x-should-retry'], 'false')
        assert.equal(headers['retry-after'], undefined)
      }
      assertOneAdmitted(await race(account, rounds + round), 429)
    }
    assert.equal(gateway.sandbox.log.records.length, 2 * rounds)
    await assertClean(gateway)
  } finally {
    await gateway.close()
  }
})

test('a limit of one request per minute admits one of fifty in every minute', async () => {
  const clock = new ManualClock()
  const { gateway, race } = await openField(clock)
  try {
    const account = await gateway.createAccount({ rpm: 1 })
    for (let round = 0; round < rounds; round++) {
      const result = await race(account, round)
      assertOneAdmitted(result, 429)
      for (const { headers } of result.refused) assert.equal(headers['retry-after'], '60')
      clock.advance(60_000)
    }
    assert.equal(gateway.sandbox.log.records.length, rounds)
    await assertClean(gateway)
  } finally {
    await gateway.close()
  }
})
