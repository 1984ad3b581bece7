/**
 * A main channel that fails one form of request and answers the other: it must go off after at most
 * five failed attempts of any accounts, and return only after requests of that form succeed again.
 * At 2/s and more, streams overlap: some end well after the first failure, and some fail before the
 * fifth in a row is known.
 */
import { meanAtMost, offs, secondsToReturn, within, type Measure } from './measures.ts'
import type { Scenario } from './scenario.ts'
import { during, type Behaviour } from './vendor-model.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

const measures: readonly Measure[] = [
  {
    title: 'requests that failed there until off',
    accepted: 'worst ≤ 6 up to 0.2/s, median ≤ 10',
    value: ({ record }) => record.failedUntilFirstOff,
    summary: 'medianAndWorst',
    complain: (values) =>
      within({ worstMost: 6, at: [0.02, 0.2] })(values) ?? within({ medianMost: 10 })(values),
  },
  offs({ title: 'times switched off', accepted: '1', complain: onceAlways }),
  {
    title: 'requests sent there first after it was off',
    accepted: '0',
    value: ({ record }) => record.begunAfterFirstOff,
    summary: 'mean',
    complain: meanAtMost(0),
  },
  {
    title: 'seconds until all traffic is back',
    accepted: 'median ≤ 300',
    value: secondsToReturn(),
    summary: 'medianAndWorst',
    complain: within({ medianMost: 300, mustHappen: true }),
  },
]

function onceAlways({ values }: Parameters<Measure['complain']>[0]): string | undefined {
  const wrong = values.filter((value) => value !== 1)
  return wrong.length === 0 ? undefined : `${wrong.join(', ')} times in ${values.length} runs`
}

interface FormCase {
  readonly id: string
  readonly title: string
  readonly keyCount: number
  readonly wholeShare?: number
  readonly failing: NonNullable<Behaviour['failing']>
}

const cases: readonly FormCase[] = [
  {
    id: 'cut-streams-one-key',
    title: 'One key; every stream is cut for an hour',
    keyCount: 1,
    failing: { form: 'stream', how: 'cut' },
  },
  {
    id: 'hanging-streams-one-key',
    title: 'One key; every stream hangs for an hour',
    keyCount: 1,
    failing: { form: 'stream', how: 'hang' },
  },
  {
    id: 'cut-streams-two-accounts',
    title: 'Two accounts; every stream is cut for an hour',
    keyCount: 2,
    failing: { form: 'stream', how: 'cut' },
  },
  {
    id: 'hanging-streams-two-accounts',
    title: 'Two accounts; every stream hangs for an hour',
    keyCount: 2,
    failing: { form: 'stream', how: 'hang' },
  },
  {
    id: 'only-streams-fail',
    title: 'Half of the requests streamed; every stream is cut for an hour',
    keyCount: 1,
    wholeShare: 0.5,
    failing: { form: 'stream', how: 'cut' },
  },
  {
    id: 'only-whole-fail',
    title: 'Half of the requests streamed; every other one fails for an hour',
    keyCount: 1,
    wholeShare: 0.5,
    failing: { form: 'whole', how: 'refuse' },
  },
]

export const formScenarios: readonly Scenario[] = cases.map(({ failing, ...scenario }) => ({
  ...scenario,
  faultMs: hourMs,
  afterMs: 20 * minuteMs,
  main: (fault) => during(fault, { failing, errorRate: 0 }),
  measures,
}))
