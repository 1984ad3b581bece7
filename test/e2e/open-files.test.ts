/**
 * A gateway whose process may open few files, as `ulimit -n` sets it. More clients come than that is enough
 * for. `/health`, operators and running answers notice nothing, no channel is blamed, and afterwards all
 * places are free again.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { Agent } from 'node:http'
import { test } from 'node:test'
import { smallCatalogue } from '../support/catalogues.ts'
import { post, send, type OpenAnswer } from '../support/http-client.ts'
import { createAdminToken } from '../support/operations.ts'
import { messagesRequest, openAsk, places } from '../support/requests.ts'
import { scenario } from '../support/scenario.ts'

/** One channel, which is not compared with others. */
function catalogue(url: string): string {
  return smallCatalogue(url).replace('models: [large-1]', 'models: [large-1], check: none')
}

const ask = { format: 'messages', isStream: true } as const
/** Of 512 files 256 are kept. Half of the others are for clients, and of these eight for `/health`. */
const clientsMax = 120

test('clients beyond the limit of open files get 503, and health and operators are served', async () => {
  const vendors = await scenario({ catalogue, process: 'own' })
  try {
    const limited = ['sh', '-c', 'ulimit -n 512; exec "$0" "$@"']
    const gateway = await vendors.start({ max_connections_per_address: '0' }, limited)
    const { secret } = await createAdminToken(vendors.context, { name: 'open-files' })
    const { main } = places.messages
    for (const gate of ['first', 'second']) {
      vendors.sandbox.faults.set(main, `hold=${gate}@before_terminal`)
      const asked = Array.from({ length: 300 }, () =>
        openAsk(gateway.url, vendors.account.key, ask),
      )
      const begun = await Promise.all(asked.map(hasBegun))
      const running = asked.filter((_, index) => begun[index] === true)
      assert.equal(running.length, clientsMax)

      for (let times = 0; times < 3; times++) {
        const health = await send(`${gateway.url}/health`)
        assert.deepEqual([health.status, statusIn(health.text)], [200, 'ok'])
      }
      const metrics = await send(`${gateway.adminUrl}/metrics`, {
        headers: { authorization: `Bearer ${secret}` },
      })
      const [, openFiles] = /^turnpike_process_open_fds (\d+)$/m.exec(metrics.text) ?? []
      assert.ok(Number(openFiles) < 512 - 64, `${openFiles} files are open`)
      assert.doesNotMatch(metrics.text, /kind="shortage"/)

      vendors.sandbox.faults.set(main, '')
      vendors.sandbox.faults.release(gate)
      for (const { ended } of running) assert.match((await ended).text, /message_stop/)
    }
    const answer = await post(
      `${gateway.url}${places.messages.path}`,
      vendors.account.key,
      messagesRequest(),
    )
    assert.equal(answer.status, 200)
  } finally {
    await vendors.close()
  }
})

test('without any file left the gateway answers 503 on the connections that it has', async () => {
  const vendors = await scenario({ catalogue, process: 'own' })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  try {
    const gateway = await vendors.start()
    const limitTo = (files: string): void =>
      void execFileSync('prlimit', ['--pid', String(gateway.pid), `--nofile=${files}:`])
    const health = () => send(`${gateway.url}/health`, { agent })
    const askOn = () =>
      send(gateway.url + places.messages.path, {
        agent,
        headers: { 'x-api-key': vendors.account.key, 'content-type': 'application/json' },
        body: JSON.stringify(messagesRequest()),
      })
    assert.equal((await health()).status, 200)
    limitTo('20')
    for (let times = 0; times < 10; times++) {
      const answer = await askOn()
      assert.equal(answer.status, 503)
      assert.match(answer.text, /can open no more connections/)
    }
    assert.equal(statusIn((await health()).text), 'ok')
    limitTo('512')
    assert.equal((await askOn()).status, 200)
    assert.equal(
      (await post(gateway.url + places.messages.path, vendors.account.key, messagesRequest()))
        .status,
      200,
    )
  } finally {
    agent.destroy()
    await vendors.close()
  }
})

/** Whether the answer has begun; otherwise it was refused with 503, or the connection was not accepted. */
async function hasBegun(answer: OpenAnswer): Promise<boolean> {
  try {
    await answer.until((text) => text.includes('content_block_delta'))
    return true
  } catch {
    const refused = await answer.ended.catch(() => undefined)
    assert.ok(refused === undefined || refused.status === 503)
    return false
  }
}

function statusIn(health: string): unknown {
  return (JSON.parse(health) as { readonly status: unknown }).status
}
