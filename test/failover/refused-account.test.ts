/**
 * A vendor that refuses the operator's credential, account or money: off within one request, told to the
 * operator, not to the client, and back by the gateway's own checks once it is mended.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FormatName } from '../../src/formats/format.ts'
import { assertWhole, namesOperator } from '../support/answers.ts'
import { switchChannel } from '../support/operations.ts'
import { advanceUntil, ManualClock } from '../support/manual-clock.ts'
import { formats, places } from '../support/requests.ts'
import { failoverDefaults, scenario } from '../support/scenario.ts'

const second = 1_000
let markerCount = 0

function newMarker(): string {
  return `refused-${markerCount++}`
}

/** Credential and account, or money: whatever status the vendor says it with. */
const refusals: Readonly<Record<FormatName, Readonly<Record<string, readonly string[]>>>> = {
  messages: {
    credential_refused: ['401', '403', '400_organization_on_hold'],
    no_credit: ['402', '400_credit', '400_usage_limits', '429_enforced_spend_limit_reached'],
  },
  chat: {
    credential_refused: ['401', '403_region'],
    no_credit: ['429_insufficient_quota', '429_project_spend_limit_exceeded'],
  },
}

const models: Readonly<Record<FormatName, readonly string[]>> = {
  messages: ['large-1', 'small-1'],
  chat: ['chat-1', 'chat-mini-1'],
}

function refusalsOf(
  format: FormatName,
): readonly { readonly why: string; readonly error: string }[] {
  return Object.entries(refusals[format]).flatMap(([why, errors]) =>
    errors.map((error) => ({ why, error })),
  )
}

for (const format of formats) {
  const { main, reserve, model } = places[format]

  for (const { why, error } of refusalsOf(format))
    test(`a vendor account that is refused (${format} ${error}) is off within one request for all its models, and the operator sees it`, async () => {
      const clock = new ManualClock()
      const lines: Record<string, unknown>[] = []
      const gateway = await scenario({
        ...failoverDefaults,
        clock,
        onLogLine: (line) => lines.push(line),
      })
      try {
        gateway.sandbox.faults.set(main, `error=${error}`)
        const first = newMarker()
        const answer = await gateway.ask({ format, isStream: false, marker: first })
        assert.deepEqual(gateway.tried(first), [main, reserve])
        assertWhole(answer, await gateway.served(first, reserve), error)
        assert.ok(!namesOperator(answer.body.toString() + answer.rawHeaders.join('\n')))
        for (const one of models[format]) assert.equal(gateway.grade(main, one), 'off')
        for (let index = 0; index < 20; index++) {
          const marker = newMarker()
          await gateway.ask({ format, isStream: index % 2 === 0, marker })
          assert.deepEqual(gateway.tried(marker), [reserve])
          clock.advance(5 * second)
        }
        const alerts = lines.filter((line) => line['msg'] === 'operator needed')
        assert.equal(alerts.length, 1, 'one alert for the channel, not one per model or request')
        assert.deepEqual(
          [alerts[0]?.['level'], alerts[0]?.['channel'], alerts[0]?.['kind'], alerts[0]?.['why']],
          ['error', main, 'channel', why],
        )
        assert.deepEqual(await gateway.health(), { code: 200, status: 'degraded' })
      } finally {
        await gateway.close()
      }
    })

  test(`a refused credential (${format}) that is mended serves again within five minutes, by the gateway’s own checks`, async () => {
    const clock = new ManualClock()
    const settings = { check_interval: '1440m' }
    const gateway = await scenario({ ...failoverDefaults, clock, channels: {}, settings })
    try {
      gateway.sandbox.faults.set(main, 'error=401')
      await gateway.ask({ format, isStream: false })
      await advanceUntil(clock, 900 * second, async () => {
        await gateway.health()
        return clock.monotonic() >= 800 * second
      })
      assert.equal(gateway.grade(main, model), 'off')
      gateway.sandbox.faults.clear()
      await advanceUntil(clock, 300 * second, async () => {
        await gateway.health()
        return gateway.grade(main, model) === 'ramp'
      })
      await advanceUntil(clock, 121 * second, async () => {
        await gateway.health()
        return gateway.grade(main, model) === 'on'
      })
    } finally {
      await gateway.close()
    }
  })

  test(`a vendor that once refused a request (${format}) and whose models take no check is back within minutes`, async () => {
    const clock = new ManualClock()
    const settings = { check_interval: '1440m' }
    const gateway = await scenario({ ...failoverDefaults, clock, channels: {}, settings })
    const isCheck = ({ marker }: { readonly marker: string | undefined }): boolean =>
      marker === undefined
    try {
      // Whatever is asked is a bad request there, but for what a client asks.
      gateway.sandbox.faults.set(main, 'error=400')
      await gateway.ask({ format, isStream: false, marker: newMarker(), sandbox: 'error=401' })
      for (const one of models[format]) assert.equal(gateway.grade(main, one), 'off')
      await advanceUntil(clock, 420 * second, async () => {
        await gateway.health()
        return models[format].every((one) => gateway.grade(main, one) === 'ramp')
      })
      assert.ok(gateway.sandbox.log.records.some(isCheck))
    } finally {
      await gateway.close()
    }
  })

  test(`the client reads that only the operator can help (${format}), unless a retry may`, async () => {
    const gateway = await scenario(failoverDefaults)
    const textFor = async (faults: readonly [string, string]): Promise<string> => {
      gateway.resetHealth()
      gateway.sandbox.faults.set(main, faults[0])
      gateway.sandbox.faults.set(reserve, faults[1])
      const answer = await gateway.ask({ format, isStream: false })
      assert.equal(answer.status, 502, answer.text)
      return answer.text
    }
    try {
      const isLasting = /until the operator of this gateway acts\. Tell the operator/
      assert.match(await textFor(['error=401', 'error=403']), isLasting)
      assert.match(await textFor(['error=401', 'not_format=html']), /Try again/)
      for (const name of [main, reserve])
        await switchChannel(gateway.context, { channel: name, override: 'disabled' })
      await gateway.app.refresh()
      const answer = await gateway.ask({ format, isStream: false })
      assert.equal(answer.status, 503)
      assert.match(answer.text, /No channel serves this model until the operator/)
      assert.doesNotMatch(answer.text, /try again/i)
      assert.equal(answer.headers['retry-after'], undefined)
    } finally {
      await gateway.close()
    }
  })
}
