/**
 * Every case of smuggling-cases.ts, sent directly and through nginx and HAProxy with the samples of
 * deploy/proxies. After each of them an honest client on another connection gets its own answer, over the
 * proxy's pooled connections to the gateway; and the gateway has answered exactly the requests that the proxy
 * has passed on.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { eventually } from '../support/eventually.ts'
import type { RawConnection } from '../support/http-client.ts'
import { assertClean } from '../support/money.ts'
import { messagesPath, messagesRequest } from '../support/requests.ts'
import { hopNames, openHop, startGateway, type Counts, type Hop, type HopName } from './hops.ts'
import { reportFigures } from './report.ts'
import { smugglingCases, type Parts, type SmugglingCase } from './smuggling-cases.ts'

const gateway = await startGateway()
after(() => gateway.close())

/** The answer repeats the prompt. */
gateway.scripted.answer((response, { body }) => {
  const { messages } = JSON.parse(body.toString()) as { messages: { content: string }[] }
  const text = messages[0]?.content
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(
    JSON.stringify({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'large-1',
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 1 },
    }),
  )
})

const parts: Parts = {
  path: messagesPath,
  key: gateway.account.key,
  body: JSON.stringify(messagesRequest()),
}

/** Sends one request on a connection that stays, and reads its answer. */
async function askHonestly(connection: RawConnection, content: string): Promise<void> {
  const body = JSON.stringify(messagesRequest({ messages: [{ role: 'user', content }] }))
  connection.write(
    `POST ${messagesPath} HTTP/1.1\r\nHost: gateway\r\nX-Api-Key: ${parts.key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
  const answer = await connection.next()
  assert.equal(answer?.status, 200)
  assert.ok(answer.body.includes(`"${content}"`), answer.body.toString())
}

/** Sends the bytes, and returns the connection once all of the expected answers have come. */
async function attack(
  hop: Hop,
  { bytes, isPart, answers }: SmugglingCase,
  name: HopName,
): Promise<RawConnection> {
  const expected = answers[name]
  const connection = await hop.connect()
  connection.write(Buffer.from(bytes(parts), 'latin1'))
  if (isPart || expected === 'headless') connection.socket.end()
  if (expected === 'headless') {
    await connection.ended
    return connection
  }
  const statuses: (number | undefined)[] = []
  for (const status of expected) {
    const answer = await connection.next()
    statuses.push(answer?.status)
    if (status !== answer?.status) break
  }
  assert.deepEqual(statuses, expected)
  return connection
}

/** The gateway and the counting work in this process. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function difference(later: Counts, earlier: Counts): Counts {
  return {
    proxy: later.proxy - earlier.proxy,
    gateway: later.gateway - earlier.gateway,
    vendor: later.vendor - earlier.vendor,
  }
}

for (const name of hopNames)
  describe(name === 'direct' ? 'directly' : `behind ${name}`, () => {
    let hop: Hop
    let honest: RawConnection
    let earlier: Counts
    before(async () => {
      hop = await openHop(name, gateway)
      honest = await hop.connect()
      earlier = hop.counts()
    })
    after(async () => {
      honest.close()
      await hop.close()
    })

    for (const one of smugglingCases)
      it(one.name, async () => {
        const expected = one.answers[name]
        const connection = await attack(hop, one, name)
        await askHonestly(honest, `honest ${one.name}`)
        if (expected !== 'headless') assert.equal(connection.unread().toString('latin1'), '')
        connection.close()

        const counts = await eventually(
          'the counts agree',
          () => turn().then(() => hop.counts()),
          (each) => each.proxy === each.gateway,
          10_000,
        )
        const { gateway: answered, vendor } = difference(counts, earlier)
        earlier = counts
        // The honest request is one of them.
        assert.equal(vendor, one.served[name] + 1)
        if (expected !== 'headless')
          assert.ok(answered - 1 <= expected.filter((status) => status >= 200).length)
      })

    it('all requests together are counted alike by each hop', () => {
      const { proxy, gateway: answered, vendor } = hop.counts()
      assert.equal(answered, proxy)
      reportFigures({
        set: 'smuggling',
        part: name,
        cases: smugglingCases.length,
        exceptions: 0,
        figures:
          (name === 'direct' ? '' : `${proxy} requests passed on by the proxy, `) +
          `${answered} answered by the gateway, ${vendor} received by the vendor`,
      })
    })
  })

it('charges each served request once', async () => {
  await assertClean(gateway)
})
