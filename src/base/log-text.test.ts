/** The form of log lines for a person at a terminal. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatLogLine } from './log-text.ts'

const time = '2026-11-23T06:12:01.123Z'
const format = (fields: object): string =>
  formatLogLine(`${JSON.stringify({ level: 'warn', time, ...fields })}\n`, process.stdout)

test('shows time, level, message and fields in one line', () => {
  const line = format({ channel: 'alpha-main', count: 3, to: 'off', why: 'two words', msg: 'm n' })
  assert.equal(line, '06:12:01.123Z warn  m n channel=alpha-main count=3 to=off why="two words"\n')
})

test('shows the frames of a fault below it', () => {
  const line = format({ msg: 'fault', frames: ['at one (a.ts:1:2)', 'at two'] })
  assert.equal(line, '06:12:01.123Z warn  fault\n    at one (a.ts:1:2)\n    at two\n')
})

test('escapes all that a terminal could obey, wherever it stands', () => {
  const hostile = '\u001b[2J\u0007\r\n\u009b31m\u007f'
  const line = format({ msg: hostile, name: hostile, list: [hostile], frames: [hostile] })
  assert.doesNotMatch(line.replaceAll('\n', ''), /\p{Cc}/u)
  assert.equal(line.split('\n').length, 3)
})

test('passes a line that is no object as it is', () => {
  for (const line of ['not json\n', '7\n', 'null\n'])
    assert.equal(formatLogLine(line, process.stdout), line)
})
