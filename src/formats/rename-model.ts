/** The amendment that every operation shares: the body names the model as the channel knows it. */
import type { RequestFacts } from './format.ts'
import { splice } from './scan.ts'

export function renameModel(
  body: Buffer,
  facts: RequestFacts,
  upstreamModel: string | undefined,
): Buffer | readonly Buffer[] {
  if (upstreamModel === undefined || upstreamModel === facts.model) return body
  return splice(body, [{ ...facts.spans.model, text: JSON.stringify(upstreamModel) }])
}
