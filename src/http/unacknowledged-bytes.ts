/**
 * How much of what the kernel has been given for a connection the other side has not acknowledged yet.
 * Node knows of its own buffers only, and the kernel reports room for more only once a third of its send
 * buffer is free, which can be a megabyte: by these alone, who takes an answer slowly looks like one who
 * takes nothing. Linux tells in a table of all connections. To read it takes milliseconds, so one reading
 * serves all who ask within a while, and nobody asks who is not under suspicion.
 */
import { readFileSync } from 'node:fs'
import { isIPv4, type Socket } from 'node:net'
import { endianness } from 'node:os'

/** Undefined where the system does not tell. */
export type UnacknowledgedBytes = (socket: Socket) => number | undefined

export interface TableReading {
  readonly monotonic: () => number
  /** How old a reading may be that is used again. */
  readonly ageMaxMs: number
}

export function createUnacknowledgedBytes(reading: TableReading): UnacknowledgedBytes {
  const tableOf4 = createTable('/proc/net/tcp', reading)
  const tableOf6 = createTable('/proc/net/tcp6', reading)
  return (socket) => {
    const { localAddress, localPort, remoteAddress, remotePort } = socket
    if (localAddress === undefined || remoteAddress === undefined) return undefined
    const table = isIPv4(localAddress) ? tableOf4() : tableOf6()
    const ends = ` ${spell(localAddress, localPort)} ${spell(remoteAddress, remotePort)} `
    const at = table.indexOf(ends)
    if (at < 0) return undefined
    // The state in two digits and a space, then the queue that is meant in eight.
    const from = at + ends.length + 3
    return Number.parseInt(table.slice(from, from + 8), 16)
  }
}

/** The text of the table; empty where there is none or it cannot be read. */
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
    // No Linux, or a place from which this cannot be seen: then nothing is known.
    return ''
  }
}

/** An address and a port as the table spells them: words of four bytes as the processor holds them. */
function spell(address: string, port: number | undefined): string {
  const bytes = isIPv4(address) ? bytesOf4(address) : bytesOf6(address)
  if (endianness() === 'LE') bytes.swap32()
  const digits = (port ?? 0).toString(16).padStart(4, '0')
  return `${bytes.toString('hex')}:${digits}`.toUpperCase()
}

function bytesOf4(address: string): Buffer {
  return Buffer.from(address.split('.').map(Number))
}

/** The part in front of `::`, zeros, the part behind it; the last four bytes may stand in decimals. */
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
