/**
 * What operators keep about their work, over both stores: notes, comparisons with a vendor's files, who
 * handles an alert, and what has happened to one account, key or channel.
 */
/* oxlint-disable typescript/no-floating-promises -- the test runner waits for its tests by itself */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { dayMs } from '../../src/base/clock.ts'
import { Secret } from '../../src/base/secret.ts'
import { acknowledgeAlert, firingAlerts, snoozeAlert } from '../../src/operations/alerts/firing.ts'
import { applyObservation } from '../../src/operations/alerts/raise.ts'
import { applyCatalogue } from '../../src/operations/catalogue/catalogue.ts'
import { channelChanges } from '../../src/operations/catalogue/entry-changes.ts'
import { contextOn } from '../../src/operations/context.ts'
import { addNote, readNotes, removeNote } from '../../src/operations/notes/notes.ts'
import { valueOf, type OperationContext, type Outcome } from '../../src/operations/operation.ts'
import { reconcileChannel } from '../../src/operations/reconcile/reconcile.ts'
import { acceptRun, listKeptRuns } from '../../src/operations/reconcile/runs.ts'
import {
  createAccount,
  createAdminToken,
  createClientKey,
  recentActions,
} from '../support/operations.ts'
import type { LedgerHarness } from './ledger-harness.ts'

const catalogue = `
models:
  large-1: { vendor: alpha, price: { input: 3, output: 15 } }
channels:
  main_1: { vendor: alpha, url: "https://main.example", credential: env:MAIN, models: [large-1] }
  mainx1: { vendor: alpha, url: "https://other.example", credential: env:MAIN, models: [large-1] }
`

function codeOf(outcome: Outcome<unknown>): string {
  return outcome.kind === 'refusal' ? outcome.code : outcome.kind
}

export function describeWork(name: string, open: () => Promise<LedgerHarness>): void {
  describe(name, () => {
    let harness: LedgerHarness
    let context: OperationContext
    beforeEach(async () => {
      harness = await open()
      const { database, clock } = harness
      const common = { clock, masterKey: () => new Secret('5'.repeat(64)), environment: () => 'x' }
      const cli = contextOn(database, { ...common, actor: 'cli:ada' })
      const { key } = await createAdminToken(cli, { name: 'night shift' })
      context = { ...cli, actor: key.id }
      await createAccount(context, { name: 'acme' })
      valueOf(await applyCatalogue(context, { text: catalogue }))
    })
    afterEach(() => harness.close())

    it('keeps notes about one thing, newest first, and forgets a deleted one', async () => {
      const { key } = await createClientKey(context, { account: 'acme', name: 'ci' })
      const about = [{ account: 'acme' }, { key: key.id }, { channel: 'main_1' }]
      for (const thing of about)
        for (const text of ['first\r\nline two', 'second']) {
          harness.clock.advance(1)
          valueOf(await addNote(context, { ...thing, text }))
        }
      for (const thing of about) {
        const { items } = valueOf(await readNotes(context, thing))
        assert.deepEqual(
          items.map(({ text, actor_name: by }) => [text, by]),
          [
            ['second', 'night shift'],
            ['first\nline two', 'night shift'],
          ],
        )
        valueOf(await removeNote(context, { note: items[0]?.id }))
        assert.equal(valueOf(await readNotes(context, thing)).items.length, 1)
      }
      const stored = await context.database.query('SELECT detail FROM operator_action')
      assert.doesNotMatch(JSON.stringify(stored), /second/)
      assert.equal(codeOf(await addNote(context, { text: 'about nothing' })), 'operations.invalid')
      const unknown = await addNote(context, { channel: 'none', text: 'x' })
      assert.equal(codeOf(unknown), 'operations.not_found')
    })

    it('lists what has happened to an account, a key or a channel, without sign-ins', async () => {
      const { key } = await createClientKey(context, { account: 'acme', name: 'ci' })
      valueOf(await channelChanges.edit(context, { channel: 'mainx1', weight: 2 }))
      valueOf(await channelChanges.edit(context, { channel: 'main_1', weight: 3 }))
      valueOf(await addNote(context, { channel: 'main_1', text: 'slow on Mondays' }))
      const named = async (filter: object) =>
        (await recentActions(context, filter)).map(
          ({ action, subject_name: subject }) => `${action} ${subject ?? '-'}`,
        )
      assert.deepEqual(await named({ key: key.id }), ['key.create ci'])
      assert.deepEqual(await named({ account: 'acme' }), ['key.create ci', 'account.create acme'])
      assert.deepEqual(await named({ channel: 'main_1' }), [
        'note.add -',
        'catalogue.apply -',
        'catalogue.apply -',
      ])
      // Of the file, only what it changes of the channel.
      const [, , file] = await recentActions(context, { channel: 'main_1' })
      assert.deepEqual(
        (file?.detail['diff'] as { name: string }[] | undefined)?.map((one) => one.name),
        ['main_1'],
      )
      await harness.database.query(
        "INSERT INTO operator_action (at_ms, actor, action, subject) VALUES (1, 'x', 'session.create', 'x')",
      )
      assert.ok(!(await named({})).includes('session.create -'))
      assert.ok((await named({ sessions: true })).includes('session.create -'))
      assert.deepEqual(await named({ action: 'session' }), ['session.create -'])
    })

    it('keeps a comparison with its files, and who accepted it', async () => {
      const [from] = new Date(harness.clock.now()).toISOString().split('T')
      const text = 'model,cost_usd\nlarge-1,38.1\n'
      const input = { channel: 'main_1', from, to: from }
      assert.equal(valueOf(await reconcileChannel(context, input)).id, null)
      const files = { vendor_counts: [{ name: 'bill.csv', text }], note: 'first look' }
      const { id } = valueOf(await reconcileChannel(context, { ...input, ...files }))
      const [run, ...others] = valueOf(await listKeptRuns(context, {})).items
      assert.deepEqual(others, [])
      assert.deepEqual(
        [run?.id, run?.result, run?.note, run?.actor_name, run?.accepted_by],
        [
          id,
          'vendor bills 38.10, expected 0.00, 38.10 unexplained',
          'first look',
          'night shift',
          null,
        ],
      )
      assert.deepEqual(run?.files, [{ name: 'bill.csv', sha256: hash('sha256', text, 'hex') }])
      harness.clock.advance(dayMs)
      const accepted = valueOf(await acceptRun(context, { reconciliation: id, note: 'agreed' }))
      assert.deepEqual(
        [accepted.accepted_by_name, accepted.note, Date.parse(accepted.accepted_at ?? '')],
        ['night shift', 'agreed', harness.clock.now()],
      )
      assert.deepEqual(valueOf(await listKeptRuns(context, {})).items, [accepted])
      const unknown = await acceptRun(context, { reconciliation: 'rec_none' })
      assert.equal(codeOf(unknown), 'operations.not_found')
    })

    it('shows the note and the name of who handles an alert, until its moment', async () => {
      const { clock, database } = harness
      const title = 'Balance of acme is low'
      const finding = {
        kind: 'account.balance_low',
        subject: 'acc_1',
        title,
        text: 'Book a credit.',
        command: 'turnpike account credit acme USD',
        facts: {},
      } as const
      const observation = { kinds: ['account.balance_low'], findings: [finding] } as const
      await applyObservation({ database, onNotice: () => undefined }, observation, clock.now())
      const [alert] = valueOf(await firingAlerts(context, {})).items
      assert.deepEqual([alert?.text, alert?.command], [finding.text, finding.command])
      const handled = valueOf(await acknowledgeAlert(context, { alert: alert?.id, note: 'paid' }))
      assert.deepEqual(
        [handled.acknowledged_by_name, handled.acknowledged_note, handled.snoozed_until],
        ['night shift', 'paid', null],
      )
      const until = new Date(clock.now() + dayMs).toISOString()
      const snoozed = valueOf(await snoozeAlert(context, { alert: alert?.id, until }))
      assert.deepEqual([snoozed.snoozed_until, snoozed.acknowledged_note], [until, null])
      for (const wrong of [{}, { for: '1h', until }, { until: '2001-01-01' }])
        assert.equal(
          codeOf(await snoozeAlert(context, { alert: alert?.id, ...wrong })),
          'operations.invalid',
        )
    })
  })
}
