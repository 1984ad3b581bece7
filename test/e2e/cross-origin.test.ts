/**
 * Pages in browsers call the gateway (`cors_origins`), and `OPTIONS` without a page. The page of
 * test/support/page.ts checks each answer as a browser does.
 */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { connectRaw, post, send, type RawConnection } from '../support/http-client.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { assertClean } from '../support/money.ts'
import { openPage, type Page } from '../support/page.ts'
import { chatPath, formats, messagesPath, places, type JsonFields } from '../support/requests.ts'
import { scenario, withScenario, type Scenario } from '../support/scenario.ts'

const app = 'https://app.example'
const settings = {
  cors_origins: `${app}, http://localhost:5173`,
  body_max_bytes: '4096',
}

let gateway: Scenario
let page: Page
before(async () => {
  gateway = await scenario({ settings })
})
after(async () => {
  await assertClean(gateway)
  await gateway.close()
})
beforeEach(() => {
  gateway.sandbox.log.clear()
  page = openPage(app)
})

const asked = { max_tokens: 16, messages: [{ role: 'user', content: 'hello' }] }
const model = { messages: 'large-1', chat: 'chat-1' } as const

const endOf = { messages: /message_stop/, chat: /\[DONE\]/ } as const

/** As a script of a page sends it. */
function ask(from: Page, url: string, key: string, body: JsonFields): Promise<Response> {
  return from.fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...asked, ...body }),
  })
}

const isBlocked = (error: unknown): boolean => {
  assert.ok(error instanceof TypeError, String(error))
  assert.match(String(error.cause), /is not allowed|preflight/)
  return true
}

describe('a page of a listed origin', () => {
  for (const format of formats) {
    const { path } = places[format]

    it(`reads a whole answer of the ${format} format, with its headers`, async () => {
      const { key } = await gateway.createAccount({ rpm: 10 })
      const answer = await ask(page, gateway.url + path, key, { model: model[format] })
      assert.equal(answer.status, 200)
      assert.match(await answer.text(), /simulated/)
      const [idName, limitName] =
        format === 'chat'
          ? ['x-request-id', 'x-ratelimit-remaining-requests']
          : ['request-id', 'anthropic-ratelimit-requests-remaining']
      assert.match(answer.headers.get('x-turnpike-request-id') ?? '', /^ex_/)
      assert.match(answer.headers.get(idName) ?? '', /^(req|ex)_/)
      assert.equal(answer.headers.get(limitName), '9')
      assert.equal(page.preflights.length, 1)
    })

    it(`reads a stream of the ${format} format while it comes`, async () => {
      gateway.sandbox.faults.set(places[format].main, 'hold=middle@mid')
      const answer = await ask(page, gateway.url + path, gateway.account.key, {
        model: model[format],
        stream: true,
      }).finally(() => gateway.sandbox.faults.set(places[format].main, ''))
      assert.equal(answer.headers.get('content-type')?.split(';')[0], 'text/event-stream')
      const reader = answer.body?.getReader()
      const first = await reader?.read()
      let text = Buffer.from(first?.value ?? []).toString()
      assert.match(text, /data: /)
      assert.doesNotMatch(text, endOf[format])
      gateway.sandbox.faults.release('middle')
      for (let next = await reader?.read(); next?.done === false; next = await reader?.read())
        text += Buffer.from(next.value).toString()
      assert.match(text, endOf[format])
    })
  }

  it('reads /health without a preflight, and its usage with a token', async () => {
    const health = await page.fetch(`${gateway.url}/health`)
    assert.equal(((await health.json()) as { status: string }).status, 'ok')
    assert.equal(page.preflights.length, 0)
    const { token } = gateway.account
    const usage = await page.fetch(`${gateway.url}/v1/usage`, { headers: { 'x-api-key': token } })
    assert.equal(((await usage.json()) as { currency: string }).currency, 'USD')
    assert.equal(page.preflights.length, 1)
  })

  const refusals: readonly {
    readonly name: string
    readonly status: number
    readonly path?: string
    readonly body?: JsonFields
    readonly key?: () => Promise<string>
    /** Directives to the vendor's channels. */
    readonly vendor?: string
    readonly header?: string
  }[] = [
    { name: 'a wrong key', status: 401, key: async () => 'cr_wrong', header: 'x-should-retry' },
    { name: 'a token', status: 403, key: async () => gateway.account.token },
    { name: 'an unknown path', status: 404, path: '/beta/v1/nothing' },
    { name: 'a path without its vendor', status: 404, path: '/v1/chat/completions' },
    { name: 'a path outside every prefix', status: 404, path: '/nothing' },
    { name: 'an unknown model', status: 404, body: { model: 'none' } },
    { name: 'a path that is read', status: 405, path: '/beta/v1/models', header: 'allow' },
    { name: 'a body that is not valid', status: 400, body: { max_tokens: 'many' } },
    { name: 'a body that is too large', status: 413, body: { user: 'x'.repeat(10_000) } },
    {
      name: 'an empty balance',
      status: 402,
      key: async () => (await gateway.createAccount({ balance_usd: '0' })).key,
      header: 'x-should-retry',
    },
    {
      name: 'used-up requests per minute',
      status: 429,
      async key() {
        const { key } = await gateway.createAccount({ rpm: 1 })
        const used = await post(gateway.url + chatPath, key, { model: 'chat-1', ...asked })
        assert.equal(used.status, 200)
        return key
      },
      header: 'retry-after',
    },
    { name: "a vendor's refusal of the request", status: 400, vendor: 'status=400' },
    { name: "a vendor's rate limit", status: 429, vendor: 'status=429', header: 'retry-after' },
    { name: 'no usable answer of a vendor', status: 502, vendor: 'reset=before_head' },
  ]
  for (const { name, status, path = chatPath, body = {}, key, vendor, header } of refusals)
    it(`reads the refusal of ${name}: ${status}`, async () => {
      for (const channel of ['beta-main', 'beta-reserve'])
        gateway.sandbox.faults.set(channel, vendor ?? '')
      const secret = (await key?.()) ?? gateway.account.key
      const answer = await ask(page, gateway.url + path, secret, { model: 'chat-1', ...body })
      for (const channel of ['beta-main', 'beta-reserve']) gateway.sandbox.faults.set(channel, '')
      gateway.resetHealth()
      assert.equal(answer.status, status)
      const { error } = (await answer.json()) as { error: { message: string } }
      assert.ok(error.message.length > 0)
      if (header !== undefined) assert.ok(answer.headers.has(header), header)
    })

  it('reads the answer to a fault of the gateway', async () => {
    const broken = await scenario({ settings })
    try {
      await broken.app.database.close()
      const { key, token } = broken.account
      const relayed = await ask(page, broken.url + chatPath, key, { model: 'chat-1' })
      const headers = { 'x-api-key': token }
      const own = await page.fetch(`${broken.url}/v1/usage`, { headers })
      for (const answer of [relayed, own]) {
        assert.ok([500, 503].includes(answer.status), String(answer.status))
        assert.match(await answer.text(), /store|internal error/)
      }
    } finally {
      await broken.close()
    }
  })

  it('reads the refusal of a gateway that drains, in place of a failed preflight', async () => {
    await withScenario({ settings }, async (draining) => {
      draining.sandbox.faults.set('beta-main', 'hold=drain@before_head')
      const running = draining.ask({ format: 'chat', isStream: true })
      await draining.passed('attempt_sent')
      const drained = draining.app.drain(60_000)
      try {
        const url = draining.url + chatPath
        const answer = await ask(page, url, draining.account.key, { model: 'chat-1' })
        assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '1'])
        assert.equal(page.preflights[0]?.headers['connection'], 'close')
      } finally {
        draining.sandbox.faults.set('beta-main', '')
        draining.sandbox.faults.release('drain')
        assert.equal((await running).status, 200)
        await drained
      }
    })
  })
})

describe('a vendor', () => {
  it('learns nothing of the page, and its own answer to it does not pass', async () => {
    await withScenario({ settings, vendors: 'scripted' }, async (scripted) => {
      const body =
        '{"choices":[{"index":0,"message":{"content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}'
      scripted.scripted.answer((response) => {
        response.writeHead(200, {
          'content-type': 'application/json',
          'content-length': body.length,
          'Access-Control-Allow-Origin': '*',
          'Access-Control-Allow-Credentials': 'true',
          access_control_allow_headers: '*',
          'Access-Control-Expose-Headers': 'X-Vendor',
          'X-Vendor': '1',
        })
        response.end(body)
      })
      const url = scripted.url + chatPath
      const answer = await ask(page, url, scripted.account.key, { model: 'chat-1' })
      assert.deepEqual([answer.status, await answer.text()], [200, body])
      assert.equal(answer.headers.get('x-vendor'), null)
      const sentNames = (scripted.scripted.last?.rawHeaders ?? []).map((name) => name.toLowerCase())
      assert.ok(!sentNames.includes('origin'))

      for (const [origin, names] of [
        ['https://other.example', []],
        [app, ['access-control-allow-origin', 'access-control-expose-headers']],
      ] as const) {
        const seen = await post(
          url,
          scripted.account.key,
          { model: 'chat-1', ...asked },
          { origin },
        )
        assert.equal(seen.status, 200)
        assert.deepEqual(corsNames(seen.headers), names)
      }
    })
  })
})

describe('a page of another origin', () => {
  it('sends nothing but the preflight, and reads nothing', async () => {
    for (const origin of ['https://other.example', 'https://app.example:8443', 'null']) {
      const other = openPage(origin)
      const url = gateway.url + messagesPath
      await assert.rejects(ask(other, url, gateway.account.key, { model: 'large-1' }), isBlocked)
      const [preflight] = other.preflights
      assert.equal(preflight?.status, 204)
      assert.deepEqual(corsNames(preflight.headers), [])
      assert.equal(gateway.sandbox.log.records.length, 0)

      await assert.rejects(other.fetch(`${gateway.url}/health`), isBlocked)
      const health = await send(`${gateway.url}/health`, { headers: { origin } })
      assert.deepEqual([health.status, health.headers['vary']], [200, 'Origin'])
      assert.deepEqual(corsNames(health.headers), [])
    }
  })

  it('reads everything where any origin is listed', async () => {
    await withScenario({ settings: { cors_origins: '*' } }, async (open) => {
      for (const origin of ['https://other.example', 'null']) {
        const other = openPage(origin)
        const answer = await ask(other, open.url + chatPath, open.account.key, { model: 'chat-1' })
        assert.equal(answer.status, 200)
      }
    })
  })

  it('reads nothing by default', async () => {
    await withScenario({}, async (closed) => {
      const { key } = closed.account
      await assert.rejects(ask(page, closed.url + chatPath, key, { model: 'chat-1' }), isBlocked)
      const headers = { origin: app, 'access-control-request-method': 'POST' }
      const preflight = await send(closed.url + chatPath, { method: 'OPTIONS', headers })
      assert.deepEqual([preflight.status, preflight.headers['allow']], [204, 'POST'])
      assert.deepEqual(corsNames(preflight.headers), [])
      assert.equal(preflight.headers['vary'], undefined)
    })
  })
})

function corsNames(headers: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(headers).filter((name) => /^access[-_]control[-_]/.test(name))
}

describe('a preflight', () => {
  const sent = {
    origin: 'http://localhost:5173',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type,x-stainless-lang',
  }

  async function preflight(path: string, headers: Readonly<Record<string, string>> = {}) {
    return send(gateway.url + path, { method: 'OPTIONS', headers: { ...sent, ...headers } })
  }

  it('gets what it asks for, and nothing with cookies', async () => {
    const answer = await preflight(messagesPath)
    assert.equal(answer.status, 204)
    assert.equal(answer.body.length, 0)
    assert.deepEqual(corsNames(answer.headers).sort(), [
      'access-control-allow-headers',
      'access-control-allow-methods',
      'access-control-allow-origin',
      'access-control-expose-headers',
      'access-control-max-age',
    ])
    assert.equal(answer.headers['access-control-allow-origin'], sent.origin)
    assert.equal(answer.headers['access-control-allow-methods'], 'POST')
    assert.equal(
      answer.headers['access-control-allow-headers'],
      sent['access-control-request-headers'],
    )
    assert.equal(answer.headers['access-control-max-age'], '7200')
    assert.deepEqual(answer.headers['vary']?.split(', ').sort(), [
      'Access-Control-Request-Headers',
      'Access-Control-Request-Method',
      'Origin',
    ])
    assert.match(String(answer.headers['x-turnpike-request-id']), /^ex_/)
  })

  it('gets the methods of its path', async () => {
    for (const [path, methods] of [
      [chatPath, 'POST'],
      ['/beta/v1/models', 'GET, HEAD'],
      ['/v1/usage', 'GET, HEAD'],
      ['/health', 'GET, HEAD'],
      ['/beta/v1/nothing', 'GET, HEAD, POST'],
    ] as const) {
      const answer = await preflight(path)
      assert.equal(answer.headers['access-control-allow-methods'], methods, path)
    }
  })

  it('may ask about a private network', async () => {
    const answer = await preflight(chatPath, { 'access-control-request-private-network': 'true' })
    assert.equal(answer.headers['access-control-allow-private-network'], 'true')
  })

  it('gets no header list back that is not a list of names', async () => {
    for (const list of ['a b', 'a, b:', 'a,,b', '"x"', ','])
      assert.equal(
        (await preflight(chatPath, { 'access-control-request-headers': list })).headers[
          'access-control-allow-headers'
        ],
        undefined,
        list,
      )
  })

  it('leaves its connection in step, also with a body', async (t) => {
    const connection = await connectRaw(gateway.url)
    t.after(() => connection.close())
    const lines = `Host: a\r\nOrigin: ${app}\r\nAccess-Control-Request-Method: POST\r\n`
    connection.write(`OPTIONS ${chatPath} HTTP/1.1\r\n${lines}Content-Length: 5\r\n\r\nhello`)
    assert.equal((await connection.next())?.status, 204)
    connection.write(`GET /health HTTP/1.1\r\n${lines}\r\n`)
    const health = await connection.next()
    assert.deepEqual([health?.status, health?.headers['access-control-allow-origin']], [200, app])
  })

  it('counts toward no limit of requests or sign-ins', async () => {
    const limited = { ...settings, max_failed_sign_ins: '2' }
    await withScenario({ settings: limited, account: { rpm: 1 } }, async (gateway) => {
      for (let times = 0; times < 20; times++) {
        const headers = { ...sent, 'x-api-key': times % 2 === 0 ? 'wrong' : gateway.account.key }
        const answer = await send(gateway.url + chatPath, { method: 'OPTIONS', headers })
        assert.equal(answer.status, 204)
      }
      const wrong = await post(gateway.url + chatPath, 'wrong', {})
      assert.equal(wrong.status, 401)
      const right = await ask(page, gateway.url + chatPath, gateway.account.key, {
        model: 'chat-1',
      })
      assert.equal(right.status, 200)
    })
  })

  it('keeps no connection beyond the limit per address', async (t) => {
    const clock = new ManualClock()
    const limited = { ...settings, max_connections_per_address: '2' }
    await withScenario({ clock, settings: limited }, async (gateway) => {
      const connections: RawConnection[] = []
      for (let index = 0; index < 4; index++) {
        const connection = await connectRaw(gateway.url, '127.0.0.2')
        t.after(() => connection.close())
        connection.write(
          `OPTIONS ${chatPath} HTTP/1.1\r\nHost: a\r\nOrigin: ${app}\r\n` +
            `X-Api-Key: ${gateway.account.key}\r\nAccess-Control-Request-Method: POST\r\n\r\n`,
        )
        assert.equal((await connection.next())?.status, 204)
        connections.push(connection)
      }
      clock.advance(2_200)
      await Promise.all(connections.slice(0, 2).map(({ ended }) => ended))
    })
  })
})

describe('OPTIONS', () => {
  const allowed: readonly (readonly [path: string, allow: string])[] = [
    [messagesPath, 'POST'],
    [`${messagesPath}/count_tokens?beta=true`, 'POST'],
    [chatPath, 'POST'],
    ['/alpha/v1/models', 'GET, HEAD'],
    ['/beta/v1/models/chat-1', 'GET, HEAD'],
    ['/beta/v1/responses', 'POST'],
    ['/beta/v1/responses/resp_1', 'GET, HEAD, DELETE'],
    ['/alpha/api/hello', 'HEAD'],
    ['/v1/usage', 'GET, HEAD'],
    ['/health', 'GET, HEAD'],
  ]
  for (const [path, allow] of allowed)
    it(`on ${path} says allow: ${allow}, without a credential`, async () => {
      const answer = await send(gateway.url + path, { method: 'OPTIONS' })
      assert.equal(answer.status, 204)
      assert.equal(answer.headers['allow'], allow)
      assert.equal(answer.headers['content-length'], undefined)
      assert.deepEqual(corsNames(answer.headers), [])
      assert.match(String(answer.headers['x-turnpike-request-id']), /^ex_/)
    })

  it('on an unknown path gets 404 in the format of its vendor', async () => {
    for (const [path, shape] of [
      ['/alpha/v1/nothing', /^\{"type":"error".*POST \/v1\/messages/],
      ['/beta/v1/nothing', /"code":"unknown_url"/],
      ['/v1/chat/completions', /base address ends in/],
      ['/nothing', /\/health, \/v1\/usage, \/account, \/alpha, \/beta/],
    ] as const) {
      const answer = await send(gateway.url + path, { method: 'OPTIONS' })
      assert.equal(answer.status, 404, path)
      assert.match(answer.text, shape)
    }
  })
})
