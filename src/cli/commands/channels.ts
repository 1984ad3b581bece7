/** `turnpike channel …`: list, health, history, enable and disable, check, reconcile. */
import type { ChannelCheck } from '../../operations/channels/channel-check.ts'
import {
  listChannels,
  type ChannelDetail,
  type ChannelListing,
} from '../../operations/channels/channel-health.ts'
import { channelEndpoints } from '../../operations/channels/endpoints.ts'
import { storeEndpoints } from '../../operations/store/endpoints.ts'
import { tableOf, textOf } from '../columns.ts'
import { shown } from '../command.ts'
import { callRow, listRow, runRow, type CommandRow } from '../row.ts'
import { reconcileCommands } from './reconcile.ts'

const credentialText = 'a file with the secret, env:NAME or file:/path'

export const channelCommands: readonly CommandRow[] = [
  runRow(channelEndpoints.list, {
    words: 'channel list',
    options: [],
    work: async ({ call, callAll }) => {
      const gateways = await call(storeEndpoints.nodes, {})
      const known = gateways.kind === 'done' ? gateways.value.nodes : []
      const names = new Map(known.map(({ id, name }) => [id, name]))
      const list = { ...channelEndpoints.list, operation: listChannels }
      return shown(await callAll<ChannelListing>(list), (channels) => ({
        json: channels,
        text: listText(channels, names),
      }))
    },
  }),
  callRow(channelEndpoints.show, {
    words: 'channel show',
    show: detailText,
  }),
  listRow(channelEndpoints.history, {
    words: 'channel history',
    count: { flags: '--limit <n>', fallback: '50' },
    empty: 'No changes yet.',
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
  callRow(channelEndpoints.test, {
    words: 'channel test',
    text: 'send one small real request over a channel; health learns nothing from it',
    without: ['draft'],
    hasFailed: ({ ok }) => !ok,
  }),
  callRow(channelEndpoints.models, {
    words: 'channel models',
    text: "list the models that a channel's vendor lists, with prices for new ones",
    without: ['draft'],
    hasFailed: ({ outcome }) => outcome !== 'ok',
  }),
  callRow(channelEndpoints.replaceCredential, {
    words: 'channel credential',
    hints: { credential: { flags: '-f, --file <path>', isFile: true, text: credentialText } },
    help: `The channel must serve one small request with the new credential, or nothing changes.
The former one is kept for 24 hours: turnpike channel restore-credential NAME

Example:
  turnpike channel credential alpha-main -f new-key.txt`,
  }),
  callRow(channelEndpoints.restoreCredential, { words: 'channel restore-credential' }),
  ...reconcileCommands,
]

/** An export has the entry in the form of the file. */
function detailText(detail: ChannelDetail): string {
  const { entry: _, ...shown } = detail
  return textOf(shown)
}

/** Shows a row for each model, and for each gateway that has published its health. */
function listText(
  channels: readonly ChannelListing[],
  gatewayNames: ReadonlyMap<string, string>,
): string {
  const rows = channels.flatMap((channel) =>
    Object.keys(channel.models).flatMap((model) => {
      const published = channel.health.filter((one) => one.model === model)
      const traffic = channel.traffic.find((one) => one.model === model)
      const healths = published.length === 0 ? [undefined] : published
      return healths.map((health) => ({ channel, model, health, traffic }))
    }),
  )
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
      ['state', ({ health }) => health?.state ?? 'unknown'],
      'health.since',
      'health.why',
      'health.share',
      ['next', ({ health }) => health?.next_steps.map(({ text }) => text)],
      ['failed in 10 min', ({ traffic }) => traffic?.recent?.failed],
      ['cost today USD', ({ traffic }) => traffic?.today.own_cost_usd],
      ['gateway', ({ health }) => health && (gatewayNames.get(health.node) ?? health.node)],
    ],
    'There are no channels. A catalogue sets them: turnpike apply -f catalog.yaml',
  )
  const isKnown = rows.length === 0 || rows.some(({ health }) => health?.is_live === true)
  return isKnown ? table : `${table}\n\n${notLive}`
}

const notLive =
  'No gateway is running on this store. A state is the last one that a gateway has published.'

const checkedHere =
  'No gateway is running on this store. The command has checked the channel from here, with the ' +
  'environment of this shell.'

/** The results of all gateways are one table. */
function checkText(check: ChannelCheck): string {
  const rows = check.results.flatMap(({ gateway, reason, models }) => {
    const by = gateway === null ? 'this command' : `${gateway.name} (${gateway.id})`
    const unchecked = { model: null, outcome: reason, status: null, duration_ms: null }
    return [...models, ...(reason === null ? [] : [unchecked])].map((one) => ({ by, ...one }))
  })
  const note = check.gateways_asked === 0 ? `\n\n${checkedHere}` : ''
  return `${textOf({ ...check, results: rows })}${note}`
}
