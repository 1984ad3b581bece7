/** The turns of those who share a thread, and that one question without an answer harms no other. */
import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { ManualClock } from '../../test/support/manual-clock.ts'
import { SharedThread } from './shared-thread.ts'

/** A thread that answers when the test says so. */
function startScripted(t: TestContext) {
  const asked: (PromiseWithResolvers<string> & { readonly question: string })[] = []
  const lost: unknown[] = []
  const thread = { openCount: 0, endCount: 0, lose: (error: Error): void => assert.fail(error) }
  const clock = new ManualClock()
  const shared = new SharedThread<string, string>({
    clock,
    onLost: (error) => void lost.push(error),
    open(onLost) {
      thread.openCount++
      const end = (error: Error): void => {
        for (const { reject } of asked) reject(error)
      }
      thread.lose = (error) => {
        onLost(error)
        end(error)
      }
      return {
        ask(question) {
          const answered = Promise.withResolvers<string>()
          asked.push({ question, ...answered })
          return answered.promise
        },
        end() {
          end(new Error('the thread was ended'))
          return Promise.resolve(thread.endCount++)
        },
      }
    },
  })
  t.after(() => shared.close())
  const ask = (asker: string, question: string) =>
    shared.ask(asker, () => ({ question, moved: [] }))
  const questions = (): string[] => asked.map(({ question }) => question)
  const answer = async (): Promise<void> => {
    asked.at(-1)?.resolve(`answer to ${asked.at(-1)?.question}`)
    await nextTurn()
  }
  return { asked, lost, thread, clock, shared, ask, answer, questions }
}

test('one question at a time is with the thread, and askers take turns', async (t) => {
  const { ask, answer, questions } = startScripted(t)
  const first = [ask('a', 'a1'), ask('a', 'a2'), ask('a', 'a3')]
  const second = [ask('b', 'b1'), ask('b', 'b2')]
  for (let count = 1; count <= 5; count++) {
    await nextTurn()
    assert.equal(questions().length, count)
    await answer()
  }
  assert.deepEqual(questions(), ['a1', 'b1', 'a2', 'b2', 'a3'])
  assert.deepEqual(await Promise.all([...first, ...second]), [
    'answer to a1',
    'answer to a2',
    'answer to a3',
    'answer to b1',
    'answer to b2',
  ])
})

test('a question that is not needed any more is not asked', async (t) => {
  const { shared, asked } = startScripted(t)
  assert.equal(await shared.ask('a', () => undefined), undefined)
  assert.equal(asked.length, 0)
})

test('a lost thread is reported; its question has no answer, and the next one gets another thread', async (t) => {
  const { thread, lost, ask, answer, questions } = startScripted(t)
  const [one, two] = [ask('a', 'deadly'), ask('b', 'harmless')]
  await nextTurn()
  thread.lose(new Error('out of memory'))
  assert.equal(await one, undefined)
  assert.equal(lost.length, 1)
  await nextTurn()
  assert.equal(thread.openCount, 2)
  await answer()
  assert.equal(await two, 'answer to harmless')
  assert.deepEqual(questions(), ['deadly', 'harmless'])
})

test('a question that takes too long ends the thread, and the next one gets another', async (t) => {
  const { thread, clock, lost, ask, answer } = startScripted(t)
  const [slow, next] = [ask('a', 'slow'), ask('b', 'next')]
  await nextTurn()
  clock.advance(60_000)
  assert.equal(await slow, undefined)
  assert.deepEqual([thread.endCount, lost.length], [1, 1])
  await nextTurn()
  await answer()
  assert.equal(await next, 'answer to next')
  assert.equal(thread.openCount, 2)
})

test('where no thread can start, a question has no answer', async (t) => {
  const lost: unknown[] = []
  const shared = new SharedThread<string, string>({
    clock: new ManualClock(),
    onLost: (error) => void lost.push(error),
    open: () => assert.fail('no descriptor is left'),
  })
  t.after(() => shared.close())
  assert.equal(await shared.ask('a', () => ({ question: 'q', moved: [] })), undefined)
  assert.equal(lost.length, 1)
})

test('a thread without work ends after a while', async (t) => {
  const { thread, clock, ask, answer } = startScripted(t)
  const asking = ask('a', 'q')
  await nextTurn()
  clock.advance(20_000)
  assert.equal(thread.endCount, 0, 'it has work')
  await answer()
  await asking
  await nextTurn()
  clock.advance(30_000)
  assert.equal(thread.endCount, 1)
})

test('after closing, no question has an answer', async (t) => {
  const { shared, ask } = startScripted(t)
  const running = ask('a', 'running')
  const waiting = ask('b', 'waiting')
  await nextTurn()
  await shared.close()
  assert.deepEqual(await Promise.all([running, waiting]), [undefined, undefined])
})
