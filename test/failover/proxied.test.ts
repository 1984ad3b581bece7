/**
 * A channel behind an HTTP proxy: the request reaches the vendor through a tunnel with TLS, the same bytes as
 * without one. Where the proxy opens no tunnel the reserve answers.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { hasEnd } from '../support/answers.ts'
import { smallCatalogue } from '../support/catalogues.ts'
import { makeCertificate } from '../support/certificate.ts'
import { startConnectProxy, type ConnectProxy } from '../support/connect-proxy.ts'
import { post } from '../support/http-client.ts'
import { showChannel } from '../support/operations.ts'
import { messagesRequest } from '../support/requests.ts'
import { scenario, type Scenario } from '../support/scenario.ts'

const answer = JSON.stringify({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'large-1',
  content: [{ type: 'text', text: 'from behind the proxy' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 5, output_tokens: 2 },
})

const trusted = getCACertificates()
const certificate = makeCertificate('vendor.test')
const bodies: Buffer[] = []
const vendor = createServer(certificate, (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    bodies.push(Buffer.concat(chunks))
    response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
  })
})
let proxy: ConnectProxy
let gateway: Scenario
let proxyFile: string

before(async () => {
  setDefaultCACertificates([...trusted, certificate.cert])
  await new Promise<void>((resolve) => vendor.listen({ host: '127.0.0.1', port: 0 }, resolve))
  proxy = await startConnectProxy((vendor.address() as AddressInfo).port)
  proxyFile = join(await mkdtemp(join(tmpdir(), 'turnpike-')), 'proxy')
  await writeFile(proxyFile, `${proxy.url.replace('//', '//team:word@')}\n`)
  gateway = await scenario({ catalogue })
})
after(async () => {
  await gateway.close()
  await proxy.close()
  vendor.close()
  await rm(dirname(proxyFile), { recursive: true })
  setDefaultCACertificates(trusted)
})
beforeEach(() => {
  bodies.length = 0
  gateway.resetHealth()
})

function catalogue(url: string): string {
  return `${smallCatalogue(url)}
  proxied: { vendor: alpha, url: "https://vendor.test", proxy: "file:${proxyFile}", credential: canary, models: [large-1], check: none }
`.replace('models: [large-1] }', 'models: [large-1], rank: 1, check: none }')
}

test('the vendor behind the proxy gets the bytes of the client, and the client those of the vendor', async () => {
  const body = JSON.stringify(messagesRequest(), null, 2)
  const got = await post(`${gateway.url}/alpha/v1/messages`, gateway.account.key, body)
  assert.equal(got.status, 200, got.body.toString())
  assert.equal(got.body.toString(), answer)
  assert.deepEqual(bodies, [Buffer.from(body)])
  assert.deepEqual(proxy.asked, ['vendor.test:443'])
  assert.deepEqual(proxy.credentials, [`Basic ${Buffer.from('team:word').toString('base64')}`])
  const { proxy: shown } = await showChannel(gateway.context, { channel: 'proxied' })
  assert.equal(shown, `file:${proxyFile}`)
})

test('the reserve answers where the proxy opens no tunnel', async () => {
  proxy.answer((socket) => void socket.end('HTTP/1.1 503 Service Unavailable\r\n\r\n'))
  // The kept connection of the test before would be used once more.
  vendor.closeAllConnections()
  const ask = { format: 'messages', isStream: true } as const
  const got = await gateway.ask(ask)
  assert.ok(hasEnd(got, ask), got.text)
  assert.equal(bodies.length, 0)
  assert.equal((await gateway.recorded(got)).channel, 'alpha-main')
})
