/**
 * Every command and every piece of configuration in README.md and docs/ is run or checked by a test, or its
 * page says that it is not. Lines with `./bin/turnpike` and `npm` are those of documented-commands.test.ts;
 * for the rest, `proofs` names the test.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadConfig } from '../src/settings/read.ts'
import type { Notice } from '../src/operations/alerts/alert-kind.ts'
import { atTarget } from '../src/operations/alerts/delivery-store.ts'
import { webhookBody } from '../src/operations/alerts/message.ts'
import { memberSessionForm } from '../src/operations/members/member-sessions.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** By page, or by a folder of pages. Each test names its page. */
const proofs: Readonly<Record<string, string>> = {
  'docs/admin-api.md': 'test/api/documented-curl.test.ts',
  'docs/usage-api.md': 'test/api/documented-curl.test.ts',
  'docs/catalogue.md': 'test/storage/catalogue.test.ts',
  'docs/clients/': 'test/client-pages.test.ts',
  'docs/deploy-container.md': 'test/deploy/compose.test.ts',
  'docs/deploy-kubernetes.md': 'test/deploy/helm.long.test.ts',
  'docs/deploy-systemd.md': 'test/deploy/systemd.test.ts',
  'docs/first-hour.md': 'test/clients/first-hour.long.test.ts',
  'docs/money.md': 'test/documentation.test.ts',
  'docs/observability.md': 'test/observability/named-metrics.test.ts',
  'docs/operating.md': 'test/money/backup-on-postgres.test.ts',
  'docs/verify.md': 'test/money/verify.test.ts',
  'docs/tasks/another-machine.md': 'test/commands/documented-tasks.test.ts',
  'docs/tasks/self-service.md': 'test/documented-samples.test.ts',
  'docs/account-page.md': 'test/documented-samples.test.ts',
  'docs/alerts.md': 'test/documented-samples.test.ts',
  'docs/browsers.md': 'test/documented-samples.test.ts',
  'docs/configuration.md': 'test/documented-samples.test.ts',
  'docs/console.md': 'test/documented-samples.test.ts',
  'docs/deploy-proxy.md': 'test/documented-samples.test.ts',
  'docs/members.md': 'test/documented-samples.test.ts',
}

const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]

interface Sample {
  readonly language: string
  readonly text: string
}

function samplesOf(page: string): readonly Sample[] {
  const blocks = read(page).matchAll(/^ *```(sh|yaml|json|toml|xml|ini)\n(.*?)^ *```/gms)
  return [...blocks].map(([, language = '', text = '']) => ({ language, text }))
}

/** Returns true where documented-commands.test.ts runs each line, or finds its script. */
function isOwnCommands({ language, text }: Sample): boolean {
  const lines = text.split('\n').filter((line) => line !== '')
  return (
    language === 'sh' &&
    lines.every((line) => /^(\.\/bin\/turnpike|npm (run|start|test)\b)/.test(line))
  )
}

function proofOf(page: string): string | undefined {
  return Object.entries(proofs).find(([place]) => page.startsWith(place))?.[1]
}

test('every sample on a page is run, and the test says so', () => {
  const withOthers = pages.filter((page) => !samplesOf(page).every(isOwnCommands))
  for (const page of withOthers) {
    const proof = proofOf(page) ?? assert.fail(`${page} has samples that no test runs`)
    const name = page.startsWith('docs/clients/') ? 'docs/clients' : page.replace('docs/', '')
    assert.ok(read(proof).includes(name), `${proof} does not name ${page}`)
  }
  const places = Object.keys(proofs)
  const isNeeded = (place: string): boolean => withOthers.some((page) => page.startsWith(place))
  assert.deepEqual(
    places.filter((place) => !isNeeded(place)),
    [],
  )
})

test('the settings that pages show are valid', () => {
  for (const page of [
    'docs/account-page.md',
    'docs/browsers.md',
    'docs/configuration.md',
    'docs/console.md',
    'docs/deploy-proxy.md',
    'docs/members.md',
    'docs/tasks/self-service.md',
  ]) {
    const samples = samplesOf(page).filter(({ language }) => language === 'yaml')
    assert.ok(samples.length > 0, page)
    for (const { text } of samples) {
      const cwd = mkdtempSync(join(tmpdir(), 'turnpike-sample-'))
      writeFileSync(join(cwd, 'turnpike.yaml'), text)
      const loaded = loadConfig({ options: {}, env: {}, cwd })
      rmSync(cwd, { recursive: true })
      assert.equal(loaded.kind, 'config', `${page}\n${text}\n${JSON.stringify(loaded)}`)
    }
  }
})

test('the session in docs/members.md has the form of a real one', () => {
  const [sample] = samplesOf('docs/members.md').filter(({ language }) => language === 'json')
  memberSessionForm.parse(JSON.parse(sample?.text ?? ''))
})

test('the message of an alert in docs/alerts.md has the fields of a real one', () => {
  const [sample] = samplesOf('docs/alerts.md').filter(({ language }) => language === 'json')
  const shown = JSON.parse(sample?.text ?? '') as Message
  const kind = 'account.balance_low'
  const notice: Notice = {
    alertId: shown.data['id'] ?? '',
    event: 'firing',
    type: kind,
    severity: 'warning',
    condition: {
      kind,
      subject: shown.data['subject'] ?? '',
      title: shown.data['title'] ?? '',
      text: shown.data['text'] ?? '',
      facts: { account: 'acme', balance_usd: '4.2', alert_below_usd: '5' },
    },
    includes: ['Balance of acme lasts about 9 h'],
    firedAtMs: Date.parse(shown.data['fired_at'] ?? ''),
    atMs: Date.parse(shown.timestamp),
  }
  const id = shown.data['message_id'] ?? ''
  const body = webhookBody({ id, ...atTarget, notice, region: 'eu-1' })
  assert.deepEqual(JSON.parse(body), shown)
})

interface Message {
  readonly timestamp: string
  readonly data: Readonly<Record<string, string>>
}
