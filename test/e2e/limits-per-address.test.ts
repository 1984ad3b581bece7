/** What one address without a valid key may take of the gateway, and that keys are not affected. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { connectRaw, send, type RawConnection } from '../support/http-client.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { formats, openAsk, places } from '../support/requests.ts'
import { scenario, withScenario, type LogLine, type Scenario } from '../support/scenario.ts'

const health = 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n'

function models(gateway: Scenario): string {
  return `GET /alpha/v1/models HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${gateway.account.key}\r\n\r\n`
}

/** Connections that stay open behind their first answer. */
async function openMany(
  gateway: Scenario,
  { count, request, from }: { count: number; request: string; from: string },
): Promise<RawConnection[]> {
  const connections: RawConnection[] = []
  for (let index = 0; index < count; index++) {
    const connection = await connectRaw(gateway.url, from)
    connection.write(request)
    assert.equal((await connection.next())?.status, 200)
    connections.push(connection)
  }
  return connections
}

function closeAll(connections: readonly RawConnection[]): void {
  for (const connection of connections) connection.close()
}

async function isServed(connection: RawConnection, request: string): Promise<boolean> {
  connection.write(request)
  return (await connection.next())?.status === 200
}

describe('connections', () => {
  it('of one address without a key are limited, and those with a key are not', async () => {
    const clock = new ManualClock()
    const settings = { max_connections_per_address: '3' }
    await withScenario({ clock, settings }, async (gateway) => {
      const from = '127.0.0.2'
      const withKey = await openMany(gateway, { count: 6, request: models(gateway), from })
      const without = await openMany(gateway, { count: 6, request: health, from })
      const others = await openMany(gateway, { count: 3, request: health, from: '127.0.0.3' })
      clock.advance(2_200)
      await Promise.all(without.slice(0, 3).map(({ ended }) => ended))
      for (const connection of [...without.slice(3), ...others])
        assert.ok(await isServed(connection, health))
      for (const connection of withKey) assert.ok(await isServed(connection, models(gateway)))
      closeAll([...withKey, ...without, ...others])
    })
  })

  it('that are idle do not keep a client with a key, or /health, from the gateway', async () => {
    await withScenario({ settings: { max_connections: '10' } }, async (gateway) => {
      const idle = await openMany(gateway, { count: 10, request: health, from: '127.0.0.2' })
      const silent = await Promise.all(idle.map(() => connectRaw(gateway.url, '127.0.0.2')))
      for (const format of formats)
        assert.equal((await gateway.ask({ format, isStream: true })).status, 200)
      assert.equal((await send(`${gateway.url}/health`)).status, 200)
      closeAll([...idle, ...silent])
    })
  })

  it('that are all in use leave room for /health, and others get 503 in place of a reset', async () => {
    await withScenario({ settings: { max_connections: '100' } }, async (gateway) => {
      gateway.sandbox.faults.set('beta-main', 'hold=all@before_head')
      const ask = { format: 'chat', isStream: true } as const
      const running = Array.from({ length: 92 }, () =>
        openAsk(gateway.url, gateway.account.key, ask),
      )
      await gateway.passed('attempt_sent', 92)
      for (let times = 0; times < 3; times++)
        assert.equal((await send(`${gateway.url}/health`)).status, 200)
      for (const path of [places.chat.path, places.messages.path, '/v1/usage']) {
        const answer = await send(gateway.url + path, {
          headers: { 'x-api-key': gateway.account.key },
        })
        assert.equal(answer.status, 503, path)
        assert.equal(answer.headers['retry-after'], '1')
        assert.match(answer.text, /all its connections in use/)
      }
      for (const one of running) one.leave()
      await Promise.allSettled(running.map(({ ended }) => ended))
      gateway.sandbox.faults.set('beta-main', '')
      gateway.sandbox.faults.release('all')
    })
  })
})

describe('failed sign-ins', () => {
  it('beyond the limit get 429 in the shape of the format, and keys work from there', async () => {
    const lines: LogLine[] = []
    const gateway = await scenario({
      settings: { max_failed_sign_ins: '5' },
      onLogLine: (line) => lines.push(line),
    })
    try {
      const paths = [...formats.map((format) => places[format].path), '/v1/usage']
      const askWrongly = (path: string) =>
        send(gateway.url + path, { headers: { 'x-api-key': 'x' } })
      for (let times = 0; times < 5; times++)
        assert.equal((await askWrongly(paths[times % paths.length] ?? '')).status, 401)
      for (const path of paths) {
        const answer = await askWrongly(path)
        assert.equal(answer.status, 429, path)
        const retryAfter = Number(answer.headers['retry-after'])
        assert.ok(retryAfter >= 1 && retryAfter <= 60, String(retryAfter))
        assert.match(answer.text, /no valid credential/)
      }
      const limited = lines.filter(({ msg }) => msg === 'too many failed sign-ins')
      assert.deepEqual(
        limited.map(({ address }) => address),
        ['127.0.0.1'],
      )
      for (const format of formats)
        assert.equal((await gateway.ask({ format, isStream: false })).status, 200)
      const { token } = gateway.account
      const usage = await send(`${gateway.url}/v1/usage`, { headers: { 'x-api-key': token } })
      assert.equal(usage.status, 200)
    } finally {
      await gateway.close()
    }
  })

  it('behind a trusted proxy count for the address that it names', async () => {
    const settings = { max_failed_sign_ins: '2', trusted_proxies: '127.0.0.1' }
    const gateway = await scenario({ settings })
    try {
      const statusFor = async (client: string): Promise<number> => {
        const headers = { 'x-api-key': 'wrong', 'x-forwarded-for': `6.6.6.6, ${client}` }
        return (await send(`${gateway.url}/alpha/v1/models`, { headers })).status
      }
      const statuses: number[] = []
      for (const client of ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2', '2001:db8::1'])
        statuses.push(await statusFor(client))
      assert.deepEqual(statuses, [401, 401, 429, 401, 401])
    } finally {
      await gateway.close()
    }
  })
})
