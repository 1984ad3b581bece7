/**
 * A gateway that has no file descriptor left for a connection to a vendor. That is no fault of a channel:
 * clients get 503, the channel stays on, the operator learns what is missing, and everything works again as
 * soon as there is one.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertOwnError } from '../support/answers.ts'
import { smallCatalogue } from '../support/catalogues.ts'
import { showRequest } from '../support/operations.ts'
import { scenario, type LogLine } from '../support/scenario.ts'

/** Its one channel has a name, which must be looked up for each connection. */
function catalogue(url: string): string {
  const named = `http://vendor.internal:${new URL(url).port}`
  return smallCatalogue(named).replace(
    'models: [large-1]',
    'models: [large-1], allow_private: true',
  )
}

test('a shortage of open files switches no channel off and reaches clients as 503', async () => {
  const alarms: LogLine[] = []
  let isShort = true
  const gateway = await scenario({
    catalogue,
    resolve(_host, done) {
      if (isShort) done(Object.assign(new Error('too many open files'), { code: 'EMFILE' }), [])
      else done(null, [{ address: '127.0.0.1', family: 4 }])
    },
    onLogLine(line) {
      if (line.msg === 'operator needed') alarms.push(line)
    },
  })
  const ask = () => gateway.ask({ format: 'messages', isStream: true })
  try {
    const answers = await Promise.all(Array.from({ length: 20 }, ask))
    for (const answer of answers) {
      const { message } = assertOwnError(answer, 'messages', 503, 'without a connection')
      assert.match(message, /can open no more connections/)
      assert.equal(answer.headers['retry-after'], '5')
      assert.equal((await gateway.recorded(answer)).chargeCount, 0)
    }
    const [first] = answers
    const request = String(first?.headers['x-turnpike-request-id'])
    const { attempts } = await showRequest(gateway.context, { request })
    assert.deepEqual(
      attempts.map(({ class: name, blame }) => [name, blame]),
      [['shortage', 'none']],
    )
    assert.deepEqual(
      new Set(alarms.map(({ kind, of }) => `${String(kind)} of ${String(of)}`)),
      new Set(['shortage of open_files']),
    )

    assert.equal(gateway.grade('alpha-main', 'large-1'), 'on')
    isShort = false
    assert.equal((await ask()).status, 200)
  } finally {
    await gateway.close()
  }
})
