import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isProxyLine, readProxyLine } from './proxy-line.ts'

const signature = '0d0a0d0a000d0a515549540a'

/** Version 2: command, family and what follows the length, in hexadecimal. */
function binary(command: string, family: string, rest: string): Buffer {
  const length = (rest.length / 2).toString(16).padStart(4, '0')
  return Buffer.from(`${signature}${command}${family}${length}${rest}`, 'hex')
}

const ports = '123401bb'
const v6 = '20010db8000000000000000000000001'
const lines: ReadonlyArray<readonly [Buffer | string, string | undefined]> = [
  ['PROXY TCP4 192.0.2.1 192.0.2.2 56324 443\r\n', '192.0.2.1'],
  ['PROXY TCP6 2001:DB8::1 2001:db8::2 1 2\r\n', '2001:db8::1'],
  ['PROXY TCP6 ::ffff:192.0.2.1 ::1 1 2\r\n', '192.0.2.1'],
  ['PROXY UNKNOWN\r\n', undefined],
  ['PROXY UNKNOWN ffff::1 ffff::2 65535 65535\r\n', undefined],
  [binary('21', '11', `c0000201c0000202${ports}`), '192.0.2.1'],
  [binary('21', '21', v6 + v6 + ports), '2001:db8::1'],
  [binary('21', '21', `00000000000000000000ffffc0000201${v6}${ports}`), '192.0.2.1'],
  [binary('21', '11', `c0000201c0000202${ports}030004aabbccdd`), '192.0.2.1'],
  [binary('20', '00', ''), undefined],
  [binary('20', '11', `c0000201c0000202${ports}`), undefined],
  [binary('21', '00', 'aabb'), undefined],
]

describe('a PROXY line', () => {
  it('of either version names the client, and ends where its own connection begins', () => {
    for (const [line, address] of lines) {
      const bytes = Buffer.from(line)
      const read = readProxyLine(Buffer.concat([bytes, Buffer.from('GET / HTTP/1.1\r\n')]))
      assert.deepEqual(read, { kind: 'line', address, length: bytes.length }, String(line))
      assert.ok(isProxyLine(bytes))
    }
  })

  it('is read in any pieces', () => {
    for (const [line] of lines) {
      const bytes = Buffer.from(line)
      for (let length = 0; length < bytes.length; length++)
        assert.equal(
          readProxyLine(bytes.subarray(0, length)).kind,
          'more',
          `${String(line)} to ${length}`,
        )
    }
  })

  it('is malformed in every other form', () => {
    for (const line of [
      'GET / HTTP/1.1\r\n',
      'proxy TCP4 192.0.2.1 192.0.2.2 1 2\r\n',
      'PROXY TCP4 192.0.2.1 192.0.2.2 1\r\n',
      'PROXY TCP4 192.0.2.1  192.0.2.2 1 2\r\n',
      'PROXY TCP4 2001:db8::1 2001:db8::2 1 2\r\n',
      'PROXY TCP6 192.0.2.1 192.0.2.2 1 2\r\n',
      'PROXY TCP4 192.0.2.256 192.0.2.2 1 2\r\n',
      'PROXY UDP4 192.0.2.1 192.0.2.2 1 2\r\n',
      `PROXY UNKNOWN ${'x'.repeat(200)}\r\n`,
      binary('11', '11', `c0000201c0000202${ports}`),
      binary('22', '11', `c0000201c0000202${ports}`),
      'PROXY TCP4 192.0.2.1 192.0.2.2 65536 2\r\n',
      'PROXY TCP4 192.0.2.1 192.0.2.2 1 0443\r\n',
      'PROXY TCP6 fe80::1%eth0 fe80::2 1 2\r\n',
      binary('21', '13', `c0000201c0000202${ports}`),
      binary('21', '03', ''),
      binary('21', '41', `c0000201c0000202${ports}`),
      binary('21', '11', 'c0000201c0000202'),
      binary('21', '11', '00'.repeat(5_000)),
      '\r\n\r\nGET',
    ])
      assert.equal(readProxyLine(Buffer.from(line)).kind, 'malformed', String(line))
    assert.ok(!isProxyLine(Buffer.from('PROX')))
    assert.ok(!isProxyLine(Buffer.from('POST / HTTP/1.1\r\n')))
  })
})
