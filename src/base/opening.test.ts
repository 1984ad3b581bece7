import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openAll } from './opening.ts'

describe('opening several resources', () => {
  it('leaves them open if all succeed, and closes them latest first on dispose', async () => {
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

  it('closes the earlier ones if a later one fails, and throws its failure', async () => {
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
