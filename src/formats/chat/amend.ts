/**
 * The edits this format makes to a request: the usage chunk asked for where a stream would go
 * without, and the model named as the channel knows it. Byte ranges are replaced and everything
 * else stays as the client wrote it.
 */
import type { RequestFacts, Span } from '../format.ts'
import { scanMembers } from '../scan.ts'
import { splice, type Edit } from '../splice.ts'

const usageField: ReadonlySet<string> = new Set(['include_usage'])

export function amendChat(
  body: Buffer,
  facts: RequestFacts,
  upstreamModel: string | undefined,
): Buffer {
  const edits: Edit[] = []
  if (upstreamModel !== undefined && upstreamModel !== facts.model) {
    edits.push({ ...facts.spans.model, text: JSON.stringify(upstreamModel) })
  }
  if (facts.isStream && !facts.asksUsageChunk) edits.push(usageEdit(body, facts))
  return splice(
    body,
    edits.sort((left, right) => left.start - right.start),
  )
}

function usageEdit(body: Buffer, facts: RequestFacts): Edit {
  const { streamOptions, firstMember } = facts.spans
  if (streamOptions === undefined) {
    const text = '"stream_options":{"include_usage":true},'
    return { start: firstMember, end: firstMember, text }
  }
  if (body[streamOptions.start] !== 0x7b)
    return { ...streamOptions, text: '{"include_usage":true}' }
  return memberEdit(body, streamOptions)
}

/** `stream_options` is an object: its own field is set, the others stay. */
function memberEdit(body: Buffer, streamOptions: Span): Edit {
  const text = body.toString('latin1', streamOptions.start, streamOptions.end)
  const scan = scanMembers(text, 0, usageField)
  const value = scan.spans.get('include_usage')
  const offset = streamOptions.start
  if (value !== undefined) {
    return { start: offset + value.start, end: offset + value.end, text: 'true' }
  }
  const at = offset + scan.firstMember
  const isEmpty = text.slice(1, -1).trim() === ''
  return { start: at, end: at, text: `"include_usage":true${isEmpty ? '' : ','}` }
}
