/** Each form describes the set that its schema accepts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { z } from 'zod'
import * as input from './input.ts'

/** Whether the schema that the document shows for text accepts it. */
function isDocumented(schema: z.ZodType, text: string): boolean {
  const document = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  const forms = document.anyOf ?? [document]
  return forms.some(
    (form) =>
      typeof form === 'object' &&
      form.type === 'string' &&
      new RegExp(form.pattern ?? '', 'u').test(text),
  )
}

function assertSame(schema: z.ZodType, text: string): void {
  assert.equal(isDocumented(schema, text), schema.safeParse(text).success, JSON.stringify(text))
}

const counts = {
  requestsPerMinute: input.requestsPerMinute,
  tokensPerMinute: input.tokensPerMinute,
  windowMinutes: input.windowMinutes,
  pageLimit: input.pageLimit,
}

test('a count is documented exactly, at its bounds and between them', () => {
  for (const schema of Object.values(counts)) {
    for (const number of [0, 1, 9, 10, 99, 100, 1_000, 1_001, 1_439, 1_440, 1_441, 999_999, 1e6])
      assertSame(schema, String(number))
    for (const number of [1_000_001, 999_999_999, 1_000_000_000]) assertSame(schema, String(number))
    for (const text of ['', '-1', '1.5', 'many', '1e3']) assertSame(schema, text)
    fc.assert(fc.property(fc.nat(2_000_000), (number) => assertSame(schema, String(number))))
  }
})

test('an amount is documented exactly', () => {
  const amounts = [input.entryUsd, input.refundUsd, input.balanceUsd, input.limitUsd]
  const edges =
    '0 -0 0.0 1 -1 0.01 -0.000000000001 0.0000000000001 10 8999999.999999999999 9000000 ' +
    '9000000.000000000001 9000001 12345678 -9000000 -9000001 1. .5 1e3 + 12,5'
  for (const schema of amounts)
    for (const text of ['', ...edges.split(' ')])
      // The document leaves out two spellings of an amount: zeros behind it, and -0.
      if (!/^-0$|\.0$/.test(text)) assertSame(schema, text)
})

test('an expiry that no answer could show is refused', () => {
  const day = (text: string): boolean => input.untilTime.safeParse(text).success
  assert.deepEqual(['9999-12-30', '9999-12-31'].map(day), [true, false])
})

test('a JSON number of USD has at most six decimals', () => {
  for (const [amount, fits] of [
    [1, true],
    [0.000_001, true],
    [8_999_999.123_456, true],
    [0.000_000_1, false],
    [4_104_055.353_437_4, false],
    [9_000_001, false],
  ] as const)
    assert.equal(input.limitUsd.safeParse(amount).success, fits, String(amount))
  const { error } = input.limitUsd.safeParse(0.123_456_7)
  assert.match(String(error?.issues[0]?.message), /send one with more than 6 decimals as text$/)
})

test('a factor and a label are documented exactly', () => {
  for (const text of ['0', '1', '0.85', '999.999999', '1000', '1.0000000', '-1', '', 'x'])
    assertSame(input.priceMultiplier, text)
  for (const text of ['', 'ä b', 'a\tb', 'a\u2028b', 'a\u200bb', '\ud800'])
    assertSame(input.accountNote, text)
  for (const text of ['', ' ', '\u00a0', 'a', ' a ', '日本']) assertSame(input.namePart, text)
})
