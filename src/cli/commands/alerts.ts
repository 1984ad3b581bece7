/** `turnpike alert …`: targets, a test message, firing alerts, and the log of deliveries. */
import { InvalidArgumentError } from 'commander'
import { commandClock } from '../../base/clock.ts'
import { alertEndpoints } from '../../operations/alerts/endpoints.ts'
import type { NewTarget } from '../../operations/alerts/targets.ts'
import { awaitDelivery, showTest } from '../alert-test.ts'
import { textOf } from '../columns.ts'
import { shown, type Answer } from '../command.ts'
import { callRow, listRow, runRow, type CommandRow } from '../row.ts'

export const alertCommands: readonly CommandRow[] = [
  listRow(alertEndpoints.list, {
    words: 'alert list',
    empty: 'There are no targets. Add one with: turnpike alert create NAME --webhook URL',
  }),
  listRow(alertEndpoints.firing, {
    words: 'alert firing',
    empty: 'Nothing is wrong.',
  }),
  callRow(alertEndpoints.acknowledge, { words: 'alert ack' }),
  callRow(alertEndpoints.snooze, { words: 'alert snooze' }),
  listRow(alertEndpoints.deliveries, {
    words: 'alert log',
    count: { flags: '--count <n>', fallback: '100' },
    empty: 'There is no such message.',
  }),
  runRow(alertEndpoints.create, {
    words: 'alert create',
    arguments: ['name'],
    without: ['format', 'address'],
    more: {
      '--webhook <url>': 'send signed webhooks to this URL',
      '--slack <url>': 'send Slack-compatible messages to this URL',
      '--email <address>': 'send e-mail; "contact" = to the contact of each account',
    },
    help: `Examples:
  turnpike alert create pager --webhook https://hooks.example/alerts --severity critical
  turnpike alert create ops --slack https://chat.example/hooks/1 --severity warning
  turnpike alert create holders --email contact`,
    work: async ({ call, options }, input) =>
      shown(await call(alertEndpoints.create, { ...input, ...formatOf(options) }), showNew),
  }),
  callRow(alertEndpoints.remove, {
    words: 'alert delete',
    show: ({ name }) => `Deleted the target ${name}.`,
  }),
  runRow(alertEndpoints.test, {
    words: 'alert test',
    text: 'send a test message through a running gateway, and wait for the answer',
    work: async ({ call }, input) => {
      const queued = await call(alertEndpoints.test, input)
      if (queued.kind === 'refusal') return queued
      return shown(await awaitDelivery(call, queued.value, commandClock), showTest)
    },
  }),
]

function formatOf(options: Readonly<Record<string, unknown>>) {
  const given = (['webhook', 'slack', 'email'] as const).filter(
    (format) => options[format] !== undefined,
  )
  const [format] = given
  if (format === undefined || given.length > 1)
    throw new InvalidArgumentError('Give one of --webhook, --slack and --email.')
  return { format, address: options[format] }
}

function showNew({ target, secret }: NewTarget): Answer {
  const json = { ...target, secret }
  const text = `${textOf(json)}\n\nTry it with: turnpike alert test ${target.name}`
  if (secret === null) return { json, text }
  return {
    json,
    text: `${text}\nThe receiver verifies signatures with this secret. It is shown only now.`,
    ifLost: `The secret is lost. Delete the target: turnpike alert delete ${target.id}`,
  }
}
