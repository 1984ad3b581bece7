/** Heads of requests: what is read out of them, and what is refused with which status. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseRequestHead, type RequestFault, type RequestHead } from './request-head.ts'

const line = 'POST /v1/messages?beta=true HTTP/1.1\r\n'
const host = 'Host: gateway\r\n'

function read(text: string): RequestHead {
  const head = parseRequestHead(text)
  assert.equal(head.kind, 'head')
  return head.kind === 'head' ? head : assert.fail()
}

function refusal(text: string): RequestFault['status'] | undefined {
  const head = parseRequestHead(text)
  return head.kind === 'fault' ? head.status : undefined
}

describe('the head of a request', () => {
  it('is read as sent', () => {
    const { fields, ...facts } = read(`${line}${host}X-A:  b \r\ncontent-length: 12\r\n`)
    assert.deepEqual(fields.flat(), ['Host', 'gateway', 'X-A', 'b', 'content-length', '12'])
    assert.deepEqual(facts, {
      kind: 'head',
      method: 'POST',
      target: '/v1/messages?beta=true',
      isHttp11: true,
      framing: { kind: 'length', bytes: 12 },
      isKeptAlive: true,
      expectsContinue: false,
    })
  })

  it('may have any method, and a body by its length', () => {
    for (const method of ['PROPFIND', 'VERSION-CONTROL', 'BREW']) {
      const head = read(`${method} / HTTP/1.1\r\n${host}content-length: 3\r\n`)
      assert.equal(head.method, method)
      assert.deepEqual(head.framing, { kind: 'length', bytes: 3 })
      assert.equal(refusal(`${method} / HTTP/1.1\r\n${host}content-length: x\r\n`), 400)
    }
  })

  it('states how its body ends', () => {
    assert.equal(read(`GET / HTTP/1.1\r\n${host}`).framing.kind, 'none')
    assert.equal(read(`${line}${host}content-length: 0\r\n`).framing.kind, 'none')
    assert.equal(read(`${line}${host}Transfer-Encoding: Chunked\r\n`).framing.kind, 'chunked')
  })

  it('states whether the connection is kept alive', () => {
    const isKept = (lines: string, version = '1.1'): boolean =>
      read(`GET / HTTP/${version}\r\n${host}${lines}`).isKeptAlive
    assert.equal(isKept(''), true)
    assert.equal(isKept('Connection: keep-alive, Upgrade\r\n'), true)
    assert.equal(isKept('Connection: Close\r\n'), false)
    assert.equal(isKept('Connection: x\r\nconnection: y, close\r\n'), false)
    assert.equal(isKept('', '1.0'), false)
    assert.equal(isKept('Connection: Keep-Alive\r\n', '1.0'), true)
    assert.equal(isKept('Connection: keep-alive, close\r\n', '1.0'), false)
  })

  it('states whether the client expects 100 Continue', () => {
    const expecting = `${host}content-length: 1\r\nExpect: 100-Continue\r\n`
    assert.equal(read(`POST / HTTP/1.1\r\n${expecting}`).expectsContinue, true)
    assert.equal(read(`POST / HTTP/1.0\r\n${expecting}`).expectsContinue, false)
  })

  const refused: Readonly<Record<string, readonly [status: number, text: string]>> = {
    'HTTP/0.9': [400, 'GET /health\r\n'],
    'no target': [400, `GET HTTP/1.1\r\n${host}`],
    'two spaces before the target': [400, `GET  / HTTP/1.1\r\n${host}`],
    'a space in the target': [400, `GET /a b HTTP/1.1\r\n${host}`],
    'a tab for a space': [400, `GET\t/ HTTP/1.1\r\n${host}`],
    'a target that is no ASCII': [400, `GET /\xe9 HTTP/1.1\r\n${host}`],
    'a lower-case method': [400, `get / HTTP/1.1\r\n${host}`],
    'a method that is no word': [400, `P@ST / HTTP/1.1\r\n${host}`],
    'no method': [400, ` / HTTP/1.1\r\n${host}`],
    TRACE: [405, `TRACE / HTTP/1.1\r\n${host}`],
    CONNECT: [405, `CONNECT a:443 HTTP/1.1\r\n${host}`],
    'HTTP/2.0': [505, `GET / HTTP/2.0\r\n${host}`],
    'HTTP/1.2': [505, `GET / HTTP/1.2\r\n${host}`],
    'a version in lower case': [400, `GET / http/1.1\r\n${host}`],
    'a version with a space behind it': [400, `GET / HTTP/1.1 \r\n${host}`],
    'no Host': [400, 'GET / HTTP/1.1\r\n'],
    'two Hosts': [400, `GET / HTTP/1.1\r\n${host}host: other\r\n`],
    'two equal Hosts': [400, `GET / HTTP/1.1\r\n${host}${host}`],
    'two content types': [400, `${line}${host}content-type: a\r\nContent-Type: a\r\n`],
    'two lengths': [400, `${line}${host}content-length: 1\r\ncontent-length: 1\r\n`],
    'a list of lengths': [400, `${line}${host}content-length: 1, 1\r\n`],
    'a signed length': [400, `${line}${host}content-length: +1\r\n`],
    'an empty length': [400, `${line}${host}content-length:\r\n`],
    'a length that is not exact': [400, `${line}${host}content-length: 9007199254740993\r\n`],
    'a length and chunks': [
      400,
      `${line}${host}content-length: 1\r\ntransfer-encoding: chunked\r\n`,
    ],
    'two codings': [
      400,
      `${line}${host}transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n`,
    ],
    'a list of codings': [400, `${line}${host}transfer-encoding: gzip, chunked\r\n`],
    'a coding that only looks like one': [400, `${line}${host}transfer-encoding: xchunked\r\n`],
    'chunks in HTTP/1.0': [400, `POST / HTTP/1.0\r\n${host}transfer-encoding: chunked\r\n`],
    'a strange expectation': [417, `${line}${host}expect: 200-ok\r\n`],
    'two expectations': [417, `${line}${host}expect: 100-continue\r\nexpect: 100-continue\r\n`],
    'a folded header': [400, `${line}${host}a: b\r\n c\r\n`],
    'too many headers': [431, `${line}${host}${'a: b\r\n'.repeat(256)}`],
  }
  for (const [name, [status, text]] of Object.entries(refused))
    it(`with ${name} is refused`, () => assert.equal(refusal(text), status))

  it('of HTTP/1.0 may have no Host', () => {
    assert.equal(read('GET / HTTP/1.0\r\n').isHttp11, false)
  })
})
