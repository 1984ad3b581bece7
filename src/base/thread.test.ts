/** Tasks in threads: their limits of time and memory, their abort, and the errors that come back. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GatewayError } from './errors.ts'
import { runInThread, ThreadMemoryError, ThreadTimeError } from './thread.ts'

/** A module that does this with its order. */
function moduleOf(work: string): URL {
  const imports = ['thread', 'errors'].map(
    (name) => `import * as ${name} from '${new URL(`./${name}.ts`, import.meta.url).href}'\n`,
  )
  const text = `${imports.join('')}await thread.answerOrder((order) => { ${work} })`
  return new URL(`data:text/javascript,${encodeURIComponent(text)}`)
}

const endless = moduleOf('for (;;);')

test('a task answers its order, whose moved memory it takes over', async () => {
  const bytes = new Uint8Array([1, 2, 3])
  const sum = moduleOf('return order.reduce((sum, byte) => sum + byte, 0)')
  const task = { order: bytes, moved: [bytes.buffer], heapMbMax: 64 }
  assert.equal(await runInThread(sum, task), 6)
  assert.equal(bytes.length, 0)
})

test('a task that takes too long is ended, whatever it does', async () => {
  const running = runInThread(endless, { order: 0, heapMbMax: 64, limitMs: 1 })
  await assert.rejects(running, ThreadTimeError)
})

test('a task ends with its signal', async () => {
  const leaving = new AbortController()
  const { signal } = leaving
  const running = runInThread(endless, { order: 0, heapMbMax: 64, signal })
  leaving.abort()
  await assert.rejects(running, /the thread ended before its work was over/)
})

test('a task that needs too much memory is ended', async () => {
  const growing = moduleOf('const all = []; for (;;) all.push({ text: String(all.length) })')
  await assert.rejects(runInThread(growing, { order: 0, heapMbMax: 16 }), ThreadMemoryError)
})

test('an error of the gateway keeps its code', async () => {
  const failing = moduleOf("throw new errors.GatewayError('ledger.unavailable', 'away')")
  await assert.rejects(runInThread(failing, { order: 0, heapMbMax: 64 }), (error) => {
    assert.ok(error instanceof GatewayError)
    assert.deepEqual([error.code, error.message], ['ledger.unavailable', 'away'])
    return true
  })
})
