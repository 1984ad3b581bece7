/**
 * The conditions of channels and models, from the states that running gateways publish, or do not. Pure.
 * A switch to off by one gateway is one condition, however many gateways see it; so is a refused vendor
 * account for all models of its channel. A fault of a model belongs to the channel that should serve it. A
 * channel that an operator has disabled raises no alert.
 */
import type { HealthLine } from '../../channels/health/health-line.ts'
import { isResumed } from '../../channels/health/health-state.ts'
import { isWell, lastingService, type Service } from '../../channels/health/service.ts'
import { keyOf, offKinds, type AlertKind, type Finding } from './alert-kind.ts'

type OffKind = (typeof offKinds)[number]
/** Kinds that are true for a channel whatever the model; their subject is the channel. */
const channelWide: readonly OffKind[] = offKinds.filter(
  (kind) => kind !== 'channel.off' && kind !== 'channel.model_missing',
)

export const channelKinds: readonly AlertKind[] = [
  ...offKinds,
  'model.reserve_only',
  'model.no_usable_channel',
]

/** A model that a running gateway publishes no state of: it could load no channel of it. */
export interface MissingModel {
  readonly node: string
  readonly model: string
}

/** What a running gateway says of a model on a channel. */
export interface NodeLine {
  readonly node: string
  readonly line: HealthLine
}

export function findChannelConditions(
  all: readonly NodeLine[],
  missing: readonly MissingModel[],
  known: ReadonlyMap<string, Finding>,
): readonly Finding[] {
  // Nothing is to be said of a model that all of its channels serve, and most are such.
  const troubled = new Set(all.flatMap(({ line }) => (isWell(line.mode) ? [] : line.model)))
  const lines = all.filter(({ line }) => troubled.has(line.model))
  const places = Map.groupBy(lines, ({ line }) => `${line.channel}\n${line.model}`)
  const out = [...places.values()].flatMap((one) => findOut(one, known) ?? [])
  const offs = Map.groupBy(out, keyOf)
  const byModel = Map.groupBy(lines, ({ line }) => line.model)
  const missingByModel = Map.groupBy(missing, ({ model }) => model)
  const models = new Set([...byModel.keys(), ...missingByModel.keys()])
  return [
    ...[...offs.values()].flatMap(offFinding),
    ...[...models].flatMap(
      (model) =>
        modelFinding(model, byModel.get(model) ?? [], missingByModel.get(model) ?? []) ?? [],
    ),
  ]
}

/** After a restart a channel that was not on waits for its probe, and serves meanwhile. */
function isOut(line: HealthLine): boolean {
  return line.mode === 'off' || (line.mode === 'trial' && !isResumed(line))
}

/** A model on a channel that at least one gateway does not use. */
interface Out {
  readonly kind: OffKind
  readonly subject: string
  readonly line: HealthLine
  readonly nodes: readonly string[]
}

function findOut(lines: readonly NodeLine[], known: ReadonlyMap<string, Finding>): Out | undefined {
  const out = lines.filter(({ line }) => isOut(line))
  const [first] = out
  if (first === undefined) return undefined
  const { line } = first
  const kind = offKindOf(out, (one) => isKnown(one, line, known))
  return { kind, subject: subjectOf(kind, line), line, nodes: out.map(({ node }) => node) }
}

function subjectOf(kind: OffKind, { channel, model }: HealthLine): string {
  return channelWide.includes(kind) ? channel : `${channel} ${model}`
}

function isKnown(kind: OffKind, line: HealthLine, known: ReadonlyMap<string, Finding>): boolean {
  const models = known.get(keyOf({ kind, subject: subjectOf(kind, line) }))?.facts['models']
  return Array.isArray(models) && models.includes(line.model)
}

/** Makes one alert of places with the same kind and subject. */
function offFinding(out: readonly Out[]): readonly Finding[] {
  const [first] = out
  if (first === undefined) return []
  const { kind, subject, line } = first
  const { channel, vendor, why } = line
  const models = out.map((one) => one.line.model).toSorted()
  const nodes = [...new Set(out.flatMap((one) => one.nodes))].toSorted()
  return [
    {
      kind,
      subject,
      channel,
      ...offTexts(kind, channel, line.model),
      facts: { channel, models, vendor, why, nodes },
    },
  ]
}

/** The reason of a refusal is known only while it is new; then the condition that holds tells it. */
function offKindOf(out: readonly NodeLine[], isHeld: (kind: OffKind) => boolean): OffKind {
  for (const { line } of out) {
    const kind = offKinds.find((one) => one === `channel.${line.why}`)
    if (kind !== undefined) return kind
  }
  return offKinds.find(isHeld) ?? 'channel.off'
}

function offTexts(
  kind: OffKind,
  channel: string,
  model: string,
): Pick<Finding, 'title' | 'text' | 'command'> {
  switch (kind) {
    case 'channel.off':
      return {
        title: `Channel ${channel} is off for ${model}`,
        text:
          `The gateway sends no requests for ${model} to the channel ${channel}, because they fail there. ` +
          'It probes the channel and uses it again by itself.',
        command: `turnpike channel show ${channel}`,
      }
    case 'channel.credential_refused':
      return {
        title: `The vendor refuses the credential of ${channel}`,
        text:
          `The vendor refuses the credential or the account of the channel ${channel}. Put a valid ` +
          'credential in its place, or set the variable that it names.',
        command: `turnpike channel credential ${channel} -f FILE`,
      }
    case 'channel.certificate_expired':
      return {
        title: `The certificate of the vendor of ${channel} has expired`,
        text:
          `The gateway sends nothing to the channel ${channel}, because the certificate at its address has ` +
          'expired. Ask the vendor to renew it, and check the clock of this machine; the gateway uses the ' +
          'channel again by itself.',
        command: `turnpike channel check ${channel}`,
      }
    case 'channel.certificate_refused':
      return {
        title: `The certificate of the vendor of ${channel} cannot be trusted`,
        text:
          `The gateway sends nothing to the channel ${channel}: the certificate at its address is for ` +
          'another name, or of an authority that this machine does not trust. Check the address, the name ' +
          'servers and a proxy on the way; NODE_EXTRA_CA_CERTS adds an authority.',
        command: `turnpike channel check ${channel}`,
      }
    case 'channel.address_refused':
      return {
        title: `The address of ${channel} leads where it must not`,
        text:
          `The gateway sends nothing to the channel ${channel}: the name of its address leads into a private ` +
          'network without allow_private, or in plain text to the internet. Check the address and the ' +
          'name servers.',
        command: `turnpike channel show ${channel}`,
      }
    case 'channel.no_credit':
      return {
        title: `The vendor account of ${channel} has no credit`,
        text:
          `The credit or the spend limit of the vendor account of the channel ${channel} is used up. ` +
          'Buy credit or raise the limit at the vendor; the gateway uses the channel again by itself.',
      }
    case 'channel.model_missing':
      return {
        title: `The vendor does not know ${model} on ${channel}`,
        text:
          `The catalogue lists ${model} for the channel ${channel}, and its vendor does not know the model. ` +
          'Correct the name in the catalogue, or take the model off the channel.',
      }
  }
}

function modelFinding(
  model: string,
  lines: readonly NodeLine[],
  missing: readonly MissingModel[],
): Finding | undefined {
  const byNode = Map.groupBy(lines, ({ node }) => node)
  const seen = [...byNode].map(([node, own]) => ({
    node,
    service: lastingService(own.map(({ line }) => line)),
  }))
  const nodesWith = (wanted: Service): readonly string[] =>
    seen.filter(({ service }) => service === wanted).map(({ node }) => node)
  const none = [...nodesWith('none'), ...missing.map(({ node }) => node)]
  const channel = causingChannel(lines)
  const about = { subject: model, ...(channel !== undefined && { channel }) }
  if (none.length > 0)
    return {
      kind: 'model.no_usable_channel',
      ...about,
      title: `No channel serves ${model}`,
      text:
        `No channel of the model ${model} is usable: its requests get 503. Look at its channels, and run ` +
        'the doctor where one could not be loaded.',
      command: 'turnpike channel list',
      facts: { model, nodes: none },
    }
  const reserve = nodesWith('reserve')
  if (reserve.length === 0) return undefined
  return {
    kind: 'model.reserve_only',
    ...about,
    title: `${model} is on reserve only`,
    text:
      `No channel of the main route of the model ${model} is usable; a reserve serves it. Look at its ` +
      'channels.',
    command: 'turnpike channel list',
    facts: { model, nodes: reserve },
  }
}

const troubledModes: readonly HealthLine['mode'][] = ['off', 'trial', 'slow']

/** The first channel by rank and name that should serve the model and does not. */
function causingChannel(lines: readonly NodeLine[]): string | undefined {
  const [first] = lines
    .map(({ line }) => line)
    .filter(({ mode }) => troubledModes.includes(mode))
    .toSorted((a, b) => a.rank - b.rank || a.channel.localeCompare(b.channel))
  return first?.channel
}
