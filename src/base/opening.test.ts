import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openAll } from './opening.ts'

describe('opening several things', () => {
  it('leaves them open where all succeed, and closes them latest first when asked', async () => {
    const closed: string[] = []
    const stack = await openAll((opened) => {
      opened.defer(() => void closed.push('one'))
      opened.defer(() => void closed.push('two'))
      return Promise.resolve(opened)
    })
    assert.deepEqual(closed, [])
    await stack.disposeAsync()
    assert.deepEqual(closed, ['two', 'one'])
  })

  it('closes what it has where a later one fails, and tells why that failed', async () => {
    const closed: string[] = []
    const opening = openAll((opened) => {
      opened.defer(() => void closed.push('one'))
      opened.defer(() => Promise.reject(new Error('this one cannot be closed')))
      opened.defer(() => void closed.push('three'))
      return Promise.reject(new Error('the fourth cannot be opened'))
    })
    await assert.rejects(opening, { message: 'the fourth cannot be opened' })
    assert.deepEqual(closed, ['three', 'one'])
  })
})
