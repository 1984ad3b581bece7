/** `turnpike channel …`: list, health, history, enable and disable, check, reconcile. */
import type { Command } from 'commander'
import { channelEndpoints } from '../operations/channels/endpoints.ts'
import type {
  ChannelChangeView,
  ChannelDetail,
  ChannelHealthView,
  ChannelListing,
  ChannelPage,
  FailureView,
  NodeView,
} from '../operations/channels/channel-health.ts'
import type { TrafficView } from '../operations/channels/channel-traffic.ts'
import type { ChannelCheck } from '../operations/channels/channel-check.ts'
import type { Outcome } from '../operations/operation.ts'
import { command, exitCodes, parseCount, shown, type Answer } from './command.ts'
import { formatAge, formatFields, formatTable, type Cell } from './output.ts'
import { addReconcileCommand } from './reconcile-command.ts'
import type { Run } from './run.ts'

export function addChannelCommands(program: Command): void {
  const channel = program.command('channel').description('show, check, enable and disable channels')
  channel
    .command('list')
    .description('list all channels with their health')
    .action(
      command({ store: 'existing' }, async ({ call }) =>
        shown(await readChannels(call), showReport),
      ),
    )
  channel
    .command('show')
    .description('show one channel: settings, health, cost of checks, recent history')
    .argument('<channel>', 'name of the channel')
    .action(
      command({ store: 'existing' }, async ({ call, arguments: [name] }) =>
        shown(await call(channelEndpoints.show, { channel: name }), showDetail),
      ),
    )
  channel
    .command('history')
    .description('list state changes and their reasons, newest first')
    .argument('[channel]', 'name of the channel (default: all channels)')
    .option('--limit <n>', 'show at most this many, 1 to 10000', parseCount, 50)
    .action(
      command({ store: 'existing' }, async ({ callAll, arguments: [name], options }) => {
        const list = name === undefined ? channelEndpoints.changes : channelEndpoints.history
        const input = name === undefined ? {} : { channel: name }
        return shown(await callAll(list, input, Number(options['limit'])), (changes) => ({
          json: changes,
          text: historyTable(changes),
        }))
      }),
    )
  addSwitchCommand(channel, 'off', 'disabled', 'disable a channel until you enable it again')
  addSwitchCommand(channel, 'on', 'enabled', 'enable a disabled channel')
  addCheckCommand(channel)
  addReconcileCommand(channel)
}

const switches = { enabled: channelEndpoints.on, disabled: channelEndpoints.off } as const

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

function addSwitchCommand(
  channel: Command,
  word: 'on' | 'off',
  override: 'enabled' | 'disabled',
  description: string,
): void {
  channel
    .command(word)
    .description(description)
    .argument('<channel>', 'name of the channel')
    .action(
      command({ store: 'existing' }, async ({ call, arguments: [name] }) =>
        shown(await call(switches[override], { channel: name }), (view) => ({
          json: view,
          text: `Channel ${view.name} is ${override}.`,
        })),
      ),
    )
}

function addCheckCommand(channel: Command): void {
  channel
    .command('check')
    .description('have each running gateway send a small real request per model')
    .argument('<channel>', 'name of the channel')
    .action(
      command({ store: 'existing' }, async ({ call, arguments: [name] }) =>
        shown(await call(channelEndpoints.check, { channel: name }), showCheck),
      ),
    )
}

const listHeading = [
  'channel',
  'vendor',
  'rank',
  'weight',
  'enabled',
  'check',
  'model',
  'state',
  'for',
  'why',
  'share',
  'first event ms',
  'usual ms',
  'failed in 10 min',
  'cost today, usd',
  'next',
]

function showReport(report: ChannelPage): Answer {
  const hasNodes = report.nodes.length > 1
  const rows = report.items.flatMap((channel) => channelRows(channel, report.at, hasNodes))
  const table = formatTable(
    hasNodes ? [...listHeading, 'gateway'] : listHeading,
    rows,
    'There are no channels. A catalogue sets them: turnpike apply -f catalog.yaml',
  )
  const foot = report.items.length === 0 ? '' : `\n\n${sourceText(report)}`
  return { json: report.items, text: table + foot }
}

function channelRows(
  channel: ChannelListing,
  at: string,
  hasNodes: boolean,
): readonly (readonly Cell[])[] {
  const head = [
    channel.name,
    channel.vendor,
    channel.rank,
    channel.weight,
    channel.enabled ? 'yes' : 'no',
    channel.check,
  ]
  return Object.keys(channel.models).flatMap((model): readonly (readonly Cell[])[] => {
    const health = channel.health.filter((one) => one.model === model)
    if (health.length === 0) return [[...head, model, 'unknown']]
    const traffic = channel.traffic.find((one) => one.model === model)
    return health.map((one) => [
      ...head,
      model,
      ...healthCells(one, at),
      recentText(traffic),
      costText(traffic),
      nextText(one, at),
      ...(hasNodes ? [one.node] : []),
    ])
  })
}

function healthCells(health: ChannelHealthView, at: string): readonly Cell[] {
  return [
    health.rests_until === null ? health.state : `${health.state}, rests`,
    health.since === null ? null : formatAge(Date.parse(at) - Date.parse(health.since)),
    health.why,
    `${Math.round(health.share * 100)} %`,
    timesText(health.first_event_ms),
    timesText(health.usual_first_event_ms),
  ]
}

function recentText(traffic: TrafficView | undefined): string | null {
  const recent = traffic?.recent ?? null
  return recent === null ? null : `${recent.failed} of ${recent.attempts}`
}

/** Null where no cost is known. */
function costText(traffic: TrafficView | undefined): string | null {
  if (traffic === undefined) return null
  const { requests, checks, unknown_cost_requests: unknown, ...cost } = traffic.today
  if (unknown > 0 && unknown === requests && checks === 0) return null
  const estimated = cost.estimated_cost_usd
  return estimated === '0' ? cost.own_cost_usd : `${cost.own_cost_usd} + ${estimated} estimated`
}

function timesText(times: ChannelHealthView['first_event_ms']): string | null {
  return times === null ? null : `${times.p50} / ${times.p95}`
}

function nextText({ next_steps: steps }: ChannelHealthView, at: string): Cell {
  if (steps.length === 0) return null
  return steps.map((step) => {
    if (step.at === null) return step.text
    const inMs = Date.parse(step.at) - Date.parse(at)
    return `${step.text} ${inMs > 0 ? `in ${formatAge(inMs)}` : 'now'}`
  })
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

function showDetail(detail: ChannelDetail): Answer {
  const { month, count, usd } = detail.check_cost
  const fields = formatFields({
    channel: detail.name,
    vendor: detail.vendor,
    url: detail.url,
    credential: detail.credential,
    enabled: detail.enabled ? 'yes' : 'no: disabled by an operator',
    rank: detail.rank,
    weight: detail.weight,
    'max concurrent': detail.max_concurrent ?? 'no limit',
    check: detail.check,
    'cost of checks': `${usd} USD in ${month}, ${count} checks`,
  })
  const models = Object.entries(detail.models).map(([model, name]) =>
    modelText(detail, model, name),
  )
  const history = `history, newest first\n${historyTable(detail.history)}`
  return { json: detail, text: [fields, ...models, sourceText(detail), history].join('\n\n') }
}

function modelText(detail: ChannelDetail, model: string, name: string | null): string {
  const heading = `model ${model}${name === null ? '' : ` (${name} at the vendor)`}`
  const health = detail.health.filter((one) => one.model === model)
  if (health.length === 0) return `${heading}\nstate  unknown`
  const traffic = detail.traffic.find((one) => one.model === model)
  return health
    .map((one) => {
      const [state, age, why, share, firstEvent, usual] = healthCells(one, detail.at)
      const fields = formatFields({
        state,
        since: one.since === null ? null : `${one.since}, ${String(age)}`,
        why,
        share,
        running: one.running,
        'first event ms, p50 / p95': firstEvent,
        'usual ms, p50 / p95': usual,
        'last complete answer': one.last_ok_at,
        'failed in 10 min, all gateways': recentText(traffic),
        'cost today, usd': costText(traffic),
        next: nextText(one, detail.at),
        failures: failuresText(one.failures),
        ...(detail.nodes.length > 1 && { gateway: one.node }),
      })
      return `${heading}\n${fields}`
    })
    .join('\n\n')
}

function failuresText(failures: readonly FailureView[]): string {
  if (failures.length === 0) return 'none'
  return failures
    .map((failure) => `${failure.class} ${failure.count}, last ${failure.last_at}`)
    .join('; ')
}

function historyTable(changes: readonly ChannelChangeView[]): string {
  return formatTable(
    ['at', 'channel', 'model', 'from', 'to', 'why', 'by', 'failures'],
    changes.map((change) => [
      change.at,
      change.channel,
      change.model ?? 'all',
      change.from,
      change.to,
      change.why,
      change.actor ?? change.node,
      change.failures.map((failure) => `${failure.class} ${failure.count}`),
    ]),
    'No changes yet.',
  )
}

function showCheck(check: ChannelCheck): Answer {
  const rows = check.results.flatMap(({ gateway, reason, models }): Cell[][] => {
    const where = gateway === null ? 'this command' : `${gateway.name} (${gateway.id})`
    const found = models.map(({ model, outcome, status, duration_ms: ms }) => {
      return [where, model, outcome, status, ms]
    })
    return reason === null ? found : [...found, [where, null, reason]]
  })
  const table = formatTable(['checked by', 'model', 'result', 'status', 'ms'], rows, '')
  const head = formatFields({
    channel: check.channel,
    result: check.ok ? 'ok' : 'failed',
    'gateways asked to check': check.gateways_asked,
    ...(check.gateways_asked === 0 && { note: checkedHere }),
  })
  return {
    json: check,
    text: `${head}\n\n${table}`,
    exitCode: check.ok ? exitCodes.done : exitCodes.failed,
  }
}

const checkedHere =
  'No gateway is running on this store. The command has checked the channel from here, with the ' +
  'environment of this shell.'
