/**
 * The policy for headers, in both directions: no credential, hop-by-hop or forwarding header passes, however
 * it is spelled; nothing can end a header early; everything else passes as it came, in its order.
 */
import assert from 'node:assert/strict'
import { Secret } from '../../../src/base/secret.ts'
import { withFixedHeaders, withoutBetas } from '../../../src/formats/channel-headers.ts'
import {
  findVersionFault,
  forwardRequestHeaders,
  forwardResponseHeaders,
  withoutSecrets,
  type RequestForwarding,
} from '../../../src/formats/headers.ts'
import { parseFields, type Fields } from '../../../src/http/wire/fields.ts'
import type { HeadLines } from '../../../src/http/wire/head-lines.ts'
import type { FuzzTarget } from '../target.ts'

const channelSecret = 'sk-of-the-channel-1'

const messages: RequestForwarding = {
  prefix: 'alpha',
  credential: { form: 'x-api-key', secret: new Secret(channelSecret) },
  versionHeader: 'anthropic-version',
  defaultVersion: '2023-06-01',
}
const chat: RequestForwarding = {
  prefix: 'beta',
  credential: { form: 'bearer', secret: new Secret(channelSecret) },
  versionHeader: undefined,
  defaultVersion: undefined,
}

const hopByHop =
  `connection keep-alive proxy-connection te trailer transfer-encoding upgrade http2-settings
  proxy-authenticate proxy-authorization content-length`.split(/\s+/)
const credentials =
  `authorization x-api-key api-key x-goog-api-key x-auth-token cookie cookie2`.split(' ')

/** Names that may not reach a vendor, with hyphens and in lower case. A star ends a beginning. */
const keptFromVendors = [
  ...hopByHop,
  ...credentials,
  'host',
  'expect',
  'accept-encoding',
  'content-encoding',
  ...`forwarded via x-real-ip x-client-ip x-cluster-client-ip true-client-ip x-original-forwarded-for
    x-original-host x-envoy-external-address cdn-loop origin referer openai-organization openai-project
    anthropic-organization-id anthropic-workspace-id anthropic-user-profile-id x-http-method
    x-http-method-override x-method-override x-original-url x-rewrite-url`.split(/\s+/),
  'proxy-*',
  'x-forwarded-*',
  'sec-fetch-*',
  'cf-*',
  'x-turnpike-*',
]

/** The same for clients. */
const keptFromClients = [
  ...hopByHop,
  ...credentials,
  ...`set-cookie set-cookie2 alt-svc strict-transport-security public-key-pins expect-ct clear-site-data
    server via nel report-to reporting-endpoints anthropic-organization-id anthropic-workspace-id
    openai-organization openai-project ratelimit`.split(/\s+/),
  'proxy-*',
  'cf-*',
  'x-turnpike-*',
  'access-control-*',
  'anthropic-ratelimit-*',
  'anthropic-fast-*',
  'anthropic-priority-*',
  'x-ratelimit-*',
  'ratelimit-*',
]

export const headersTarget: FuzzTarget = {
  name: 'headers',
  words: [
    ...[...keptFromVendors, ...keptFromClients].map((name) => `\r\n${name.replace('*', 'x')}: v`),
    'Connection: x-a, close\r\n',
    'connection: keep-alive\r\n',
    ': ',
    '\r\n',
    '_',
    '-',
    ' ',
    '\t',
    ':',
    'Authorization: Bearer cr_1\r\n',
    'X_API_KEY: cr_1\r\n',
    'anthropic-version: 2024-02-29\r\n',
    'content_type: a\r\n',
    'alpha-version: 2023-06-01\r\n',
    'anthropic-beta: a-1, b-2\r\n',
    channelSecret,
    'x-a: b\r\n',
    'Content-Type: application/json\r\n',
    'date: now\r\n',
    '\u00e9',
    '\x80',
    '\x7f',
    ',',
  ],
  testRuns: 1_500,
  check(input) {
    const text = input.toString('latin1')
    const fields = parseFields(text, 0, 256)
    assert.deepEqual(typeof fields === 'string' ? undefined : pairsOf(fields), strictly(text))
    if (typeof fields === 'string') return
    for (const to of [messages, chat]) checkRequest(fields, to)
    checkResponse(fields)
  },
}

interface Pair {
  readonly name: string
  readonly value: string
}

function pairsOf(fields: Fields): readonly Pair[] {
  return Array.from(fields.numbers.keys(), (index) => ({
    name: fields.name(index),
    value: fields.value(index),
  }))
}

/** A second reading of lines of headers; undefined where they are not exactly that. */
function strictly(text: string): readonly Pair[] | undefined {
  if (text === '') return []
  if (!text.endsWith('\r\n')) return undefined
  const lines = text.slice(0, -2).split('\r\n')
  const pairs = lines.map((line) =>
    /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):([\t\x20-\x7e\x80-\xff]*)$/.exec(line),
  )
  const read = pairs.flatMap((match) =>
    match === null ? [] : [{ name: match[1] ?? '', value: trimmed(match[2] ?? '') }],
  )
  return read.length === lines.length && lines.length <= 256 ? read : undefined
}

function trimmed(value: string): string {
  return value.replace(/^[ \t]+|[ \t]+$/g, '')
}

function plainName(name: string): string {
  return name.toLowerCase().replaceAll('_', '-')
}

function isListed(name: string, list: readonly string[]): boolean {
  const plain = plainName(name)
  return list.some((one) =>
    one.endsWith('*') ? plain.startsWith(one.slice(0, -1)) : plain === one,
  )
}

/** What `Connection` names, but for headers whose values the gateway has checked. */
function nominated(pairs: readonly Pair[], checked: readonly string[]): readonly string[] {
  return pairs
    .filter(({ name }) => name.toLowerCase() === 'connection')
    .flatMap(({ value }) => value.split(',').map((one) => one.trim().toLowerCase()))
    .filter((name) => !checked.includes(name))
}

function readLines({ text, isValid }: HeadLines): readonly Pair[] {
  assert.ok(isValid, 'headers that came well formed can be written')
  const pairs = strictly(text)
  assert.ok(pairs !== undefined, 'lines of headers can be read back')
  return pairs
}

function checkRequest(fields: Fields, to: RequestForwarding): void {
  const { prefix, versionHeader, credential } = to
  const versionNames = [
    `${prefix}-version`,
    ...(versionHeader === undefined ? [] : [versionHeader]),
  ]
  const checked = ['content-type', ...versionNames]
  const given = pairsOf(fields)
  const closed = nominated(given, checked)
  const expected = given.filter(
    ({ name }) =>
      !isListed(name, keptFromVendors) &&
      !closed.includes(name.toLowerCase()) &&
      !(name.includes('_') && checked.includes(plainName(name))),
  )
  if (findVersionFault(fields, prefix, versionHeader) !== undefined) return
  const lines = forwardRequestHeaders(fields, to)
  const passed = readLines(lines)
  assert.deepEqual(passed.slice(0, expected.length), expected, 'what passes is the same, in order')
  checkOwn(passed, expected.length, { credential, versionNames })
  checkChannel(lines, passed)
}

interface Own extends Pick<RequestForwarding, 'credential'> {
  readonly versionNames: readonly string[]
}

/** What the gateway adds: versions, the coding that it reads, and one credential. */
function checkOwn(passed: readonly Pair[], count: number, { credential, versionNames }: Own): void {
  const added = passed.slice(count)
  const isBearer = credential.form === 'bearer'
  const own = [
    { name: 'accept-encoding', value: 'identity' },
    {
      name: isBearer ? 'authorization' : credential.form,
      value: isBearer ? `Bearer ${channelSecret}` : channelSecret,
    },
  ]
  assert.deepEqual(added.slice(-2), own, 'the channel has its credential')
  for (const { name, value } of added.slice(0, -2)) {
    assert.ok(versionNames.includes(name), `${name} is no header of the gateway`)
    assert.match(value, /^\d{4}-\d\d-\d\d$/)
  }
  const versions = passed.filter(({ name }) => versionNames.includes(name.toLowerCase()))
  if (versionNames.length > 1) {
    assert.equal(
      new Set(versions.map(({ value }) => value)).size,
      1,
      'the vendor reads one version',
    )
    assert.ok(versions.some(({ name }) => name.toLowerCase() === versionNames[1]))
  }
  assert.equal(passed.filter(({ name }) => isListed(name, credentials)).length, 1, 'one credential')
}

const fixed = new Map([
  ['x-a', new Secret('fixed-value')],
  ['anthropic-beta', new Secret('only-this')],
])

/** What a channel changes: its fixed headers stand once each, and no other line is another. */
function checkChannel(lines: HeadLines, passed: readonly Pair[]): void {
  const isFixed = ({ name }: Pair): boolean => fixed.has(plainName(name))
  const set = readLines(withFixedHeaders(lines, fixed))
  assert.deepEqual(
    set,
    [
      ...passed.filter((one) => !isFixed(one)),
      ...Array.from(fixed, ([name, secret]) => ({ name, value: secret.reveal() })),
    ],
    'a fixed header replaces the client’s',
  )
  const { headers, dropped } = withoutBetas(lines, ['a-*', 'b-2'])
  for (const { name, value } of readLines(headers))
    if (name.toLowerCase() === 'anthropic-beta')
      for (const beta of value.split(',').map((one) => one.trim()))
        assert.ok(!beta.startsWith('a-') && beta !== 'b-2', 'a beta that the vendor does not know')
  for (const beta of dropped)
    assert.ok(beta.startsWith('a-') || beta === 'b-2', `${beta} was dropped`)
}

function checkResponse(fields: Fields): void {
  const given = pairsOf(fields)
  const closed = nominated(given, ['content-type'])
  const expected = given.filter(
    ({ name }) => !isListed(name, keptFromClients) && !closed.includes(name.toLowerCase()),
  )
  assert.deepEqual(readLines(forwardResponseHeaders(fields)), expected, 'the client gets the rest')
  const hidden = withoutSecrets(fields, [new Secret(channelSecret)])
  assert.deepEqual(
    pairsOf(hidden),
    given.filter(({ value }) => !value.includes(channelSecret)),
    'no value shows the channel’s credential',
  )
}
