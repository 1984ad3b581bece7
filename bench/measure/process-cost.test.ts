/** Tests of reading a process's cost, from sample texts and from this process. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import {
  findProcessTree,
  parseParentPid,
  parseResidentBytes,
  parseRunTimeNs,
  readResidentBytes,
  readThreadTimes,
  usedBetween,
} from './process-cost.ts'

test('reads the run time from the first of three figures', () => {
  assert.equal(parseRunTimeNs('123456789 42 7\n'), 123_456_789)
  assert.throws(() => parseRunTimeNs('garbage'), /not the text of a schedstat file/)
})

test('finds the parent after a process name with blanks and brackets', () => {
  assert.equal(parseParentPid('77 (odd ) name) S 12 77 77 0 -1 4194304'), 12)
  assert.throws(() => parseParentPid('garbage'), /not the text of a stat file/)
})

test('returns resident memory in bytes, 0 for a kernel thread', () => {
  assert.equal(parseResidentBytes('Name:\tx\nVmRSS:\t   2048 kB\nThreads:\t1\n'), 2048 * 1024)
  assert.equal(parseResidentBytes('Name:\tkthreadd\n'), 0)
})

test('finds the time, the memory and the process tree of this process', () => {
  const tree = findProcessTree(process.pid)
  assert.equal(tree[0], process.pid)
  assert.ok((readThreadTimes([process.pid]).get(process.pid) ?? 0) > 1_000)
  assert.ok(readResidentBytes([process.pid]) > 1_000_000)
})

test('counts no cost of an ended process', () => {
  const ended = spawnSync('true').pid
  assert.equal(readThreadTimes([ended]).size, 0)
  assert.ok(readThreadTimes([ended, process.pid]).has(process.pid))
})

test('sums the difference of each thread, new threads included', () => {
  const timesOf = (...times: readonly number[]) => new Map(times.entries())
  assert.equal(usedBetween(timesOf(100, 50), timesOf(400, 60, 20)), 330)
  assert.deepEqual(usedBetween(new Map(), new Map()), 0)
})
