/**
 * The facts of an exchange in its trace: ids, names of the catalogue, counts and closed words. Where no
 * traces are exported, each function returns at once.
 */
import type { Principal } from '../access/key.ts'
import { usdNumber } from '../base/money.ts'
import type { Lease } from '../channels/route.ts'
import type { ExchangeRecord } from '../ledger/ledger.ts'
import type { Usage, UsageClass } from '../metering/usage.ts'
import type {
  AttemptTrace,
  ExchangeEnd,
  ExchangeTrace,
  TracedUsage,
  Traces,
} from '../telemetry/traces.ts'
import type { Delivered } from './deliver.ts'
import type { Admitted, Incoming } from './stages.ts'

/** Only known callers have traces: others could fill a collector. */
export function beginTrace(
  incoming: Incoming,
  { accountId, keyId }: Principal,
  traces: Traces | undefined,
): ExchangeTrace | undefined {
  const { request, exchangeId, vendor, startedAtMs, startedMonotonicMs } = incoming
  return traces?.begin({
    exchangeId,
    accountId,
    keyId,
    vendor: vendor.name,
    method: request.method,
    startedAtMs,
    startedMonotonicMs,
    traceparent: request.header('traceparent'),
    tracestate: request.header('tracestate'),
  })
}

export function beginAttemptTrace(
  { trace, vendor, operation, model }: Admitted,
  { channel, upstreamModel = model.id }: Lease,
  earlierCount: number,
): AttemptTrace | undefined {
  return trace?.beginAttempt({
    channel: channel.name,
    vendor: vendor.name,
    operation: operation.name,
    method: operation.method,
    model: upstreamModel,
    url: channel.url,
    earlierCount,
  })
}

/** Ends the trace of an exchange that the ledger records. */
export function endTrace(
  { trace, vendor, operation }: Admitted,
  { reading }: Delivered,
  record: ExchangeRecord,
): void {
  trace?.end({
    operation: record.operation,
    route: `/${vendor.name}${operation.path}`,
    model: record.model,
    isStream: record.isStream,
    ending: record.ending,
    status: record.status,
    code: record.code,
    channel: record.channel,
    usage: usageOf(record.usage),
    responseModel: reading?.model,
    finishReasons: reading?.finishReasons?.filter(isReason),
    firstEventMs: record.firstEventMs,
    costUsd: usdNumber(record.amountPicos),
    vendorRequestId: record.vendorRequestId,
    lastAttempt: record.attempts.at(-1),
  })
}

type FreeFacts = Pick<
  ExchangeEnd,
  'operation' | 'model' | 'channel' | 'ending' | 'status' | 'code'
> &
  Pick<ExchangeRecord, 'attempts'>

/** Ends the trace of an exchange that is refused or free. */
export function endFreeTrace(
  { trace }: Pick<Incoming, 'trace'>,
  { attempts, ...facts }: FreeFacts,
): void {
  trace?.end({ ...facts, lastAttempt: attempts.at(-1) })
}

/** A vendor chooses these words; anything else is no reason. */
export function isReason(reason: string): boolean {
  return /^[A-Za-z_]{1,40}$/.test(reason)
}

function usageOf(usage: Usage | undefined): TracedUsage | undefined {
  if (usage === undefined) return undefined
  const sum = (...classes: readonly UsageClass[]): number =>
    usage.parts.reduce(
      (total, { counts }) => classes.reduce((part, name) => part + (counts[name] ?? 0), total),
      0,
    )
  return {
    inputTokens: usage.parts.reduce((total, { promptTokens }) => total + promptTokens, 0),
    outputTokens: usage.reported.outputTokens,
    cacheReadTokens: sum('cache_read', 'cache_read_audio'),
    cacheWriteTokens: sum('cache_write_5m', 'cache_write_1h'),
  }
}
