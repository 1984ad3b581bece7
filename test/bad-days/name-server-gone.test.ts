/**
 * Names can no longer be looked up, or lead somewhere else. Goal: connections that are open serve on, no
 * client notices while a reserve is left, the operator reads that it is the name, and all is back by itself.
 * The last test is a separate process with the system's look-up, in a mount namespace with own files in /etc.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, test } from 'node:test'
import type { Resolve } from '../../src/http/client/checked-lookup.ts'
import { assertOwnError, assertWhole, hasEnd } from '../support/answers.ts'
import { demoCatalogueWith } from '../support/catalogues.ts'
import { eventually } from '../support/eventually.ts'
import { advanceUntil, ManualClock } from '../support/manual-clock.ts'
import { assertClean, chargesOf } from '../support/money.ts'
import { showRequest } from '../support/operations.ts'
import { openAsk, places, sendAsk, type Ask } from '../support/requests.ts'
import { scenario } from '../support/scenario.ts'
import { send } from '../support/http-client.ts'

const { main, reserve, model } = places.messages
const name = 'vendor.internal'

/** Both of the messages vendor's channels, or the main one alone, lead to the name. */
function namedCatalogue(channels: readonly string[]): (url: string) => string {
  return (url) => {
    const { port } = new URL(url)
    const named: Record<string, Record<string, unknown>> = {}
    for (const channel of channels)
      named[channel] = { url: `http://${name}:${port}/${channel}`, allow_private: true }
    return demoCatalogueWith({ named })(url)
  }
}

const here: Resolve = (_host, done) => done(null, [{ address: '127.0.0.1', family: 4 }])
/** Of the system's resolver; the look-up itself has failed. */
const failsWith =
  (code: string): Resolve =>
  (host, done) => {
    const error = new Error(`getaddrinfo ${code} ${host}`)
    done(Object.assign(error, { code, syscall: 'getaddrinfo', hostname: host }), [])
  }
/** Of the whole network 127.0.0.0/8, where only the first address answers. */
const elsewhere: Resolve = (_host, done) => done(null, [{ address: '127.9.9.9', family: 4 }])

const troubles = [
  { what: 'the name server does not answer', resolve: failsWith('EAI_AGAIN'), class: 'lookup' },
  { what: 'the name is unknown', resolve: failsWith('ENOTFOUND'), class: 'lookup' },
  { what: 'the name leads where nothing answers', resolve: elsewhere, class: 'connect' },
]

let resolve = here
beforeEach(() => void (resolve = here))

for (const trouble of troubles)
  test(`${trouble.what}: open connections serve on, then the reserve, and the channel comes back`, async () => {
    const clock = new ManualClock()
    const gateway = await scenario({
      clock,
      hasVendorProxy: true,
      catalogue: namedCatalogue([main]),
      resolve: (host, done) => resolve(host, done),
    })
    let count = 0
    const askVia = async (channel: string) => {
      const marker = `names-${count++}`
      const answer = await gateway.ask({ format: 'messages', isStream: true, marker })
      assert.equal(gateway.tried(marker).at(-1), channel, answer.text)
      assertWhole(answer, await gateway.served(marker, channel), marker)
      return answer
    }
    try {
      await askVia(main)
      resolve = trouble.resolve
      await askVia(main)
      gateway.vendorProxy?.cut()

      const answer = await askVia(reserve)
      const request = String(answer.headers['x-turnpike-request-id'])
      const { attempts } = await showRequest(gateway.context, { request })
      assert.deepEqual(
        attempts.map(({ channel, class: found, blame }) => [channel, found, blame]),
        [
          [main, trouble.class, 'channel'],
          [reserve, 'answered', null],
        ],
      )
      for (let more = 0; more < 5; more++) await askVia(reserve)
      await eventually(
        'the channel is off',
        () => gateway.health().then(() => gateway.grade(main, model)),
        (grade) => grade === 'off',
      )
      assert.deepEqual(await gateway.health(), { code: 200, status: 'degraded' })

      resolve = here
      await advanceUntil(clock, 600_000, async () => {
        const { status } = await gateway.health()
        return gateway.grade(main, model) === 'on' && status === 'ok'
      })
      await askVia(main)
      await assertClean(gateway)
    } finally {
      await gateway.close()
    }
  })

test('new connections follow a name to its new address', async () => {
  const gateway = await scenario({
    hasVendorProxy: true,
    catalogue: namedCatalogue([main, reserve]),
    resolve: (host, done) => resolve(host, done),
  })
  try {
    const ask: Ask = { format: 'messages', isStream: false }
    resolve = elsewhere
    assertOwnError(await gateway.ask(ask), 'messages', 502, 'the old address')
    resolve = here
    assert.ok(hasEnd(await gateway.ask(ask), ask))
    await assertClean(gateway)
  } finally {
    await gateway.close()
  }
})

test('a gateway without any name server answers in the vendor’s form, charges nothing, and serves again without a restart', async (context) => {
  const setup = await scenario({ process: 'own', catalogue: namedCatalogue([main, reserve]) })
  context.after(() => setup.close())
  const hosts = join(setup.folder, 'hosts')
  const servers = join(setup.folder, 'resolv.conf')
  writeFileSync(hosts, `127.0.0.1 ${name}\n`)
  // No name server listens at this address of the machine itself.
  writeFileSync(servers, 'nameserver 127.9.9.9\noptions timeout:1 attempts:1\n')
  const mounts = `mount --bind '${hosts}' /etc/hosts && mount --bind '${servers}' /etc/resolv.conf`
  const isolated = ['--mount', 'sh', '-c', `${mounts} && exec "$0" "$@"`]
  const asRoot = process.getuid?.() === 0 ? [] : ['--map-root-user']
  const gateway = await setup.start({}, ['unshare', ...asRoot, ...isolated])
  const ask: Ask = { format: 'messages', isStream: true }
  const askOnce = () => sendAsk(gateway.url, setup.account.key, ask)
  assert.ok(hasEnd(await askOnce(), ask))

  const running = openAsk(gateway.url, setup.account.key, { ...ask, sandbox: 'hold=names@mid' })
  await setup.sandbox.faults.reached('names')
  writeFileSync(hosts, '')
  // One more than there are idle connections: it needs a look-up.
  const crowd = await Promise.all(Array.from({ length: 3 }, askOnce))
  const failed = crowd.filter(({ status }) => status !== 200)
  assert.ok(failed.length >= 2, 'at most one connection was idle')
  for (const answer of failed) {
    const { message } = assertOwnError(answer, 'messages', 502, 'without a name server')
    assert.doesNotMatch(message, /vendor\.internal|EAI|ENOTFOUND/)
  }
  setup.sandbox.faults.release('names')
  assert.ok((await running.ended).text.includes('message_stop'), 'what runs is served to its end')

  const chargesOfAll = () => chargesOf(setup.context.database, setup.account.id)
  assert.equal((await chargesOfAll()).size, 2 + crowd.length - failed.length)
  writeFileSync(hosts, `127.0.0.1 ${name}\n`)
  await eventually('an answer with its end', askOnce, (answer) => hasEnd(answer, ask))
  assert.equal((await send(`${gateway.url}/health`)).status, 200)
  await assertClean(setup)
})
