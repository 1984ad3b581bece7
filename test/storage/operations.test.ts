import { formatUsd, picos } from '../../src/base/money.ts'
import { noCheck } from '../../src/operations/channels/run-check.ts'
import { describe, it } from 'node:test'
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { hashSecret, makeSecret } from '../../src/access/key.ts'
import { findKeyBySecretHash, findKnownKey } from '../../src/access/key-store.ts'
import { GatewayError, type ErrorCode } from '../../src/base/errors.ts'
import { Secret } from '../../src/base/secret.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { openNewStore } from '../support/test-store.ts'
import { readStatement } from '../support/statement.ts'
import { auditLedger } from '../../src/operations/store/audit.ts'
import type { RunCheck } from '../../src/operations/channels/run-check.ts'
import type { OperationContext } from '../../src/operations/operation.ts'
import { createFirstAdminToken } from '../../src/operations/keys/first-admin-token.ts'
import {
  changeAccount,
  createAccount,
  creditAccount,
  limitAccount,
  listAccounts,
  setAccountStatus,
  showAccount,
  recentActions,
  applyCatalogue,
  checkChannel,
  switchChannel,
  adoptAdminToken,
  createAdminToken,
  createClientKey,
  createReaderToken,
  editKey,
  listAccountKeys,
  revokeKey,
  accountUsage,
  listChannels,
  listPrices,
  listAdminTokens,
  diagnose,
} from '../support/operations.ts'

interface World {
  readonly context: OperationContext
  readonly clock: ManualClock
  readonly folder: string
}

async function withWorld(test: (world: World) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-operations-'))
  const database = await openNewStore(folder)
  const clock = new ManualClock()
  try {
    await migrate(database)
    const context: OperationContext = {
      database,
      clock,
      actor: 'test',
      masterKey: () => new Secret(Buffer.alloc(32, 7).toString('base64')),
      environment: (name) => (name === 'ALPHA_KEY' ? 'vendor-secret' : undefined),
      runCheck: noCheck,
    }
    await test({ context, clock, folder })
  } finally {
    await database.close()
    rmSync(folder, { recursive: true })
  }
}

const catalogue = `
vendors:
  alpha: { format: messages, credential: x-api-key }
models:
  large-1: { vendor: alpha, max_output_tokens: 8192, price: { input: 3.00, output: 15.00 } }
  small-1: { vendor: alpha, max_output_tokens: 8192, price: { input: 1.00, output: 5.00 } }
channels:
  alpha-main:
    vendor: alpha
    url: https://vendor.example
    credential: env:ALPHA_KEY
    models: [large-1, small-1]
  alpha-reserve:
    vendor: alpha
    url: https://reserve.example
    credential: env:NOT_SET
    models: [large-1]
    rank: 1
`

async function rejectsWith(
  code: ErrorCode,
  message: RegExp,
  work: () => Promise<unknown>,
): Promise<void> {
  await assert.rejects(
    async () => work(),
    (error) => {
      assert.ok(error instanceof GatewayError, String(error))
      assert.equal(error.code, code, error.message)
      assert.match(error.message, message)
      return true
    },
  )
}

describe('accounts', () => {
  it('have no secret of a key in their name, note or contact', () =>
    withWorld(async ({ context }) => {
      const secret = makeSecret('client')
      for (const field of ['name', 'note', 'external_id'])
        await rejectsWith('operations.invalid', /must not have the secret of a key in it/, () =>
          createAccount(context, { name: 'acme', [field]: `of ${secret}` }),
        )
    }))

  it('are made with limits and a first credit, and found by name or id', () =>
    withWorld(async ({ context }) => {
      const made = await createAccount(context, {
        name: ' acme ',
        balance_usd: '12.50',
        daily_usd: 5,
        rpm: '60',
        window_minutes: 2,
        tpm: 0,
        price_multiplier: '0.85',
      })
      assert.equal(made.name, 'acme')
      assert.equal(made.balance_usd, '12.5')
      assert.deepEqual(made.limits, {
        credit_line_usd: '0',
        holds: null,
        monthly_usd: '0',
        daily_usd: '5',
        rpm: 60,
        window_minutes: 2,
        tpm: 0,
        price_multiplier: 0.85,
      })
      const shown = await showAccount(context, { account: 'acme' })
      assert.partialDeepStrictEqual(shown, made)
      assert.deepEqual(await showAccount(context, { account: made.id }), shown)
      assert.deepEqual(await listAccounts(context, {}), { items: [shown], next_cursor: null })
      const { balance_usd } = await accountUsage(context, { account: 'acme' })
      assert.equal(balance_usd, '12.5')
    }))

  it('refuse an existing name and leave nothing of the attempt', () =>
    withWorld(async ({ context }) => {
      await createAccount(context, { name: 'acme' })
      await rejectsWith('operations.conflict', /named acme already/, () =>
        createAccount(context, { name: 'acme', balance_usd: '1' }),
      )
      assert.equal((await recentActions(context, {})).length, 1)
    }))

  it('report every error of the input at once, with its field', () =>
    withWorld(async ({ context }) => {
      const input = {
        name: 'a\u0007b',
        balance_usd: '-1',
        daily_usd: '1e3',
        rpm: '1.5',
        window_minutes: 0,
        price_multiplier: 'free',
      }
      for (const field of Object.keys(input)) {
        await rejectsWith('operations.invalid', new RegExp(`${field}: must`), () =>
          createAccount(context, input),
        )
      }
    }))

  it('refuse amounts that are not exact, or nothing, or out of bounds', () =>
    withWorld(async ({ context }) => {
      await createAccount(context, { name: 'acme' })
      for (const amount of [
        '0',
        '-0',
        '1e5',
        '9000001',
        '-9000001',
        '0.0000000000001',
        'NaN',
        '',
        '1,5',
        null,
      ]) {
        await rejectsWith('operations.invalid', /amount_usd: /, () =>
          creditAccount(context, { account: 'acme', amount_usd: amount, reference: 'r' }),
        )
      }
      await creditAccount(context, { account: 'acme', amount_usd: '9000000', reference: 'r' })
      await rejectsWith(
        'operations.invalid',
        /balance must stay between -9000000 and 9000000 USD/,
        () => creditAccount(context, { account: 'acme', amount_usd: '0.01', reference: 's' }),
      )
      assert.ok((await auditLedger(context)).clean)
    }))

  it('take money back by a negative amount, once for each reference, below zero if need be', () =>
    withWorld(async ({ context }) => {
      await createAccount(context, { name: 'acme', balance_usd: '10' })
      const correction = { account: 'acme', amount_usd: '-12.5', reference: 'chargeback-1' }
      assert.equal((await creditAccount(context, correction)).balance_usd, '-2.5')
      const again = await creditAccount(context, correction)
      assert.deepEqual([again.repeated, again.balance_usd], [true, '-2.5'])
      const { lines } = await readStatement(context, { account: 'acme' })
      assert.deepEqual(
        lines.map((line) => [line.kind, line.amount]),
        [
          ['credit', '10'],
          ['adjustment', '-12.5'],
        ],
      )
      assert.ok((await auditLedger(context)).clean)
    }))

  it('ask before a correction that makes the balance negative', () =>
    withWorld(async ({ context }) => {
      await createAccount(context, { name: 'acme', balance_usd: '10' })
      const book = (amount: string, confirm = false) =>
        creditAccount(context, { account: 'acme', amount_usd: amount, reference: amount, confirm })
      assert.equal((await book('-10')).balance_usd, '0')
      await rejectsWith(
        'operations.confirmation_required',
        /would make the balance -0\.5 USD\. Nothing was booked\./,
        () => book('-0.5'),
      )
      assert.equal((await showAccount(context, { account: 'acme' })).balance_usd, '0')
      assert.equal((await book('-0.5', true)).balance_usd, '-0.5')
      // What is booked is booked: a repetition needs no confirmation.
      assert.equal((await book('-0.5')).repeated, true)
      assert.ok((await auditLedger(context)).clean)
    }))

  it('ask before a credit of more than a hundred times the largest one so far', () =>
    withWorld(async ({ context }) => {
      await createAccount(context, { name: 'acme' })
      const book = (amount: string, confirm = false) =>
        creditAccount(context, { account: 'acme', amount_usd: amount, reference: amount, confirm })
      await book('2')
      await book('1')
      await rejectsWith(
        'operations.confirmation_required',
        /more than 100 times the largest credit of the account so far, 2 USD/,
        () => book('200.000000000001'),
      )
      assert.equal((await book('200')).repeated, false)
      assert.equal((await book('20000.01', true)).balance_usd, '20203.01')
      // An account without a credit has no usual amount.
      await createAccount(context, { name: 'other' })
      await creditAccount(context, { account: 'other', amount_usd: '5000', reference: 'first' })
      const actions = await recentActions(context, {})
      assert.equal(actions.filter((one) => one.action === 'account.credit').length, 5)
      assert.ok((await auditLedger(context)).clean)
    }))

  it('are closed, take no credits then, give money back, and are opened again', () =>
    withWorld(async ({ context, clock }) => {
      await createAccount(context, { name: 'acme', balance_usd: '10' })
      const closed = await changeAccount(context, { account: 'acme', status: 'closed' })
      assert.deepEqual(
        [closed.status, closed.closed_at, closed.balance_usd],
        ['closed', new Date(clock.now()).toISOString(), '10'],
      )
      const book = (amount: string) =>
        creditAccount(context, { account: 'acme', amount_usd: amount, reference: amount })
      await rejectsWith('operations.conflict', /acme is closed and takes no credits/, () =>
        book('1'),
      )
      assert.equal((await book('-10')).balance_usd, '0')
      const open = await changeAccount(context, { account: 'acme', status: 'active' })
      assert.deepEqual([open.status, open.closed_at], ['active', null])
      const names = (await recentActions(context, {})).map((action) => action.action)
      assert.deepEqual(names, [
        'account.reopen',
        'account.credit',
        'account.close',
        'account.credit',
        'account.create',
      ])
    }))

  it('are renamed and described, and keep their id and all other fields', () =>
    withWorld(async ({ context }) => {
      const made = await createAccount(context, { name: 'acme', external_id: 'crm-7' })
      const changed = await changeAccount(context, {
        account: 'acme',
        name: 'acme europe',
        note: 'pays by invoice',
        contact: 'billing@acme.example',
        language: 'zh-CN',
      })
      assert.deepEqual(changed, {
        ...made,
        name: 'acme europe',
        note: 'pays by invoice',
        contact: 'billing@acme.example',
        language: 'zh-CN',
      })
      await rejectsWith('operations.not_found', /no account acme\./, () =>
        showAccount(context, { account: 'acme' }),
      )
      const cleared = await changeAccount(context, {
        account: made.id,
        note: '',
        external_id: '',
      })
      assert.deepEqual([cleared.note, cleared.external_id], ['', null])
      const [action] = await recentActions(context, { limit: 1 })
      assert.equal(action?.action, 'account.edit')
      assert.deepEqual(action.detail['before'], {
        name: 'acme europe',
        note: 'pays by invoice',
        contact: 'billing@acme.example',
        language: 'zh-CN',
        alert_below_usd: '0',
        bill_to: '',
        external_id: 'crm-7',
      })
    }))

  it('share neither a name nor an external id', () =>
    withWorld(async ({ context }) => {
      await createAccount(context, { name: 'acme', external_id: 'crm-1' })
      await createAccount(context, { name: 'other', external_id: 'crm-2' })
      await rejectsWith('operations.conflict', /named acme already/, () =>
        changeAccount(context, { account: 'other', name: 'acme' }),
      )
      await rejectsWith('operations.conflict', /acme has the external id crm-1 already/, () =>
        changeAccount(context, { account: 'other', external_id: 'crm-1' }),
      )
      await rejectsWith('operations.conflict', /acme has the external id crm-1 already/, () =>
        createAccount(context, { name: 'third', external_id: 'crm-1' }),
      )
      await changeAccount(context, { account: 'acme', name: 'acme', external_id: 'crm-1' })
      assert.equal((await listAccounts(context, {})).items.length, 2)
    }))

  it('refuse contacts, external ids and notes that are not valid', () =>
    withWorld(async ({ context }) => {
      await createAccount(context, { name: 'acme' })
      for (const [field, value] of [
        ['language', 'zh'],
        ['contact', 'billing'],
        ['contact', 'a@b.example, c@d.example'],
        ['contact', 'a@b.example\nBcc: c@d.example'],
        ['external_id', 'x'.repeat(129)],
        ['note', 'two\nlines'],
      ] as const)
        await rejectsWith('operations.invalid', new RegExp(`^${field}`), () =>
          changeAccount(context, { account: 'acme', [field]: value }),
        )
    }))

  it('are listed by status, part of the name, and external id', () =>
    withWorld(async ({ context }) => {
      for (const name of ['North 1%', 'north 2', 'south'])
        await createAccount(context, { name, external_id: `id of ${name}` })
      await changeAccount(context, { account: 'north 2', status: 'suspended' })
      await changeAccount(context, { account: 'south', status: 'closed' })
      const listed = async (filter: object): Promise<readonly string[]> =>
        (await listAccounts(context, filter)).items.map(({ name }) => name)
      assert.deepEqual(await listed({ status: 'active' }), ['North 1%'])
      assert.deepEqual(await listed({ status: 'suspended' }), ['north 2'])
      assert.deepEqual(await listed({ status: 'closed' }), ['south'])
      assert.deepEqual(await listed({ name_contains: 'NORTH' }), ['North 1%', 'north 2'])
      assert.deepEqual(await listed({ name_contains: '%' }), ['North 1%'])
      assert.deepEqual(await listed({ name_contains: '_' }), [])
      assert.deepEqual(await listed({ external_id: 'id of south' }), ['south'])
      assert.deepEqual(await listed({ name_contains: 'north', status: 'closed' }), [])
      const first = await listAccounts(context, { name_contains: 'o', limit: 2 })
      assert.equal(first.items.length, 2)
      const rest = { name_contains: 'o', limit: 2, cursor: first.next_cursor }
      assert.deepEqual(await listed(rest), ['south'])
    }))

  it('book a reference once, and refuse it for another amount', () =>
    withWorld(async ({ context }) => {
      await createAccount(context, { name: 'acme' })
      await createAccount(context, { name: 'other' })
      const credit = { account: 'acme', amount_usd: '10', reference: 'invoice-1' }
      assert.equal((await creditAccount(context, credit)).repeated, false)
      const again = await creditAccount(context, { ...credit, amount_usd: '10.00' })
      assert.equal(again.repeated, true)
      assert.equal(again.balance_usd, '10')
      await rejectsWith('operations.conflict', /invoice-1 is in use for another entry/, () =>
        creditAccount(context, { ...credit, amount_usd: '11' }),
      )
      const noted = { ...credit, reference: 'invoice-2', note: 'March' }
      await creditAccount(context, noted)
      await rejectsWith(
        'operations.conflict',
        /invoice-2 is in use for the same amount with the note "March", booked on .*; this request has the note "May"\./,
        () => creditAccount(context, { ...noted, note: 'May' }),
      )
      await rejectsWith(
        'operations.conflict',
        /invoice-1 is in use for the same amount without a note, booked on .*; this request has the note "May"\./,
        () => creditAccount(context, { ...credit, note: 'May' }),
      )
      await rejectsWith('operations.invalid', /must not begin with ex_/, () =>
        creditAccount(context, { ...credit, reference: 'ex_1' }),
      )
      const elsewhere = await creditAccount(context, { ...credit, account: 'other' })
      assert.equal(elsewhere.repeated, false)
      const actions = await recentActions(context, {})
      assert.equal(actions.filter((one) => one.action === 'account.credit').length, 3)
    }))

  it('credit exactly the requested amounts', () =>
    withWorld(async ({ context }) => {
      const amounts = fc.array(fc.bigInt({ min: 1n, max: 10n ** 15n }), { maxLength: 8 })
      let run = 0
      await fc.assert(
        fc.asyncProperty(amounts, async (picosList) => {
          const account = `account ${run++}`
          await createAccount(context, { name: account })
          for (const [index, amount] of picosList.entries()) {
            const text = amount.toString().padStart(13, '0')
            const amountUsd = `${text.slice(0, -12)}.${text.slice(-12)}`
            const reference = `r${index}`
            await creditAccount(context, { account, amount_usd: amountUsd, reference })
          }
          const { balance_usd } = await accountUsage(context, { account })
          const sum = picosList.reduce((total, amount) => total + amount, 0n)
          assert.equal(balance_usd, formatUsd(picos(sum)))
        }),
        { numRuns: 15 },
      )
      assert.ok((await auditLedger(context)).clean)
    }))

  it('change only the limits that are named', () =>
    withWorld(async ({ context }) => {
      await createAccount(context, { name: 'acme', daily_usd: '5', rpm: 60 })
      const changed = await limitAccount(context, { account: 'acme', rpm: '0' })
      assert.equal(changed.limits.rpm, 0)
      assert.equal(changed.limits.daily_usd, '5')
      await rejectsWith('operations.invalid', /at least one change/, () =>
        limitAccount(context, { account: 'acme' }),
      )
      const [action] = await recentActions(context, { limit: 1 })
      assert.deepEqual(action?.detail['before'], {
        credit_line_usd: '0',
        holds: null,
        monthly_usd: '0',
        daily_usd: '5',
        rpm: 60,
        window_minutes: 1,
        tpm: 0,
        price_multiplier: 1,
      })
    }))

  it('are suspended and resumed, once each', () =>
    withWorld(async ({ context }) => {
      await createAccount(context, { name: 'acme' })
      for (let count = 0; count < 2; count++) {
        const view = await setAccountStatus(context, { account: 'acme', status: 'suspended' })
        assert.equal(view.status, 'suspended')
      }
      assert.equal(
        (await setAccountStatus(context, { account: 'acme', status: 'active' })).status,
        'active',
      )
      const names = (await recentActions(context, {})).map((action) => action.action)
      assert.deepEqual(names, ['account.resume', 'account.suspend', 'account.create'])
      await rejectsWith('operations.not_found', /no account nobody/, () =>
        setAccountStatus(context, { account: 'nobody', status: 'active' }),
      )
    }))

  it('account for their money by day', () =>
    withWorld(async ({ context, clock }) => {
      await createAccount(context, { name: 'acme', balance_usd: 1 })
      clock.advance(86_400_000)
      await creditAccount(context, { account: 'acme', amount_usd: 2, reference: 'second' })
      const statement = await readStatement(context, { account: 'acme' })
      assert.deepEqual(
        statement.lines.map((line) => [line.kind, line.amount, line.balance, line.reference]),
        [
          ['credit', '1', '1', 'opening-balance'],
          ['credit', '2', '3', 'second'],
        ],
      )
      assert.equal(statement.end.sum, '3')
      assert.equal(statement.end.closing_balance, '3')
      for (const [period, balances, expected] of [
        [{ from: '2026-11-22' }, ['1', '3'], ['second']],
        [{ to: '2026-11-21' }, ['0', '1'], ['opening-balance']],
        [{ from: '2026-11-21', to: '2026-11-22' }, ['0', '3'], ['opening-balance', 'second']],
        [{ from: '2026-11-22T12:00:01Z' }, ['3', '3'], []],
      ] as const) {
        const part = await readStatement(context, { account: 'acme', ...period })
        const title = JSON.stringify(period)
        assert.deepEqual([part.head.opening_balance, part.end.closing_balance], balances, title)
        assert.deepEqual(
          part.lines.map((line) => line.reference),
          expected,
          title,
        )
      }
      for (const from of ['2026-02-30', 'yesterday', '2026-1-1', '21.11.2026']) {
        await rejectsWith('operations.invalid', /from: must be a date/, () =>
          readStatement(context, { account: 'acme', from }),
        )
      }
    }))
})

describe('keys', () => {
  it('are made with everything that restricts them, and the secret is stored nowhere', () =>
    withWorld(async ({ context, folder }) => {
      await applyCatalogue(context, { text: catalogue })
      await createAccount(context, { name: 'acme' })
      const { key, secret } = await createClientKey(context, {
        account: 'acme',
        name: 'ci',
        models: ['large-1', 'large-1'],
        ip: ['192.0.2.0/24'],
        daily_usd: '0.5',
        expires: '2026-12-31',
      })
      assert.equal(key.state, 'active')
      assert.deepEqual(key.models, ['large-1'])
      assert.equal(key.expires_at, '2027-01-01T00:00:00.000Z')
      const known = await findKnownKey(context.database, hashSecret(secret))
      assert.deepEqual(known?.principal.allowedModels, new Set(['large-1']))
      assert.equal(known?.principal.keyLimits.dailyPicos, 500_000_000_000n)
      assert.deepEqual(await listAccountKeys(context, { account: 'acme', kind: 'client' }), [key])
      const admin = await createAdminToken(context, { name: 'op' })
      const reader = await createReaderToken(context, { account: 'acme' })
      for (const file of readdirSync(folder)) {
        const bytes = readFileSync(join(folder, file))
        for (const one of [secret, admin.secret, reader.secret]) {
          assert.equal(bytes.indexOf(one.slice(8)), -1, file)
        }
      }
    }))

  it('refuse invalid values', () =>
    withWorld(async ({ context }) => {
      await applyCatalogue(context, { text: catalogue })
      await createAccount(context, { name: 'acme' })
      for (const [input, message] of [
        [{ models: ['large-2'] }, /models: unknown: large-2; choose from large-1, small-1/],
        [{ models: [] }, /models: must name at least one/],
        [{ ip: ['192.0.2.0/33'] }, /ip: "192.0.2.0\/33" is not an address/],
        [{ expires: 'soon' }, /expires: must be a date/],
        [{ expires: '2026-11-20' }, /expires: must not be in the past/],
        [{ expires: '2026-11-21T12:00:00Z' }, /expires: must not be in the past/],
        [{ daily_usd: '-1' }, /daily_usd: must be an amount/],
        [{ name: 'x'.repeat(65) }, /name: must have at most 64/],
      ] as const) {
        await rejectsWith('operations.invalid', message, () =>
          createClientKey(context, { account: 'acme', ...input }),
        )
      }
      await rejectsWith('operations.not_found', /no account nobody/, () =>
        createReaderToken(context, { account: 'nobody' }),
      )
      assert.deepEqual(await listAccountKeys(context, { account: 'acme', kind: 'client' }), [])
    }))

  it('have limits for a day, a month, in all, and per minute', () =>
    withWorld(async ({ context }) => {
      await createAccount(context, { name: 'acme', tpm: 5_000 })
      const limits = { daily_usd: '1', monthly_usd: '20.5', total_usd: '100', rpm: 60, tpm: 9_000 }
      const { key, secret } = await createClientKey(context, { account: 'acme', ...limits })
      for (const [name, value] of Object.entries(limits))
        assert.equal(key[name as keyof typeof limits], value, name)
      const known = await findKnownKey(context.database, hashSecret(secret))
      assert.deepEqual(known?.principal.keyLimits, {
        dailyPicos: 1_000_000_000_000n,
        monthlyPicos: 20_500_000_000_000n,
        totalPicos: 100_000_000_000_000n,
        rpm: 60,
        tpm: 9_000,
      })
      assert.deepEqual(key.used, { day_usd: '0', month_usd: '0', total_usd: '0' })
      assert.equal((await showAccount(context, { account: 'acme' })).limits.tpm, 5_000)
      const changed = await limitAccount(context, { account: 'acme', tpm: 0 })
      assert.equal(changed.limits.tpm, 0)
    }))

  it('are edited: what is given changes, null and 0 remove, the rest stays', () =>
    withWorld(async ({ context }) => {
      await applyCatalogue(context, { text: catalogue })
      await createAccount(context, { name: 'acme' })
      const { key } = await createClientKey(context, {
        account: 'acme',
        name: 'ci',
        models: ['large-1'],
        ip: ['192.0.2.0/24'],
        daily_usd: '1',
        rpm: 5,
        expires: '2026-12-31',
      })
      const { id } = key
      assert.deepEqual(await editKey(context, { id, monthly_usd: '7', models: ['small-1'] }), {
        ...key,
        monthly_usd: '7',
        models: ['small-1'],
      })
      const [action] = await recentActions(context)
      assert.equal(action?.action, 'key.edit')
      const detail = action?.detail as { before: object; after: object }
      assert.deepEqual({ ...detail.before, monthly_usd: '7', models: ['small-1'] }, detail.after)
      const freed = await editKey(context, {
        id,
        name: '',
        models: null,
        ip: null,
        expires: null,
        daily_usd: '0',
        rpm: 0,
      })
      assert.deepEqual(freed, {
        ...key,
        name: '',
        models: null,
        ip: null,
        expires_at: null,
        daily_usd: '0',
        rpm: 0,
        monthly_usd: '7',
      })
      assert.deepEqual(await listAccountKeys(context, { account: 'acme', kind: 'client' }), [freed])
    }))

  it('are not edited where that makes no sense', () =>
    withWorld(async ({ context }) => {
      await applyCatalogue(context, { text: catalogue })
      await createAccount(context, { name: 'acme' })
      const { key } = await createClientKey(context, { account: 'acme' })
      const { id } = key
      const reader = await createReaderToken(context, { account: 'acme' })
      for (const [input, message] of [
        [{}, /at least one thing/],
        [{ models: ['large-2'] }, /models: unknown: large-2/],
        [{ expires: '2026-11-20' }, /expires: must not be in the past/],
        [{ tpm: -1 }, /tpm: must be a whole number/],
        [{ total_usd: '-1' }, /total_usd: must be an amount/],
        [{ rpm: 1.5 }, /rpm: must be a whole number/],
      ] as const)
        await rejectsWith('operations.invalid', message, () => editKey(context, { id, ...input }))
      await rejectsWith('operations.not_found', /is a token, not a key/, () =>
        editKey(context, { id: reader.key.id, rpm: 1 }),
      )
      await rejectsWith('operations.not_found', /no key with the id key_none/, () =>
        editKey(context, { id: 'key_none', rpm: 1 }),
      )
      await revokeKey(context, { kind: 'client', id })
      await rejectsWith('operations.conflict', /is revoked/, () => editKey(context, { id, rpm: 1 }))
    }))

  it('are revoked by id and kind, once', () =>
    withWorld(async ({ context, clock }) => {
      await createAccount(context, { name: 'acme' })
      const { key } = await createReaderToken(context, { account: 'acme' })
      await rejectsWith(
        'operations.not_found',
        /is a token, not a key\. Use: turnpike token revoke/,
        () => revokeKey(context, { kind: 'client', id: key.id }),
      )
      await rejectsWith('operations.not_found', /no token with the id key_x/, () =>
        revokeKey(context, { kind: 'reader', id: 'key_x' }),
      )
      await rejectsWith('operations.not_found', /^ro_abcd… is a secret, not an id/, () =>
        revokeKey(context, { kind: 'reader', id: 'ro_abcdefghijkl' }),
      )
      const revoked = await revokeKey(context, { kind: 'reader', id: key.id })
      clock.advance(1_000)
      assert.deepEqual(await revokeKey(context, { kind: 'reader', id: key.id }), revoked)
      assert.equal(revoked.state, 'revoked')
      const actions = await recentActions(context, {})
      assert.equal(actions.filter((one) => one.action === 'key.revoke').length, 1)
    }))

  it('show as expired from their time on', () =>
    withWorld(async ({ context, clock }) => {
      await createAccount(context, { name: 'acme' })
      await createClientKey(context, { account: 'acme', expires: '2026-11-21T12:00:01Z' })
      const state = async () =>
        (await listAccountKeys(context, { account: 'acme', kind: 'client' })).map(
          (key) => key.state,
        )
      assert.deepEqual(await state(), ['active'])
      clock.advance(1_000)
      assert.deepEqual(await state(), ['expired'])
    }))

  it('take the admin token of the settings, and drop the one before', () =>
    withWorld(async ({ context }) => {
      const byHand = await createAdminToken(context, { name: 'by hand' })
      const first = new Secret(`ad_${'a'.repeat(40)}`)
      const second = new Secret(`ad_${'b'.repeat(40)}`)
      await adoptAdminToken(context, first)
      await adoptAdminToken(context, first)
      await adoptAdminToken(context, second)
      const isRevoked = async (secret: string) =>
        (await findKeyBySecretHash(context.database, hashSecret(secret)))?.revokedAtMs !== undefined
      assert.equal(await isRevoked(first.reveal()), true)
      assert.equal(await isRevoked(second.reveal()), false)
      assert.equal(await isRevoked(byHand.secret), false)
      assert.equal((await listAdminTokens(context)).length, 3)
      await rejectsWith('operations.invalid', /has been revoked; choose a new one/, () =>
        adoptAdminToken(context, first),
      )
    }))

  it('begin with one admin token, made once', () =>
    withWorld(async ({ context }) => {
      const made = await createFirstAdminToken(context)
      assert.match(made?.secret ?? '', /^ad_/)
      assert.equal(await createFirstAdminToken(context), undefined)
    }))
})

describe('channels and prices', () => {
  const answering: RunCheck = ({ model }) =>
    Promise.resolve({
      outcome: model === 'small-1' ? 'model_missing' : 'ok',
      durationMs: 12.4,
      status: model === 'small-1' ? 404 : 200,
    })

  it('are listed without secrets, and switched by operators', () =>
    withWorld(async ({ context }) => {
      await applyCatalogue(context, {
        text: catalogue.replace('env:NOT_SET', 'vendor-canary'),
      })
      const channels = await listChannels(context)
      assert.deepEqual(
        channels.map((channel) => [channel.name, channel.credential, channel.enabled]),
        [
          ['alpha-main', 'env:ALPHA_KEY', true],
          ['alpha-reserve', 'sealed', true],
        ],
      )
      const off = await switchChannel(context, { channel: 'alpha-main', override: 'disabled' })
      assert.equal(off.enabled, false)
      assert.equal((await listChannels(context))[0]?.enabled, false)
      await switchChannel(context, { channel: 'alpha-main', override: 'disabled' })
      await applyCatalogue(context, { text: catalogue })
      assert.equal((await listChannels(context))[0]?.enabled, false)
      await switchChannel(context, { channel: 'alpha-main', override: 'enabled' })
      const actions = await recentActions(context, {})
      assert.equal(actions.filter((one) => one.action === 'channel.off').length, 1)
      assert.doesNotMatch(JSON.stringify(actions), /canary/)
      await rejectsWith('operations.not_found', /no channel beta\. Channels: alpha-main/, () =>
        switchChannel(context, { channel: 'beta', override: 'disabled' }),
      )
    }))

  it('are checked model by model, or say why nothing can be sent', () =>
    withWorld(async ({ context }) => {
      await applyCatalogue(context, { text: catalogue })
      const check = await checkChannel(context, { channel: 'alpha-main' }, answering)
      assert.equal(check.ok, false)
      const [here] = check.results
      assert.equal(here?.gateway, null)
      assert.deepEqual(here.models, [
        { model: 'large-1', ok: true, outcome: 'ok', status: 200, duration_ms: 12 },
        { model: 'small-1', ok: false, outcome: 'model_missing', status: 404, duration_ms: 12 },
      ])
      const unset = await checkChannel(context, { channel: 'alpha-reserve' }, answering)
      assert.equal(unset.ok, false)
      assert.match(unset.results[0]?.reason ?? '', /NOT_SET/)
      await rejectsWith('operations.not_found', /no channel beta/, () =>
        checkChannel(context, { channel: 'beta' }, answering),
      )
    }))

  it('have prices with their time of validity', () =>
    withWorld(async ({ context }) => {
      await applyCatalogue(context, { text: catalogue })
      const prices = await listPrices(context)
      assert.deepEqual(
        prices.map(({ model, state, price }) => [model, state, Number(price.output)]),
        [
          ['large-1', 'in_force', 15],
          ['small-1', 'in_force', 5],
        ],
      )
    }))

  it('are checked by the doctor, which says what to do', () =>
    withWorld(async ({ context }) => {
      const empty = await diagnose(context, {}, answering)
      assert.equal(empty.ok, false)
      assert.match(JSON.stringify(empty), /turnpike apply -f/)
      assert.match(JSON.stringify(empty), /turnpike account create/)

      await applyCatalogue(context, { text: catalogue })
      await createAccount(context, { name: 'acme' })
      const partly = await diagnose(context, {}, answering)
      const messages = partly.findings.map((finding) => `${finding.status} ${finding.message}`)
      const text = messages.join('\n')
      assert.match(text, /problem The channel alpha-reserve is not served: .*NOT_SET/)
      assert.match(text, /advice Model large-1 has one enabled channel and no reserve/)
      assert.match(text, /advice Models without max_input_tokens: large-1, small-1; .* import\./)
      assert.match(text, /advice Accounts without a valid key: acme/)
      assert.match(text, /advice There is no valid admin token/)
      assert.match(text, /ok Channel alpha-main answers/)

      const unset = catalogue.replace('ALPHA_KEY', 'NOT_SET')
      await applyCatalogue(context, { text: unset })
      const unserved = JSON.stringify(await diagnose(context, {}, answering))
      assert.match(
        unserved,
        /Every channel of model large-1 is out of service \(alpha-main, alpha-reserve\)/,
      )
      assert.match(unserved, /Every channel of model small-1 is out of service \(alpha-main\)/)
      assert.doesNotMatch(unserved, /has no channel/)

      await applyCatalogue(context, { text: catalogue.replace('NOT_SET', 'ALPHA_KEY') })
      const well = await diagnose(context, {}, answering)
      assert.equal(well.ok, true, JSON.stringify(well.findings))
      const [ledger] = well.findings.filter(({ area }) => area === 'ledger')
      assert.match(
        ledger?.message ?? '',
        /^Ledger audit passed .*: 1 accounts, .* run: turnpike audit/,
      )
      assert.deepEqual(await context.database.query('SELECT * FROM audit_checkpoint'), [])
      const refused: RunCheck = () =>
        Promise.resolve({ outcome: 'config', durationMs: 1, status: 401 })
      assert.match(
        JSON.stringify(await diagnose(context, {}, refused)),
        /refuses the credential \(401\)/,
      )
      const unpaid: RunCheck = () =>
        Promise.resolve({ outcome: 'no_credit', durationMs: 1, status: 402 })
      const poor = await diagnose(context, {}, unpaid)
      assert.equal(poor.ok, false)
      assert.match(JSON.stringify(poor), /credit or spend limit at the vendor is used up \(402\)/)
      const gone: RunCheck = () =>
        Promise.resolve({ outcome: 'hard', durationMs: 1, status: undefined })
      assert.equal((await diagnose(context, {}, gone)).ok, false)
    }))
})
