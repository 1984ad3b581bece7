/**
 * The conditions that the counts of answers show about channels, from what running gateways publish: an
 * output limit that a vendor does not keep, and counts of input that run away from the text. Pure. A channel
 * that an operator has disabled raises no alert.
 */
import type { HealthLine } from '../../channels/health/health-line.ts'
import type { AlertKind, Finding } from './alert-kind.ts'

export const countKinds: readonly AlertKind[] = ['channel.limit_ignored', 'channel.counts_high']

export function findCountConditions(lines: readonly HealthLine[]): readonly Finding[] {
  const counted = lines.filter(
    ({ mode, ignoredLimits, countRatio }) =>
      mode !== 'disabled' && (ignoredLimits !== undefined || countRatio !== undefined),
  )
  const places = Map.groupBy(counted, ({ channel, model }) => `${channel} ${model}`)
  const channels = Map.groupBy(counted, ({ channel }) => channel)
  return [
    ...[...places].flatMap(([subject, seen]) => limitIgnored(subject, seen) ?? []),
    ...[...channels].flatMap(([channel, seen]) => countsHigh(channel, seen) ?? []),
  ]
}

/** `seen`: one model on one channel, by every gateway. */
function limitIgnored(subject: string, seen: readonly HealthLine[]): Finding | undefined {
  const fields = [...new Set(seen.flatMap(({ ignoredLimits = [] }) => ignoredLimits))].toSorted()
  const [line] = seen
  if (line === undefined || fields.length === 0) return undefined
  const { channel, model } = line
  const names = fields.join(' and ')
  return {
    kind: 'channel.limit_ignored',
    subject,
    channel,
    title: `${channel} does not keep ${names} for ${model}`,
    text:
      `An answer of ${model} on the channel ${channel} was longer than ${names} of its request allows. It is ` +
      'charged as delivered, and the gateway now holds the most that the model can give. List the ' +
      'fields that the vendor keeps as output_limit of the channel in the catalogue.',
    facts: { channel, models: [model], fields },
  }
}

function countsHigh(channel: string, seen: readonly HealthLine[]): Finding | undefined {
  const ratio = Math.max(...seen.map(({ countRatio = 0 }) => countRatio))
  if (ratio === 0) return undefined
  return {
    kind: 'channel.counts_high',
    subject: channel,
    channel,
    title: `${channel} counts ${ratio} times the usual input`,
    text:
      `The last 20 prompts of plain text on the channel ${channel} were counted as ${ratio} times what their ` +
      "text usually has. Clients pay for the vendor's counts. Compare some requests with the vendor's own " +
      'bill, and disable the channel until they agree.',
    command: `turnpike channel off ${channel}`,
    facts: { channel, ratio },
  }
}
