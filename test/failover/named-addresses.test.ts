/**
 * A main channel whose name leads to an address that is not public. The owner of the name could use it
 * to reach hosts behind the gateway, so nothing is sent there, the reserve answers, and the operator learns
 * why.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { smallCatalogue } from '../support/catalogues.ts'
import { post } from '../support/http-client.ts'
import { showRequest } from '../support/operations.ts'
import { messagesRequest } from '../support/requests.ts'
import { scenario } from '../support/scenario.ts'

function catalogue(url: string): string {
  const { port } = new URL(url)
  const rest = 'credential: main-canary, models: [large-1], check: none'
  return `${smallCatalogue(url)}
  by-name: { vendor: alpha, url: "https://vendor.example:${port}", rank: 0, ${rest} }
  on-own-network: { vendor: alpha, url: "http://vendor.internal:${port}/own", allow_private: true, rank: 1, ${rest} }
`.replace('models: [large-1] }', 'models: [large-1], rank: 2, check: none }')
}

test('a refused address is the fault of its channel, and costs a client nothing', async () => {
  const looked: string[] = []
  const gateway = await scenario({
    catalogue,
    resolve(host, done) {
      looked.push(host)
      done(null, [{ address: '127.0.0.1', family: 4 }])
    },
  })
  try {
    const url = `${gateway.url}/alpha/v1/messages`
    const answer = await post(url, gateway.account.key, messagesRequest())
    assert.equal(answer.status, 200, answer.body.toString())
    assert.deepEqual(looked, ['vendor.example', 'vendor.internal'])
    await gateway.recorded(answer)
    const request = String(answer.headers['x-turnpike-request-id'])
    const { attempts } = await showRequest(gateway.context, { request })
    assert.deepEqual(
      attempts.map(({ channel, class: name, blame }) => [channel, name, blame]),
      [
        ['by-name', 'address', 'channel'],
        ['on-own-network', 'answered', null],
      ],
    )
    assert.equal(gateway.grade('by-name', 'large-1'), 'off')
  } finally {
    await gateway.close()
  }
})
