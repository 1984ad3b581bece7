/**
 * Dashboards, alert rules and pages name only metrics, labels and label values that a gateway shows. Four
 * places are compared: deploy/grafana, deploy/prometheus, docs/ and a live scrape.
 */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { globSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { parse } from 'yaml'
import { OwnCookies } from '../../src/api/member/own-page.ts'
import { plainCookie } from '../../src/api/admin/session-cookie.ts'
import { type Scenario, scenario } from '../support/scenario.ts'
import { runPromtool } from './promtool.ts'
import { doOfEverything, openScraper, readScrape, type ScrapedMetric } from './scrape.ts'

const root = join(import.meta.dirname, '..', '..')
const rulesPath = join(root, 'deploy/prometheus/alerts.yml')
const dashboards = globSync('deploy/grafana/dashboards/*.json', { cwd: root })
const pages = ['README.md', ...globSync('docs/*.md', { cwd: root })]

/** Labels that Prometheus adds, that a histogram has, or that tell several processes apart. */
const addedLabels = ['instance', 'job', 'le', 'process']

interface Named {
  readonly place: string
  readonly expression: string
}

interface Panel {
  readonly title: string
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[]
}

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[]
  }[]
}

const panels = dashboards.flatMap((path) => {
  const dashboard = JSON.parse(readFileSync(join(root, path), 'utf8')) as {
    readonly panels: readonly Panel[]
  }
  return dashboard.panels.map((panel) => ({ ...panel, place: `${path}: ${panel.title}` }))
})
const alerts = (parse(readFileSync(rulesPath, 'utf8')) as Rules).groups.flatMap(
  ({ rules }) => rules,
)
const expressions: readonly Named[] = [
  ...panels.flatMap(({ place, targets }) =>
    targets.map(({ expr }) => ({ place, expression: plain(expr) })),
  ),
  ...alerts.map(({ alert, expr }) => ({ place: alert, expression: expr })),
]

/** What Grafana would send. */
function plain(expression: string): string {
  return expression.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*')
}

let gateway: Scenario
let live: ReadonlyMap<string, ScrapedMetric>
/** By metric: those of a scrape, and those that are declared but have no series yet. */
let labels: ReadonlyMap<string, ReadonlySet<string>>
before(async () => {
  gateway = await scenario({ account: { balance_usd: '10' } })
  await doOfEverything(gateway)
  const scrape = await openScraper(gateway)
  live = readScrape(await scrape())
  labels = new Map(
    [...live].map(([name, metric]) => [name, new Set([...metric.labels, ...declared(name)])]),
  )
})
after(() => gateway.close())

const metricsPage = readFileSync(join(root, 'docs/metrics.md'), 'utf8')

/** The labels that docs/metrics.md lists; another test compares that page with the program. */
function declared(series: string): readonly string[] {
  const name = series.replace(/_(?:bucket|sum|count)$/, '')
  const row = new RegExp(`^\\| \`(?:${series}|${name})\` +\\| \\w+ +\\|([^|]*)\\|`, 'm').exec(
    metricsPage,
  )
  return [...(row?.[1] ?? '').matchAll(/`(\w+)`/g)].map(([, label = '']) => label)
}

function metricsIn(text: string): readonly string[] {
  return [...new Set([...text.matchAll(/\bturnpike_[a-z0-9_]+/g)].map(([name]) => name))]
}

test('every metric of dashboards and rules is in a live scrape', () => {
  assert.ok(expressions.length > 60, String(expressions.length))
  const unknown = expressions.flatMap(({ place, expression }) =>
    metricsIn(expression)
      .filter((name) => !live.has(name))
      .map((name) => `${place}: ${name}`),
  )
  assert.deepEqual(unknown, [])
})

test('every label of a selector, a grouping or a legend belongs to a metric of its expression', () => {
  const complaints: string[] = []
  for (const { place, expression } of expressions) {
    for (const [, name = '', selector = ''] of expression.matchAll(/(turnpike_\w+)\{([^}]*)\}/g))
      for (const [, label = ''] of selector.matchAll(/(\w+)(?:=~?|!=|!~)"/g))
        if (!isLabelOf([name], label)) complaints.push(`${place}: ${name}{${label}}`)
    const names = metricsIn(expression)
    for (const [, list = ''] of expression.matchAll(/\b(?:by|on) \(([^)]*)\)/g))
      for (const label of list.split(',').map((one) => one.trim()))
        if (!isLabelOf(names, label)) complaints.push(`${place}: by (${label})`)
  }
  for (const { place, targets } of panels)
    for (const { expr, legendFormat } of targets)
      for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
        if (!isLabelOf(metricsIn(expr), label)) complaints.push(`${place}: legend ${label}`)
  assert.deepEqual(complaints, [])
})

function isLabelOf(names: readonly string[], label: string): boolean {
  return addedLabels.includes(label) || names.some((name) => labels.get(name)?.has(label))
}

test('every label value of a selector is a word of the program', () => {
  const sources = globSync('src/**/*.ts', { cwd: root })
    .filter((path) => !path.endsWith('.test.ts'))
    .map((path) => readFileSync(join(root, path), 'utf8'))
    .join('\n')
  const values = expressions.flatMap(({ expression }) =>
    [...expression.matchAll(/turnpike_\w+\{([^}]*)\}/g)].flatMap(([, selector = '']) =>
      [...selector.matchAll(/\w+(?:=~?|!=)"([^"]*)"/g)].flatMap(([, text = '']) => text.split('|')),
    ),
  )
  const words = new Set(values.filter((value) => value !== '.*'))
  assert.ok(words.size > 8)
  assert.deepEqual(
    [...words].filter((word) => !sources.includes(`'${word}'`)),
    [],
  )
})

test('every metric that a page names is in a live scrape', () => {
  /** Names of other things that begin in the same way. */
  const [memberCookie = ''] = new OwnCookies('http://127.0.0.1').print('session', '').split('=')
  const others = new Set(['turnpike_request_id', plainCookie, memberCookie])
  const unknown = pages.flatMap((path) => {
    const text = readFileSync(join(root, path), 'utf8')
    return [...text.matchAll(/`(turnpike_[a-z0-9_]+)/g)]
      .map(([, name = '']) => name)
      .filter((name) => !others.has(name) && !live.has(name) && !live.has(`${name}_count`))
      .map((name) => `${path}: ${name}`)
  })
  assert.deepEqual(unknown, [])
})

test('promtool accepts the alert rules and the expressions of the dashboards', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'turnpike-rules-'))
  try {
    const path = join(folder, 'dashboards.yml')
    const rules = panels.flatMap(({ targets }, panel) =>
      targets.map(({ expr }, index) => ({ record: `panel:${panel}:${index}`, expr: plain(expr) })),
    )
    await writeFile(path, JSON.stringify({ groups: [{ name: 'dashboards', rules }] }))
    const { code, output } = await runPromtool(['check', 'rules', rulesPath, path])
    assert.equal(code, 0, output)
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('Prometheus accepts the configuration that docs/observability.md shows', async () => {
  const page = readFileSync(join(root, 'docs/observability.md'), 'utf8')
  const [, sample = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? []
  assert.match(sample, /job_name: turnpike/)
  const folder = await mkdtemp(join(tmpdir(), 'turnpike-prometheus-'))
  try {
    const path = join(folder, 'prometheus.yml')
    await writeFile(path, sample)
    const { code, output } = await runPromtool(['check', 'config', '--syntax-only', path])
    assert.equal(code, 0, output)
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('each alert fires on its cause, and none on a gateway that is well', async () => {
  const cases = join(import.meta.dirname, 'alert-rules.yml')
  const { code, output } = await runPromtool(['test', 'rules', cases])
  assert.equal(code, 0, output)
  const text = await readFile(cases, 'utf8')
  for (const { alert } of alerts) assert.ok(text.includes(`"${alert}"`), `${alert} has no case`)
})
