/**
 * Changes of single entries of the catalogue over both stores: each is an apply with that entry changed, with
 * the same checks, and guarded by the revision that its author has read.
 */
/* oxlint-disable typescript/no-floating-promises -- the test runner waits for its tests by itself */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { dayMs } from '../../src/base/clock.ts'
import { Secret } from '../../src/base/secret.ts'
import { removeOldCredentials } from '../../src/channels/former-credential-store.ts'
import { showChannel } from '../../src/operations/channels/channel-health.ts'
import {
  replaceCredential,
  restoreCredential,
} from '../../src/operations/channels/replace-credential.ts'
import { listVendorModels } from '../../src/operations/channels/vendor-models.ts'
import { noCheck } from '../../src/operations/channels/run-check.ts'
import { applyCatalogue } from '../../src/operations/catalogue/catalogue.ts'
import { entriesPerTurn } from '../../src/operations/catalogue/review.ts'
import {
  channelChanges,
  editCatalogue,
  modelChanges,
  vendorChanges,
} from '../../src/operations/catalogue/entry-changes.ts'
import {
  valueOf,
  type OperationContext,
  type OperationRefusal,
  type Outcome,
} from '../../src/operations/operation.ts'
import { exportCatalogue, recentActions } from '../support/operations.ts'
import type { LedgerHarness } from './ledger-harness.ts'

const catalogue = `
models:
  large-1: { vendor: alpha, max_output_tokens: 8192, price: { input: 3, output: 15 } }
  small-1: { vendor: alpha, price: { input: 1, output: 5 } }
channels:
  alpha-main: { vendor: alpha, url: "https://main.example", credential: sk-main-secret, models: [large-1, small-1] }
  alpha-reserve: { vendor: alpha, url: "https://reserve.example", credential: env:RESERVE, models: [large-1], rank: 1 }
`

export function describeEntries(name: string, open: () => Promise<LedgerHarness>): void {
  describe(name, () => {
    let harness: LedgerHarness
    let ann: OperationContext
    let bob: OperationContext
    beforeEach(async () => {
      harness = await open()
      const { database, clock } = harness
      const common = {
        database,
        clock,
        masterKey: () => new Secret('5'.repeat(64)),
        environment: () => 'set',
        runCheck: noCheck,
      }
      ann = { ...common, actor: 'cli:ann' }
      bob = { ...common, actor: 'cli:bob' }
      valueOf(await applyCatalogue(ann, { text: catalogue }))
    })
    afterEach(() => harness.close())

    const revisionNow = async (): Promise<string> =>
      /^revision: (\S+)/.exec(await exportCatalogue(ann))?.[1] ?? 'none'

    it('changes one entry and leaves the others as they are', async () => {
      const before = await exportCatalogue(ann)
      const input = { channel: 'alpha-reserve', weight: 7, rank: null, headers: { 'x-a': 'b' } }
      const changed = valueOf(await channelChanges.edit(ann, input))
      assert.equal(changed.kind, 'applied')
      assert.deepEqual(changed.diff, [
        {
          action: 'change',
          kind: 'channel',
          name: 'alpha-reserve',
          changes: [
            { field: 'rank', from: '1', to: '0' },
            { field: 'weight', from: '1', to: '7' },
            { field: 'headers.x-a', from: undefined, to: 'b' },
          ],
        },
      ])
      const after = await exportCatalogue(ann)
      assert.equal(after.split('alpha-main')[1]?.split('alpha-reserve')[0], sectionOf(before))
      assert.equal(changed.revision, await revisionNow())
    })

    it('removes by null what a file may leave out, and keeps it where a file does', async () => {
      const limits = async (): Promise<string[]> =>
        (await exportCatalogue(ann))
          .split('\n')
          .filter((line) => line.includes('max_output_tokens'))
      assert.deepEqual(await limits(), ['    max_output_tokens: 8192'])
      valueOf(
        await applyCatalogue(ann, { text: catalogue.replace('max_output_tokens: 8192, ', '') }),
      )
      assert.deepEqual(await limits(), ['    max_output_tokens: 8192'])
      const patched = valueOf(
        await modelChanges.edit(ann, { model: 'large-1', max_output_tokens: null }),
      )
      assert.deepEqual(
        patched.diff.flatMap(({ changes }) => changes),
        [{ field: 'max_output_tokens', from: '8192', to: undefined }],
      )
      assert.deepEqual(await limits(), [])
    })

    it('lets the event loop go on while it checks a long catalogue', async () => {
      const models = Array.from(
        { length: 1_000 },
        (_, index) => `  m-${index}: { vendor: alpha, price: { input: 3, output: 15 } }`,
      )
      valueOf(
        await applyCatalogue(ann, {
          text: catalogue.replace('models:\n', `models:\n${models.join('\n')}\n`),
        }),
      )
      let turns = 0
      const change = { isOver: false }
      const edited = channelChanges
        .edit(ann, { channel: 'alpha-main', weight: 5 })
        .finally(() => (change.isOver = true))
      for (; !change.isOver; turns++) await nextTurn()
      valueOf(await edited)
      // It prints, checks and compares each entry; a single turn for one of the three would be missed.
      assert.ok(turns >= (3 * models.length) / entriesPerTurn, `${turns} turns`)
    })

    it('adds and retires entries, all that a change needs in one step too', async () => {
      const added = valueOf(
        await editCatalogue(ann, {
          vendors: { gamma: { format: 'chat' } },
          models: { chat_9: { vendor: 'gamma', price: { input: 1, output: 2 } } },
          channels: {
            gamma: {
              vendor: 'gamma',
              url: 'https://gamma.example',
              credential: 'sk-gamma-secret',
              models: ['chat_9'],
            },
            'alpha-reserve': null,
          },
        }),
      )
      assert.deepEqual(
        added.diff.map(({ action, kind, name: its }) => `${action} ${kind} ${its}`),
        [
          'add vendor gamma',
          'add model chat_9',
          'add channel gamma',
          'retire channel alpha-reserve',
        ],
      )
      assert.ok(!JSON.stringify(added).includes('sk-gamma-secret'))
      valueOf(await channelChanges.retire(ann, { channel: 'gamma' }))
      valueOf(await modelChanges.retire(ann, { model: 'chat_9' }))
      valueOf(await vendorChanges.retire(ann, { vendor: 'gamma' }))
      assert.doesNotMatch(await exportCatalogue(ann), /gamma/)
    })

    it('names the field of each mistake, and changes nothing', async () => {
      const before = await exportCatalogue(ann)
      assert.deepEqual(
        fieldsOf(
          await channelChanges.create(ann, {
            name: 'Upper',
            vendor: 'alpha',
            url: 'ftp://x',
            credential: 'sk-new-secret with space',
            models: ['large-1', 'large-2'],
            weight: 0,
          }),
        ),
        [
          [
            'name',
            "a channel's name has 1 to 64 lower-case letters, digits and . _ -, and begins with a letter or digit",
          ],
          ['url', 'must begin with https://'],
          ['credential', 'must have no spaces, line breaks or characters outside ASCII'],
          ['weight', 'must be a whole number from 1 to 10000'],
          ['models.1', 'there is no model large-2 (did you mean large-1?)'],
        ],
      )
      assert.deepEqual(
        fieldsOf(await modelChanges.edit(ann, { model: 'large-1', also: ['small-1'] })),
        [['also.0', 'small-1 is a name of the model small-1 already']],
      )
      assert.deepEqual(fieldsOf(await modelChanges.edit(ann, { model: 'large-1', price: null })), [
        ['price', 'price cannot be removed; give another price, or retire the model'],
      ])
      assert.deepEqual(fieldsOf(await modelChanges.retire(ann, { model: 'small-1' })), [
        ['', 'channels.alpha-main.models.1: there is no model small-1'],
      ])
      assert.equal(await exportCatalogue(ann), before)
    })

    it('refuses what is there already, and what is not there', async () => {
      const created = await modelChanges.create(ann, { id: 'large-1', vendor: 'alpha' })
      assert.equal(refusalOf(created).code, 'operations.conflict')
      for (const outcome of [
        await vendorChanges.edit(ann, { vendor: 'nobody', format: 'chat' }),
        await modelChanges.retire(ann, { model: 'nobody' }),
        await channelChanges.edit(ann, { channel: 'nobody', weight: 1 }),
      ])
        assert.equal(refusalOf(outcome).code, 'operations.not_found')
    })

    it('keeps a credential that a change does not name, and never shows a new one', async () => {
      const kept = valueOf(await channelChanges.edit(ann, { channel: 'alpha-main', weight: 2 }))
      assert.deepEqual(
        kept.diff.flatMap(({ changes }) => changes.map(({ field }) => field)),
        ['weight'],
      )
      const replaced = valueOf(
        await channelChanges.edit(ann, { channel: 'alpha-main', credential: 'sk-other-secret' }),
      )
      assert.deepEqual(replaced.diff[0]?.changes, [
        { field: 'credential', from: 'sealed', to: 'sealed (new)' },
      ])
      const log = JSON.stringify(await recentActions(ann))
      assert.ok(!/sk-(?:main|other)-secret/.test(log + JSON.stringify(replaced)))
    })

    it('shows a dry run and changes nothing', async () => {
      const before = await exportCatalogue(ann)
      const input = { channel: 'alpha-main', weight: 9, dry_run: true }
      const shown = valueOf(await channelChanges.edit(ann, input))
      assert.equal(shown.kind, 'would_apply')
      assert.equal(await exportCatalogue(ann), before)
      const same = valueOf(await channelChanges.edit(ann, { channel: 'alpha-main', weight: 1 }))
      assert.equal(same.kind, 'unchanged')
    })

    it('refuses to undo what another operator has changed since, and says what and who', async () => {
      const revision = await revisionNow()
      valueOf(await channelChanges.edit(bob, { channel: 'alpha-main', weight: 5, revision }))
      const late = { channel: 'alpha-main', rank: 2, revision }
      for (const options of [{}, { dry_run: true }]) {
        const refusal = refusalOf(await channelChanges.edit(ann, { ...late, ...options }))
        assert.equal(refusal.code, 'operations.precondition_failed')
        assert.match(refusal.message, /cli:bob: change channel alpha-main \(weight\)/)
        const changes = refusal.details?.['changes'] as readonly { actor: string; diff: unknown }[]
        assert.equal(changes[0]?.actor, 'cli:bob')
        assert.deepEqual(changes[0].diff, [
          {
            action: 'change',
            kind: 'channel',
            name: 'alpha-main',
            changes: [{ field: 'weight', from: '1', to: '5' }],
          },
        ])
      }
      // Other entries go through, and so does the same one with a word for it.
      valueOf(await channelChanges.edit(ann, { channel: 'alpha-reserve', rank: 2, revision }))
      valueOf(await channelChanges.edit(ann, { ...late, force: true }))
    })

    it('lets one of two concurrent changes of an entry through, and both of two entries', async () => {
      const revision = await revisionNow()
      const edit = (context: OperationContext, channel: string, weight: number) =>
        channelChanges.edit(context, { channel, weight, revision })
      const same = await Promise.all([edit(ann, 'alpha-main', 2), edit(bob, 'alpha-main', 3)])
      assert.deepEqual(same.map(({ kind }) => kind).sort(), ['done', 'refusal'])
      const next = await revisionNow()
      const others = await Promise.all([
        channelChanges.edit(ann, { channel: 'alpha-main', weight: 4, revision: next }),
        channelChanges.edit(bob, { channel: 'alpha-reserve', weight: 4, revision: next }),
      ])
      assert.deepEqual(
        others.map(({ kind }) => kind),
        ['done', 'done'],
      )
      assert.match(await exportCatalogue(ann), /weight: 4[^]*weight: 4/)
    })

    it('refuses a file that is older than a change from elsewhere, and takes the own one again', async () => {
      const exported = await exportCatalogue(ann)
      const heavier = exported.replace('weight: 1', 'weight: 6')
      valueOf(await applyCatalogue(ann, { text: heavier }))
      // The file keeps its revision while its author goes on with it.
      valueOf(await applyCatalogue(ann, { text: exported.replace('weight: 1', 'weight: 8') }))
      valueOf(await modelChanges.edit(bob, { model: 'small-1', image_tokens: 1_000 }))
      const refusal = refusalOf(await applyCatalogue(ann, { text: heavier }))
      assert.match(refusal.message, /cli:bob: change model small-1 \(image_tokens\)/)
      assert.equal(
        valueOf(await applyCatalogue(ann, { text: heavier, force: true })).kind,
        'applied',
      )
      // Without a revision a file applies as it is.
      const bare = heavier.replace(/^revision: .*\n/, '')
      assert.equal(valueOf(await applyCatalogue(bob, { text: bare })).kind, 'unchanged')
    })

    it('keeps a replaced credential for a day, and takes it back once', async () => {
      const { clock, database } = harness
      const replace = async (credential: string) =>
        valueOf(await replaceCredential(ann, { channel: 'alpha-reserve', credential, force: true }))
      const first = await replace('sk-second-secret')
      assert.equal(first.former_credential?.credential, 'env:RESERVE')
      assert.equal((await replace('sk-second-secret')).kind, 'unchanged')
      const restored = valueOf(await restoreCredential(ann, { channel: 'alpha-reserve' }))
      assert.equal(restored.credential, 'env:RESERVE')
      assert.equal(restored.former_credential, null)
      assert.equal(
        refusalOf(await restoreCredential(ann, { channel: 'alpha-reserve' })).code,
        'operations.not_found',
      )
      // A file that changes a credential keeps the former one, too.
      const text = (await exportCatalogue(ann)).replace('env:RESERVE', 'sk-third-secret')
      valueOf(await applyCatalogue(ann, { text }))
      clock.advance(dayMs - 1)
      valueOf(await channelChanges.edit(ann, { channel: 'alpha-reserve', weight: 3 }))
      const kept = valueOf(await showChannel(ann, { channel: 'alpha-reserve' }))
      assert.equal(kept.former_credential?.credential, 'env:RESERVE')
      clock.advance(1)
      const late = await restoreCredential(ann, { channel: 'alpha-reserve' })
      assert.equal(refusalOf(late).code, 'operations.not_found')
      await database.transact((transaction) => removeOldCredentials(transaction, clock.now()))
      assert.deepEqual(await database.query('SELECT * FROM former_credential'), [])
    })

    it('saves a credential only where it has served, and one of two at a time', async () => {
      const answers = (outcome: 'ok' | 'config') => ({
        ...ann,
        runCheck: () => Promise.resolve({ outcome, durationMs: 1, status: 200 }),
      })
      const input = { channel: 'alpha-main', credential: 'sk-next-secret' }
      const before = await exportCatalogue(ann)
      const refused = refusalOf(await replaceCredential(answers('config'), input))
      assert.equal(refused.code, 'operations.credential_refused')
      assert.equal(
        /credential: .*/.exec(await exportCatalogue(ann))?.[0],
        /credential: .*/.exec(before)?.[0],
      )
      // What another operator saves while the request runs is not undone.
      const late: OperationContext = {
        ...ann,
        async runCheck() {
          valueOf(await channelChanges.edit(bob, { channel: 'alpha-main', weight: 4 }))
          return { outcome: 'ok', durationMs: 1, status: 200 }
        },
      }
      const stale = refusalOf(await replaceCredential(late, input))
      assert.equal(stale.code, 'operations.precondition_failed')
      const replaced = valueOf(await replaceCredential(answers('ok'), input))
      assert.equal(replaced.kind, 'applied')
      const all = JSON.stringify([replaced, await recentActions(ann), await exportCatalogue(ann)])
      assert.ok(!all.includes('sk-next-secret') && !all.includes('sk-main-secret'))
    })

    it('proposes models of the starting catalogue for what a vendor lists', async () => {
      const ids = ['large-1', 'anthropic.claude-opus-5-5', 'claude-haiku-4-5-20251001', 'other']
      const listing = { ids, isComplete: true }
      const answered = { outcome: 'ok', durationMs: 1, status: 200, listing } as const
      const asked = { ...ann, runCheck: () => Promise.resolve(answered) }
      const { models } = valueOf(await listVendorModels(asked, { channel: 'alpha-main' }))
      assert.deepEqual(
        models.map(({ id, model, listed_as: listedAs }) => [id, model, listedAs]),
        [
          ['large-1', 'large-1', null],
          ['anthropic.claude-opus-5-5', null, 'claude-opus-5-5'],
          ['claude-haiku-4-5-20251001', null, 'claude-haiku-4-5'],
          ['other', null, null],
        ],
      )
      const { price } = (models[1]?.proposal ?? {}) as { price: { input: number } }
      assert.ok(price.input > 0)
    })

    it('knows the revision of another store as such', async () => {
      const text = (await exportCatalogue(ann)).replace('weight: 1', 'weight: 3')
      const foreign = text.replace(/^revision: .*\n/, 'revision: 1-00000000\n')
      const applied = valueOf(await applyCatalogue(bob, { text: foreign }))
      assert.equal(applied.kind, 'applied')
      assert.match(applied.notes.join('\n'), /revision of the file is not one of this store/)
      const outcome = await channelChanges.edit(bob, {
        channel: 'alpha-main',
        weight: 4,
        revision: '1-00000000',
      })
      assert.deepEqual(
        fieldsOf(outcome).map(([field]) => field),
        ['revision'],
      )
      const wrong = refusalOf(await applyCatalogue(bob, { text: `revision: now\n${catalogue}` }))
      assert.match(wrong.message, /line 1, column 11: revision: must be the revision/)
    })
  })
}

function sectionOf(text: string): string | undefined {
  return text.split('alpha-main')[1]?.split('alpha-reserve')[0]
}

function refusalOf(outcome: Outcome<unknown>): OperationRefusal {
  assert.equal(outcome.kind, 'refusal')
  return outcome
}

function fieldsOf(outcome: Outcome<unknown>): readonly (readonly [string, string])[] {
  return (refusalOf(outcome).fields ?? []).map(({ field, message }) => [field, message])
}
