/**
 * The long run of schemathesis, of which test/clients/schemathesis.test.ts is a short one: more requests of
 * each operation, all values of queries covered, and every caller sends every request. It prints its seed,
 * and `SEED=…` repeats it.
 */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { openAccountTarget } from '../clients/support/account-target.ts'
import { openAdminTarget, type OpenTarget } from '../clients/support/admin-target.ts'
import { preparePython } from '../clients/support/python.ts'
import { runSchemathesis } from '../clients/support/schemathesis.ts'
import { reportFigures } from './report.ts'

const seed = Number(process.env['SEED'] ?? randomInt(2 ** 31))
process.stdout.write(`SEED=${seed}\n`)

/** One account has a number of questions a minute, and the run takes many. */
const accounts = 100

const apis: readonly (readonly [part: string, open: () => Promise<OpenTarget>])[] = [
  ['admin API', openAdminTarget],
  ['figures and member API', () => openAccountTarget(accounts)],
]

for (const [part, open] of apis)
  test(`schemathesis finds nothing in the ${part} for any caller`, async () => {
    const python = await preparePython('schemathesis')
    assert.ok(python.kind === 'ready', 'python3 with venv is needed')
    const opened = await open()
    try {
      const run = await runSchemathesis(python, opened.target, {
        config: 'long',
        maxExamples: 10,
        seed,
      })
      assert.equal(run.code, 0, run.output)
      const callers = Object.values(run.callers)
      const again = callers.reduce((sum, { sent }) => sum + sent, 0)
      const refused = callers.reduce((sum, one) => sum + one.refused, 0)
      reportFigures({
        set: 'schemathesis',
        part,
        cases: run.passed,
        exceptions: 0,
        figures: `${again} sent again by ${callers.length} more callers, ${refused} of them refused; SEED=${seed}`,
      })
    } finally {
      await opened.close()
    }
  })
