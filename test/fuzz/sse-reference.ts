/**
 * Reads a stream of events a second time, line by line as the standard says. It shares nothing with the
 * gateway.
 */
import { isObject } from '../../src/base/object.ts'

export interface ReferenceEvent {
  /** One character for each byte. */
  readonly text: string
  readonly event: string | undefined
  readonly data: string
  /** The data as an object; undefined for other data. */
  readonly payload: Fields | undefined
  readonly isWhole: boolean
}

export type Fields = Readonly<Record<string, unknown>>

export function readEvents(bytes: Buffer): readonly ReferenceEvent[] {
  const events: ReferenceEvent[] = []
  let text = ''
  for (const [line = '', content = ''] of bytes
    .toString('latin1')
    .matchAll(/([^\r\n]*)(?:\r\n|\n|\r|$)/g)) {
    const isEnd = content === '' && line !== ''
    text += line
    if (!isEnd) continue
    events.push(eventOf(text, events.length === 0, true))
    text = ''
  }
  if (text !== '') events.push(eventOf(text, events.length === 0, false))
  return events
}

function eventOf(text: string, isFirst: boolean, isWhole: boolean): ReferenceEvent {
  const content = isFirst ? text.replace(/^\u00ef\u00bb\u00bf/, '') : text
  const lines = content.split(/\r\n|\n|\r/)
  const valuesOf = (name: string): string[] =>
    lines
      .filter((line) => line === name || line.startsWith(`${name}:`))
      .map((line) => line.slice(name.length + 1).replace(/^ /, ''))
      .map((value) => Buffer.from(value, 'latin1').toString('utf8'))
  const data = valuesOf('data').join('\n')
  return { text, event: valuesOf('event').at(-1), data, payload: objectIn(data), isWhole }
}

function objectIn(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    // Data that is not JSON is expected here.
    return undefined
  }
}

export function fieldsAt(value: unknown, ...names: readonly string[]): Fields | undefined {
  let found: unknown = value
  for (const name of names) found = isObject(found) ? found[name] : undefined
  return isObject(found) ? found : undefined
}

export function listAt(value: Fields | undefined, name: string): readonly unknown[] | undefined {
  const list = value?.[name]
  return Array.isArray(list) ? (list as readonly unknown[]) : undefined
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** How the events of each operation say what matters. */
export interface StreamRules {
  isTerminal(event: ReferenceEvent): boolean
  /** Some event says why the answer, or a part of it, has ended. */
  hasFinish(event: ReferenceEvent): boolean
  /** The chunk that the client has not asked for. */
  isUsageChunk(event: ReferenceEvent): boolean
}

function typeOf({ event, payload }: ReferenceEvent): string | undefined {
  if (payload === undefined) return undefined
  return isText(payload['type']) ? payload['type'] : event
}

const messagesRules: StreamRules = {
  isTerminal: (one) => typeOf(one) === 'message_stop',
  hasFinish: (one) =>
    typeOf(one) === 'message_delta' && isText(fieldsAt(one.payload, 'delta')?.['stop_reason']),
  isUsageChunk: () => false,
}

function isUsageChunk({ payload }: ReferenceEvent): boolean {
  return listAt(payload, 'choices')?.length === 0 && fieldsAt(payload, 'usage') !== undefined
}

const chatRules: StreamRules = {
  isTerminal: ({ data }) => data.startsWith('[DONE]'),
  hasFinish: (one) =>
    isUsageChunk(one) ||
    (listAt(one.payload, 'choices') ?? []).some((choice) =>
      isText(fieldsAt(choice)?.['finish_reason']),
    ),
  isUsageChunk,
}

const terminalTypes: readonly unknown[] = ['response.completed', 'response.incomplete']

const responsesRules: StreamRules = {
  isTerminal: (one) => !one.data.startsWith('[DONE]') && terminalTypes.includes(typeOf(one)),
  hasFinish: () => false,
  isUsageChunk: () => false,
}

export const streamRules: Readonly<Record<string, StreamRules>> = {
  'messages.create': messagesRules,
  'chat.completions.create': chatRules,
  'completions.create': chatRules,
  'responses.create': responsesRules,
}
