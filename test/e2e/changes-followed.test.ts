/** A running gateway follows what commands change, also where the store fails it when it looks. */
import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { after, before, test } from 'node:test'
import { setOverride } from '../../src/channels/channel-store.ts'
import { eventually } from '../support/eventually.ts'
import { type Scenario, scenario } from '../support/scenario.ts'

const lines: Record<string, unknown>[] = []
let gateway: Scenario
before(async () => {
  gateway = await scenario({ onLogLine: (line) => lines.push(line) })
})
after(() => gateway.close())

const override = (): Promise<string | undefined> =>
  nextTurn(gateway.app.snapshot().channels.get('alpha-main')?.override)
const told = (message: string): readonly Record<string, unknown>[] =>
  lines.filter(({ msg, where }) => msg === message && (where ?? 'changes') === 'changes')

test('follows an unreadable catalogue change once it can be read, and logs it once', async () => {
  const { database } = gateway.context
  // At one moment: there is none in which the change could be read.
  await database.transact(async (transaction) => {
    await setOverride(transaction, { channel: 'alpha-main', override: 'disabled' })
    await transaction.query('ALTER TABLE price RENAME TO moved')
  })
  await eventually(
    'the trouble is logged',
    () => nextTurn(told('fault').length),
    (count) => count > 0,
  )
  assert.equal(await override(), 'enabled')
  await database.query('ALTER TABLE moved RENAME TO price')
  await eventually('it is followed', override, (value) => value === 'disabled')
  await eventually(
    'its end is logged',
    () => nextTurn(told('change tracking recovered').length),
    (count) => count > 0,
  )
  assert.equal(told('fault').length, 1)
  assert.deepEqual(
    told('change tracking recovered').map(({ area }) => area),
    ['catalogue'],
  )
})
