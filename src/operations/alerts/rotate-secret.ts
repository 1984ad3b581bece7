/**
 * Replaces the secret that signs the messages of a webhook. For a day messages are signed with the replaced
 * one too, as Standard Webhooks allows, so that a receiver can change over without losing any.
 */
import { z } from 'zod'
import { dayMs } from '../../base/clock.ts'
import { recordAction } from '../actions.ts'
import { conflict, invalidField, operation, timeText } from '../operation.ts'
import {
  makeSigningSecret,
  openTarget,
  type RetiredSecret,
  type TargetSecret,
} from './target-secret.ts'
import { saveTarget } from './target-store.ts'
import {
  getTargetToChange,
  sealAddress,
  targetReference,
  viewTarget,
  type TargetView,
} from './targets.ts'

/** How long a replaced secret stays valid beside the new one. */
const retiredMs = dayMs
/** Replaced secrets that may be valid at a time, because each is one more signature in every message. */
const retiredMax = 4

/** A target whose messages are signed with a new secret. The only result that shows it. */
export interface RotatedSecret {
  readonly target: TargetView
  readonly secret: string
  /** Until then messages are signed with the replaced secret too. */
  readonly old_valid_until: string
}

/** Replaces the secret of a webhook. The replaced one stays valid for a day. */
export const rotateTargetSecret = operation(
  z.strictObject({ target: targetReference }),
  (context, { target: reference }): Promise<RotatedSecret> => {
    const nowMs = context.clock.now()
    return context.database.transact(async (transaction) => {
      const target = await getTargetToChange(transaction, reference)
      const { id, sealed } = target
      if (target.format !== 'webhook' || sealed === undefined)
        throw invalidField('target', 'is no webhook; only webhooks are signed with a secret')
      const { signingSecret: replaced, ...known } = openTarget(context.masterKey(), id, sealed)
      const valid = known.retired.filter(({ validUntilMs }) => validUntilMs > nowMs)
      requireRoomToRetire(valid)
      const secret = makeSigningSecret()
      const validUntilMs = nowMs + retiredMs
      const next: TargetSecret = {
        ...known,
        signingSecret: secret,
        retired: [
          ...(replaced === undefined ? [] : [{ secret: replaced, validUntilMs }]),
          ...valid,
        ],
      }
      const rotated = {
        ...target,
        sealed: await sealAddress(context, transaction, { id, ...next }),
      }
      await saveTarget(transaction, rotated)
      const oldValidUntil = timeText(validUntilMs)
      await recordAction(transaction, context, {
        action: 'alert.rotate_secret',
        subject: id,
        detail: { old_valid_until: oldValidUntil },
      })
      return {
        target: viewTarget(rotated),
        secret: secret.reveal(),
        old_valid_until: oldValidUntil,
      }
    })
  },
)

function requireRoomToRetire(valid: readonly RetiredSecret[]): void {
  const oldest = valid.at(-1)
  if (oldest === undefined || valid.length < retiredMax) return
  throw conflict(
    `${retiredMax} replaced secrets of the target are still valid. Replace it again after ${timeText(oldest.validUntilMs)}.`,
  )
}
