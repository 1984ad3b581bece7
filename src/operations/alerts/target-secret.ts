/**
 * Seals the URL of a target, and the secret with which messages to it are signed. A URL is as secret as a
 * password: anyone with that of a Slack channel can write to it. Only this file and senders have plaintext.
 */
import { randomBytes } from 'node:crypto'
import { GatewayError } from '../../base/errors.ts'
import { Secret } from '../../base/secret.ts'
import { seal, unseal } from '../../storage/master-key.ts'

export interface TargetSecret {
  readonly url: string
  /** `whsec_` and base64, as Standard Webhooks writes it; webhooks only. */
  readonly signingSecret: Secret | undefined
}

const secretPrefix = 'whsec_'
const secretBytes = 32

export function makeSigningSecret(): Secret {
  return new Secret(secretPrefix + randomBytes(secretBytes).toString('base64'))
}

/** Returns the bytes of the key that signs. */
export function signingKey(secret: Secret): Buffer {
  return Buffer.from(secret.reveal().slice(secretPrefix.length), 'base64')
}

export function sealTarget(masterKey: Secret, id: string, target: TargetSecret): string {
  const plain = JSON.stringify({ url: target.url, secret: target.signingSecret?.reveal() })
  return seal(masterKey, placeOf(id), new Secret(plain))
}

/** Throws `operations.conflict` where another master key has sealed it. */
export function openTarget(masterKey: Secret, id: string, sealed: string): TargetSecret {
  const opened = unseal(masterKey, placeOf(id), sealed)
  if (opened.kind === 'unreadable')
    throw new GatewayError(
      'operations.conflict',
      `The address of the target cannot be opened: ${opened.reason}. Delete the target and create it again.`,
    )
  const plain = JSON.parse(opened.secret.reveal()) as {
    readonly url: string
    readonly secret?: string
  }
  return {
    url: plain.url,
    signingSecret: plain.secret === undefined ? undefined : new Secret(plain.secret),
  }
}

function placeOf(id: string) {
  return { owner: `alert target ${id}`, field: 'address' }
}
