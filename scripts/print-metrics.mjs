/** Prints the page of all metrics: node scripts/print-metrics.mjs > docs/metrics.md */
import { format, resolveConfig } from 'prettier'
import { createMetrics } from '../src/telemetry/metrics.ts'

const path = new URL('../docs/metrics.md', import.meta.url)
const { registry } = createMetrics()
const all = registry.getMetricsAsArray().map(({ name, help, type, labelNames }) => {
  const labels = labelNames.filter((label) => label !== 'le').map((label) => `\`${label}\``)
  return { name, row: `| \`${name}\` | ${type} | ${labels.join(', ')} | ${help} |` }
})
const isOfProcess = ({ name }) => /^turnpike_(?:process|nodejs)_/.test(name)

function table(metrics) {
  const rows = metrics.map(({ row }) => row).sort()
  return ['| metric | type | labels | meaning |', '| --- | --- | --- | --- |', ...rows].join('\n')
}

const page = `# Metrics

\`node scripts/print-metrics.mjs > docs/metrics.md\` makes this page from the program. [Observability](observability.md)
says which of these to watch.

\`GET /metrics\` on the operator's address takes an \`ad_\` token of any role. Label values are names of the
catalogue (vendors, models, channels), ids of at most 100 accounts, or words from fixed lists; clients
cannot make new ones. A histogram has the series \`_bucket\`, \`_sum\` and \`_count\`.

## Gateway

${table(all.filter((metric) => !isOfProcess(metric)))}

## Process

${table(all.filter(isOfProcess))}
`
process.stdout.write(await format(page, { ...(await resolveConfig(path)), parser: 'markdown' }))
