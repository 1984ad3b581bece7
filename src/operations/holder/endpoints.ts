/**
 * What the holder of an account can ask for below `/v1/usage`, one row per endpoint. Each writes its answer
 * as text, from the account of the caller's token alone.
 */
import type { z } from 'zod'
import { refuse } from '../../base/errors.ts'
import { ownKeysOnly } from '../members/acting-member.ts'
import type { OperationContext, Outcome } from '../operation.ts'
import type { WriteText } from '../list-text.ts'
import { holderAccount } from './account.ts'
import { holderDays } from './days.ts'
import { holderKeys } from './keys.ts'
import { holderPrices } from './prices.ts'
import { holderProofs } from './proofs.ts'
import { holderReceipts } from './receipts.ts'
import { holderRequest, holderRequests } from './requests.ts'
import { holderStatement, holderStatementFigures } from './statement.ts'

export interface HolderInput {
  readonly accountId: string
  readonly input: Readonly<Record<string, string>>
}

export interface HolderEndpoint {
  /** Its own query parameters. */
  readonly parameters: readonly string[]
  readonly contentType: (input: HolderInput['input']) => string
  /** Refuses before its first text. */
  readonly write: (
    context: OperationContext,
    asked: HolderInput,
    write: WriteText,
  ) => Promise<Outcome<void>>
}

type Read = (
  context: OperationContext,
  input: unknown,
  accountId: string,
) => Promise<Outcome<unknown>>

const jsonType = 'application/json'

function json(read: Read & { readonly input: z.ZodObject }): HolderEndpoint {
  return {
    parameters: Object.keys(read.input.shape),
    contentType: () => jsonType,
    async write(context, { input, accountId }, write) {
      const outcome = await read(context, input, accountId)
      if (outcome.kind === 'refusal') return outcome
      await write(JSON.stringify(outcome.value))
      return { kind: 'done', value: undefined }
    },
  }
}

export const requestPath = '/v1/usage/requests/{id}'

/** Of the account as a whole: a member without the role owner does not see it. */
function forOwners(endpoint: HolderEndpoint): HolderEndpoint {
  return {
    ...endpoint,
    write: (context, asked, write) =>
      ownKeysOnly(context) === undefined
        ? endpoint.write(context, asked, write)
        : Promise.resolve(onlyOwners),
  }
}

const onlyOwners = refuse('access.role_insufficient', 'This needs the role owner in the account.')

export const holderEndpoints: ReadonlyMap<string, HolderEndpoint> = new Map([
  ['/v1/usage/account', forOwners(json(holderAccount))],
  ['/v1/usage/days', json(holderDays)],
  ['/v1/usage/keys', json(holderKeys)],
  ['/v1/usage/prices', json(holderPrices)],
  ['/v1/usage/proofs', forOwners(json(holderProofs))],
  ['/v1/usage/receipts', forOwners(json(holderReceipts))],
  ['/v1/usage/requests', json(holderRequests)],
  // The id is in the path, so a parameter of its name is unknown here.
  [requestPath, { ...json(holderRequest), parameters: [] }],
  ['/v1/usage/statement/figures', forOwners(json(holderStatementFigures))],
  [
    '/v1/usage/statement',
    forOwners({
      parameters: Object.keys(holderStatement.input.shape),
      contentType: ({ format }) => (format === 'csv' ? 'text/csv; charset=utf-8' : jsonType),
      write: (context, { input, accountId }, write) =>
        holderStatement(context, input, accountId, write),
    }),
  ],
])
