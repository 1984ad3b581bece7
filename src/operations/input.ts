/**
 * Schemas of the fields in operators' input: names, amounts, ranges, dates. They take text from a
 * command line and JSON from an API alike. The invariant: nothing is guessed; a message says what fits.
 */
import { z } from 'zod'
import { secretPattern } from '../access/key.ts'
import { dayMs } from '../base/clock.ts'
import { isIpRange } from '../base/ip-address.ts'
import { languages } from '../base/languages.ts'
import { formatUsd, parseUsd, type Picos } from '../base/money.ts'
import { balanceMax, creditLineMax } from '../ledger/entry-store.ts'
import {
  dateForm,
  factorForm,
  linesForm,
  printableForm,
  usdForm,
  wholeNumberForm,
} from './input-forms.ts'

/** The largest amount: no balance may be larger. */
export const amountUsdMax = formatUsd(balanceMax)

const ids = /^(acc|key)_/

/** A value that a list is searched for. */
export const searchWord = z
  .string('must be text')
  .min(1, 'must not be empty')
  .max(256, 'is too long')

/** No control or format characters, no line breaks: a name is shown in logs, tables and pages. */
const printable = /^[^\p{C}\p{Zl}\p{Zp}]+$/u

/** Names and notes are shown, and some stand in logs and addresses. */
const secret = new RegExp(secretPattern)

export function printableText(lengthMax: number, lengthMin = 0) {
  return z
    .string('must be text')
    .transform((text) => text.normalize('NFC').trim())
    .refine((text) => text === '' || printable.test(text), 'must have printable characters only')
    .refine((text) => text.length <= lengthMax, `must have at most ${lengthMax} characters`)
    .refine((text) => text.length >= lengthMin, 'must not be empty')
    .refine((text) => !secret.test(text), 'must not have the secret of a key in it')
    .meta(printableForm({ min: lengthMin, max: lengthMax }))
}

/** A name that may not be empty. */
export const properName = printableText(64, 1)

/** The name of an account. It must not look like an id, because either identifies an account. */
export const accountName = properName
  .refine((text) => !ids.test(text), 'must not look like an id')
  .describe('A unique name, at most 64 characters.')

export const accountReference = z
  .string('must name an account')
  .min(1, 'must name an account')
  .describe('Name or id of the account.')

export const label = printableText(64)
  .describe('A label, at most 64 characters; may be empty.')
  .default('')

export const entryReference = printableText(128, 1).describe(
  'Your own id of this entry; repeating it books nothing.',
)

export const note = printableText(256)

/** Lines of printable text. */
const printableLines = /^(?:[^\p{C}\p{Zl}\p{Zp}]|\n)+$/u

/** A text of several lines that operators write for each other. */
export const noteText = z
  .string('must be text')
  .transform((text) => text.normalize('NFC').replaceAll('\r\n', '\n').trim())
  .refine((text) => printableLines.test(text), 'must have printable characters, and not be empty')
  .refine((text) => text.length <= 2_000, 'must have at most 2000 characters')
  .refine((text) => !secret.test(text), 'must not have the secret of a key in it')
  .meta(linesForm({ max: 2_000 }))
  .describe('The text, at most 2,000 characters.')

export const accountNote = note.describe('A note for operators; may be empty.')

/** Lines for receipts. */
export const billTo = z
  .string('must be text')
  .transform((text) => text.normalize('NFC').replaceAll('\r\n', '\n').trim())
  .refine((text) => text === '' || printableLines.test(text), 'must have printable characters')
  .refine((text) => text.length <= 1_000, 'must have at most 1000 characters')
  .refine((text) => !secret.test(text), 'must not have the secret of a key in it')
  .meta({ anyOf: [{ maxLength: 0 }, linesForm({ max: 1_000 })] })
  .describe('Lines that receipts name: name, address, tax number; may be empty.')

export const language = z
  .enum(languages, `must be one of ${languages.join(', ')}`)
  .describe('Language of mails to the contact.')

export const contact = printableText(254)
  .refine(
    (text) => text === '' || z.regexes.html5Email.test(text),
    'must be one e-mail address such as ops@customer.example, or empty',
  )
  .meta({ anyOf: [{ maxLength: 0 }, { format: 'email' }] })
  .describe('Address for alerts about this account; empty = none.')

export const externalId = printableText(128).describe(
  'Your own id of the account holder, unique; empty = none.',
)

/** A part of a name, to search for. */
export const namePart = printableText(64, 1)

function textOrNumber(expected: string) {
  return z.union([z.string(), z.number()], `must be ${expected}`)
}

/** Makes the transformation of a field from `read`, which returns undefined for anything but `expected`. */
function as<Value>(expected: string, read: (text: string) => Value | undefined) {
  return (given: string | number, context: z.RefinementCtx): Value => {
    const value = read(String(given).trim())
    if (value !== undefined) return value
    context.addIssue({ code: 'custom', message: `must be ${expected}` })
    return z.NEVER
  }
}

/** A JSON number is read from its shortest text; with more decimals it could be another one than was sent. */
const exactNumber = /^-?\d{1,15}(\.\d{1,6})?$/

/** USD as decimal text, or as a JSON number. */
function usd(
  expected: string,
  range: { readonly isSigned?: boolean; readonly hasZero?: boolean; readonly most?: Picos } = {},
) {
  const { isSigned = false, hasZero = true, most = balanceMax } = range
  const least = isSigned ? 0n - most : 0n
  const max = Number(formatUsd(most))
  return textOrNumber(expected)
    .transform((given, context): Picos => {
      const text = String(given).trim()
      const isExact = typeof given === 'string' || exactNumber.test(text)
      const amount = isExact ? parseUsd(text) : undefined
      const fits = amount !== undefined && amount >= least && amount <= most
      if (fits && (hasZero || amount !== 0n)) return amount
      const advice = isExact ? '' : '; send one with more than 6 decimals as text'
      context.addIssue({ code: 'custom', message: `must be ${expected}${advice}` })
      return z.NEVER
    })
    .meta(usdForm({ min: isSigned ? -max : 0, max, hasZero }))
}

/** The amount of an entry: positive for a credit, negative for a correction. */
export const entryUsd = usd(
  `an amount in USD such as 12.50 or -12.50, not 0, at most ${amountUsdMax}, with at most 12 decimals`,
  { isSigned: true, hasZero: false },
).describe('Amount in USD, such as 12.50 or -3; a negative amount takes money back.')

/** A part of a charge to give back. */
export const refundUsd = usd('an amount in USD above 0, with at most 12 decimals', {
  hasZero: false,
})

/** What a top-up code is worth. */
export const codeUsd = usd(
  `an amount in USD from 0 to ${amountUsdMax}, with at most 12 decimals`,
).describe('What each code is worth, in USD; 0 = it only invites to sign up.')

export const codeCount = wholeNumber({ min: 1, max: 1_000 })
  .default(1)
  .describe('How many codes, 1 to 1000.')

export const requestReference = z
  .string('must be the id of a request')
  .min(1, 'must be the id of a request')
  .max(512, 'must be the id of a request')
  .describe("The gateway's id of the request (ex_…), or the vendor's.")

export const balanceUsd = usd(
  `an amount in USD from 0 to ${amountUsdMax}, with at most 12 decimals`,
).describe('A first credit to book, in USD.')

/** A limit; 0 means no limit. */
export const limitUsd = usd(
  `an amount in USD from 0 (no limit) to ${amountUsdMax}, with at most 12 decimals`,
)

export const creditLineUsd = usd(
  `an amount in USD from 0 to ${formatUsd(creditLineMax)}, with at most 12 decimals`,
  { most: creditLineMax },
).describe('How far below zero the balance may go, in USD.')

function wholeNumber(range: { readonly min: number; readonly max: number }) {
  const expected = `a whole number from ${range.min} to ${range.max}`
  return textOrNumber(expected)
    .transform(
      as(expected, (text) => {
        const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
        return number >= range.min && number <= range.max ? number : undefined
      }),
    )
    .meta(wholeNumberForm(range))
}

export const requestsPerMinute = wholeNumber({ min: 0, max: 1_000_000 }).describe(
  'Requests per minute; 0 = no limit.',
)
export const tokensPerMinute = wholeNumber({ min: 0, max: 999_999_999 }).describe(
  'Tokens per minute, of requests that have ended; 0 = no limit.',
)
/** At most a day, because the window keeps each request in memory. */
export const windowMinutes = wholeNumber({ min: 1, max: 1_440 }).describe(
  'Sliding window for requests per minute, 1 to 1440 minutes.',
)
/** Items on one page of a list. */
export const pageLimit = wholeNumber({ min: 1, max: 1_000 })
/** Values of a key that a report shows one by one. */
export const largestCount = wholeNumber({ min: 1, max: 100 })
/** Steps of time into which a period is cut. */
export const stepCount = wholeNumber({ min: 2, max: 120 })

/** A factor on list prices with at most six decimals, read into millionths. */
export const priceMultiplier = textOrNumber('a factor such as 1 or 0.85')
  .transform(
    as('a factor such as 1 or 0.85', (text) => {
      const [, whole, decimals = ''] = /^(\d{1,3})(?:\.(\d{1,6}))?$/.exec(text) ?? []
      if (whole === undefined) return undefined
      return Number(whole) * 1_000_000 + Number(decimals.padEnd(6, '0'))
    }),
  )
  .meta(factorForm)
  .describe('Factor on list prices; 0.85 = 15 % discount.')

/** An empty list is refused: it could mean every address or none. */
export const ipRanges = z
  .array(z.string().meta({ pattern: '^[0-9A-Fa-f:.]{2,45}(/[0-9]{1,3})?$' }))
  .min(1, 'must name at least one range')
  .max(100, 'must name at most 100 ranges')
  .superRefine((ranges, context) => {
    for (const range of ranges) {
      if (isIpRange(range)) continue
      const message = `"${range}" is not an address or network such as 192.0.2.0/24 or 2001:db8::/32`
      context.addIssue({ code: 'custom', message })
    }
  })
  .describe('Allow only these addresses and networks.')

export const modelIds = z
  .array(z.string().min(1, 'must not hold an empty name'))
  .min(1, 'must name at least one model')
  .max(1_000, 'must name at most 1000 models')
  .transform((ids) => [...new Set(ids)])
  .describe('Allow only these models.')

const datePattern = /^\d{4}-\d\d-\d\d$/
const instantPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/

/** The first time that RFC 3339 cannot write. */
const yearTenThousandMs = Date.UTC(10_000, 0, 1)

function date(readDay: (startMs: number) => number) {
  return z
    .string('must be a date')
    .transform(
      as('a date such as 2027-01-31, or a time such as 2027-01-31T12:00:00Z', (text) => {
        const startMs = parseInstant(text)
        if (startMs === undefined) return undefined
        return datePattern.test(text) ? readDay(startMs) : startMs
      }),
    )
    .refine((atMs) => atMs < yearTenThousandMs, 'must be before 9999-12-31')
    .meta(dateForm)
}

/** Undefined for a day that does not exist; Date.parse alone would take the next month's. */
function parseInstant(text: string): number | undefined {
  if (!datePattern.test(text) && !instantPattern.test(text)) return undefined
  const atMs = Date.parse(text)
  const dayStartMs = Date.parse(text.slice(0, 10))
  if (Number.isNaN(atMs) || Number.isNaN(dayStartMs)) return undefined
  return new Date(dayStartMs).toISOString().startsWith(text.slice(0, 10)) ? atMs : undefined
}

/** A day means its start (UTC). */
export const fromTime = date((startMs) => startMs).describe(
  'First day (UTC), or a time such as 2027-01-31T12:00:00Z.',
)
/** A day is included, so it means the start of the next day (UTC). */
export const untilTime = date((startMs) => startMs + dayMs).describe(
  'Last day (UTC, included), or a time such as 2027-01-31T12:00:00Z.',
)
