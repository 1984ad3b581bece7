/**
 * Schemas of the fields in operators' input: names, amounts, ranges, dates. They take text from a
 * command line and JSON from an API alike. The invariant: nothing is guessed; a message says what fits.
 */
import { z } from 'zod'
import { isIpRange } from '../base/ip-address.ts'
import { formatUsd, parseUsd, type Picos } from '../base/money.ts'
import { balanceMax } from '../ledger/entry-store.ts'

/** The largest amount: no balance may be larger. */
export const amountUsdMax = formatUsd(balanceMax)

const ids = /^(acc|key)_/

/** No control or format characters, no line breaks: a name is shown in logs, tables and pages. */
const printable = /^[^\p{C}\p{Zl}\p{Zp}]+$/u

function printableText(lengthMax: number) {
  return z
    .string('must be text')
    .transform((text) => text.normalize('NFC').trim())
    .refine((text) => text === '' || printable.test(text), 'must have printable characters only')
    .refine((text) => text.length <= lengthMax, `must have at most ${lengthMax} characters`)
}

/** The name of an account. It must not look like an id, because either identifies an account. */
export const accountName = printableText(64)
  .refine((text) => text.length > 0, 'must not be empty')
  .refine((text) => !ids.test(text), 'must not look like an id')

/** An account, by name or id. */
export const accountReference = z.string('must name an account').min(1, 'must name an account')

/** A label for people; may be empty. */
export const label = printableText(64).default('')

/** Makes a credit idempotent. */
export const entryReference = printableText(128).refine(
  (text) => text.length > 0,
  'must not be empty',
)

export const note = printableText(256).optional()

/** What an operator notes down about an account; may be empty. */
export const accountNote = printableText(256)

/** The address for alerts about an account; empty = none. */
export const contact = printableText(254).refine(
  (text) => text === '' || z.regexes.html5Email.test(text),
  'must be one e-mail address such as ops@customer.example, or empty',
)

/** The operator's own id of an account holder; empty = none. */
export const externalId = printableText(128)

/** A part of a name, to search for. */
export const namePart = printableText(64).refine((text) => text !== '', 'must not be empty')

export const metadataCountMax = 16
const metadataName = /^[A-Za-z][A-Za-z0-9_.-]{0,39}$/

/** Changes of the metadata of an account: texts by name. An empty text or null removes the name. */
export const metadataChanges = z
  .record(z.string(), printableText(200).nullable(), 'must be an object of texts')
  .superRefine((given, context) => {
    for (const name of Object.keys(given)) {
      if (metadataName.test(name)) continue
      const message = `"${name}" must begin with a letter and have at most 40 letters, digits, or any of _ . -`
      context.addIssue({ code: 'custom', message })
    }
  })

function textOrNumber(expected: string) {
  return z.union([z.string(), z.number()], `must be ${expected}`)
}

/** USD as decimal text, or as a JSON number. */
function usd(expected: string, fits: (amount: Picos) => boolean) {
  return textOrNumber(expected).transform((given, context): Picos => {
    const amount = parseUsd(String(given).trim())
    if (amount !== undefined && fits(amount)) return amount
    context.addIssue({ code: 'custom', message: `must be ${expected}` })
    return z.NEVER
  })
}

/** The amount of an entry: positive for a credit, negative for a correction. */
export const entryUsd = usd(
  `an amount in USD such as 12.50 or -12.50, not 0, at most ${amountUsdMax}, with at most 12 decimals`,
  (amount) => amount !== 0n && amount <= balanceMax && amount >= 0n - balanceMax,
)

/** A part of a charge to give back. */
export const refundUsd = usd(
  'an amount in USD above 0, with at most 12 decimals',
  (amount) => amount > 0n && amount <= balanceMax,
)

/** A request, by the gateway's id or the vendor's. */
export const requestReference = z
  .string('must be the id of a request')
  .min(1, 'must be the id of a request')
  .max(512, 'must be the id of a request')

/** A first credit; 0 books nothing. */
export const balanceUsd = usd(
  `an amount in USD from 0 to ${amountUsdMax}, with at most 12 decimals`,
  (amount) => amount >= 0n && amount <= balanceMax,
)

/** A limit; 0 means no limit. */
export const limitUsd = usd(
  `an amount in USD from 0 (no limit) to ${amountUsdMax}, with at most 12 decimals`,
  (amount) => amount >= 0n && amount <= balanceMax,
)

function wholeNumber(range: { readonly min: number; readonly max: number }) {
  const expected = `a whole number from ${range.min} to ${range.max}`
  return textOrNumber(expected).transform((given, context): number => {
    const number = /^\d{1,9}$/.test(String(given).trim()) ? Number(given) : Number.NaN
    if (number >= range.min && number <= range.max) return number
    context.addIssue({ code: 'custom', message: `must be ${expected}` })
    return z.NEVER
  })
}

/** Requests per minute; 0 means no limit. */
export const requestsPerMinute = wholeNumber({ min: 0, max: 1_000_000 })
/** Tokens per minute; 0 means no limit. */
export const tokensPerMinute = wholeNumber({ min: 0, max: 999_999_999 })
/** At most a day, because the window keeps each request in memory. */
export const windowMinutes = wholeNumber({ min: 1, max: 1_440 })
/** Items on one page of a list. */
export const pageLimit = wholeNumber({ min: 1, max: 1_000 })

/** A factor on list prices with at most six decimals, read into millionths. */
export const priceMultiplier = textOrNumber('a factor such as 1 or 0.85').transform(
  (given, context): number => {
    const match = /^(\d{1,3})(?:\.(\d{1,6}))?$/.exec(String(given).trim())
    if (match !== null) {
      return Number(match[1]) * 1_000_000 + Number((match[2] ?? '').padEnd(6, '0'))
    }
    context.addIssue({ code: 'custom', message: 'must be a factor such as 1 or 0.85' })
    return z.NEVER
  },
)

/** An empty list is refused: it could mean every address or none. */
export const ipRanges = z
  .array(z.string())
  .min(1, 'must name at least one range')
  .max(100, 'must name at most 100 ranges')
  .superRefine((ranges, context) => {
    for (const range of ranges) {
      if (isIpRange(range)) continue
      const message = `"${range}" is not an address or network such as 192.0.2.0/24 or 2001:db8::/32`
      context.addIssue({ code: 'custom', message })
    }
  })

export const modelIds = z
  .array(z.string().min(1, 'must not hold an empty name'))
  .min(1, 'must name at least one model')
  .max(1_000, 'must name at most 1000 models')
  .transform((ids) => [...new Set(ids)])

const datePattern = /^\d{4}-\d\d-\d\d$/
const instantPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/

function date(readDay: (startMs: number) => number) {
  return z.string('must be a date').transform((text, context): number => {
    const startMs = parseInstant(text.trim())
    if (startMs !== undefined) return datePattern.test(text.trim()) ? readDay(startMs) : startMs
    const message = 'must be a date such as 2027-01-31, or a time such as 2027-01-31T12:00:00Z'
    context.addIssue({ code: 'custom', message })
    return z.NEVER
  })
}

/** Undefined for a day that does not exist; Date.parse alone would take the next month's. */
function parseInstant(text: string): number | undefined {
  if (!datePattern.test(text) && !instantPattern.test(text)) return undefined
  const atMs = Date.parse(text)
  const dayStartMs = Date.parse(text.slice(0, 10))
  if (Number.isNaN(atMs) || Number.isNaN(dayStartMs)) return undefined
  return new Date(dayStartMs).toISOString().startsWith(text.slice(0, 10)) ? atMs : undefined
}

const dayMs = 86_400_000

/** A day means its start (UTC). */
export const fromTime = date((startMs) => startMs)
/** A day is included, so it means the start of the next day (UTC). */
export const untilTime = date((startMs) => startMs + dayMs)
