/** Whose fault a vendor's answer is, asked of an operation with a table of answers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ForwardedOperation, UpstreamFault } from '../../src/formats/format.ts'
import { parseJson } from '../../src/formats/json.ts'
import { readVendorError } from '../../src/formats/vendor-error.ts'

export interface FaultCase {
  readonly status: number
  readonly type?: string
  readonly code?: string
  readonly message?: string
  readonly retryAfter?: string
  readonly fault: UpstreamFault
}

type ErrorParts = Pick<FaultCase, 'type' | 'code' | 'message'>

/** A test for each case. `envelope`: how the vendor writes an error; an answer without one is a page. */
export function testFaults(
  operation: ForwardedOperation,
  cases: readonly FaultCase[],
  envelope: (error: ErrorParts) => object,
): void {
  for (const { fault, ...answer } of cases)
    void test(`${JSON.stringify(answer)} is ${fault}`, () => {
      const { status, retryAfter, ...parts } = answer
      const body = Object.keys(parts).length > 0 ? JSON.stringify(envelope(parts)) : '<html>'
      const error = readVendorError(parseJson(body))
      assert.equal(operation.classify({ status, retryAfter }, error), fault)
    })
}
