/**
 * Records the exchanges of known callers that the ledger does not: those that were refused before money was
 * held, and those that are free. Never throws and never waits.
 */
import type { Principal } from '../access/key.ts'
import { errorCatalogue } from '../base/error-catalogue.ts'
import type { ErrorCode } from '../base/errors.ts'
import type { FreeExchange } from '../ledger/free-exchange-store.ts'
import { clientFacts } from './client-facts.ts'
import type { Delivered } from './deliver.ts'
import { askedName } from './prepare.ts'
import { statusOf } from './own-replies.ts'
import { endFreeTrace } from './trace-facts.ts'
import type { Admitted, AttemptNotes, Identified, Incoming, RelayServices } from './stages.ts'

type RecordServices = Pick<RelayServices, 'clock' | 'freeExchanges' | 'settings' | 'telemetry'>

interface RefusedExchange {
  readonly owner: Pick<Principal, 'accountId' | 'keyId'>
  readonly operation?: string
  readonly model?: string | undefined
  readonly asked?: string | undefined
  readonly code: ErrorCode
}

export function recordRefusal(
  incoming: Incoming,
  { owner, operation, model, asked: askedModel, code }: RefusedExchange,
  services: RecordServices,
): void {
  const { origin } = errorCatalogue[code]
  const status = statusOf(code, incoming.format)
  const ending = origin === 'gateway' && status === 500 ? 'failed' : 'not_admitted'
  record(incoming, owner, { operation, model, askedModel, ending, status, code }, services)
}

/** The client left before its request had arrived. */
export function recordClientGone(
  identified: Identified,
  operation: string,
  services: RecordServices,
): void {
  const facts = { operation, ending: 'client_left', status: 499 } as const
  services.telemetry.freeExchangeEnded({ vendor: identified.vendor.name, ...facts })
  record(identified, identified.principal, facts, services)
}

interface OwnReply {
  readonly operation: string
  readonly status: number
  /** Why the request was refused. */
  readonly code: ErrorCode | undefined
}

/** An answer from the gateway's own catalogue. */
export function recordOwnReply(
  identified: Identified,
  { operation, status, code }: OwnReply,
  services: RecordServices,
): void {
  const facts =
    code === undefined
      ? ({ operation, ending: 'completed', status } as const)
      : ({ operation, ending: 'not_admitted', status, code } as const)
  services.telemetry.freeExchangeEnded({ vendor: identified.vendor.name, ...facts })
  record(identified, identified.principal, facts, services)
}

/** An operation that is free at the vendor. */
export function recordFree(
  admitted: Admitted,
  { ending, status, code, channel, vendorRequestId }: Delivered,
  { attempts }: AttemptNotes,
  services: RecordServices,
): void {
  const facts = {
    operation: admitted.operation.name,
    model: admitted.model.id,
    askedModel: askedName(admitted.model, admitted.facts.model),
    ending,
    status,
    code,
    attempts,
    channel: channel?.name,
    vendorRequestId,
  }
  services.telemetry.freeExchangeEnded({ vendor: admitted.vendor.name, ...facts })
  record(admitted, admitted.principal, facts, services)
}

type OptionalFact = 'operation' | 'model' | 'askedModel' | 'channel' | 'code' | 'vendorRequestId'

type Facts = Pick<FreeExchange, 'ending' | 'status'> &
  Partial<Pick<FreeExchange, OptionalFact | 'attempts'>>

function record(
  incoming: Incoming,
  { accountId, keyId }: Pick<Principal, 'accountId' | 'keyId'>,
  { attempts = [], ...facts }: Facts,
  { clock, freeExchanges, settings }: RecordServices,
): void {
  const { exchangeId, request, vendor, startedAtMs } = incoming
  const { operation, model, askedModel, ending, status, channel, code, vendorRequestId } = facts
  endFreeTrace(incoming, { operation, model, channel, ending, status, code, attempts })
  // Admin tokens belong to no account.
  if (accountId === '') return
  freeExchanges.record({
    exchangeId,
    accountId,
    keyId,
    vendor: vendor.name,
    model,
    askedModel,
    operation,
    channel,
    startedAtMs,
    endedAtMs: clock.now(),
    ending,
    status,
    code,
    vendorRequestId,
    attempts,
    ...clientFacts(request, settings.recordAddresses),
  })
}
