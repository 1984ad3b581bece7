/**
 * Tells a finish reason that reports a failure of the vendor from one that ends an answer. Vendors have words
 * of their own for both, so the list is open: an unknown reason ends the answer.
 *
 * Documented, read 2026-11-26: `error` by Mistral, OpenRouter, Together and vLLM ("a retryable internal
 * error"), `network_error` by Z.ai ("model inference exception"), `insufficient_system_resource` by DeepSeek
 * ("interrupted due to insufficient resource"), `abort` by vLLM: this gateway has not asked for an end.
 */
import type { VendorError } from './answer.ts'

const failure = /^(?:\w+_)?error$|^insufficient_system_resource$|^abort(?:ed)?$/i

export function saysFailure(reason: string): boolean {
  return failure.test(reason)
}

/** The error of an answer that says so by its finish reason alone: only the vendor is to blame. */
export const reportedFailure: VendorError = { type: undefined, code: undefined, message: undefined }
