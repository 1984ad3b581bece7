/** `turnpike channel …`: list, health, history, enable and disable, check, reconcile. */
import { channelFields } from '../../channels/catalogue/channel-fields.ts'
import { shownShape, type ShownEntry } from '../../channels/catalogue/field.ts'
import type { ChannelCheck } from '../../operations/channels/channel-check.ts'
import type {
  ChannelChangeView,
  ChannelDetail,
  ChannelPage,
  NodeView,
} from '../../operations/channels/channel-health.ts'
import { channelEndpoints } from '../../operations/channels/endpoints.ts'
import type { Outcome } from '../../operations/operation.ts'
import { linesOf, tableOf } from '../columns.ts'
import { shown, type Answer } from '../command.ts'
import { formatAge } from '../output.ts'
import { callRow, countHint, runRow, type CommandRow } from '../row.ts'
import type { Run } from '../run.ts'
import { healthColumns, healthRows, moreHealth } from './channel-health.ts'
import { reconcileCommand } from './reconcile.ts'

export const channelCommands: readonly CommandRow[] = [
  runRow(channelEndpoints.list, {
    words: 'channel list',
    options: [],
    work: async ({ call }) => shown(await readChannels(call), showReport),
  }),
  callRow(channelEndpoints.show, { words: 'channel show', show: detailText }),
  runRow(channelEndpoints.history, {
    words: 'channel history',
    text: 'list state changes and their reasons, newest first',
    options: ['limit'],
    hints: { limit: { ...countHint, fallback: '50' } },
    work: async ({ callAll }, { channel, limit }) => {
      const [list, input] =
        channel === undefined
          ? [channelEndpoints.changes, {}]
          : [channelEndpoints.history, { channel }]
      return shown(await callAll(list, input, Number(limit)), (changes) => ({
        json: changes,
        text: historyTable(changes),
      }))
    },
  }),
  callRow(channelEndpoints.off, {
    words: 'channel off',
    show: ({ name }) => `Channel ${name} is disabled.`,
  }),
  callRow(channelEndpoints.on, {
    words: 'channel on',
    show: ({ name }) => `Channel ${name} is enabled.`,
  }),
  callRow(channelEndpoints.check, {
    words: 'channel check',
    show: checkText,
    hasFailed: ({ ok }) => !ok,
  }),
  reconcileCommand,
]

/** Reads all pages into one. */
async function readChannels(call: Run['call']): Promise<Outcome<ChannelPage>> {
  const whole = await call(channelEndpoints.list, { limit: channelsPerPage })
  if (whole.kind === 'refusal') return whole
  const items = [...whole.value.items]
  let cursor = whole.value.next_cursor
  while (cursor !== null) {
    const page = await call(channelEndpoints.list, { limit: channelsPerPage, cursor })
    if (page.kind === 'refusal') return page
    items.push(...page.value.items)
    cursor = page.value.next_cursor
  }
  return { kind: 'done', value: { ...whole.value, items, next_cursor: null } }
}

const channelsPerPage = 1_000

function showReport(report: ChannelPage): Answer {
  const rows = report.items.flatMap((channel) => healthRows(channel, report.at))
  const table = tableOf(
    rows,
    [
      ['channel', 'channel.name'],
      'channel.vendor',
      'channel.rank',
      'channel.weight',
      'channel.enabled',
      'channel.check',
      'model',
      ...healthColumns,
      report.nodes.length > 1 && ['gateway', 'health.node'],
    ],
    'There are no channels. A catalogue sets them: turnpike apply -f catalog.yaml',
  )
  const foot = report.items.length === 0 ? '' : `\n\n${sourceText(report)}`
  return { json: report.items, text: table + foot }
}

/** Says which gateways published the health, and how old it is. */
function sourceText(report: Pick<ChannelPage, 'is_live' | 'nodes'>): string {
  const [first] = report.nodes
  if (first === undefined)
    return 'No gateway has run on this store yet, so the health is not known.'
  if (!report.is_live)
    return `No gateway is running on this store. Last known state: ${formatAge(first.age_ms)} ago, from ${nodeText(first)}.`
  return report.nodes
    .map((node) => `Published by ${nodeText(node)}, last heartbeat ${formatAge(node.age_ms)} ago.`)
    .join('\n')
}

function nodeText({ id, name, region, makes_checks: makesChecks }: NodeView): string {
  return `gateway ${name} (${region}, ${id}${makesChecks ? ', sends the regular checks' : ''})`
}

type Setting = Exclude<keyof ShownEntry<typeof channelFields>, 'models'>

/** What the catalogue says of a channel. Its models follow, each with its health. */
const settingColumns = Object.keys(shownShape(channelFields)).filter(
  (key): key is Setting => key !== 'models',
)

function detailText(detail: ChannelDetail): string {
  const { month, count, usd } = detail.check_cost
  const fields = linesOf(detail, [
    ['channel', 'name'],
    ['enabled', () => (detail.enabled ? 'yes' : 'no: disabled by an operator')],
    ...settingColumns,
    ['cost of checks', () => `${usd} USD in ${month}, ${count} checks`],
  ])
  const models = healthRows(detail, detail.at).map((row) =>
    linesOf(row, [
      'model',
      ['name at the vendor', () => detail.models[row.model] ?? row.model],
      ...healthColumns,
      ...(row.health === undefined ? [] : moreHealth),
      detail.nodes.length > 1 && ['gateway', 'health.node'],
    ]),
  )
  const history = `history, newest first\n${historyTable(detail.history)}`
  return [fields, ...models, sourceText(detail), history].join('\n\n')
}

function historyTable(changes: readonly ChannelChangeView[]): string {
  return tableOf(
    changes,
    [
      'at',
      'channel',
      ['model', ({ model }) => model ?? 'all'],
      'from',
      'to',
      'why',
      ['by', ({ actor, node }) => actor ?? node],
      ['failures', ({ failures }) => failures.map((one) => `${one.class} ${one.count}`)],
    ],
    'No changes yet.',
  )
}

const checkedHere =
  'No gateway is running on this store. The command has checked the channel from here, with the ' +
  'environment of this shell.'

function checkText(check: ChannelCheck): string {
  const rows = check.results.flatMap(({ gateway, reason, models }) => {
    const by = gateway === null ? 'this command' : `${gateway.name} (${gateway.id})`
    const unchecked = { model: null, outcome: reason, status: null, duration_ms: null }
    return [...models, ...(reason === null ? [] : [unchecked])].map((one) => ({ ...one, by }))
  })
  const table = tableOf(rows, [
    ['checked by', 'by'],
    'model',
    ['result', 'outcome'],
    'status',
    ['ms', 'duration_ms'],
  ])
  const head = linesOf(check, [
    'channel',
    ['result', ({ ok }) => (ok ? 'ok' : 'failed')],
    ['gateways asked to check', 'gateways_asked'],
    check.gateways_asked === 0 && ['note', () => checkedHere],
  ])
  return `${head}\n\n${table}`
}
