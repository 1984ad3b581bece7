/**
 * Real streams through the proxies of Debian with the samples of deploy/proxies: events one by one, the
 * client's address, large bodies, clients that leave, and streams that break.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { parse } from 'yaml'
import { open, send, type OpenAnswer, type WireRequest } from '../support/http-client.ts'
import { showRequest } from '../support/operations.ts'
import { messagesPath, messagesRequest, type JsonFields } from '../support/requests.ts'
import { scenario } from '../support/scenario.ts'
import { clientAddress, proxyNames, startProxy, type RunningProxy } from './proxy.ts'

const gateway = await scenario({
  vendors: 'scripted',
  settings: {
    trusted_proxies: '127.0.0.1',
    record_addresses: 'full',
    client_left_grace: '0s',
    max_attempts: '1',
  },
})
after(() => gateway.close())
const { scripted: vendor, account } = gateway

const event = (type: string, members: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`
const usage = { input_tokens: 1, output_tokens: 1 }
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'large-1', content: [] }
const begin = event('message_start', { message: { ...message, usage } })
const delta = (text: string): string =>
  event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })
const end =
  event('message_delta', { delta: { stop_reason: 'end_turn' }, usage }) + event('message_stop', {})

function wire({ headers, agent }: RunningProxy, fields: JsonFields): WireRequest {
  return {
    headers: {
      ...headers,
      'content-type': 'application/json',
      'x-api-key': account.key,
      // A client that claims another address.
      'x-forwarded-for': '203.0.113.7',
    },
    body: JSON.stringify(messagesRequest(fields)),
    agent,
  }
}

function openStream(proxy: RunningProxy): OpenAnswer {
  return open(proxy.url + messagesPath, wire(proxy, { stream: true }))
}

/** Resolves when the vendor's connection with the gateway has ended. */
function vendorWaits(written: string): { readonly reached: Promise<void>; left: Promise<void> } {
  const reached = Promise.withResolvers<void>()
  const left = Promise.withResolvers<void>()
  vendor.answer((response) => {
    response.once('close', left.resolve)
    if (written !== '') {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(written)
    }
    reached.resolve()
  })
  return { reached: reached.promise, left: left.promise }
}

const portOf = (url: string): number => Number(new URL(url).port)

for (const name of proxyNames) {
  const ports = { port: portOf(gateway.url), adminPort: portOf(gateway.adminUrl) }
  const proxy = await startProxy(name, ports)
  after(() => proxy.close())
  describe(`behind ${name}`, () => {
    it('each event is with the client before the vendor writes the next one', async () => {
      const words = ['one', 'two', 'three', 'four']
      const seen = words.map(() => Promise.withResolvers<void>())
      vendor.answer(async (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(begin)
        for (const [index, word] of words.entries()) {
          response.write(delta(word))
          await seen[index]?.promise
        }
        response.end(end)
      })
      const answer = openStream(proxy)
      for (const [index, word] of words.entries()) {
        await answer.until((text) => text.includes(word))
        seen[index]?.resolve()
      }
      const whole = await answer.ended
      assert.equal(whole.text, begin + words.map(delta).join('') + end)
      assert.ok(whole.isComplete)
    })

    it('the record has the address of the client, and not the one that it claims', async () => {
      vendor.answer((response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.end(begin + delta('x') + end)
      })
      const { headers, status } = await openStream(proxy).ended
      assert.equal(status, 200)
      const record = await showRequest(gateway.context, {
        request: String(headers['x-turnpike-request-id']),
      })
      assert.equal(record.address, clientAddress)
    })

    it('a body of 10 MiB passes byte for byte', async () => {
      const content = 'x'.repeat(10 * 1_048_576)
      vendor.answer((response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ ...message, stop_reason: 'end_turn', usage }))
      })
      const request = wire(proxy, { messages: [{ role: 'user', content }] })
      const answer = await send(proxy.url + messagesPath, request)
      assert.equal(answer.status, 200, answer.text)
      assert.ok(vendor.last?.body.equals(Buffer.from(String(request.body))))
    })

    it('a client that leaves in the middle of a stream ends the request at the vendor', async () => {
      const { left } = vendorWaits(begin + delta('here'))
      const answer = openStream(proxy)
      await answer.until((text) => text.includes('here'))
      answer.leave()
      await left
    })

    it('a client that leaves before the answer ends the request at the vendor', async () => {
      const { reached, left } = vendorWaits('')
      const answer = openStream(proxy)
      await reached
      answer.leave()
      await left
    })

    it('a stream that breaks does not look complete', async () => {
      vendor.answer((response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(begin + delta('half'), () => response.destroy())
      })
      const { text } = await openStream(proxy).ended
      assert.match(text, /half[^]*event: error/)
      assert.doesNotMatch(text, /message_stop/)
    })

    it('the operators’ paths are closed, also where the proxy leads to the wrong port', async () => {
      const wrong = await startProxy(name, { ...ports, port: ports.adminPort })
      try {
        for (const path of ['/admin/v1/docs', '/admin', '/console', '/console/', '/metrics']) {
          const { status, text } = await send(wrong.url + path, wrong)
          assert.deepEqual({ path, status }, { path, status: 404 })
          assert.doesNotMatch(text, /Unknown path/)
        }
        // Other paths do arrive there.
        assert.equal((await send(`${wrong.url}/livez`, wrong)).status, 200)
      } finally {
        await wrong.close()
      }
    })
  })
}

// Traefik is not in Debian; docs/deploy-proxy.md says that no test runs it.
it('the sample for Traefik agrees with itself', () => {
  const read = (file: string): unknown =>
    parse(readFileSync(join(import.meta.dirname, '../../deploy/proxies', file), 'utf8'))
  const { entryPoints } = read('traefik.yaml') as { readonly entryPoints: object }
  const { http } = read('traefik-routes.yaml') as {
    readonly http: {
      readonly routers: Record<string, { entryPoints: string[]; service: string; rule: string }>
      readonly services: Record<string, { loadBalancer: { serversTransport: string } }>
      readonly serversTransports: object
    }
  }
  const [router] = Object.values(http.routers)
  assert.deepEqual(router?.entryPoints, Object.keys(entryPoints))
  const transport = http.services[router?.service ?? '']?.loadBalancer.serversTransport
  assert.ok(Object.hasOwn(http.serversTransports, transport ?? ''))
  assert.match(router?.rule ?? '', /!PathRegexp/)
})
