/**
 * Schemathesis sends every endpoint what the document of its API allows and what it does not, with all of
 * its checks, and finds nothing; and no caller does what the caller's role does not have. JSON Schema
 * cannot say everything about valid input, such as what a catalogue contains: the hooks in python/
 * complete it.
 *
 * The budget here is small and its seed is fixed. `npm run test:outside -- --only=schemathesis` sends
 * more.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openAccountTarget } from './support/account-target.ts'
import { openAdminTarget, type OpenTarget } from './support/admin-target.ts'
import { preparePython } from './support/python.ts'
import { runSchemathesis, type Budget } from './support/schemathesis.ts'

const budget: Budget = { config: 'brief', maxExamples: 2, seed: 1 }

/** How many generated requests at least, and the callers beside the first who have rights and use them. */
const apis: readonly (readonly [
  name: string,
  open: () => Promise<OpenTarget>,
  least: number,
  active: readonly string[],
])[] = [
  ['the admin API', openAdminTarget, 2_000, ['viewer', 'operator', 'credits']],
  ["the APIs of an account's holder", () => openAccountTarget(24), 800, ['member']],
]

const python = await preparePython('schemathesis')
if (python.kind === 'ready')
  describe('schemathesis', () => {
    for (const [name, open, least, active] of apis)
      test(`finds nothing in ${name} for any caller`, async () => {
        const opened = await open()
        try {
          const run = await runSchemathesis(python, opened.target, budget)
          const { code, output, passed, callers } = run
          assert.equal(code, 0, output)
          assert.ok(passed > least, output)
          for (const [caller, { sent, done, refused }] of Object.entries(callers)) {
            assert.ok(sent > 50, `${caller}: ${sent}`)
            if (active.includes(caller)) assert.ok(done > 0, `${caller} did nothing`)
            assert.ok(refused > 0, `${caller} was never refused`)
          }
        } finally {
          await opened.close()
        }
      })
  })
else process.stdout.write(`not run: schemathesis, because ${python.reason}\n`)
