/** The plainest request of each format, for tests whose subject lies elsewhere. */

export const messagesPath = '/alpha/v1/messages'
export const chatPath = '/beta/v1/chat/completions'

export type JsonFields = Readonly<Record<string, unknown>>

/** A messages request; `undefined` as a value leaves the field out. */
export function messagesRequest(fields: JsonFields = {}): JsonFields {
  return {
    model: 'large-1',
    max_tokens: 16,
    messages: [{ role: 'user', content: 'hello' }],
    ...fields,
  }
}

/** A chat request; `undefined` as a value leaves the field out. */
export function chatRequest(fields: JsonFields = {}): JsonFields {
  return {
    model: 'chat-1',
    max_tokens: 16,
    messages: [{ role: 'user', content: 'hello' }],
    ...fields,
  }
}
