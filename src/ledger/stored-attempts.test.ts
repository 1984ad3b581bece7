/** The text of attempts: what is written is read again exactly. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AttemptRecord } from './ledger.ts'
import { formatAttempts, parseAttempts } from './stored-attempts.ts'

const delivered = { channel: 'alpha-main', status: 200 }
const times = { startedMs: 121, firstEventMs: 250, durationMs: 1_092 }
const answer: AttemptRecord = { ...delivered, class: 'answered', ...times }
const failed: AttemptRecord = {
  channel: 'alpha-reserve',
  status: null,
  class: 'refused_connection',
  startedMs: 0,
  firstEventMs: null,
  durationMs: 120,
}

describe('the text of attempts', () => {
  const lists: Readonly<Record<string, readonly AttemptRecord[]>> = {
    none: [],
    'one that answered': [answer],
    'a failover': [failed, answer],
    'betas left out': [
      { ...failed, droppedBetas: ['one-beta'] },
      { ...answer, droppedBetas: ['one-beta', 'other-beta'] },
    ],
    'reasons of vendors': [
      { ...failed, reason: { type: 'invalid_request_error', code: null, param: 'messages[0]' } },
      {
        ...failed,
        droppedBetas: ['one-beta'],
        reason: { type: null, code: 'slow_down', param: null },
      },
      answer,
    ],
    'answers that the client did not get': [
      { ...answer, channel: 'alpha-reserve' },
      { ...answer, status: 206 },
      { ...answer, class: 'cut' },
    ],
  }
  for (const [name, attempts] of Object.entries(lists)) {
    it(`is read as it was written: ${name}`, () => {
      assert.deepEqual(parseAttempts(formatAttempts(attempts, delivered), delivered), attempts)
    })

    it(`is read in the row of an exchange without an answer: ${name}`, () => {
      const none = { channel: undefined, status: 502 }
      assert.deepEqual(parseAttempts(formatAttempts(attempts, none), none), attempts)
    })
  }

  it('repeats nothing of the row', () => {
    assert.equal(formatAttempts([answer], delivered), '[[121,250,1092]]')
  })
})
