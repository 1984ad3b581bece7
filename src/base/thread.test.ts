/** Threads: limits of tasks, their abort, the order of a service's answers, and errors that come back. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { GatewayError } from './errors.ts'
import { runInThread, startService, ThreadMemoryError, ThreadTimeError } from './thread.ts'

const threadUrl = new URL('./thread.ts', import.meta.url).href

function moduleWith(text: string): URL {
  const errorsUrl = new URL('./errors.ts', import.meta.url).href
  const imports = `import * as thread from '${threadUrl}'\nimport * as errors from '${errorsUrl}'\n`
  return new URL(`data:text/javascript,${encodeURIComponent(imports + text)}`)
}

/** A module that does this with its order. */
function moduleOf(work: string): URL {
  return moduleWith(`await thread.answerOrder((order) => { ${work} })`)
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

test('an answer of a service is used before any later one', async () => {
  const url = moduleWith('thread.answerQuestions((question) => question * 2)')
  const service = startService<number, number>(url, { heapMbMax: 64 })
  const used: number[] = []
  const asked = [1, 2, 3].map((number) => service.ask(number, [], (answer) => used.push(answer)))
  assert.deepEqual(await Promise.all(asked), [2, 4, 6])
  assert.deepEqual(used, [2, 4, 6])
  await service.end()
})

test('a service that is kept keeps the process until its thread has ended', () => {
  const thread = 'data:text/javascript,setTimeout(() => undefined, 50)'
  const program =
    `import { startService } from '${threadUrl}'\n` +
    `startService(new URL('${thread}'), { heapMbMax: 64, isKept: true, onLost: () => console.log('ended') })`
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', program])
  assert.equal(output.toString(), 'ended\n')
})
