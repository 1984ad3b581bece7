/** Work in turns leaves the event loop to others, and takes items only when they are due. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { batchesOf, inTurns } from './turns.ts'

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n)

test('a long list is done in its order, and others have a turn after each part', async () => {
  const done: (number | 'other')[] = []
  const other = (): void => {
    done.push('other')
    if (done.length < 12) setImmediate(other)
  }
  setImmediate(other)
  await inTurns(numbers(7), 3, (number) => done.push(number))
  assert.deepEqual(done, [0, 1, 2, 'other', 3, 4, 5, 'other', 6])
})

test('a short list is done at once', () => {
  const done: number[] = []
  void inTurns(numbers(3), 3, (number) => done.push(number))
  assert.deepEqual(done, [0, 1, 2])
})

test('an error of the work ends it', async () => {
  const done: number[] = []
  const work = (number: number): void => {
    if (number === 2) throw new Error('two')
    done.push(number)
  }
  await assert.rejects(inTurns(numbers(5), 1, work), /two/)
  assert.deepEqual(done, [0, 1])
})

test('batches are taken from their source one by one', () => {
  const taken: number[] = []
  function* source(): Generator<number> {
    for (const number of numbers(5)) {
      taken.push(number)
      yield number
    }
  }
  const batches = batchesOf(source(), 2)
  assert.deepEqual(batches.next().value, [0, 1])
  assert.deepEqual(taken, [0, 1])
  assert.deepEqual([...batches], [[2, 3], [4]])
  assert.deepEqual([...batchesOf([], 2)], [])
})
