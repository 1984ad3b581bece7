/**
 * The form of a setting, and the schemas of their texts. Every value is parsed from text, so that it means
 * the same in a file and in the environment. A message completes "must be …".
 */
import { isAbsolute } from 'node:path'
import { z } from 'zod'
import { isAdminToken } from '../access/key.ts'
import { formatDuration, parseDuration } from '../base/clock.ts'
import { isIpRange } from '../base/ip-address.ts'
import { isLoopbackHost } from '../base/local-host.ts'
import { Secret } from '../base/secret.ts'

/** The address of a listener. */
export interface ListenAddress {
  readonly host: string
  readonly port: number
}

export const mebibyte = 1_048_576

interface Setting<Schema extends z.ZodType, Fallback> {
  /** In the file; the variable is `TURNPIKE_` and this in capital letters. */
  readonly key: string
  readonly schema: Schema
  readonly fallback: Fallback
  readonly meaning: string
  /** The default in words, where the value does not say it. */
  readonly fallbackInWords: string | undefined
}

export type AnySetting = Setting<z.ZodType, unknown>

/** One setting; `meaning` is Markdown, `fallbackInWords` the default where the value does not say it. */
export function setting<Schema extends z.ZodType, Fallback extends z.output<Schema> | undefined>(
  key: string,
  schema: Schema,
  fallback: Fallback,
  meaning: string,
  fallbackInWords?: string,
): Setting<Schema, Fallback> {
  return { key, schema, fallback, meaning, fallbackInWords }
}

/** Makes a schema from `read`, which returns undefined for text that does not fit. */
export function text<Value>(expected: string, read: (text: string) => Value | undefined) {
  return z.string().transform((given, context): Value => {
    const value = read(given.trim())
    if (value !== undefined) return value
    context.addIssue({ code: 'custom', message: `must be ${expected}` })
    return z.NEVER
  })
}

export function duration(range: { readonly min: number; readonly max: number }) {
  const expected = `a duration such as 250ms, 30s or 10m, from ${formatDuration(range.min)} to ${formatDuration(range.max)}`
  return text(expected, (given) => {
    const durationMs = parseDuration(given)
    const fits = durationMs !== undefined && durationMs >= range.min && durationMs <= range.max
    return fits ? durationMs : undefined
  })
}

/** `off` is undefined. */
export function durationOrOff(range: { readonly min: number; readonly max: number }) {
  const given = duration(range)
  const off = z.string().transform((text) => (text.trim() === 'off' ? undefined : text))
  return off.pipe(z.union([z.undefined(), given]))
}

export function count(range: { readonly min: number; readonly max: number }) {
  return text(`a whole number from ${range.min} to ${range.max}`, (given) => {
    const number = /^\d{1,15}$/.test(given) ? Number(given) : undefined
    return number !== undefined && number >= range.min && number <= range.max ? number : undefined
  })
}

export const processesMax = 256

/** The number of gateway processes; `auto` is one for each core. */
export const processCount = text(
  `a whole number from 1 to ${processesMax}, or auto`,
  readProcessCount,
)

/** Undefined for any other text. */
export function readProcessCount(given: string): number | 'auto' | undefined {
  if (given === 'auto') return given
  const number = /^\d{1,3}$/.test(given) ? Number(given) : 0
  return number >= 1 && number <= processesMax ? number : undefined
}

export function choice<const Choice extends string>(choices: readonly Choice[]) {
  return text(`one of ${choices.join(', ')}`, (given) => choices.find((one) => one === given))
}

/** The inverse of `parseListenAddress`. */
export function formatListenAddress({ host, port }: ListenAddress): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/** Reads `host:port`; an IPv6 host is in brackets. Undefined for any other text. */
export function parseListenAddress(given: string): ListenAddress | undefined {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([0-9A-Za-z.-]+)):(\d{1,5})$/.exec(given)
  const port = Number(match?.[3])
  const host = match?.[1] ?? match?.[2]
  return host === undefined || port > 65_535 ? undefined : { host, port }
}

export const listenAddress = text(
  'an address such as 127.0.0.1:8080 or [::1]:8080',
  parseListenAddress,
)

export const storeText = text('sqlite:PATH or postgres://user@host/db', (given) =>
  /^(sqlite:(?!\/\/|:memory:$).|postgres(ql)?:\/\/.)/.test(given) ? given : undefined,
)

/** The master key: 32 bytes for AES-256. */
export const masterKey = text(
  '32 bytes in hexadecimal (64 digits) or base64 (44 characters)',
  (given) =>
    /^[0-9a-fA-F]{64}$|^[0-9A-Za-z+/_-]{43}=?$/.test(given) ? new Secret(given) : undefined,
)

/** Wider than the gateway's own tokens, so that an operator can bring one from another tool. */
export const adminToken = text('`ad_` followed by 16 to 200 letters, digits, - or _', (given) =>
  isAdminToken(given) ? new Secret(given) : undefined,
)

export const path = text('the path of a file', (given) => (given === '' ? undefined : given))

/** Text for people, on one line. */
export const shortText = text('1 to 200 characters on one line', (given) =>
  /^[^\p{Cc}\p{Zl}\p{Zp}]{1,200}$/u.test(given) ? given : undefined,
)

/** Reads a list with commas; undefined where an item does not fit. */
function listOf(given: string, fits: (item: string) => boolean): readonly string[] | undefined {
  const items = given.split(',').map((one) => one.trim())
  return items.every(fits) ? items : undefined
}

export const variableNames = text(
  'names of environment variables such as ALPHA_KEY, with commas between them',
  (given) => listOf(given, (one) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(one)),
)

export const folderPaths = text('absolute paths of folders, with commas between them', (given) =>
  listOf(given, isAbsolute),
)

/** Undefined = none. */
export const addressRanges = text(
  'addresses or networks such as 10.0.0.0/8, 2001:db8::7, with commas between them',
  (given): readonly string[] | undefined => {
    const ranges = given.split(',').map((one) => one.trim())
    return ranges.every(isIpRange) ? ranges : undefined
  },
)

/** A scheme, a host and perhaps a port, as a browser writes them: Chrome extensions have origins too. */
const originPattern =
  /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9._-]+(?::\d{1,5})?$|^https?:\/\/\[[0-9a-f:.]+\](?::\d{1,5})?$/

/** Returns true for an origin in the one form in which browsers send it. */
function isOrigin(given: string): boolean {
  if (!originPattern.test(given)) return false
  return !/^https?:/.test(given) || (URL.canParse(given) && new URL(given).origin === given)
}

/** Undefined = none. */
export const origins = text(
  'origins such as https://app.example or http://localhost:5173 with commas between them, each in lower case and without a path or a default port, or * for any',
  (given): readonly string[] | undefined => {
    const list = given.split(',').map((one) => one.trim())
    return list.every((one) => one === '*' || isOrigin(one)) ? list : undefined
  },
)

/** The address of pages that people open. Plain http is for this machine only. */
export const pageAddress = text(
  'an https address without a path such as https://gateway.example, or http on a loopback address',
  (given) => {
    const url = URL.parse(given)
    if (url === null || url.href !== `${url.origin}/`) return undefined
    return isSafeAddress(url) ? url.origin : undefined
  },
)

export function isSafeAddress({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname))
}

/** The address of a mail server; its user name may be in it, the password is a separate setting. */
export const mailServer = text(
  'the address of a mail server such as smtp://user@mail.example:587 or smtps://user@mail.example',
  (given) => {
    if (!/^smtps?:\/\/[^\s/?#]+\/?$/.test(given) || !URL.canParse(given)) return undefined
    const { hostname, password } = new URL(given)
    return hostname === '' || password !== '' ? undefined : given
  },
)

/** The address of an OpenTelemetry collector; the path of traces is added to it. */
export const collectorUrl = text(
  'the address of an OpenTelemetry collector such as http://127.0.0.1:4318',
  (given) => {
    if (!/^https?:\/\/[^\s?#]+$/.test(given) || !URL.canParse(given)) return undefined
    const { username, password: secret } = new URL(given)
    return username === '' && secret === '' ? given : undefined
  },
)

export const ratio = text('a number from 0 to 1', (given) =>
  /^(?:0|1|[01]?\.\d{1,9})$/.test(given) && Number(given) <= 1 ? Number(given) : undefined,
)

/** A percentage, in thousandths of a percent. */
export const percentage = text('a percentage such as 19 or 7.7', (given) =>
  /^\d{1,2}(?:\.\d{1,3})?$/.test(given) ? Math.round(Number(given) * 1_000) : undefined,
)

export const mailDomains = text(
  'e-mail domains in lower case such as customer.example, with commas between them',
  (given) => listOf(given, (one) => /^(?=.*\.)[a-z0-9.-]+$/.test(one)),
)

/** The sender of e-mail. */
export const mailSender = text('an e-mail address such as turnpike@example.com', (given) =>
  z.regexes.html5Email.test(given) ? given : undefined,
)

export const password = text('a password', (given) =>
  given === '' ? undefined : new Secret(given),
)

/** The secret of another service. */
export const serviceSecret = text('a secret without spaces', (given) =>
  /^[\x21-\x7e]{8,500}$/.test(given) ? new Secret(given) : undefined,
)

/** A stand-in for another service, on this machine. */
export const standIn = text(
  'http and a loopback address such as http://127.0.0.1:12111',
  (given) => {
    const isLoopback = /^http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost)(?::\d+)?$/.test(given)
    return isLoopback && URL.canParse(given) ? given : undefined
  },
)

export const region = text('1 to 64 printable characters', (given) =>
  /^[\x20-\x7e]{1,64}$/.test(given) ? given : undefined,
)
