/** `turnpike settings`, `turnpike nodes` and `turnpike backups`: facts of a gateway and its store. */
import type { Command } from 'commander'
import { storeEndpoints } from '../operations/store/endpoints.ts'
import type { NodeList } from '../operations/store/nodes.ts'
import type { SettingInForce } from '../settings/in-force.ts'
import type { RecordedBackup } from '../operations/store/backup-list.ts'
import { command, parseCount, shown, type Answer } from './command.ts'
import { formatAge, formatTable } from './output.ts'

export function addGatewayFactsCommands(program: Command): void {
  program
    .command('settings')
    .description('show the settings in force, without secrets, and where each was given')
    .action(
      command({ store: 'existing' }, async ({ call }) =>
        shown(await call(storeEndpoints.settings, {}), ({ settings }) => showSettings(settings)),
      ),
    )
  program
    .command('nodes')
    .description('list the gateways of the store: version, state, unclean stops')
    .action(
      command({ store: 'existing' }, async ({ call }) =>
        shown(await call(storeEndpoints.nodes, {}), showNodes),
      ),
    )
  program
    .command('backups')
    .description('list the recorded backups (SQLite), newest first')
    .option('--count <n>', 'show at most this many, 1 to 10000', parseCount, 100)
    .action(
      command({ store: 'existing' }, async ({ callAll, options }) =>
        shown(await callAll(storeEndpoints.backups, {}, Number(options['count'])), showBackups),
      ),
    )
}

function showSettings(settings: readonly SettingInForce[]): Answer {
  const text = formatTable(
    ['setting', 'value', 'from'],
    settings.map(({ name, value, source, place }) => [name, value, place ?? source]),
    '',
  )
  return { json: settings, text }
}

function showNodes(listing: NodeList): Answer {
  const table = formatTable(
    ['name', 'id', 'region', 'version', 'commit', 'state', 'started', 'last seen'],
    listing.nodes.map((node) => [
      node.name,
      node.id,
      node.region,
      node.version,
      node.commit,
      node.state,
      node.started_at,
      `${formatAge(node.age_ms)} ago`,
    ]),
    'No gateway has used this store.',
  )
  const stops = listing.unclean_stops.map(
    ({ node, from, to }) => `${node} stopped uncleanly between ${from} and ${to ?? 'now'}.`,
  )
  return { json: listing, text: [table, ...stops].join('\n') }
}

function showBackups(backups: readonly RecordedBackup[]): Answer {
  const text = formatTable(
    ['at', 'by', 'file', 'bytes', 'audit', 'sha256'],
    backups.map(({ at, actor, actor_name: name, file, bytes, audit, sha256 }) => [
      at,
      name ?? actor,
      file ?? 'sent to another machine',
      bytes,
      audit,
      sha256,
    ]),
    'No backup is recorded. Make one with: turnpike backup FILE',
  )
  return { json: backups, text }
}
