/**
 * The vendors' free endpoints: model lists in both shapes, and the token count.
 */
import type { BodyAnswer } from './frames.ts'
import type { SandboxRoute } from './routes.ts'
import { plainError } from './error-answer.ts'
import type { JsonObject } from './sandbox-request.ts'
import { countPromptTokens } from './sandbox-request.ts'
import { vendorHeaders } from './vendor-headers.ts'

/** Models the sandbox lists; it answers for any name. */
const listedModels: Readonly<Record<SandboxRoute['format'], readonly string[]>> = {
  messages: ['large-1', 'small-1'],
  chat: ['chat-1', 'chat-mini-1'],
}

const createdAt = '2026-10-21T00:00:00Z'
const createdSeconds = 1_792_540_800

interface FreeSubject {
  readonly route: SandboxRoute
  readonly index: number
}

export function answerModels({ route, index }: FreeSubject): BodyAnswer {
  const { format, modelId } = route
  const ids = listedModels[format]
  if (modelId !== undefined) {
    return ids.includes(modelId)
      ? free({ route, index }, item(format, modelId))
      : plainError({ format, index }, 404, `model: ${modelId}`)
  }
  const data = ids.map((id) => item(format, id))
  const list =
    format === 'messages'
      ? { data, has_more: false, first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null }
      : { object: 'list', data }
  return free({ route, index }, list)
}

function item(format: SandboxRoute['format'], id: string): unknown {
  return format === 'messages'
    ? {
        type: 'model',
        id,
        display_name: `Sandbox ${id}`,
        created_at: createdAt,
        lifecycle: 'active',
        max_input_tokens: 200_000,
        max_tokens: 8_192,
      }
    : { id, object: 'model', created: createdSeconds, owned_by: 'sandbox' }
}

export function answerTokenCount(subject: FreeSubject, body: JsonObject): BodyAnswer {
  return free(subject, { input_tokens: countPromptTokens(body) })
}

function free({ route, index }: FreeSubject, content: unknown): BodyAnswer {
  return {
    kind: 'free',
    status: 200,
    headers: vendorHeaders({ format: route.format, index }, 'application/json'),
    body: JSON.stringify(content),
  }
}
