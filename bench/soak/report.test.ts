/** The verdict of a soak test. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { check, formatSoak, type SoakFigures } from './report.ts'

const clean: SoakFigures = {
  plan: { durationMs: 180_000, sampleMs: 60_000, memoryMarginBytes: 20e6 },
  replacements: 3,
  readings: [100e6, 110e6, 120e6].map((residentBytes) => ({
    samples: [
      { name: '1', pid: 7, residentBytes, descriptors: 50, resources: 40, loopDelayMs: 10 },
    ],
    holds: 12,
  })),
  counts: { requests: 100, ends: 90, left: 6, refused: 4, unanswered: 0, cut: 0 },
  failure: undefined,
  holds: 0,
  isAuditClean: true,
  charges: 95,
  difference: undefined,
}

function wrong(change: Partial<SoakFigures>): readonly string[] {
  return check({ ...clean, ...change }).flatMap(({ what, isRight }) => (isRight ? [] : [what]))
}

test('shows each figure for each third of the run, and the checks that passed', () => {
  const made = { command: 'npm run bench', date: '2026-11-23', commit: 'abc1234' }
  const report = formatSoak(clean, made)
  assert.match(report, /3 readings, 3 rolling replacements, at most 12 open holds\. 100 requests/)
  assert.match(report, /\| 1 +\| memory, MB +\| +100 \| +110 \| +120 \| +20\.0 \| yes +\|/)
  assert.doesNotMatch(report, /WRONG/)
  const failed = formatSoak({ ...clean, difference: 'm1 is charged twice' }, made)
  assert.match(failed, /WRONG.*: vendors, clients and books agree[^]*```\nm1 is charged twice\n```/)
})

test('is wrong with each answer, hold or charge that is', () => {
  assert.deepEqual(wrong({}), [])
  const { counts } = clean
  assert.deepEqual(wrong({ counts: { ...counts, unanswered: 1 } }), ['1 requests got no answer'])
  assert.deepEqual(wrong({ counts: { ...counts, cut: 2 } }), ['2 answers were cut'])
  assert.equal(wrong({ counts: { ...counts, ends: 40 } }).length, 1)
  assert.deepEqual(wrong({ holds: 1 }), ['1 holds are open'])
  assert.deepEqual(wrong({ isAuditClean: false }), ['the audit is clean'])
  assert.equal(wrong({ difference: 'a charge' }).length, 1)
  const plan = { ...clean.plan, memoryMarginBytes: 5e6 }
  assert.match(wrong({ plan }).join(), /do not grow/)
})
