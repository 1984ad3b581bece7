/**
 * Every command that can work through the admin API does so with the output and the exit code that it has on
 * the store. One script of lines runs both ways; two-ways-on-postgres.long.test.ts runs it on PostgreSQL.
 */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { answers, startReceiver, type Receiver } from '../alerts/harness.ts'
import { smallCatalogue } from '../support/catalogues.ts'
import { newFolder, run } from '../support/command-line.ts'
import { isOnPostgres } from '../support/test-store.ts'
import { startTwoWays, type TwoWays } from '../support/two-ways.ts'

/** Commands of this host. */
const localOnly = new Set([
  'serve',
  'start',
  'init',
  'sandbox',
  'migrate',
  'restore',
  'store copy',
  'verify',
  'completion',
  'console',
  'help',
])

const prices = JSON.stringify({
  'large-1': { input_cost_per_token: 0.000004, output_cost_per_token: 0.00002 },
})

let ways: TwoWays
let receiver: Receiver
const typed = new Set<string>()

before(async () => {
  receiver = await startReceiver()
  ways = await startTwoWays((sandboxUrl) => ({
    // The gateways would send their regular checks at different times.
    'catalog.yaml': smallCatalogue(sandboxUrl).replace('[large-1]', '[large-1], check: none'),
    'wrong.yaml': 'vendors:\n  alpha: { format: letters }\nmodles: {}\n',
    'prices.json': prices,
    'new-key.txt': 'another-vendor-canary\n',
    'stripe.csv': 'payment_intent_id,reporting_category,currency,gross\npi_1,charge,usd,5\n',
    'counts.csv': 'model,requests,input,output\nlarge-1,100,9,9\n',
  }))
})

after(async () => {
  await ways.close()
  await receiver.close()
})

/**
 * Runs a line both ways, as text and as JSON. The text is made of the JSON's fields, whose types may differ
 * between stores, so on PostgreSQL the JSON is enough.
 */
async function both(line: string, options?: { readonly isMeasured?: boolean }): Promise<void> {
  typed.add(line)
  if (!isOnPostgres()) await ways.same(line, options)
  await ways.same(`${line} --json`, options)
}

async function once(line: string, expectedCode = 0): Promise<void> {
  typed.add(line)
  const { code, error } = await ways.same(line)
  assert.equal(code, expectedCode, `${line}: ${error}`)
}

// First: a gateway makes a key by itself when it seals the first hour that has entries.
it('keys that sign the books', async () => {
  await both('signing-key list')
  await once('signing-key rotate')
  await once('signing-key rotate --json')
  await both('signing-key list')
})

it('catalogue and prices', async () => {
  await once('export')
  await both('apply -f catalog.yaml --dry-run')
  await once('apply -f catalog.yaml')
  await once('apply -f catalog.yaml --json')
  await both('apply -f wrong.yaml')
  await both('export')
  await both('price list')
  await both('price import prices.json --dry-run')
  await once('price import prices.json --json')
  await once('price import prices.json')
  await both('price import catalog.yaml')
})

it('accounts, keys and tokens', async () => {
  await both('account list')
  await once('account create acme --balance 25 --daily 5 --rpm 60')
  await once('account create acme', 1)
  await once('account create north --balance much', 2)
  await once('account create north --json')
  await both('account list')
  await both('account show acme')
  await both('account show nowhere')
  await both('account show')
  await once('account limits acme --daily 4 --multiplier 0.9')
  await once('account limits acme --rpm many', 2)
  await once('account edit north --name south --contact ops@south.example')
  await once('account credit acme 5 --reference bank-1')
  await once('account credit acme 5 --reference bank-1 --json')
  await once('account credit acme 6 --reference bank-1', 1)
  await once('account credit acme -3 --reference bank-2', 2)
  await once('account credit acme -3 --reference bank-2 --yes')
  await once('account suspend south')
  await once('account resume south --json')
  await ways.keep('key', 'key create acme --name ci --models large-1 --daily 2', 'key')
  await ways.keep('keyId', 'key create acme --ip 192.0.2.0/24', 'id')
  await once('key create acme --expires 2099-12-31')
  await once('key create acme --models nonsense --json', 2)
  await both('key list acme')
  await both('key list nowhere')
  await once('key edit {keyId} --name build --daily 3 --json')
  await once('key edit {keyId} --rpm many', 2)
  await both('key find cr_')
  await both('key find {key}')
  await both('key find acme')
  await both('key show {keyId}')
  await both('key show key_00000000000000000000000000')
  await once('key rotate key_00000000000000000000000000', 1)
  await once('key revoke {keyId}')
  await once('key revoke key_00000000000000000000000000', 1)
  await ways.keep('tokenId', 'token create acme --name accounting', 'id')
  await once('token create acme')
  await both('token list acme')
  await once('token revoke {tokenId} --json')
  await ways.keep('adminId', 'admin-token create --name console', 'id')
  await once('admin-token create')
  await both('admin-token list')
  await once('admin-token revoke {adminId}')
})

it('channels, and what has been served', async () => {
  assert.equal(await ways.ask('key', 'exchange'), 200)
  await both('usage acme')
  await both('usage acme --period total')
  await both('usage acme --period year')
  await both('account statement acme')
  await both('account statement acme --from 2026-01-01 --csv')
  await both('account statement acme --last 1')
  await both('account statement acme --from 2027-01-02 --to 2027-01-01')
  await both('account statement nowhere')
  await once('account refund {exchange} --usd 99', 2)
  await once('account refund {exchange} --usd 0.0001 --reason promised')
  await once('account refund {exchange} --json', 1)
  await once('account refund ex_00000000000000000000000000', 1)
  await both('account statement acme')
  await once('account close south')
  await once('account reopen south --json')
  await both('request list --account acme', { isMeasured: true })
  await both('request show {exchange}', { isMeasured: true })
  await both('request show ex_00000000000000000000000000')
  await both('report --by model --account acme', { isMeasured: true })
  await both('report --by day,model --largest 1 --largest-by tokens', { isMeasured: true })
  await both('report --by day,account --account acme --csv', { isMeasured: true })
  await both('cache list', { isMeasured: true })
  await ways.until('channel list --json', /"last_ok_at": "20/)
  await both('channel list', { isMeasured: true })
  await both('channel show alpha-main', { isMeasured: true })
  await both('channel show nowhere')
  await both('channel check alpha-main', { isMeasured: true })
  await both('channel test alpha-main', { isMeasured: true })
  await once('channel test nowhere', 1)
  await both('channel models alpha-main', { isMeasured: true })
  await both('channel restore-credential alpha-main')
  await both('channel credential alpha-main -f new-key.txt', { isMeasured: true })
  await both('channel restore-credential alpha-main', { isMeasured: true })
  await once('channel off alpha-main')
  await once('channel on alpha-main --json')
  await once('channel off nowhere', 1)
  await both('channel history alpha-main', { isMeasured: true })
  await both('channel history alpha-main --limit 1', { isMeasured: true })
  await both('channel history alpha-main --limit 0')
  const period = '--from 2026-01-01 --to 2099-01-01'
  await both(`channel reconcile alpha-main ${period}`, { isMeasured: true })
  await both(`channel reconcile all ${period} --vendor-file counts.csv`, { isMeasured: true })
  await both(`channel reconcile all ${period} --vendor-file wrong.yaml`)
  // As text it has a column for the name of who acted, which only a token has.
  await ways.same('channel reconciliations --json', { isMeasured: true })
  typed.add('channel reconciliations')
  await once('channel accept rec_00000000000000000000000000 --note agreed', 1)
})

it('top-up codes', async () => {
  await both('code list')
  await ways.keep('batchId', 'code create --usd 5 --count 2 --note fair', 'id')
  await once('code create --usd 5')
  await once('code create --usd -1', 2)
  await both('code list', { isMeasured: true })
  await both('code show {batchId}', { isMeasured: true })
  await once('code revoke {batchId}')
  await both('code revoke batch_00000000000000000000000000')
})

it('members', async () => {
  // These gateways have no mail server.
  await once('member invite acme ann@customer.example', 1)
  await once('member invite acme nobody', 2)
  await both('member list acme')
  await once('member edit mem_00000000000000000000000000 --role owner', 1)
  await once('member remove mem_00000000000000000000000000 --keys keep', 1)
})

it('payments', async () => {
  await both('payment compare stripe.csv')
  await both('payment compare wrong.yaml')
})

it('notes', async () => {
  await both('note add "asks for an invoice" --account acme', { isMeasured: true })
  await once('note add "no thing is named"', 2)
  await both('note list --account acme', { isMeasured: true })
  await both('note list --channel nowhere')
  await once('note delete note_00000000000000000000000000', 1)
})

it('alerts', async () => {
  await once('alert create pager --webhook https://hooks.invalid/alerts --severity critical')
  await once('alert create ops --slack https://chat.invalid/hooks/1 --json')
  await once('alert create pager --slack https://chat.invalid/hooks/1', 1)
  await once('alert create nothing', 2)
  await both('alert list')
  await once('alert delete ops')
  await both('alert firing', { isMeasured: true })
  await both('alert firing --account acme', { isMeasured: true })
  await once('alert ack alr_00000000000000000000000000', 1)
  await once('alert snooze alr_00000000000000000000000000 --for 4h', 1)
  await once('alert snooze alr_00000000000000000000000000 --for soon', 2)
  await once('alert test nowhere', 1)
  await ways.same('alert test pager', { isMeasured: true })
  typed.add('alert test pager')
  await once(`alert create well --webhook ${receiver.url}`)
  await once('alert test well')
  receiver.behave(answers(500))
  await once('alert test well', 1)
  await both('alert log', { isMeasured: true })
})

it('the store as a whole', async () => {
  await both('doctor', { isMeasured: true })
  await both('audit', { isMeasured: true })
  await ways.keep('auditId', 'audit', 'id')
  await both('audit show {auditId}', { isMeasured: true })
  await once('audit show aud_00000000000000000000000000', 1)
  await both('audit list --count 0')
  await both('actions', { isMeasured: true })
  await both('actions --count 3', { isMeasured: true })
  await both('actions --account acme --action key', { isMeasured: true })
  await both('account list --sort balance --low', { isMeasured: true })
  await both('settings', { isMeasured: true })
  await both('nodes', { isMeasured: true })
  await both('backups')
  // One file each; on PostgreSQL both lines are refused.
  typed.add('backup copies/one.db')
  const { code, error } = await ways.same('backup copies/one.db', { isMeasured: true })
  assert.equal(code, error.includes('The store is on PostgreSQL.') ? 1 : 0, error)
  await ways.same('backup copies/two.db --json', { isMeasured: true })
  await both('backup copies/one.db')
})

it('no command is left out', async () => {
  const folder = newFolder()
  const candidates = async (...words: readonly string[]): Promise<readonly string[]> => {
    const { out } = await run(folder, ['complete-words', '--', ...words, ''])
    return out.split('\n').flatMap((line) => line.split('\t')[0] || [])
  }
  const commands: string[] = []
  for (const name of await candidates()) {
    const inner = (await candidates(name)).filter((word) => /^[a-z]/.test(word) && word !== 'help')
    const { out } = await run(folder, [name, '--help'])
    const isGroup = /^Commands:/m.test(out)
    commands.push(...(isGroup ? inner.map((word) => `${name} ${word}`) : [name]))
  }
  assert.ok(commands.length > 30)
  const isTyped = (name: string): boolean =>
    [...typed].some((line) => `${line} `.startsWith(`${name} `))
  assert.deepEqual(
    commands.filter((name) => !localOnly.has(name) && !isTyped(name)),
    [],
  )
})
