/** The search over accounts, keys, requests, channels and models, over both stores. */
/* oxlint-disable typescript/no-floating-promises -- the test runner waits for its tests by itself */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { contextOn } from '../../src/operations/context.ts'
import type { OperationContext } from '../../src/operations/operation.ts'
import { Secret } from '../../src/base/secret.ts'
import { saveFreeExchanges } from '../../src/ledger/free-exchange-store.ts'
import {
  applyCatalogue,
  changeAccount,
  createAdminToken,
  createClientKey,
  revokeKey,
  search,
} from '../support/operations.ts'
import {
  freeExchange,
  holdRequest,
  makeAccount,
  mustPlace,
  recordOf,
  type LedgerHarness,
} from './ledger-harness.ts'

const catalogue = `
vendors:
  alpha: { format: messages, credential: x-api-key }
models:
  north-large: { vendor: alpha, max_output_tokens: 100, price: { input: 1, output: 2 } }
channels:
  alpha-north: { vendor: alpha, url: 'https://vendor.example', credential: 'env:A', models: [north-large] }
`

export function describeSearch(name: string, open: () => Promise<LedgerHarness>): void {
  describe(name, () => {
    let harness: LedgerHarness
    let context: OperationContext
    beforeEach(async () => {
      harness = await open()
      context = contextOn(harness.database, {
        actor: 'test',
        clock: harness.clock,
        masterKey: () => new Secret('5'.repeat(64)),
        environment: () => 'a-credential',
      })
    })
    afterEach(() => harness.close())

    const named = async (accountName: string, externalId = ''): Promise<string> => {
      const id = await makeAccount(harness, { balancePicos: 100n })
      const profile = externalId === '' ? {} : { external_id: externalId }
      await changeAccount(context, { account: id, name: accountName, ...profile })
      return id
    }
    /** Kinds and names, in order. */
    const found = async (text: string): Promise<readonly string[]> =>
      (await search(context, { text })).items.map((hit) => `${hit.kind} ${hit.name}`)

    it('finds what has the name, begins with it, or has it somewhere, in this order', async () => {
      await named('Far-North')
      await named('north')
      await named('Northwind')
      await named('south')
      await createClientKey(context, { account: 'south', name: 'northern' })
      await applyCatalogue(context, { text: catalogue })
      assert.deepEqual(await found('nORTH'), [
        'account north',
        'account Northwind',
        'key northern',
        'model north-large',
        'account Far-North',
        'channel alpha-north',
      ])
      assert.deepEqual(await found('n%'), [])
      assert.deepEqual(await found('   '), [])
    })

    it('finds everything by its id, and an account by its external id', async () => {
      const id = await named('acme', 'crm-17')
      const { key } = await createClientKey(context, { account: 'acme', name: 'ci' })
      assert.deepEqual(await found(id), ['account acme'])
      assert.deepEqual(await found('crm-17'), ['account acme'])
      assert.deepEqual(await found(key.id), ['key ci'])
    })

    it("finds a request by the gateway's id and by the vendor's, charged or not", async () => {
      const accountId = await named('acme')
      await harness.ledger.refresh()
      const hold = await mustPlace(harness.ledger, holdRequest(harness, accountId, 5n))
      const facts = { endedAtMs: harness.clock.now(), model: 'large-1' }
      await harness.ledger.settle(
        hold,
        recordOf(hold, 5n, { ...facts, vendorRequestId: 'req_vendor-1' }),
      )
      const refused = freeExchange(accountId, harness.clock.now())
      await saveFreeExchanges(harness.database, [refused])
      for (const text of [hold.exchangeId, ' req_vendor-1 ']) {
        const { items } = await search(context, { text })
        assert.deepEqual(items, [
          {
            kind: 'request',
            id: hold.exchangeId,
            name: 'large-1',
            account_name: 'acme',
            detail: 'completed',
            state: null,
          },
        ])
      }
      const [hit] = (await search(context, { text: refused.exchangeId })).items
      assert.equal(hit?.id, refused.exchangeId)
    })

    it('finds a key by its head and by its whole secret, in any state', async () => {
      await named('acme')
      const { key, secret } = await createClientKey(context, { account: 'acme' })
      await createClientKey(context, { account: 'acme', name: 'other' })
      await revokeKey(context, { kind: 'client', id: key.id })
      for (const text of [key.head, secret.slice(0, 7), secret.slice(0, 30), secret]) {
        const { items } = await search(context, { text })
        assert.deepEqual(
          items,
          [
            {
              kind: 'key',
              id: key.id,
              name: key.head,
              account_name: 'acme',
              detail: key.head,
              state: 'revoked',
            },
          ],
          text.slice(0, 7),
        )
      }
      assert.deepEqual(await found('cr_'), [])
      const admin = await createAdminToken(context, { name: 'on-call' })
      assert.deepEqual(await found(admin.secret), ['key on-call'])
    })

    it('answers a few of each kind', async () => {
      for (let index = 0; index < 9; index++) await named(`acme-${index}`)
      for (let index = 0; index < 9; index++)
        await createClientKey(context, { account: 'acme-1', name: `acme-${index}` })
      const names = await found('acme')
      assert.equal(names.filter((hit) => hit.startsWith('account')).length, 6)
      assert.equal(names.filter((hit) => hit.startsWith('key')).length, 6)
    })
  })
}
