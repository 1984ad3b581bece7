/**
 * The PROXY line: nothing is accepted that a strict reading of the protocol refuses, the same is read however
 * the bytes arrive, and all bytes behind the line are left for the connection.
 */
import assert from 'node:assert/strict'
import { isProxyLine, readProxyLine } from '../../../src/http/wire/proxy-line.ts'
import type { FuzzTarget } from '../target.ts'

export const proxyLineTarget: FuzzTarget = {
  name: 'proxy-line',
  words: [
    'PROXY ',
    'TCP4 ',
    'TCP6 ',
    'UNKNOWN',
    '192.0.2.1',
    '::1',
    '2001:db8::1',
    '::ffff:192.0.2.1',
    '%eth0',
    ' 65535',
    ' 65536',
    ' 00080',
    ' 0',
    ' ',
    '\r\n',
    'PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n',
    '\r\n\r\n\0\r\nQUIT\n',
    '\x21\x11\0\x0c',
    '\x21\x21\0\x24',
    '\x20\0\0\0',
    '\x21\x31',
    '\x13',
  ],
  testRuns: 2_000,
  check(input) {
    const whole = readProxyLine(input)
    const expected = strictly(input)
    if (whole.kind === 'line') {
      assert.deepEqual({ address: usual(whole.address), length: whole.length }, expected)
      assert.ok(isProxyLine(input), 'a line that is read is one that untrusted peers may not send')
    } else assert.equal(expected, undefined, `${whole.kind}: the protocol allows this line`)
    checkPieces(input, whole)
  },
}

/** The bytes arrive one by one: once something is decided, no further byte changes it. */
function checkPieces(input: Buffer, whole: ReturnType<typeof readProxyLine>): void {
  for (let length = 0; length < Math.min(input.length, 600); length++) {
    const read = readProxyLine(input.subarray(0, length))
    if (read.kind === 'more') continue
    assert.deepEqual(read, whole, `the first ${length} bytes and all of them are read alike`)
    if (read.kind === 'line') assert.equal(length, read.length, 'a line is read with its last byte')
    return
  }
}

interface Line {
  readonly address: string | undefined
  readonly length: number
}

/** A second reading, from the text of the protocol; undefined for all that is not a whole line. */
function strictly(bytes: Buffer): Line | undefined {
  return strictText(bytes.toString('latin1')) ?? strictBinary(bytes)
}

const octet = '(?:0|[1-9][0-9]?|1[0-9][0-9]|2[0-4][0-9]|25[0-5])'
const ipv4 = new RegExp(`^${octet}(?:\\.${octet}){3}$`)
const port = /^(?:0|[1-9][0-9]{0,4})$/

function strictText(text: string): Line | undefined {
  const end = text.slice(0, 107).indexOf('\r\n')
  if (end === -1 || !text.startsWith('PROXY ')) return undefined
  const [, family = '', ...words] = text.slice(0, end).split(' ')
  if (family === 'UNKNOWN') {
    const hasLineEnd = /[\r\n]/.test(text.slice(0, end))
    return hasLineEnd ? undefined : { address: undefined, length: end + 2 }
  }
  const [source = '', target = '', from = '', to = ''] = words
  if (words.length !== 4 || ![from, to].every((one) => port.test(one) && Number(one) < 65_536))
    return undefined
  if (family === 'TCP4')
    return [source, target].every((one) => ipv4.test(one))
      ? { address: source, length: end + 2 }
      : undefined
  const address = family === 'TCP6' ? groupsOf(source) : undefined
  if (address === undefined || groupsOf(target) === undefined) return undefined
  return { address: written(address), length: end + 2 }
}

const transportMax = 2
const addressBytes = [0, 4, 16, 108]

function strictBinary(bytes: Buffer): Line | undefined {
  if (bytes.toString('latin1', 0, 12) !== '\r\n\r\n\0\r\nQUIT\n' || bytes.length < 16)
    return undefined
  const [command = 0, kind = 0] = bytes.subarray(12, 14)
  const rest = bytes.readUInt16BE(14)
  const length = 16 + rest
  // No real proxy sends so much: the gateway's own bound.
  if (bytes.length < length || rest > 4_096) return undefined
  if (command === 0x20) return { address: undefined, length }
  const family = kind >> 4
  const size = addressBytes[family]
  if (command !== 0x21 || size === undefined || (kind & 15) > transportMax) return undefined
  const isInternet = family === 1 || family === 2
  if (isInternet && rest < 2 * size + 4) return undefined
  if (!isInternet) return { address: undefined, length }
  const source = bytes.subarray(16, 16 + size)
  if (family === 1) return { address: [...source].join('.'), length }
  const groups = Array.from({ length: 8 }, (_, index) => source.readUInt16BE(2 * index))
  return { address: written(groups), length }
}

/** The eight groups of an address of version 6; undefined for other text. */
function groupsOf(text: string): readonly number[] | undefined {
  const [head = '', tail, ...more] = text.split('::')
  if (more.length > 0) return undefined
  const before = listOf(head, tail === undefined)
  const behind = listOf(tail ?? '', true)
  if (before === undefined || behind === undefined) return undefined
  const missing = 8 - before.length - behind.length
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined
  return [...before, ...Array<number>(missing).fill(0), ...behind]
}

function listOf(text: string, isLast: boolean): readonly number[] | undefined {
  if (text === '') return []
  const parts = text.split(':')
  const last = parts.at(-1) ?? ''
  const groups = parts.slice(0, last.includes('.') ? -1 : undefined)
  if (!groups.every((one) => /^[0-9a-fA-F]{1,4}$/.test(one))) return undefined
  const values = groups.map((one) => Number.parseInt(one, 16))
  if (!last.includes('.')) return values
  if (!isLast || !ipv4.test(last)) return undefined
  const [a = 0, b = 0, c = 0, d = 0] = last.split('.').map(Number)
  return [...values, a * 256 + b, c * 256 + d]
}

/** Both spellings of the last four bytes of an address are in use. */
function usual(address: string | undefined): string | undefined {
  const groups = address?.includes(':') === true ? groupsOf(address) : undefined
  return groups === undefined ? address : written(groups)
}

/** An address that stands for one of version 4 is written as that. */
function written(groups: readonly number[]): string {
  const isMapped = groups.slice(0, 5).every((one) => one === 0) && groups[5] === 0xffff
  const [high = 0, low = 0] = groups.slice(6)
  if (isMapped) return [high >> 8, high & 255, low >> 8, low & 255].join('.')
  return new URL(`http://[${groups.map((one) => one.toString(16)).join(':')}]/`).hostname.slice(
    1,
    -1,
  )
}
