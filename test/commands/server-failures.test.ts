/**
 * Commands through a server that is down, is no Turnpike, speaks otherwise, or loses its answer: one plain
 * sentence, exit code 1, and no change is made twice.
 */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createServer as createSocketServer, type AddressInfo, type Server } from 'node:net'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { makeSecret } from '../../src/access/key.ts'
import { makeCertificate } from '../support/certificate.ts'
import { newFolder, run, type Ran } from '../support/command-line.ts'

const token = makeSecret('admin')
const servers: Server[] = []

after(() => {
  for (const server of servers) server.close()
})

async function listen(server: Server): Promise<string> {
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void

function serve(answer: Answer): Promise<string> {
  return listen(createServer(answer))
}

function json(status: number, document: unknown, type = 'application/json'): Answer {
  return (request, response) => {
    request.resume()
    response.writeHead(status, { 'content-type': type }).end(JSON.stringify(document))
  }
}

function type(line: string, server: string, more: Readonly<Record<string, string>> = {}) {
  const environment = { TURNPIKE_SERVER: server, TURNPIKE_TOKEN: token, ...more }
  return run(newFolder(), line.split(' '), environment)
}

/** Asserts one sentence on stderr, and the token nowhere. */
function assertFailed({ code, out, error }: Ran, message: RegExp): void {
  assert.deepEqual({ code, out }, { code: 1, out: '' }, error)
  assert.match(error, message)
  assert.match(error, /^turnpike: [^\n]+\n$/)
  assert.doesNotMatch(error, new RegExp(token))
}

const account = {
  id: 'acc_1',
  name: 'acme',
  amount_usd: '5',
}

describe('a server', () => {
  it('that is down is named, with what to check', async () => {
    const server = createServer()
    const address = await listen(server)
    await new Promise((resolve) => server.close(resolve))
    assertFailed(await type('account list', address), /refuses the connection. Check the address/)
    assertFailed(await type('account suspend a', address), /refuses the connection[^]*runs\.\n$/)
    const { code, out } = await type('account list --json', address)
    assert.equal(code, 1)
    assert.equal((JSON.parse(out) as { error: { code: string } }).error.code, 'server')
  })

  it('that refuses the token is named, with where to give another', async () => {
    const problem = { code: 'access.credential_invalid', detail: 'Incorrect API key provided.' }
    const address = await serve(json(401, problem, 'application/problem+json'))
    const refused = /^turnpike: http:\/\/127\S+ refuses the admin token: .* TURNPIKE_TOKEN/
    assertFailed(await type('account list', address), refused)
    const { out } = await type('account list --json', address)
    const { error } = JSON.parse(out) as { error: { code: string } }
    assert.equal(error.code, 'access.credential_invalid')
  })

  it('that does not exist is an unknown host', async () => {
    assertFailed(await type('account list', 'https://nowhere.invalid'), /unknown host|looked up/)
  })

  it('that is no admin API is not believed', async () => {
    const page = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>welcome</html>')
    })
    assertFailed(await type('account list', page), /answers in a form that this program does not/)
    assertFailed(await type('account list', await serve(json(200, { items: 1 }))), /form that/)
    assertFailed(
      await type('account list', await serve(json(500, 'no'))),
      /answers with status 500/,
    )
    assertFailed(await type('account list', await serve(json(404, {}))), /does not know GET/)
    const raw = createSocketServer((socket) => {
      socket.on('error', () => undefined).end('SSH-2.0-OpenSSH\r\n')
    })
    assertFailed(await type('account list', await listen(raw)), /does not answer in HTTP/)
  })

  it('that redirects gets no second request with the token', async () => {
    let isFollowed = false
    const other = await serve((_, response) => {
      isFollowed = true
      response.end()
    })
    const first = await serve((_, response) => {
      response.writeHead(307, { location: `${other}/x` }).end()
    })
    assertFailed(await type('account list', first), /answers with a redirect to http/)
    assert.equal(isFollowed, false)
  })

  it('without TLS, or with a certificate that is not trusted, is refused', async () => {
    const plain = (await serve(json(200, {}))).replace('http:', 'https:')
    assertFailed(await type('account list', plain), /does not speak TLS/)
    const pair = makeCertificate('localhost')
    const tls = createTlsServer(pair, json(200, { items: [], next_cursor: null }))
    const address = (await listen(tls)).replace('http:', 'https:')
    assertFailed(await type('account list', address), /NODE_EXTRA_CA_CERTS/)
    const authority = join(newFolder({ 'ca.pem': pair.cert }), 'ca.pem')
    const trusted = await type('account list', address, { NODE_EXTRA_CA_CERTS: authority })
    assert.deepEqual({ code: trusted.code, error: trusted.error }, { code: 0, error: '' })
  })

  it('that is newer may say more', async () => {
    const page = { items: [], next_cursor: null, more: 'news' }
    const { code, out } = await type('account list', await serve(json(200, page)))
    assert.equal(code, 0)
    assert.match(out, /There are no accounts/)
  })

  it('gives the refusal of its operation, with its exit code', async () => {
    const problem = {
      type: 'about:blank',
      status: 404,
      title: 'Not found',
      detail: 'There is no account x.',
      code: 'operations.not_found',
    }
    const server = await serve(json(404, problem, 'application/problem+json'))
    assertFailed(await type('account show x', server), /^turnpike: There is no account x\.\n$/)
  })
})

describe('an answer that is lost', () => {
  /** Ends the first connections without an answer. */
  function losing(
    count: number,
    status: number,
    document: unknown,
    seen: IncomingMessage[],
  ): Answer {
    return (request, response) => {
      seen.push(request)
      request.resume().once('end', () => {
        if (seen.length <= count) request.socket.destroy()
        else json(status, document)(request, response)
      })
    }
  }

  it('is asked for again where the server recognises the repetition', async () => {
    const seen: IncomingMessage[] = []
    const booked = {
      account_id: 'acc_1',
      reference: 'r',
      amount_usd: '5',
      balance_usd: '5',
      repeated: false,
    }
    const server = await serve(losing(1, 201, booked, seen))
    const { code, out } = await type('account credit acme 5 --reference r', server)
    assert.equal(code, 0)
    assert.match(out, /^amount_usd +5$/m)
    const [first, second] = seen.map(({ headers }) => headers['idempotency-key'])
    assert.equal(seen.length, 2)
    assert.match(String(first), /^[0-9a-f-]{36}$/)
    assert.equal(first, second)
    assert.equal(seen[0]?.headers.authorization, `Bearer ${token}`)
  })

  it('with a secret is not given twice, and the error says what to do', async () => {
    const seen: IncomingMessage[] = []
    const server = await serve((request, response) => {
      response.setHeader('idempotency-replayed', 'true')
      losing(1, 201, { key: { id: 'key_1' } }, seen)(request, response)
    })
    assertFailed(await type('key create acme', server), /revoke or delete that\.\n$/)
    assert.equal(seen.length, 2)
  })

  it('is asked for again once where it changes nothing', async () => {
    const seen: IncomingMessage[] = []
    const server = await serve(losing(9, 200, {}, seen))
    assertFailed(
      await type('account list', server),
      /ended the connection.*Check that the gateway runs\.\n$/,
    )
    assert.equal(seen.length, 2)
  })

  it('of another change is not asked for again, and the error says so', async () => {
    const seen: IncomingMessage[] = []
    const server = await serve(losing(9, 200, account, seen))
    assertFailed(await type('account suspend acme', server), /The change may have been made/)
    assert.equal(seen.length, 1)
  })
})
