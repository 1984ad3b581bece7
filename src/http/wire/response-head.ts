/**
 * The head of an answer as a client reads it: status, fields, and how its body ends. Pure; strict
 * about everything that decides where this answer ends and the next one begins.
 */
import { hasListMember, isNamed, parseFields } from './field-syntax.ts'
import { chunkedBody, noBody, parseLength, untilClose, type Framing } from './framing.ts'

export interface ResponseHead {
  readonly status: number
  /** Flat list as received, names as received. */
  readonly rawHeaders: readonly string[]
  readonly framing: Framing
  /** How long the connection may be used again after this answer; 0 = not at all, undefined = not said. */
  readonly keepAliveMs: number | undefined
}

const fieldsMax = 256

/** Undefined for what is no well-formed head of HTTP/1.1 or 1.0. `text` is what a HeadReader gives. */
export function parseResponseHead(text: string): ResponseHead | undefined {
  const isHttp11 = text.startsWith('HTTP/1.1 ')
  if (!isHttp11 && !text.startsWith('HTTP/1.0 ')) return undefined
  const lineEnd = text.indexOf('\r\n')
  const status = readStatus(text, lineEnd)
  const fields = parseFields(text, lineEnd + 2, fieldsMax)
  if (status === undefined || typeof fields === 'string') return undefined

  const facts = readFacts(fields)
  const { length, coding } = facts
  if (facts.isAmbiguous || (length !== undefined && coding !== undefined)) return undefined
  const bytes = length === undefined ? undefined : parseLength(length)
  if (length !== undefined && bytes === undefined) return undefined
  if (coding !== undefined && (!isHttp11 || !isNamed(coding, 'chunked'))) return undefined

  const isBodiless = status < 200 || status === 204 || status === 304
  let framing: Framing = untilClose
  if (isBodiless) framing = noBody
  else if (coding !== undefined) framing = chunkedBody
  else if (bytes !== undefined) framing = bytes === 0 ? noBody : { kind: 'length', bytes }
  return { status, rawHeaders: fields, framing, keepAliveMs: keepAlive(facts, isHttp11, framing) }
}

const statusStart = 9
const statusPattern = /^[1-5]\d\d$/
const reasonPattern = /^(?: [\t\x20-\x7e\x80-\xff]*)?$/

function readStatus(text: string, lineEnd: number): number | undefined {
  if (text.startsWith('200 OK\r\n', statusStart)) return 200
  const code = text.slice(statusStart, statusStart + 3)
  if (!statusPattern.test(code)) return undefined
  return reasonPattern.test(text.slice(statusStart + 3, lineEnd)) ? Number(code) : undefined
}

interface Facts {
  length: string | undefined
  coding: string | undefined
  connection: string | undefined
  keepAlive: string | undefined
  /** A length or a coding was given twice. */
  isAmbiguous: boolean
}

function readFacts(fields: readonly string[]): Facts {
  const facts: Facts = {
    length: undefined,
    coding: undefined,
    connection: undefined,
    keepAlive: undefined,
    isAmbiguous: false,
  }
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index] ?? ''
    const value = fields[index + 1] ?? ''
    if (name.length === 10) {
      if (isNamed(name, 'connection'))
        facts.connection = facts.connection === undefined ? value : `${facts.connection},${value}`
      else if (isNamed(name, 'keep-alive')) facts.keepAlive = value
    } else if (name.length === 14) {
      if (!isNamed(name, 'content-length')) continue
      facts.isAmbiguous ||= facts.length !== undefined
      facts.length = value
    } else if (name.length === 17 && isNamed(name, 'transfer-encoding')) {
      facts.isAmbiguous ||= facts.coding !== undefined
      facts.coding = value
    }
  }
  return facts
}

function keepAlive(facts: Facts, isHttp11: boolean, framing: Framing): number | undefined {
  const { connection } = facts
  if (framing.kind === 'close') return 0
  if (connection !== undefined && hasListMember(connection, 'close')) return 0
  if (!isHttp11 && (connection === undefined || !hasListMember(connection, 'keep-alive'))) return 0
  if (facts.keepAlive === undefined) return undefined
  const seconds = /(?:^|[\s,;])timeout=(\d{1,9})/i.exec(facts.keepAlive)?.[1]
  return seconds === undefined ? undefined : Number(seconds) * 1_000
}
