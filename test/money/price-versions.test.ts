/**
 * Prices that hold from a moment on, in a gateway that is never restarted: the switch, an exchange
 * that runs across it, and an import of the community's list by the command. The clock is moved by
 * hand; 1 token at 1 USD per million costs 1,000,000 pico-dollars, written here as `M`.
 */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import type { ImportResult } from '../../src/operations/prices/import.ts'
import { openProgram, type Program } from '../support/program.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { chargesOf } from '../support/money.ts'
import { openAsk, sendAsk } from '../support/requests.ts'
import type { TestAccount } from '../support/accounts.ts'
import { scenario, type Scenario } from '../support/scenario.ts'
import { importPrices, listPrices } from '../support/operations.ts'

const M = 1_000_000n
const hourMs = 3_600_000

function priceList(inputPerToken: string): string {
  return `{"sample_spec": {"input_cost_per_token": 0},
    "large-1": {"input_cost_per_token": ${inputPerToken}, "output_cost_per_token": 1e-05,
      "litellm_provider": "someone", "mode": "chat", "input_cost_per_image": 0.004}}`
}

describe('a running gateway', () => {
  let gateway: Scenario
  let clock: ManualClock
  let account: TestAccount
  beforeEach(async () => {
    clock = new ManualClock(Date.parse('2026-11-21T12:00:00Z'))
    gateway = await scenario({ clock })
    account = await gateway.createAccount()
  })
  afterEach(() => gateway.close())

  const ask = { format: 'messages', isStream: false, sandbox: 'input=10; output=1' } as const
  const take = async (input: string, validFrom: string): Promise<ImportResult> => {
    const wanted = { text: priceList(input), valid_from: validFrom }
    const taken = await importPrices(gateway.context, wanted)
    await gateway.app.refresh()
    return taken
  }
  const charged = async (): Promise<readonly bigint[]> =>
    [...(await chargesOf(gateway.context.database, account.id)).values()].sort((left, right) =>
      Number(left - right),
    )

  test('changes its price at the given time, and an exchange keeps the prices it began with', async () => {
    assert.equal((await take('7e-06', '2026-11-21T13:00:00Z')).kind, 'applied')
    await sendAsk(gateway.url, account.key, ask)
    const running = openAsk(gateway.url, account.key, {
      ...ask,
      isStream: true,
      sandbox: 'input=11; output=1; hold=g@after_head',
    })
    await gateway.sandbox.faults.reached('g')
    clock.jumpWallTime(hourMs - 1)
    await sendAsk(gateway.url, account.key, ask)
    clock.jumpWallTime(1)
    await sendAsk(gateway.url, account.key, ask)
    gateway.sandbox.faults.release('g')
    await running.ended
    await gateway.ended(account, 4)
    const old = 10n * 3n * M + 15n * M
    assert.deepEqual(await charged(), [old, old, old + 3n * M, 10n * 7n * M + 10n * M])
  })

  test('charges speed and region by the factors that were imported', async () => {
    const text = `{"large-1": {"input_cost_per_token": 3e-06, "output_cost_per_token": 1.5e-05,
      "provider_specific_entry": {"us": 1.2, "fast": 6}}}`
    await importPrices(gateway.context, { text })
    await gateway.app.refresh()
    for (const served of ['', '; speed=fast', '; geo=us'])
      await sendAsk(gateway.url, account.key, { ...ask, sandbox: ask.sandbox + served })
    await gateway.ended(account, 3)
    const plain = 10n * 3n * M + 15n * M
    assert.deepEqual(await charged(), [plain, (plain * 12n) / 10n, plain * 6n])
  })

  test('shows each version and its state', async () => {
    await take('7e-06', '2026-11-21T13:00:00Z')
    await take('8e-06', '2026-11-22')
    const shown = async (): Promise<readonly unknown[]> =>
      (await listPrices(gateway.context))
        .filter(({ model }) => model === 'large-1')
        .map(({ state, valid_from, price }) => [state, valid_from, price.input])
    assert.deepEqual(await shown(), [
      ['in_force', null, 3],
      ['later', '2026-11-21T13:00:00.000Z', 7],
      ['later', '2026-11-22T00:00:00.000Z', 8],
    ])
    clock.jumpWallTime(hourMs)
    assert.deepEqual(
      (await shown()).map((version) => (version as readonly unknown[])[0]),
      ['past', 'in_force', 'later'],
    )
    await assert.rejects(take('9e-06', '2026-11-20'), /must not be in the past/)
  })

  test('refuses an import over what others have changed since its revision', async () => {
    const { revision } = await take('7e-06', '2026-11-22')
    await take('8e-06', '2026-11-22')
    const late = { text: priceList('9e-06'), valid_from: '2026-11-22', revision }
    await assert.rejects(importPrices(gateway.context, late), /Others have changed.*large-1/s)
    const all = await listPrices(gateway.context)
    const later = all.find(({ model, state }) => model === 'large-1' && state === 'later')
    assert.equal(later?.price.input, 8)
  })
})

describe('price import', () => {
  let program: Program
  before(async () => {
    program = await openProgram()
    await program.write(
      'catalog.yaml',
      `
models:
  large-1: { vendor: alpha, price: { input: 3, output: 15, cache_read: 0.3, speeds: { fast: { multiplier: 2 } } } }
  ours: { vendor: alpha, price: { input: 1, output: 2 } }
channels:
  main: { vendor: alpha, url: "http://127.0.0.1:9", credential: secret, models: { large-1: null, ours: theirs-2 } }
`,
    )
    await program.json('apply', '-f', 'catalog.yaml')
  })
  after(() => program.close())

  const list = (text: string): Promise<void> => writeFile(join(program.folder, 'prices.json'), text)

  test('reports that the file has no price for the catalogue', async () => {
    for (const text of [
      '{}',
      '{"theirs-9": {"input_cost_per_token": 1, "output_cost_per_token": 1}}',
    ]) {
      await list(text)
      const { code, out } = await program.run('price', 'import', 'prices.json')
      assert.equal(code, 0)
      assert.equal(
        out,
        'note: large-1 is not in the list; it stays\nnote: ours is not in the list; it stays\n' +
          'Nothing changed: the list has no prices for these models.\n',
      )
    }
  })

  test('shows the changes in a dry run, then applies them once', async () => {
    await list(priceList('2.5e-06'))
    const before = await program.json<unknown>('price', 'list')
    const dry = await program.run('price', 'import', 'prices.json', '--dry-run')
    assert.match(
      dry.out,
      /~ large-1 from .*\n {4}dated: – → true\n {4}price\.input: 3 → 2\.5\n {4}price\.output: 15 → 10/,
    )
    assert.match(dry.out, /price\.cache_read: 0\.3 → –/)
    assert.match(dry.out, /note: cache_read has no price in the list/)
    assert.match(dry.out, /not priced: input_cost_per_image 0\.004/)
    assert.match(dry.out, /note: ours is not in the list; it stays/)
    assert.deepEqual(await program.json<unknown>('price', 'list'), before)

    const done = await program.json<{ kind: string }>('price', 'import', 'prices.json')
    assert.equal(done.kind, 'applied')
    const again = await program.json<{ kind: string }>('price', 'import', 'prices.json')
    assert.equal(again.kind, 'unchanged')
    const versions = await program.json<readonly { model: string; state: string; price: object }[]>(
      'price',
      'list',
    )
    const inForce = versions.find(({ model, state }) => model === 'large-1' && state === 'in_force')
    assert.deepEqual(inForce?.price, {
      input: 2.5,
      output: 10,
      speeds: { fast: { multiplier: 2 } },
    })
  })

  test('replaces the imported factors and keeps the others', async () => {
    await list(`{"large-1": {"input_cost_per_token": 2.5e-06, "output_cost_per_token": 1e-05,
      "provider_specific_entry": {"us": 1.1}, "regional_processing_uplift_multiplier_eu": 1.1}}`)
    const dry = await program.run('price', 'import', 'prices.json', '--dry-run')
    assert.match(dry.out, /price\.geos\.us\.multiplier: – → 1\.1/)
    assert.doesNotMatch(dry.out, /speeds/)
    assert.match(dry.out, /not priced: regional_processing_uplift_multiplier_eu 1\.1/)
  })

  test("finds a model by its channels' name or by the given name", async () => {
    const entry = '{"input_cost_per_token": 1e-07, "output_cost_per_token": 2e-06}'
    await list(`{"theirs-2": ${entry}, "third": ${entry}}`)
    type Taken = { readonly models: readonly { model: string; listed_as: string }[] }
    const names = async (...words: readonly string[]): Promise<readonly string[]> =>
      (
        await program.json<Taken>('price', 'import', 'prices.json', '--dry-run', ...words)
      ).models.map(({ model, listed_as }) => `${model} ${listed_as}`)
    assert.deepEqual(await names(), ['ours theirs-2'])
    assert.deepEqual(await names('--map', 'large-1=third', '--models', 'large-1'), [
      'large-1 third',
    ])
    const wrong = await program.run('price', 'import', 'prices.json', '--map', 'large-1=nobody')
    assert.equal(wrong.code, 2)
  })

  test('takes how many tokens a model reads, without a new version of equal prices', async () => {
    const entry = (limit: string): string =>
      `{"ours": {"input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06, ${limit}}}`
    const taken = async (limit: string): Promise<string> => {
      await list(entry(limit))
      return (await program.run('price', 'import', 'prices.json')).out
    }
    const before = await program.json<unknown>('price', 'list')
    assert.match(await taken('"max_input_tokens": 1000000'), /max_input_tokens: – → 1000000/)
    assert.match((await program.run('export')).out, /max_input_tokens: 1000000/)
    for (const none of ['"max_tokens": 5', '"max_input_tokens": "many"', '"max_input_tokens": 0'])
      assert.match(await taken(none), /Nothing changed/)
    assert.match(await taken('"max_input_tokens": 2e5'), /max_input_tokens: 1000000 → 200000/)
    assert.deepEqual(await program.json<unknown>('price', 'list'), before)
  })

  test('fills in what the list knows of a model, and leaves what the operator has set', async () => {
    const models = (fields: string): string => `
models:
  new-1: { vendor: beta, price: { input: 1, output: 2 } }
  set-1: { vendor: beta, ${fields}, price: { input: 1, output: 2 } }
`
    const set = 'max_output_tokens: 4096, image_tokens: 900, dated: false, thinks: false'
    await program.write('filled.yaml', models(set))
    await program.json('apply', '-f', 'filled.yaml')
    const entry = `{"litellm_provider": "someone",
      "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06,
      "max_input_tokens": 272000, "max_output_tokens": 128000, "supports_reasoning": true}`
    await list(`{"new-1": ${entry}, "set-1": ${entry}}`)
    const dry = await program.run('price', 'import', 'prices.json', '--dry-run')
    const filled = `~ new-1 from .*
    max_output_tokens: – → 128000
    max_input_tokens: – → 272000
    dated: – → true
    thinks: – → true
~ set-1 from .*
    max_input_tokens: – → 272000
    note: max_output_tokens stays as it is; the list has 128000
`
    assert.match(dry.out, new RegExp(`^${filled}Dry run: nothing changed\\.\\n$`))
    const versions = await program.json<unknown>('price', 'list')
    await program.json('price', 'import', 'prices.json')
    assert.deepEqual(await program.json<unknown>('price', 'list'), versions)

    // A file that was written before the import does not undo it.
    assert.equal((await program.json('apply', '-f', 'filled.yaml'))['kind'], 'unchanged')
    const exported = (await program.run('export')).out
    const numbers = 'max_output_tokens: 128000\n    max_input_tokens: 272000'
    assert.ok(exported.includes(`${numbers}\n    dated: true\n    thinks: true\n`))
    await program.write('filled.yaml', models('max_output_tokens: 8192, dated: true'))
    const { diff } = await program.json<{ diff: readonly { changes: object[] }[] }>(
      'apply',
      '-f',
      'filled.yaml',
    )
    assert.deepEqual(
      diff.map(({ changes }) => changes),
      [
        [
          { field: 'max_output_tokens', from: '4096', to: '8192' },
          { field: 'image_tokens', from: '900' },
          { field: 'dated', from: 'false', to: 'true' },
        ],
      ],
    )
  })

  test('a model with a dated model beside it is not dated', async () => {
    await program.write(
      'editions.yaml',
      `
models:
  e-1: { vendor: beta, price: { input: 1, output: 2 } }
  e-1-20260115: { vendor: beta, price: { input: 1, output: 2 } }
`,
    )
    await program.json('apply', '-f', 'editions.yaml')
    const entry =
      '{"litellm_provider": "someone", "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06}'
    await list(`{"e-1": ${entry}, "e-1-20260115": ${entry}}`)
    assert.match((await program.run('price', 'import', 'prices.json')).out, /Nothing changed/)
  })

  test('takes a model that makes embeddings without a price for output', async () => {
    await program.write(
      'embeddings.yaml',
      `
models:
  e: { vendor: beta, price: { input: 1, output: 2, tiers: { flex: { input: 1, output: 1 }, batch: { multiplier: 0.5 } } } }
  m: { vendor: alpha, price: { input: 1, output: 2 } }
`,
    )
    await program.json('apply', '-f', 'embeddings.yaml')
    const entry = '"input_cost_per_token": 2e-08, "output_cost_per_token": 0.0, "mode": "embedding"'
    await list(`{"e": {${entry}}}`)
    const done = await program.run('price', 'import', 'prices.json')
    assert.match(done.out, /price\.output: 2 → –/)
    assert.match(done.out, /note: flex loses its prices, .* the price of output/)
    assert.match(done.out, /note: output has no price; the model then serves embeddings only/)
    const exported = (await program.run('export')).out
    assert.match(exported, /price:\n +input: 0\.02\n +tiers:\n +batch:\n +multiplier: 0\.5\n/)
    await list(`{"m": {${entry}}}`)
    const refused = await program.run('price', 'import', 'prices.json')
    assert.equal(refused.code, 1)
    assert.match(refused.error, /m: the mode embedding is not one of the messages format/)
    await program.json('apply', '-f', 'catalog.yaml')
  })

  test('imports nothing where one price is invalid, and names it', async () => {
    await list(priceList('2.5e-13'))
    const before = await program.json<unknown>('price', 'list')
    const refused = await program.run('price', 'import', 'prices.json')
    assert.equal(refused.code, 1)
    assert.match(refused.error, /large-1: input_cost_per_token 2\.5e-13 is not a whole number/)
    assert.deepEqual(await program.json<unknown>('price', 'list'), before)
  })
})
