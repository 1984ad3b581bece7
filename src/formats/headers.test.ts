/** What passes the gateway and what does not, in the spellings real clients and vendors use. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { flatOf } from '../../test/support/header-lists.ts'
import { Secret } from '../base/secret.ts'
import { exchangeIdHeader } from '../http/server/reply.ts'
import { fieldsOf } from '../http/wire/fields.ts'
import {
  findVersionFault,
  forwardRequestHeaders,
  forwardResponseHeaders,
  headersForPages,
  withoutSecrets,
  type RequestForwarding,
} from './headers.ts'
import { limitHeaders } from './rate-headers.ts'
import { formatOf } from './registry.ts'

const messages: RequestForwarding = {
  prefix: 'alpha',
  credential: { form: 'x-api-key', secret: new Secret('vendor-secret') },
  versionHeader: 'anthropic-version',
  defaultVersion: '2023-06-01',
}
const chat: RequestForwarding = {
  prefix: 'beta',
  credential: { form: 'bearer', secret: new Secret('vendor-secret') },
  versionHeader: undefined,
  defaultVersion: undefined,
}
/** What the gateway adds to every request of a chat channel. */
const chatOwn = ['accept-encoding', 'identity', 'authorization', 'Bearer vendor-secret']

function forwardTo(raw: readonly string[], to: RequestForwarding): string[] {
  return flatOf(forwardRequestHeaders(fieldsOf(raw), to))
}

function forwardBack(raw: readonly string[]): string[] {
  return flatOf(forwardResponseHeaders(fieldsOf(raw)))
}

function shownOf(raw: readonly string[], secret: string): string[] {
  return withoutSecrets(fieldsOf(raw), [new Secret(secret)]).flat()
}

function versionFault(raw: readonly string[], prefix: string, name?: string): string | undefined {
  return findVersionFault(fieldsOf(raw), prefix, name)
}

function fromClient(...rawHeaders: string[]): string[] {
  const forwarded = forwardTo(rawHeaders, chat)
  assert.deepEqual(forwarded.slice(-chatOwn.length), chatOwn)
  return forwarded.slice(0, -chatOwn.length)
}

function spellings(name: string): string[] {
  const plain = [name, name.toUpperCase(), capitalized(name)]
  return [...plain, ...plain.map((one) => one.replaceAll('-', '_'))]
}

function valuesOf(headers: readonly string[], name: string): string[] {
  return headers.filter((_, index) => index % 2 === 1 && headers[index - 1]?.toLowerCase() === name)
}

describe('request headers', () => {
  it('pass with name, value, order and repetition unchanged', () => {
    const kept = [
      ['Content-Type', 'application/json; charset=utf-8'],
      ['accept', 'application/json'],
      ['User-Agent', 'Anthropic/JS 1.11.0'],
      ['X-Stainless-Retry-Count', '0'],
      ['x-claude-code-session-id', 'abc'],
      ['x-app', 'cli'],
      ['anthropic-beta', 'a-1'],
      ['Anthropic-Beta', 'b-2'],
      ['anthropic-unheard-of', 'x'],
      ['anthropic-dangerous-direct-browser-access', 'true'],
      ['openai-beta', 'y'],
      ['traceparent', '00-1-2-00'],
      ['baggage', 'k=v'],
      ['idempotency-key', 'q'],
      ['x-empty', ''],
    ].flat()
    assert.deepEqual(fromClient(...kept), kept)
  })

  it('do not pass if they are credentials, hop-by-hop, addresses or of another account', () => {
    const dropped = words(`
      authorization x-api-key api-key cookie proxy-authorization host connection keep-alive
      te trailer transfer-encoding upgrade proxy-connection http2-settings content-length
      accept-encoding expect forwarded via x-forwarded-for x-forwarded-anything x-real-ip
      cf-connecting-ip true-client-ip cdn-loop origin referer sec-fetch-mode sec-fetch-site
      openai-organization openai-project anthropic-workspace-id anthropic-user-profile-id
      anthropic-organization-id x-turnpike-request-id x-http-method-override x-original-url
    `)
    for (const name of dropped)
      for (const spelling of spellings(name))
        assert.deepEqual(fromClient(spelling, 'value', 'x-kept', 'y'), ['x-kept', 'y'], spelling)
  })

  it('do not pass under a spelling that a server could take for a checked header', () => {
    const raw = ['Content_Type', 'text/plain', 'anthropic_version', 'x', 'Alpha_Version', 'y']
    const kept = forwardTo([...raw, 'x_custom', 'z'], messages)
    assert.deepEqual(kept.slice(0, 2), ['x_custom', 'z'])
    assert.deepEqual(valuesOf(kept, 'anthropic-version'), ['2023-06-01'])
    assert.equal(kept.length, 8)
  })

  it('carry exactly one credential, the channel’s, in the vendor’s way', () => {
    const presented = ['Authorization', 'Bearer cr_1', 'X-API-Key', 'cr_1', 'x-api-key', 'cr_1']
    const forMessages = forwardTo(presented, messages)
    assert.deepEqual(valuesOf(forMessages, 'x-api-key'), ['vendor-secret'])
    assert.deepEqual(valuesOf(forMessages, 'authorization'), [])
    const forChat = forwardTo(presented, chat)
    assert.deepEqual(valuesOf(forChat, 'x-api-key'), [])
    assert.deepEqual(valuesOf(forChat, 'authorization'), ['Bearer vendor-secret'])
  })

  it('do not pass if Connection nominates them, before or after it', () => {
    const raw = [
      'x-a',
      '1',
      'Connection',
      'close, X-A,x-B',
      'X-b',
      '2',
      'connection',
      'x-c',
      'x-c',
      '3',
    ]
    assert.deepEqual(fromClient(...raw, 'x-d', '4'), ['x-d', '4'])
  })

  it('cannot remove what the gateway has checked or added', () => {
    const raw = [
      'connection',
      'content-type, anthropic-version, alpha-version, x-api-key, accept-encoding',
      'content-type',
      'application/json',
      'anthropic-version',
      '2023-06-01',
    ]
    assert.deepEqual(forwardTo(raw, messages), [
      'content-type',
      'application/json',
      'anthropic-version',
      '2023-06-01',
      'alpha-version',
      '2023-06-01',
      'accept-encoding',
      'identity',
      'x-api-key',
      'vendor-secret',
    ])
  })

  it('never pass a denied name, in any list', () => {
    const name = fc.constantFrom(
      'Authorization',
      'X-Api-Key',
      'Cookie',
      'Host',
      'Connection',
      'X-Forwarded-For',
      'TE',
      'content-type',
      'anthropic-beta',
      'x-mine',
      'Accept',
      'CONTENT-LENGTH',
      'x-turnpike-a',
    )
    const value = fc.constantFrom('', 'keep-alive', 'x-mine', 'accept, x-mine', 'secret')
    const denied = /^(cookie|host|connection|x-forwarded-for|te|content-length|x-turnpike-.*)$/
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value), { maxLength: 12 }), (pairs) => {
        const raw = pairs.flat()
        const forwarded = forwardTo(raw, chat)
        assert.equal(forwarded.length % 2, 0)
        assert.deepEqual(forwarded.slice(-chatOwn.length), chatOwn)
        const passed = forwarded.slice(0, -chatOwn.length)
        for (let index = 0; index < passed.length; index += 2)
          assert.doesNotMatch((passed[index] ?? '').toLowerCase(), denied)
        assert.deepEqual(
          valuesOf(passed, 'authorization').concat(valuesOf(passed, 'x-api-key')),
          [],
        )
        // What passes is a sub-sequence of what came.
        let at = 0
        for (let index = 0; index < raw.length && at < passed.length; index += 2)
          if (raw[index] === passed[at] && raw[index + 1] === passed[at + 1]) at += 2
        assert.equal(at, passed.length)
      }),
    )
  })

  it('are classified correctly beyond the size of the cache', () => {
    for (let count = 0; count < 3_000; count++)
      assert.deepEqual(fromClient(`x-made-up-${count}`, 'v', `X-Forwarded-${count}`, 'w'), [
        `x-made-up-${count}`,
        'v',
      ])
  })
})

describe('the version header', () => {
  const own = ['accept-encoding', 'identity', 'x-api-key', 'vendor-secret']
  const forward = (...raw: string[]): string[] => forwardTo(raw, messages)
  const fault = (...raw: string[]): string | undefined =>
    versionFault(raw, 'alpha', 'anthropic-version')

  it('is forwarded under both names if one was sent, with its value unchanged', () => {
    assert.deepEqual(forward('Anthropic-Version', '2026-10-21'), [
      'Anthropic-Version',
      '2026-10-21',
      'alpha-version',
      '2026-10-21',
      ...own,
    ])
    assert.deepEqual(forward('alpha-version', '2023-06-01'), [
      'alpha-version',
      '2023-06-01',
      'anthropic-version',
      '2023-06-01',
      ...own,
    ])
  })

  it('is forwarded unchanged if both names were sent', () => {
    const both = ['alpha-version', '2023-06-01', 'anthropic-version', '2023-06-01']
    assert.deepEqual(forward(...both), [...both, ...own])
    assert.equal(fault(...both), undefined)
  })

  it('is the vendor’s default when absent, under the vendor’s own name only', () => {
    assert.deepEqual(forward(), ['anthropic-version', '2023-06-01', ...own])
    const without = { ...messages, defaultVersion: undefined }
    assert.deepEqual(forwardTo([], without), own)
  })

  it('is sent once where the vendor’s own name is the specified one', () => {
    const same = { ...messages, versionHeader: 'alpha-version' }
    assert.deepEqual(forwardTo(['alpha-version', '2023-06-01'], same), [
      'alpha-version',
      '2023-06-01',
      ...own,
    ])
  })

  it('is an ordinary header for a vendor without one', () => {
    assert.deepEqual(fromClient('beta-version', 'anything'), ['beta-version', 'anything'])
    assert.equal(versionFault(['beta-version', 'anything'], 'beta'), undefined)
  })

  it('must be a date that exists', () => {
    for (const good of ['2023-06-01', '2026-10-21', '2024-02-29', '2000-02-29', '2026-12-31'])
      assert.equal(fault('alpha-version', good), undefined, good)
    const bad = [
      '',
      '2023-6-1',
      '2023-06-01T00:00:00Z',
      '20230601',
      '2023/06/01',
      'latest',
      ' 2023-06-01',
      '2023-00-10',
      '2023-13-01',
      '2023-06-00',
      '2023-06-31',
      '2023-02-29',
      '1900-02-29',
      '2023-06-01, 2023-06-01',
      '2023-06-01\n',
      '٢٠٢٣-٠٦-٠١',
    ]
    for (const text of bad)
      for (const name of ['Alpha-Version', 'ANTHROPIC-VERSION'])
        assert.match(fault(name, text) ?? '', /YYYY-MM-DD/, text)
  })

  it('must be one value, however often it is sent', () => {
    const date = '2023-06-01'
    assert.equal(fault('alpha-version', date, 'Alpha-Version', date), undefined)
    assert.match(fault('alpha-version', date, 'anthropic-version', '2026-10-21') ?? '', /different/)
    assert.match(fault('alpha-version', date, 'alpha-version', '2026-10-21') ?? '', /different/)
    assert.equal(fault(), undefined)
  })

  it('agrees with the calendar on every date', () => {
    fc.assert(
      fc.property(fc.nat(9_999), fc.nat(13), fc.nat(32), (year, month, day) => {
        const text = [String(year).padStart(4, '0'), pad(month), pad(day)].join('-')
        const date = new Date(`${text}T00:00:00Z`)
        const exists = !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
        assert.equal(fault('alpha-version', text) === undefined, exists, text)
      }),
    )
  })
})

describe('response headers', () => {
  it('pass unchanged', () => {
    const kept = [
      ['Content-Type', 'text/event-stream; charset=utf-8'],
      ['date', 'Sat, 21 Nov 2026 04:00:00 GMT'],
      ['request-id', 'req_1'],
      ['X-Request-Id', 'req_2'],
      ['retry-after', '5'],
      ['x-should-retry', 'false'],
      ['openai-processing-ms', '12'],
      ['openai-version', '2020-10-01'],
      ['cache-control', 'no-store'],
      ['x-new', 'a'],
      ['X-New', 'b'],
      ['anthropic-unheard-of', 'x'],
      ['content-encoding', 'identity'],
    ].flat()
    assert.deepEqual(forwardBack(kept), kept)
  })

  it('do not pass if they are hop-by-hop, about the vendor’s origin or the operator’s account', () => {
    const dropped = words(`
      connection keep-alive transfer-encoding content-length trailer upgrade set-cookie
      alt-svc strict-transport-security server via cf-ray nel cf-cache-status report-to
      proxy-authenticate x-turnpike-request-id anthropic-organization-id
      authorization x-api-key api-key proxy-authorization cookie
      anthropic-workspace-id openai-organization openai-project
      anthropic-ratelimit-requests-limit anthropic-priority-input-tokens
      anthropic-fast-output-tokens-limit x-ratelimit-remaining-tokens ratelimit-policy
      access-control-allow-origin access-control-expose-headers access-control-allow-credentials
    `)
    for (const name of dropped)
      for (const spelling of spellings(name))
        assert.deepEqual(forwardBack([spelling, 'v', 'x', 'y']), ['x', 'y'], spelling)
  })

  it('do not pass if they contain the credential that was sent', () => {
    const raw = ['a', 'x sk-12345678 y', 'b', 'sk-1', 'c', 'sk-12345678']
    assert.deepEqual(shownOf(raw, 'sk-12345678'), ['b', 'sk-1'])
    assert.deepEqual(shownOf(raw, 'other-credential'), raw)
    // A local server often has a word for a credential.
    const word = shownOf(['content-type', 'text/plain', 'x', 'text'], 'text')
    assert.deepEqual(word, ['content-type', 'text/plain'])
  })

  it('do not pass if Connection nominates them, except the content type', () => {
    const raw = ['connection', 'X-Hop, content-type', 'x-hop', '1', 'content-type', 'text/plain']
    assert.deepEqual(forwardBack(raw), ['content-type', 'text/plain'])
  })
})

it('shows a page every header that the gateway writes about an answer', () => {
  const shown = headersForPages.split(', ')
  const limit = { limit: 1, remaining: 1, resetMs: 1 }
  for (const name of ['messages', 'chat'] as const)
    for (const header of [
      formatOf(name).requestIdHeader,
      ...Object.keys(limitHeaders(name, limit, 0)),
    ])
      assert.ok(shown.includes(header), header)
  assert.ok(shown.includes(exchangeIdHeader))
})

function pad(number: number): string {
  return String(number).padStart(2, '0')
}

function capitalized(name: string): string {
  return name.replace(/(^|-)[a-z]/g, (match) => match.toUpperCase())
}

/** A list of names, written as text. */
function words(text: string): string[] {
  return text.trim().split(/\s+/)
}
