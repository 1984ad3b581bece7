/**
 * A vendor shows a certificate that cannot be trusted: expired, for another name, of an unknown authority.
 * Goal: no client notices, nothing is sent over such a connection, the operator reads what is wrong with it,
 * and the channel is back by itself once the vendor has renewed it. Real handshakes; time is moved by hand.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertWhole } from '../support/answers.ts'
import { advanceUntil, ManualClock } from '../support/manual-clock.ts'
import { assertClean } from '../support/money.ts'
import { showChannel, showRequest } from '../support/operations.ts'
import { places } from '../support/requests.ts'
import { scenario, type LogLine, type Scenario } from '../support/scenario.ts'
import {
  expiredCertificate,
  startTlsFront,
  strangersCertificate,
  trustedCertificate,
  unknownCertificate,
  vendorName,
  type TlsFront,
} from '../support/tls-front.ts'

const { main, reserve, model } = places.messages
const clock = new ManualClock()
const lines: LogLine[] = []
let front: TlsFront
let gateway: Scenario
before(async () => {
  front = await startTlsFront(trustedCertificate)
  gateway = await scenario({
    clock,
    onLogLine: (line) => lines.push(line),
    resolve: (_host, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
    channels: {
      named: {
        [main]: { url: `https://${vendorName}:${front.port}/${main}`, allow_private: true },
      },
    },
  })
  front.leadTo(gateway.sandbox)
})
after(async () => {
  await gateway.close()
  await front.close()
})

const untrusted = [
  { what: 'has expired', certificate: expiredCertificate, why: 'certificate_expired' },
  { what: 'is for another name', certificate: strangersCertificate, why: 'certificate_refused' },
  { what: 'is its own authority', certificate: unknownCertificate, why: 'certificate_refused' },
]
const classes: Readonly<Record<string, string>> = {
  certificate_expired: 'certificate_expired',
  certificate_refused: 'tls',
}

/** One request; the client must get a whole answer of that channel. */
async function askVia(channel: string, marker: string) {
  const answer = await gateway.ask({ format: 'messages', isStream: true, marker })
  assert.equal(gateway.tried(marker).at(-1), channel, answer.text)
  assertWhole(answer, await gateway.served(marker, channel), marker)
  return answer
}

for (const [index, { what, certificate, why }] of untrusted.entries())
  test(`the vendor's certificate ${what}: the reserve answers, and the channel is back with a good one`, async () => {
    const from = lines.length
    await askVia(main, `before-${index}`)
    front.show(certificate)
    await askVia(main, `kept-${index}`)
    front.cut()

    const marker = `bad-${index}`
    const answer = await askVia(reserve, marker)
    assert.deepEqual(gateway.tried(marker), [reserve], 'nothing was sent without trust')
    const request = String(answer.headers['x-turnpike-request-id'])
    const { attempts } = await showRequest(gateway.context, { request })
    assert.deepEqual(
      attempts.map(({ channel, class: name, blame }) => [channel, name, blame]),
      [
        [main, classes[why], 'channel'],
        [reserve, 'answered', null],
      ],
    )
    assert.equal(gateway.grade(main, model), 'off', 'with one request')
    assert.deepEqual(await gateway.health(), { code: 200, status: 'degraded' })
    for (const later of ['one', 'two']) await askVia(reserve, `${marker}-${later}`)
    await gateway.app.refresh()
    const shown = await showChannel(gateway.context, { channel: main })
    const health = shown.health.find((one) => one.model === model)
    assert.equal(health?.why, why)
    assert.match(JSON.stringify(health.next_steps), /certificate|authority/)
    const needed = lines.slice(from).filter(({ msg }) => msg === 'operator needed')
    assert.deepEqual(
      needed.map((line) => [line['channel'], line['why']]),
      [[main, why]],
      'once, for all models of the channel',
    )

    front.show(trustedCertificate)
    await advanceUntil(clock, 600_000, async () => {
      const { status } = await gateway.health()
      return gateway.grade(main, model) === 'on' && status === 'ok'
    })
    await askVia(main, `after-${index}`)
    await assertClean(gateway)
  })
