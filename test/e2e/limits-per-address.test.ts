/** What one address without a valid key may take of the gateway, and that keys are not affected. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { send } from '../support/http-client.ts'
import { formats, places } from '../support/requests.ts'
import { scenario, type LogLine } from '../support/scenario.ts'

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
