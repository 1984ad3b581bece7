/** `turnpike alert …`: targets, a test message, what is firing, and the log of deliveries. */
import { InvalidArgumentError, type Command } from 'commander'
import { alertEndpoints } from '../operations/alerts/endpoints.ts'
import type { AlertView, DeliveryView } from '../operations/alerts/log.ts'
import type { RotatedSecret } from '../operations/alerts/rotate-secret.ts'
import type { NewTarget, TargetView } from '../operations/alerts/targets.ts'
import { addTestCommand } from './alert-test.ts'
import { command, parseCount, shown, type Answer } from './command.ts'
import { splitList } from './key-commands.ts'
import { formatFields, formatTable } from './output.ts'

export function addAlertCommands(program: Command): void {
  const alert = program
    .command('alert')
    .description('send alerts to webhooks, Slack-compatible channels and e-mail')
  addListCommands(alert)
  addCreateCommand(alert)
  addEditCommand(alert)
  alert
    .command('rotate-secret')
    .description('replace the secret of a webhook; the old one stays valid for a day')
    .argument('<target>', 'name or id of the target')
    .action(
      command({ store: 'existing' }, async ({ call, arguments: [target] }) =>
        shown(await call(alertEndpoints.rotateSecret, { target }), showRotated),
      ),
    )
  alert
    .command('delete')
    .description('delete a target; messages that wait for it are dropped')
    .argument('<target>', 'name or id of the target')
    .action(
      command({ store: 'existing' }, async ({ call, arguments: [target] }) =>
        shown(await call(alertEndpoints.remove, { target }), (removed) => ({
          json: removed,
          text: `Deleted the target ${removed.name}.`,
        })),
      ),
    )
  addTestCommand(alert)
}

function addListCommands(alert: Command): void {
  alert
    .command('list')
    .description('list the targets of alerts')
    .action(
      command({ store: 'existing' }, async ({ callAll }) =>
        shown(await callAll(alertEndpoints.list), showTargets),
      ),
    )
  alert
    .command('show')
    .description('show one target: where it sends, and which alerts')
    .argument('<target>', 'name or id of the target')
    .action(
      command({ store: 'existing' }, async ({ call, arguments: [target] }) =>
        shown(await call(alertEndpoints.show, { target }), showTarget),
      ),
    )
  alert
    .command('firing')
    .description('list the alerts that are firing, oldest first')
    .option('--account <account>', 'only those about this account, by name or id')
    .action(
      command({ store: 'existing' }, async ({ callAll, options: { account } }) =>
        shown(await callAll(alertEndpoints.firing, { account }), showFiring),
      ),
    )
  alert
    .command('log')
    .description('list what became of each message, newest first')
    .option('--target <target>', 'only this target, by name or id')
    .option('--account <account>', 'only alerts about this account, by name or id')
    .option('--state <state>', 'only waiting, delivered, failed or dropped ones')
    .option('--count <n>', 'show at most this many, 1 to 10000', parseCount, 100)
    .action(
      command({ store: 'existing' }, async ({ callAll, options }) =>
        shown(
          await callAll(
            alertEndpoints.deliveries,
            { target: options['target'], account: options['account'], state: options['state'] },
            Number(options['count']),
          ),
          showDeliveries,
        ),
      ),
    )
}

function addCreateCommand(alert: Command): void {
  const create = alert
    .command('create')
    .description('add a target; the secret of a webhook is shown only once')
    .argument('<name>', 'a unique name, at most 64 characters')
    .option('--webhook <url>', 'send signed webhooks to this URL')
    .option('--slack <url>', 'send Slack-compatible messages to this URL')
    .option('--email <address>', 'send e-mail; "contact" = to the contact of each account')
  addFilterOptions(create)
    .addHelpText(
      'after',
      `
Examples:
  turnpike alert create pager --webhook https://hooks.example/alerts --severity critical
  turnpike alert create ops --slack https://chat.example/hooks/1 --quiet "22:00-07:00 Europe/Berlin"
  turnpike alert create holders --email contact`,
    )
    .action(
      command({ store: 'existing' }, async ({ call, arguments: [name], options }) =>
        shown(
          await call(alertEndpoints.create, {
            name,
            ...formatOf(options),
            ...filterOptions(options),
          }),
          showNew,
        ),
      ),
    )
}

function formatOf(options: Readonly<Record<string, unknown>>) {
  const given = (['webhook', 'slack', 'email'] as const).filter(
    (format) => options[format] !== undefined,
  )
  const [format] = given
  if (format === undefined || given.length > 1)
    throw new InvalidArgumentError('Give one of --webhook, --slack and --email.')
  return { format, address: options[format] }
}

function addEditCommand(alert: Command): void {
  const edit = alert
    .command('edit')
    .description('change a target; options that you leave out stay as they are')
    .argument('<target>', 'name or id of the target')
    .option('--name <name>', 'a new unique name')
    .option('--address <address>', 'a new URL or e-mail address; the format stays')
  addFilterOptions(edit).action(
    command({ store: 'existing' }, async ({ call, arguments: [target], options }) =>
      shown(
        await call(alertEndpoints.change, {
          target,
          name: options['name'],
          address: options['address'],
          ...filterOptions(options),
        }),
        showTarget,
      ),
    ),
  )
}

function addFilterOptions(to: Command): Command {
  return to
    .option('--kinds <kinds>', 'only these kinds, with commas; "all" removes the filter', listOf)
    .option(
      '--accounts <accounts>',
      'only these accounts, with commas; "all" removes the filter',
      listOf,
    )
    .option(
      '--channels <channels>',
      'only these channels, with commas; "all" removes the filter',
      listOf,
    )
    .option('--severity <severity>', 'at least info, warning or critical')
    .option(
      '--quiet <hours>',
      'hours such as "22:00-07:00 Europe/Berlin" in which only critical alerts are sent; "off" = none',
    )
    .option('--digest <duration>', 'collect repeats of a kind for this long; 0 = send each alone')
}

function listOf(text: string): readonly string[] {
  return text === 'all' ? [] : splitList(text)
}

function filterOptions(options: Readonly<Record<string, unknown>>) {
  return {
    kinds: options['kinds'],
    accounts: options['accounts'],
    channels: options['channels'],
    min_severity: options['severity'],
    quiet_hours: options['quiet'] === 'off' ? '' : options['quiet'],
    digest: options['digest'],
  }
}

function showNew({ target, secret }: NewTarget): Answer {
  const lines = [formatFields(target)]
  if (secret !== null)
    lines.push(
      `secret  ${secret}`,
      'The receiver verifies signatures with this secret. It is shown only now.',
    )
  lines.push(`Try it with: turnpike alert test ${target.name}`)
  return {
    json: { ...target, secret },
    text: lines.join('\n'),
    ...(secret !== null && {
      ifLost: `The secret is lost. Delete the target: turnpike alert delete ${target.id}`,
    }),
  }
}

function showRotated({ target, secret, old_valid_until: until }: RotatedSecret): Answer {
  return {
    json: { ...target, secret, old_valid_until: until },
    text: [
      `secret  ${secret}`,
      `Give it to the receiver of ${target.name}. It is shown only now. The old secret is valid until ${until}.`,
    ].join('\n'),
    ifLost: `The secret is lost. Replace it again: turnpike alert rotate-secret ${target.id}`,
  }
}

function showTarget(target: TargetView): Answer {
  return { json: target, text: formatFields(target) }
}

function showTargets(targets: readonly TargetView[]): Answer {
  const text = formatTable(
    [
      'name',
      'id',
      'format',
      'address',
      'severity',
      'kinds',
      'accounts',
      'channels',
      'quiet',
      'digest',
    ],
    targets.map((target) => [
      target.name,
      target.id,
      target.format,
      target.address,
      target.min_severity,
      target.kinds ?? 'all',
      target.accounts ?? 'all',
      target.channels ?? 'all',
      target.quiet_hours,
      target.digest,
    ]),
    'There are no targets. Add one with: turnpike alert create NAME --webhook URL',
  )
  return { json: targets, text }
}

function showFiring(alerts: readonly AlertView[]): Answer {
  const text = formatTable(
    ['since', 'severity', 'kind', 'title'],
    alerts.map(({ fired_at: since, severity, kind, title }) => [since, severity, kind, title]),
    'Nothing is wrong.',
  )
  return { json: alerts, text }
}

function showDeliveries(deliveries: readonly DeliveryView[]): Answer {
  const text = formatTable(
    ['created', 'target', 'state', 'attempts', 'kind', 'event', 'title', 'outcome'],
    deliveries.map((one) => [
      one.created_at,
      one.target,
      one.state,
      one.attempts,
      one.kind,
      one.event,
      one.title,
      one.outcome,
    ]),
    'There is no such message.',
  )
  return { json: deliveries, text }
}
