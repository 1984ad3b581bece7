/**
 * Cost prices of a channel in the catalogue file: applied, shown in the difference, exported, refused with
 * their lines, and used for the gateway's own checks.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { Secret } from '../../src/base/secret.ts'
import { loadSnapshot } from '../../src/channels/snapshot.ts'
import { applyCatalogue } from '../../src/operations/catalogue/catalogue.ts'
import { valueOf, type OperationContext } from '../../src/operations/operation.ts'
import { noCheck } from '../../src/operations/channels/run-check.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { exportCatalogue } from '../support/operations.ts'
import { openNewStore } from '../support/test-store.ts'

const masterKey = (): Secret => new Secret('0123456789abcdef'.repeat(4))

async function openContext(t: TestContext): Promise<OperationContext> {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-costs-'))
  const database = await openNewStore(folder)
  t.after(async () => {
    await database.close()
    rmSync(folder, { recursive: true })
  })
  await migrate(database)
  const environment = (): undefined => undefined
  return {
    database,
    clock: new ManualClock(),
    actor: 'test',
    masterKey,
    environment,
    runCheck: noCheck,
  }
}

function catalogue(cost: string): string {
  return `
models:
  m: { vendor: alpha, price: { input: 1, output: 2 } }
  n: { vendor: alpha, price: { input: 1, output: 2 } }
channels:
  a:
    vendor: alpha
    url: https://a.example
    credential: k
    models: [m]
    ${cost}
`
}

test('cost prices are applied, shown, exported and taken away again', async (t) => {
  const context = await openContext(t)
  const apply = async (text: string) => valueOf(await applyCatalogue(context, { text }))
  const costs = async () => {
    const { masterKey: key, environment } = context
    const snapshot = await loadSnapshot(context.database, {
      masterKey: key,
      environment,
      revision: 0,
    })
    return snapshot.channels.get('a')?.cost
  }
  await apply(catalogue(''))
  assert.equal(await costs(), undefined)

  const added = await apply(catalogue('cost: { factor: 0.8, m: { input: 0.5, output: 1.25 } }'))
  assert.deepEqual(
    added.diff.flatMap(({ changes }) => changes).filter(({ field }) => field.startsWith('cost')),
    [
      { field: 'cost.factor', from: undefined, to: '0.8' },
      { field: 'cost.m.input', from: undefined, to: '0.5' },
      { field: 'cost.m.output', from: undefined, to: '1.25' },
    ],
  )
  assert.equal((await costs())?.factorPpm, 800_000)
  const exported = await exportCatalogue(context)
  assert.match(exported, /cost:\n +factor: 0\.8\n +m:\n +input: 0\.5\n +output: 1\.25/)
  assert.equal((await apply(exported)).kind, 'unchanged')

  const removed = await apply(catalogue(''))
  assert.ok(
    removed.diff[0]?.changes.some(({ field, to }) => field === 'cost.factor' && to === undefined),
  )
  assert.equal(await costs(), undefined)
})

for (const [cost, expected] of [
  ['cost: cheap', /^line 11, column \d+: channels\.a\.cost: must be \{ factor: 0\.8 \}/],
  ['cost: { factor: -1 }', /channels\.a\.cost\.factor: must be a factor from 0/],
  ['cost: { n: { input: 1, output: 1 } }', /channels\.a\.cost\.n: this channel does not serve n/],
  ['cost: { m: { input: 1 } }', /channels\.a\.cost\.m: output is missing: the model m has a price/],
  ['cost: { m: { input: 1, outputt: 1 } }', /unknown key outputt \(did you mean output\?\)/],
  ['cots: { factor: 1 }', /unknown key cots \(did you mean cost\?\)/],
] as const)
  test(`the file is refused with its line: ${cost}`, async (t) => {
    const context = await openContext(t)
    const outcome = await applyCatalogue(context, { text: catalogue(cost) })
    assert.ok(outcome.kind === 'refusal')
    const lines = outcome.message.split('\n').slice(1)
    assert.ok(
      lines.some((line) => expected.test(line)),
      outcome.message,
    )
    assert.ok(lines.every((line) => line.startsWith('line 11')))
  })
