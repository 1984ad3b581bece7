/**
 * The headers in which proxies say for whom they forward: addresses, the nearest hop first. Read from the
 * right, because each proxy adds on the right, and the text left of a trusted proxy's word may be a
 * client's invention. Pure.
 */
import { readAddress } from '../../base/ip-address.ts'
import type { Fields } from './fields.ts'

export const forwardingHeaders = ['x-forwarded-for', 'forwarded', 'x-real-ip'] as const
export type ForwardingHeader = (typeof forwardingHeaders)[number]

/** Returns a forwarding header of a request. */
export function findForwardingHeader(fields: Fields): ForwardingHeader | undefined {
  return forwardingHeaders.find((name) => fields.indexOf(name) !== -1)
}

/**
 * Returns the hops that the header names, the nearest first, and undefined for one that is no address. Of
 * `x-real-ip` only the last value counts: a proxy sets this header and does not add to it.
 */
export function* hopsIn(fields: Fields, header: ForwardingHeader): Generator<string | undefined> {
  for (let index = fields.numbers.length - 1; index >= 0; index--) {
    if (!fields.isNamed(index, header)) continue
    for (const element of fromRight(fields.value(index), ',')) {
      yield header === 'forwarded' ? hopOf(element) : readHop(element)
      if (header === 'x-real-ip') return
    }
  }
}

/** Splits at each separator outside of quoted strings, from the right. */
function* fromRight(text: string, separator: string): Generator<string> {
  let end = text.length
  let isQuoted = false
  for (let at = text.length - 1; at >= 0; at--) {
    if (text[at] === '"' && !isEscaped(text, at)) isQuoted = !isQuoted
    if (isQuoted || text[at] !== separator) continue
    yield text.slice(at + 1, end)
    end = at
  }
  yield text.slice(0, end)
}

function isEscaped(text: string, at: number): boolean {
  let slashCount = 0
  while (text[at - 1 - slashCount] === '\\') slashCount++
  return slashCount % 2 === 1
}

const forPair = /^\s*for\s*=\s*(?:"([^"\\]*)"|([^"\s]*))\s*$/i

/** Reads the `for` of one element such as `for="[2001:db8::1]:4711";proto=https`. */
function hopOf(element: string): string | undefined {
  let hop: string | undefined
  for (const pair of fromRight(element, ';')) {
    const found = forPair.exec(pair)
    if (found === null) continue
    if (hop !== undefined) return undefined
    hop = readHop(found[1] ?? found[2] ?? '')
  }
  return hop
}

const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/
const withPort = /^([^:]*):\d{1,5}$/

/** Reads an address, also with a port behind it. */
function readHop(text: string): string | undefined {
  const hop = text.trim()
  return readAddress((bracketed.exec(hop) ?? withPort.exec(hop))?.[1] ?? hop)
}
