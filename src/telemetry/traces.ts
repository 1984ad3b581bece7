/**
 * Traces of exchanges as the relay sees them: one span for each exchange of a known caller, one below it for
 * each attempt. Facts are ids, names of the catalogue, counts and words from closed sets; never a body, a
 * header as it came, or a secret. `otlp-traces.ts` exports them; without it there is no trace at all.
 */

/** Facts at the beginning of an exchange. */
export interface TracedRequest {
  readonly exchangeId: string
  readonly accountId: string
  readonly keyId: string
  readonly vendor: string
  readonly method: string
  readonly startedAtMs: number
  readonly startedMonotonicMs: number
  /** The client's trace headers, as they came. */
  readonly traceparent: string | undefined
  readonly tracestate: string | undefined
}

export interface TracedUsage {
  /** Cached ones included. */
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
}

/** Facts at its end. */
export interface ExchangeEnd {
  readonly operation: string | undefined
  /** The vendor's prefix and the path of the operation, with placeholders in place of ids. */
  readonly route?: string | undefined
  readonly model: string | undefined
  readonly isStream?: boolean
  readonly ending: string
  readonly status: number
  /** The code of the gateway's own error. */
  readonly code: string | undefined
  readonly channel?: string | undefined
  readonly usage?: TracedUsage | undefined
  readonly responseModel?: string | undefined
  readonly finishReasons?: readonly string[] | undefined
  readonly firstEventMs?: number | undefined
  readonly costUsd?: number
  readonly vendorRequestId?: string | undefined
  /** The result of the attempt that was still running, such as a stream. */
  readonly lastAttempt?: AttemptEnd | undefined
}

export interface TracedAttempt {
  readonly channel: string
  readonly vendor: string
  readonly operation: string
  readonly method: string
  /** As the vendor is asked for it. */
  readonly model: string
  /** Origin and base path of the channel; of it only host and port are shown. */
  readonly url: string
  /** Attempts of the exchange before this one. */
  readonly earlierCount: number
}

export interface AttemptEnd {
  /** The vendor's; null where no answer came. */
  readonly status: number | null
  /** As the request log names it. */
  readonly class: string
}

export interface AttemptTrace {
  /** A stream that is delivered runs on until the exchange ends. */
  judged(judged: AttemptEnd & { readonly next: string; readonly isRunning: boolean }): void
}

export interface ExchangeTrace {
  beginAttempt(attempt: TracedAttempt): AttemptTrace
  /** Also ends attempts that are still open. Later calls have no effect. */
  end(end: ExchangeEnd): void
}

export interface Traces {
  begin(request: TracedRequest): ExchangeTrace
  /** Sends the waiting spans, for two seconds at most. */
  close(): Promise<void>
}
