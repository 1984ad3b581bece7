/** Heads of requests: their bytes, and that no value can end a header early. Status lines of answers. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { requestLines } from './head-lines.ts'
import { requestHead, statusLine, type RequestToWrite } from './message-writer.ts'

const request: RequestToWrite = {
  method: 'POST',
  target: '/v1/messages?beta=true',
  host: 'vendor.example:8443',
  headers: requestLines(['Content-Type', 'application/json', 'x-empty', '', 'x-latin', 'caf\xe9']),
  body: Buffer.from('{}'),
}

describe('the head of a request', () => {
  it('has the given headers unchanged, and its own framing', () => {
    assert.equal(
      requestHead(request),
      'POST /v1/messages?beta=true HTTP/1.1\r\nhost: vendor.example:8443\r\n' +
        'connection: keep-alive\r\nContent-Type: application/json\r\nx-empty: \r\n' +
        'x-latin: caf\xe9\r\ncontent-length: 2\r\n\r\n',
    )
  })

  it('states a length where there is a body, and for every POST', () => {
    const empty = { ...request, headers: requestLines([]), body: undefined }
    assert.match(requestHead(empty) ?? '', /content-length: 0\r\n/)
    assert.doesNotMatch(requestHead({ ...empty, method: 'GET' }) ?? '', /content-length/)
  })

  const impossible: Readonly<Record<string, Partial<RequestToWrite>>> = {
    'a line end in a value': { headers: requestLines(['a', 'b\r\nc: d']) },
    'a bare LF in a value': { headers: requestLines(['a', 'b\nc']) },
    'a NUL in a value': { headers: requestLines(['a', 'b\0']) },
    'a value beyond latin1': { headers: requestLines(['a', 'b\u0100']) },
    'a name that is none': { headers: requestLines(['a b', 'c']) },
    'an empty name': { headers: requestLines(['', 'c']) },
    'a line end in the target': { target: '/a\r\nb' },
    'a space in the target': { target: '/a b' },
    'a target that is no path': { target: 'http://other/' },
    'a line end in the host': { host: 'a\r\nb' },
    ...Object.fromEntries(
      ['Content-Length', 'transfer-encoding', 'HOST', 'Expect', 'Connection', 'upgrade', 'te'].map(
        (name) => [`a ${name} of the caller`, { headers: requestLines([name, '1']) }],
      ),
    ),
  }
  for (const [name, part] of Object.entries(impossible))
    it(`is not written with ${name}`, () =>
      assert.equal(requestHead({ ...request, ...part }), undefined))
})

describe('the status line of an answer', () => {
  it('has a reason phrase, also for the overload that no standard names', () => {
    assert.equal(statusLine(402), 'HTTP/1.1 402 Payment Required\r\n')
    assert.equal(statusLine(529), 'HTTP/1.1 529 Overloaded\r\n')
    assert.equal(statusLine(598), 'HTTP/1.1 598 Unknown\r\n')
  })
})
