/**
 * How many bytes of a connection's kernel buffer the other side has not acknowledged. Node knows its own
 * buffers only, and the kernel reports free room only when a third of its send buffer is free, which can be
 * a megabyte: by these figures alone, a client that receives slowly looks like one that receives nothing.
 * Linux has a table of all connections. Reading it takes milliseconds, so one reading is shared for a while,
 * and it is read only for a client that may have stalled.
 */
import { readFileSync } from 'node:fs'
import { isIPv4, type Socket } from 'node:net'
import { endianness } from 'node:os'

/** Returns undefined where the system has no figure. */
export type UnacknowledgedBytes = (socket: Socket) => number | undefined

export interface TableReading {
  readonly monotonic: () => number
  /** How old a shared reading may be. */
  readonly ageMaxMs: number
}

export function createUnacknowledgedBytes(reading: TableReading): UnacknowledgedBytes {
  const tableOf4 = createTable('/proc/net/tcp', reading)
  const tableOf6 = createTable('/proc/net/tcp6', reading)
  return (socket) => {
    const { localAddress, localPort, remoteAddress, remotePort } = socket
    if (localAddress === undefined || remoteAddress === undefined) return undefined
    const table = isIPv4(localAddress) ? tableOf4() : tableOf6()
    const ends = ` ${formatEnd(localAddress, localPort)} ${formatEnd(remoteAddress, remotePort)} `
    const at = table.indexOf(ends)
    if (at < 0) return undefined
    // Two digits of state and a space, then the send queue in eight digits.
    const from = at + ends.length + 3
    return Number.parseInt(table.slice(from, from + 8), 16)
  }
}

/** Reads the table; empty where there is none or it cannot be read. */
function createTable(path: string, { monotonic, ageMaxMs }: TableReading): () => string {
  let text = ''
  let readAtMs = -Infinity
  return () => {
    const nowMs = monotonic()
    if (nowMs - readAtMs >= ageMaxMs) {
      readAtMs = nowMs
      text = readTable(path)
    }
    return text
  }
}

function readTable(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    // Not Linux, or no access to the table.
    return ''
  }
}

/** Writes an address and a port as the table does: in words of four bytes in the processor's order. */
function formatEnd(address: string, port: number | undefined): string {
  const bytes = isIPv4(address) ? bytesOf4(address) : bytesOf6(address)
  if (endianness() === 'LE') bytes.swap32()
  const digits = (port ?? 0).toString(16).padStart(4, '0')
  return `${bytes.toString('hex')}:${digits}`.toUpperCase()
}

function bytesOf4(address: string): Buffer {
  return Buffer.from(address.split('.').map(Number))
}

/** The part before `::`, zeros, the part after it; the last four bytes may be decimal. */
function bytesOf6(address: string): Buffer {
  const [before = '', behind = ''] = (address.split('%')[0] ?? '').split('::')
  const front = bytesOfGroups(before)
  const back = bytesOfGroups(behind)
  return Buffer.concat([front, Buffer.alloc(Math.max(0, 16 - front.length - back.length)), back])
}

function bytesOfGroups(text: string): Buffer {
  const groups = text === '' ? [] : text.split(':')
  return Buffer.concat(
    groups.map((group) =>
      isIPv4(group) ? bytesOf4(group) : Buffer.from(group.padStart(4, '0'), 'hex'),
    ),
  )
}
