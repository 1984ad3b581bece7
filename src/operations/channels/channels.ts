/**
 * Channels as operators handle them: list, enable, disable. The invariant:
 * an operator's "disabled" is stored apart from health, so that no check enables the channel again.
 */
import { z } from 'zod'
import { newId } from '../../base/id.ts'
import { channelFields } from '../../channels/catalogue/channel-fields.ts'
import { showEntry, shownShape } from '../../channels/catalogue/field.ts'
import type { ChannelOverride } from '../../channels/channel.ts'
import { type ChannelChange, appendChanges } from '../../channels/cluster/channel-history.ts'
import {
  isInUse,
  readCatalogue,
  setOverride,
  type ChannelRow,
} from '../../channels/channel-store.ts'
import { recordAction } from '../actions.ts'
import { moment, type Answer } from '../answer-forms.ts'
import { describeCredential } from '../catalogue/credentials.ts'
import { notFound, operation, timeText, type OperationContext } from '../operation.ts'

export const channelForm = z.strictObject({
  name: z.string(),
  ...shownShape(channelFields),
  enabled: z.boolean().meta({ description: 'False = disabled by an operator.' }),
  credential_set_at: moment.meta({ description: 'When its present credential came.' }),
})

export type ChannelView = Answer<typeof channelForm>

/** Returns all channels of the catalogue. */
export async function readChannels(context: OperationContext): Promise<readonly ChannelView[]> {
  const { channels } = await context.database.snapshot(readCatalogue)
  return channels.filter(isInUse).map(viewChannel)
}

export const channelName = z
  .string('must name a channel')
  .min(1, 'must name a channel')
  .describe('Name of the channel.')

const switchInput = z.strictObject({
  channel: channelName,
  override: z.enum(['enabled', 'disabled']),
})

/** Disables or enables a channel. Where it has that state already, nothing changes. */
export const switchChannel = operation(
  { input: switchInput, answer: channelForm },
  (context, { channel: name, override }) =>
    context.database.transact(async (transaction) => {
      const channels = (await readCatalogue(transaction)).channels.filter(isInUse)
      const row = channels.find((one) => one.name === name)
      if (row === undefined) throw noSuchChannel(name, channels)
      if (row.override === override) return viewChannel(row)
      await setOverride(transaction, { channel: name, override })
      await recordAction(transaction, context, {
        action: override === 'disabled' ? 'channel.off' : 'channel.on',
        subject: name,
      })
      await appendChanges(transaction, [overrideChange(context, row, override)])
      return viewChannel({ ...row, override })
    }),
)

/** An operator's decision is part of the channel's history, for all of its models. */
function overrideChange(
  { clock, actor }: OperationContext,
  row: ChannelRow,
  to: ChannelOverride,
): ChannelChange {
  const atMs = clock.now()
  const id = newId('evt', atMs)
  const place = { node: undefined, channel: row.name, model: undefined }
  return { id, atMs, ...place, from: row.override, to, why: 'operator', actor, detail: {} }
}

export function noSuchChannel(name: string, known: readonly { readonly name: string }[]): Error {
  const names = known.map((channel) => channel.name).join(', ')
  return notFound(
    names === ''
      ? `There is no channel ${name}: the catalogue has no channels.`
      : `There is no channel ${name}. Channels: ${names}.`,
  )
}

function viewChannel(row: ChannelRow): ChannelView {
  const entry = { ...row, credential: describeCredential(row.credential) }
  return {
    name: row.name,
    ...showEntry(channelFields, entry),
    enabled: row.override === 'enabled',
    credential_set_at: timeText(row.credentialSetAtMs),
  }
}
