/** Whose word about a client's address is believed: headers, the PROXY protocol, and who is warned about. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { connectRaw, send, type RawAnswer } from '../support/http-client.ts'
import { createClientKey, diagnose } from '../support/operations.ts'
import { scenario, type LogLine, type Scenario } from '../support/scenario.ts'

interface Rig {
  readonly gateway: Scenario
  /** A key that may be used from 192.0.2.0/24 and 2001:db8::/32 only. */
  readonly key: string
  readonly lines: readonly LogLine[]
}

async function withRig(
  settings: Readonly<Record<string, string>>,
  work: (rig: Rig) => Promise<void>,
): Promise<void> {
  const lines: LogLine[] = []
  const gateway = await scenario({ settings, onLogLine: (line) => lines.push(line) })
  try {
    const ip = ['192.0.2.0/24', '2001:db8::/32']
    const { secret } = await createClientKey(gateway.context, {
      account: gateway.account.name,
      name: 'office',
      ip,
    })
    await work({ gateway, key: secret, lines })
  } finally {
    await gateway.close()
  }
}

async function statusWith(rig: Rig, headers: Readonly<Record<string, string>>): Promise<number> {
  const answer = await send(`${rig.gateway.url}/alpha/v1/models`, {
    headers: { 'x-api-key': rig.key, ...headers },
  })
  return answer.status
}

/** The answer to a request on a connection that begins with these bytes. */
async function answerTo(
  rig: Rig,
  start: Buffer | string,
  localAddress = '127.0.0.1',
): Promise<RawAnswer | undefined> {
  const connection = await connectRaw(rig.gateway.url, localAddress)
  const request = `GET /alpha/v1/models HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${rig.key}\r\n\r\n`
  connection.write(Buffer.concat([Buffer.from(start), Buffer.from(request)]))
  const answer = await connection.next()
  connection.close()
  return answer
}

function warnings({ lines }: Rig): readonly string[] {
  return lines
    .filter(({ msg }) => msg === 'forwarding peer not trusted')
    .map(({ address, how }) => `${String(address)} ${String(how)}`)
}

async function proxyFindings({ gateway }: Rig): Promise<readonly string[]> {
  await gateway.app.refresh()
  const { findings } = await diagnose(gateway.context, {}, () =>
    Promise.resolve({ outcome: 'ok', durationMs: 1, status: 200 }),
  )
  return findings.filter(({ area }) => area === 'proxies').map(({ message }) => message)
}

describe('without trusted proxies', () => {
  it('no claim is believed, and a peer that forwards is named once in the log and by doctor', async () => {
    await withRig({}, async (rig) => {
      assert.deepEqual(await proxyFindings(rig), [])
      for (const header of ['x-forwarded-for', 'forwarded', 'x-real-ip'])
        assert.equal(await statusWith(rig, { [header]: '192.0.2.1' }), 403)
      assert.deepEqual(warnings(rig), ['127.0.0.1 x-forwarded-for'])
      const [finding, ...more] = await proxyFindings(rig)
      assert.match(finding ?? '', /forwarded by 127\.0\.0\.1, which trusted_proxies does not list/)
      assert.deepEqual(more, [])
    })
  })

  it('a PROXY line is refused, and its peer is named', async () => {
    await withRig({}, async (rig) => {
      const answer = await answerTo(rig, 'PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n')
      assert.equal(answer?.status, 400)
      assert.deepEqual(warnings(rig), ['127.0.0.1 proxy_protocol'])
    })
  })
})

describe('behind a trusted proxy', () => {
  it('a key with address ranges may be used from the address that the proxy names', async () => {
    await withRig({ trusted_proxies: '127.0.0.1, 10.0.0.0/8' }, async (rig) => {
      for (const [claim, status] of [
        ['192.0.2.1', 200],
        ['2001:db8::1, 10.1.2.3', 200],
        ['198.51.100.1', 403],
        ['192.0.2.1, 198.51.100.1', 403],
        ['192.0.2.1, unknown', 403],
      ] as const)
        assert.equal(await statusWith(rig, { 'X-Forwarded-For': claim }), status, claim)
      assert.equal(await statusWith(rig, { 'X-Real-IP': '192.0.2.1' }), 403)
      const headers = { 'x-api-key': rig.key, 'x-forwarded-for': '192.0.2.1' }
      await send(`${rig.gateway.url}/alpha/v1/nothing`, { headers })
      const line = rig.lines.findLast(({ msg }) => msg === 'request refused')
      assert.equal(line?.['address'], '192.0.2.1')
      assert.equal(await statusWith(rig, {}), 403)
      assert.deepEqual(warnings(rig), [])
      assert.deepEqual(await proxyFindings(rig), [])
    })
  })

  it('the header is the one of the setting', async () => {
    const settings = { trusted_proxies: '127.0.0.0/8', client_address_header: 'Forwarded' }
    await withRig(settings, async (rig) => {
      const headers = { 'x-forwarded-for': '198.51.100.1', forwarded: 'for="[2001:db8::1]:80"' }
      assert.equal(await statusWith(rig, headers), 200)
    })
  })
})

describe('with proxy_protocol on', () => {
  const settings = { trusted_proxies: '127.0.0.1', proxy_protocol: 'on' }

  it('the client of a connection is the one in its PROXY line', async () => {
    await withRig(settings, async (rig) => {
      const v4 = await answerTo(rig, 'PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n')
      assert.equal(v4?.status, 200)
      const other = await answerTo(rig, 'PROXY TCP4 198.51.100.1 192.0.2.2 1 2\r\n')
      assert.equal(other?.status, 403)
      const binary = '0d0a0d0a000d0a515549540a2111000cc0000201c000020200010002'
      assert.equal((await answerTo(rig, Buffer.from(binary, 'hex')))?.status, 200)
      // The proxy itself asks.
      assert.equal((await answerTo(rig, 'PROXY UNKNOWN\r\n'))?.status, 403)
    })
  })

  it('a line in pieces is read, and the connection serves on behind it', async () => {
    await withRig(settings, async (rig) => {
      const connection = await connectRaw(rig.gateway.url)
      const line = Buffer.from('PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n')
      const request = Buffer.from(
        `GET /alpha/v1/models HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${rig.key}\r\n\r\n`,
      )
      await connection.writePieces([
        line.subarray(0, 3),
        line.subarray(3, 20),
        line.subarray(20),
        request.subarray(0, 9),
        request.subarray(9),
        request,
      ])
      for (let times = 0; times < 2; times++) assert.equal((await connection.next())?.status, 200)
      connection.close()
    })
  })

  it('a connection of the proxy without the line is refused, and so is a line of another peer', async () => {
    await withRig(settings, async (rig) => {
      const without = await answerTo(rig, '')
      assert.equal(without?.status, 400)
      assert.match(without.body.toString(), /must begin .* with the PROXY protocol/)
      const line = 'PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n'
      assert.equal((await answerTo(rig, line, '127.0.0.2'))?.status, 400)
      assert.equal((await answerTo(rig, '', '127.0.0.2'))?.status, 403)
      assert.deepEqual(warnings(rig), ['127.0.0.2 proxy_protocol'])
    })
  })
})
