/**
 * Exports traces over OTLP (HTTP, protobuf) by the OpenTelemetry SDK, with its semantic conventions for HTTP
 * and generative AI. Spans wait in a bounded queue and go out in batches, one request at a time; others are
 * dropped and counted. Invariant: no exchange waits for a collector. Loaded only where it is used.
 */
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api'
import { ExportResultCode, W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider as TracingSdk,
} from '@opentelemetry/sdk-trace'
import { sleep, type Clock } from '../base/clock.ts'
import type {
  AttemptEnd,
  AttemptTrace,
  ExchangeEnd,
  ExchangeTrace,
  TracedAttempt,
  TracedRequest,
  TracedUsage,
  Traces,
} from './traces.ts'

export interface OtlpOptions {
  readonly clock: Clock
  /** The collector's address without `/v1/traces`. */
  readonly endpoint: string
  /** The traced share of the exchanges whose client has not decided. */
  readonly sampleRatio: number
  readonly serviceVersion: string
  readonly instance: string
  readonly region: string
  readonly onSpans: (result: 'exported' | 'failed' | 'dropped', count: number) => void
}

/** About 1.5 KB each. */
const waitingMax = 8_192
const batchMax = 512
const exportTimeoutMs = 5_000
const closeTimeoutMs = 2_000

export function openOtlpTraces(options: OtlpOptions): Traces {
  const { clock, endpoint, sampleRatio, onSpans } = options
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    timeoutMillis: exportTimeoutMs,
  })
  const sdk = new TracingSdk({
    resource: resourceFromAttributes({
      'service.name': 'turnpike',
      'service.version': options.serviceVersion,
      'service.instance.id': options.instance,
      'turnpike.region': options.region,
    }).merge(detectResources({ detectors: [envDetector] })),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sampleRatio) }),
    // A vendor names its model and its request's id.
    spanLimits: { attributeValueLengthLimit: 256 },
    spanProcessors: [new BoundedProcessor(exporter, onSpans)],
  })
  const tracer = sdk.getTracer('turnpike', options.serviceVersion)
  const site = { tracer, clock }
  return {
    begin: (request) => new TracedExchange(request, site),
    async close() {
      const closed = sdk.shutdown().catch(() => undefined)
      await Promise.race([closed, sleep(clock, closeTimeoutMs)])
    },
  }
}

/** Counts waiting spans and their results; the batches are the library's. */
class BoundedProcessor implements SpanProcessor {
  readonly #batches: BatchSpanProcessor
  readonly #onSpans: OtlpOptions['onSpans']
  #waitingCount = 0

  constructor(exporter: SpanExporter, onSpans: OtlpOptions['onSpans']) {
    this.#onSpans = onSpans
    this.#batches = new BatchSpanProcessor({
      exporter: {
        export: (spans, done) =>
          exporter.export(spans, (result) => {
            this.#waitingCount -= spans.length
            onSpans(result.code === ExportResultCode.SUCCESS ? 'exported' : 'failed', spans.length)
            done(result)
          }),
        shutdown: () => exporter.shutdown(),
      },
      maxQueueSize: waitingMax,
      maxExportBatchSize: batchMax,
    })
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return
    if (this.#waitingCount >= waitingMax) {
      this.#onSpans('dropped', 1)
      return
    }
    this.#waitingCount++
    this.#batches.onEnd(span)
  }

  forceFlush(): Promise<void> {
    return this.#batches.forceFlush()
  }

  shutdown(): Promise<void> {
    return this.#batches.shutdown()
  }
}

interface Site {
  readonly tracer: Tracer
  readonly clock: Clock
}

const propagator = new W3CTraceContextPropagator()
const readHeader = {
  get: (headers: Readonly<Record<string, string | undefined>>, name: string) => headers[name],
  keys: (headers: Readonly<Record<string, string | undefined>>) => Object.keys(headers),
}

class TracedExchange implements ExchangeTrace {
  readonly #request: TracedRequest
  readonly #site: Site
  readonly #span: Span
  readonly #context: Context
  readonly #open = new Set<Span>()
  #isEnded = false

  constructor(request: TracedRequest, site: Site) {
    const { traceparent, tracestate, startedAtMs } = request
    const parent = propagator.extract(ROOT_CONTEXT, { traceparent, tracestate }, readHeader)
    this.#request = request
    this.#site = site
    this.#span = site.tracer.startSpan(
      request.method,
      { kind: SpanKind.SERVER, startTime: timeOf(startedAtMs) },
      parent,
    )
    this.#context = trace.setSpan(parent, this.#span)
  }

  beginAttempt(attempt: TracedAttempt): AttemptTrace {
    const span = this.#site.tracer.startSpan(
      spanName(attempt.operation, attempt.model) ?? attempt.method,
      { kind: SpanKind.CLIENT, startTime: timeOf(this.#nowMs()) },
      this.#context,
    )
    if (span.isRecording()) span.setAttributes(attemptAttributes(attempt))
    this.#open.add(span)
    return {
      judged: ({ next, isRunning, ...end }) => {
        span.setAttribute('turnpike.attempt.next', next)
        if (!isRunning) this.#endAttempt(span, end)
      },
    }
  }

  end(end: ExchangeEnd): void {
    if (this.#isEnded) return
    this.#isEnded = true
    for (const span of this.#open) this.#endAttempt(span, end.lastAttempt)
    const span = this.#span
    if (span.isRecording()) {
      if (end.route !== undefined) span.updateName(`${this.#request.method} ${end.route}`)
      span.setAttributes(exchangeAttributes(this.#request, end))
      if (isFailed(end)) span.setStatus({ code: SpanStatusCode.ERROR })
    }
    span.end(timeOf(this.#nowMs()))
  }

  #endAttempt(span: Span, end: AttemptEnd = { status: null, class: 'fault' }): void {
    this.#open.delete(span)
    span.setAttribute('turnpike.attempt.class', end.class)
    if (end.status !== null) span.setAttribute('http.response.status_code', end.status)
    if (end.class !== 'answered' && end.class !== 'client_left') {
      span.setAttribute('error.type', end.class)
      span.setStatus({ code: SpanStatusCode.ERROR })
    }
    span.end(timeOf(this.#nowMs()))
  }

  /** Wall time that runs with the monotonic clock, so that no span ends before it begins. */
  #nowMs(): number {
    const { startedAtMs, startedMonotonicMs } = this.#request
    return startedAtMs + this.#site.clock.monotonic() - startedMonotonicMs
  }
}

/** Seconds and nanoseconds: a plain number of milliseconds would lose the fraction. */
function timeOf(wallMs: number): [seconds: number, nanoseconds: number] {
  const seconds = Math.floor(wallMs / 1_000)
  return [seconds, Math.round((wallMs - seconds * 1_000) * 1_000_000)]
}

/** Operations that the conventions name; all others are plain HTTP. */
const conventionalNames: Readonly<Record<string, string>> = {
  'messages.create': 'chat',
  'chat.completions.create': 'chat',
  'responses.create': 'chat',
  'completions.create': 'text_completion',
  'embeddings.create': 'embeddings',
}

function spanName(operation: string, model: string): string | undefined {
  const name = conventionalNames[operation]
  return name === undefined ? undefined : `${name} ${model}`
}

function attemptAttributes(attempt: TracedAttempt): Attributes {
  const { hostname, port, protocol } = new URL(attempt.url)
  return withoutAbsent({
    'gen_ai.operation.name': conventionalNames[attempt.operation],
    'gen_ai.provider.name': attempt.vendor,
    'gen_ai.request.model': attempt.model,
    'http.request.method': attempt.method,
    'http.request.resend_count': attempt.earlierCount === 0 ? undefined : attempt.earlierCount,
    'server.address': hostname,
    'server.port': Number(port === '' ? (protocol === 'https:' ? 443 : 80) : port),
    'turnpike.channel': attempt.channel,
  })
}

function exchangeAttributes(request: TracedRequest, end: ExchangeEnd): Attributes {
  const { firstEventMs, operation, isStream } = end
  return withoutAbsent({
    'http.request.method': request.method,
    'http.route': end.route,
    'http.response.status_code': end.status,
    'error.type': end.code ?? (isFailed(end) ? end.ending : undefined),
    'gen_ai.operation.name': operation === undefined ? undefined : conventionalNames[operation],
    'gen_ai.provider.name': request.vendor,
    'gen_ai.request.model': end.model,
    'gen_ai.request.stream': isStream,
    'gen_ai.response.model': end.responseModel,
    'gen_ai.response.finish_reasons': end.finishReasons?.slice(),
    'gen_ai.response.time_to_first_chunk':
      firstEventMs === undefined || isStream !== true ? undefined : firstEventMs / 1_000,
    ...usageAttributes(end.usage),
    'turnpike.exchange.id': request.exchangeId,
    'turnpike.account.id': request.accountId,
    'turnpike.key.id': request.keyId,
    'turnpike.operation': operation,
    'turnpike.channel': end.channel,
    'turnpike.ending': end.ending,
    'turnpike.cost_usd': end.costUsd,
    'turnpike.vendor_request_id': end.vendorRequestId,
  })
}

function usageAttributes(usage: TracedUsage | undefined): Attributes {
  if (usage === undefined) return {}
  return {
    'gen_ai.usage.input_tokens': usage.inputTokens,
    'gen_ai.usage.output_tokens': usage.outputTokens,
    'gen_ai.usage.cache_read.input_tokens': usage.cacheReadTokens,
    'gen_ai.usage.cache_creation.input_tokens': usage.cacheWriteTokens,
  }
}

/** An error that the client has made is none of the server, by the conventions for HTTP. */
function isFailed({ status, ending }: ExchangeEnd): boolean {
  return status >= 500 || ending === 'upstream_cut' || ending === 'gateway_cut'
}

function withoutAbsent(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined))
}
