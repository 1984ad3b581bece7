/** The table of outcomes, row by row, in every context, so that a change to any cell is seen. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { UpstreamHead } from '../http/client/upstream.ts'
import { fieldsOf } from '../http/wire/fields.ts'
import type { UpstreamFault } from '../formats/format.ts'
import { outcomes, type BrokenClass } from '../channels/outcomes.ts'
import type { AttemptOutcome, VendorErrorOutcome } from './attempt-outcome.ts'
import { judge, type Verdict, type VerdictContext } from './verdict.ts'

const head: UpstreamHead = {
  status: 200,
  fields: fieldsOf([]),
  isEndAnnounced: true,
  header: () => undefined,
}

const unused = (): never => {
  throw new Error('a verdict looks at facts, never at the stream')
}

const streaming: AttemptOutcome = {
  kind: 'streaming',
  class: 'answered',
  head,
  stream: {
    get meter() {
      return unused()
    },
    take: unused,
    resume: unused,
    abort: unused,
  },
  firstEventMs: 1,
}

const whole: AttemptOutcome = {
  kind: 'whole',
  class: 'answered',
  head,
  body: [Buffer.from('{}')],
  reading: {
    usage: undefined,
    isFinal: true,
    isImplausible: false,
    hasOutput: false,
    isRefusal: false,
    output: { text: '', bytes: 0, audioBytes: 0 },
    webSearches: 0,
    model: undefined,
  },
  firstEventMs: 1,
}

function vendorError(fault: UpstreamFault): VendorErrorOutcome {
  const error = { type: undefined, code: undefined, message: undefined }
  const shown = { body: undefined, namesAccount: false, showsSecret: false }
  return { kind: 'vendor_error', head, status: 500, error, class: fault, ...shown }
}

function broken(name: BrokenClass, facts: { isUnsent?: boolean; isStale?: boolean } = {}) {
  const { isUnsent = false, isStale = false } = facts
  return { kind: 'broken', class: name, isUnsent, isStale } satisfies AttemptOutcome
}

type Cell = readonly [Verdict['next'], Verdict['blame']]

interface Row {
  readonly outcome: AttemptOutcome
  /** First time here, another channel left; first time, none left; repeated, left; repeated, none left. */
  readonly cells: readonly [Cell, Cell, Cell, Cell]
  readonly mayHaveCost?: true
}

function always(next: Verdict['next'], blame: Verdict['blame']): Row['cells'] {
  const cell: Cell = [next, blame]
  return [cell, cell, cell, cell]
}

function firstTime(first: Cell, later: Cell): Row['cells'] {
  return [first, first, later, later]
}

const rows: Readonly<Record<string, Row>> = {
  'a stream past its first event': { outcome: streaming, cells: always('commit', undefined) },
  'a whole answer': { outcome: whole, cells: always('commit', 'ok') },
  'the request’s own fault': {
    outcome: vendorError('client'),
    cells: always('commit', 'client'),
  },
  'a request that another model may take, where there is none': {
    outcome: vendorError('model_dependent'),
    cells: always('commit', 'client'),
  },
  'a context that another model may take, where there is none': {
    outcome: vendorError('context_too_long'),
    cells: always('commit', 'client'),
  },
  'a throttle': { outcome: vendorError('throttle'), cells: always('failover', 'throttle') },
  'used-up credit': {
    outcome: vendorError('no_credit'),
    cells: always('failover', 'no_credit'),
  },
  'a refused account': { outcome: vendorError('config'), cells: always('failover', 'config') },
  'a missing model': {
    outcome: vendorError('model_missing'),
    cells: always('failover', 'model_missing'),
  },
  'what the vendor does not have': {
    outcome: vendorError('not_offered'),
    cells: always('failover', 'nobody'),
  },
  'a lone 500': {
    outcome: vendorError('lone_500'),
    cells: [
      ['failover', 'hard'],
      ['retry_same', 'hard'],
      ['failover', 'hard'],
      ['failover', 'hard'],
    ],
  },
  'a conflict': {
    outcome: vendorError('conflict'),
    cells: firstTime(['retry_same', 'client'], ['commit', 'client']),
  },
  'another vendor error': { outcome: vendorError('hard'), cells: always('failover', 'hard') },
  'a refused connection': {
    outcome: broken('connect', { isUnsent: true }),
    cells: always('failover', 'hard'),
  },
  'a shortage of the gateway itself': {
    outcome: broken('shortage', { isUnsent: true }),
    cells: always('failover', 'nobody'),
  },
  'a name that leads where it must not': {
    outcome: broken('address', { isUnsent: true }),
    cells: always('failover', 'address_refused'),
  },
  'a name that cannot be looked up': {
    outcome: broken('lookup', { isUnsent: true }),
    cells: always('failover', 'hard'),
  },
  'a certificate that has expired': {
    outcome: broken('certificate_expired', { isUnsent: true }),
    cells: always('failover', 'certificate_expired'),
  },
  'a certificate that cannot be trusted': {
    outcome: broken('tls', { isUnsent: true }),
    cells: always('failover', 'certificate_refused'),
  },
  'a stale kept-alive connection': {
    outcome: broken('reset', { isStale: true }),
    cells: firstTime(['retry_same', 'nobody'], ['failover', 'hard']),
  },
  'a connection lost': {
    outcome: broken('reset'),
    cells: always('failover', 'hard'),
    mayHaveCost: true,
  },
  'bad framing': {
    outcome: broken('protocol'),
    cells: always('failover', 'hard'),
    mayHaveCost: true,
  },
  'a time limit': {
    outcome: broken('timeout'),
    cells: always('failover', 'hard'),
    mayHaveCost: true,
  },
  'an answer that is too large to be kept': {
    outcome: broken('too_large'),
    cells: always('give_up', 'nobody'),
    mayHaveCost: true,
  },
  'the exchange’s deadline': {
    outcome: broken('deadline'),
    cells: always('give_up', 'nobody'),
    mayHaveCost: true,
  },
  'a gateway going down': {
    outcome: broken('shutdown'),
    cells: always('give_up', 'nobody'),
    mayHaveCost: true,
  },
  'a 200 that is no answer': {
    outcome: broken('not_the_format'),
    cells: always('failover', 'hard'),
    mayHaveCost: true,
  },
  'a client that left': {
    outcome: { kind: 'client_left', class: 'client_left' },
    cells: always('abandon', 'client'),
    mayHaveCost: true,
  },
}

const mayRepeat = (): boolean => true

const usual = {
  isFree: false,
  mayRepeat,
  hasOtherModel: () => false,
  addedField: undefined,
}

const contexts: readonly VerdictContext[] = [
  { ...usual, hasRepeated: false, hasAlternative: () => true },
  { ...usual, hasRepeated: false, hasAlternative: () => false },
  { ...usual, hasRepeated: true, hasAlternative: () => true },
  { ...usual, hasRepeated: true, hasAlternative: () => false },
]

test('each class that an attempt can have has a row here', () => {
  const seen = new Set<string>(Object.values(rows).map(({ outcome }) => outcome.class))
  // A stale connection is recorded as its failure, and a stream is cut only after its verdict.
  assert.deepEqual([...seen, 'stale', 'cut'].toSorted(), Object.keys(outcomes).toSorted())
})

test('a request that never left costs nothing, whatever ended the attempt', () => {
  for (const context of contexts)
    for (const name of ['reset', 'protocol', 'shutdown'] as const)
      assert.equal(judge(broken(name, { isUnsent: true }), context).mayHaveCost, false)
})

describe('the verdict on', () => {
  for (const [name, { outcome, cells, mayHaveCost = false }] of Object.entries(rows))
    for (const [index, context] of contexts.entries()) {
      const repeated = context.hasRepeated ? 'the second time' : 'the first time'
      const left = context.hasAlternative() ? 'another channel left' : 'no other channel left'
      test(`${name}, ${repeated}, ${left}`, () => {
        const [next, blame] = cells[index] ?? []
        const verdict = judge(outcome, context)
        assert.deepEqual([verdict.next, verdict.blame], [next, blame])
        // A stale connection repeated in vain was a connection lost: the vendor may have worked.
        const isLost = name.startsWith('a stale') && context.hasRepeated
        assert.equal(verdict.mayHaveCost, mayHaveCost || isLost)
      })
    }
})

test('no outcome is retried twice on the same channel', () => {
  for (const { outcome } of Object.values(rows))
    for (const hasAlternative of [true, false])
      assert.notEqual(
        judge(outcome, { ...usual, hasRepeated: true, hasAlternative: () => hasAlternative }).next,
        'retry_same',
      )
})

test('a refusal that names what the gateway has added is tried without it, and blames no channel', () => {
  const naming = bodyOf('{"detail":[{"loc":["body","stream_options"]}]}')
  for (const context of contexts)
    for (const name of ['client', 'model_dependent', 'throttle', 'hard'] as const) {
      const asking = { ...context, addedField: 'stream_options' }
      const refused = { ...vendorError(name), ...naming }
      const { next, blame } = judge(refused, asking)
      const isRefusal = name === 'client' || name === 'model_dependent'
      assert.equal(next === 'retry_plain', isRefusal, name)
      if (isRefusal) assert.equal(blame, 'client')
      const other = { ...vendorError(name), ...bodyOf('no') }
      assert.notEqual(judge(other, asking).next, 'retry_plain')
      assert.notEqual(judge(refused, context).next, 'retry_plain')
      const unread = judge(vendorError(name), asking)
      assert.notEqual(unread.next, 'retry_plain', 'its body was not kept')
    }
})

function bodyOf(text: string) {
  const bytes = Buffer.from(text)
  return { body: { bytes, readable: bytes } } as const
}

test('a lone 500 is not retried on a channel without failover tokens', () => {
  const context = { ...usual, hasRepeated: false, hasAlternative: () => false }
  const mayNot = { ...context, mayRepeat: () => false }
  assert.equal(judge(vendorError('lone_500'), mayNot).next, 'failover')
})

test('a request that another vendor-side model may take goes there, and blames no channel', () => {
  for (const context of contexts)
    for (const name of ['model_dependent', 'context_too_long'] as const) {
      const verdict = judge(vendorError(name), { ...context, hasOtherModel: () => true })
      assert.deepEqual([verdict.next, verdict.blame], ['other_model', 'client'])
    }
})

test('a free operation blames a channel only for connection and credential', () => {
  const telling = ['connect', 'lookup', 'address', 'certificate_expired', 'tls']
  for (const context of contexts)
    for (const [name, { outcome }] of Object.entries(rows)) {
      const { next, blame } = judge(outcome, context)
      const counted = judge(outcome, { ...context, isFree: true })
      assert.equal(counted.next, next)
      const isTelling = outcome.kind === 'broken' && telling.includes(outcome.class)
      const expected = blame === undefined || isTelling ? blame : 'nobody'
      assert.equal(counted.blame, expected, name)
    }
  const refused = { ...vendorError('config'), status: 401 } as const
  const [context] = contexts
  assert.ok(context)
  assert.equal(judge(refused, { ...context, isFree: true }).blame, 'config')
})

test('the client’s own faults never count against a channel', () => {
  for (const context of contexts)
    for (const fault of ['client', 'conflict'] as const)
      assert.equal(judge(vendorError(fault), context).blame, 'client')
})
