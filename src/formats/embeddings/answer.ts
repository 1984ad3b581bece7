/**
 * Reads the count of an answer with embeddings. Such an answer can have a hundred megabytes of numbers: of a
 * large one only the beginning and the end are parsed, and never the vectors between them.
 */
import { ChatUsage, usageMembers } from '../chat/usage.ts'
import type { AnswerEdges, AnswerReading } from '../answer.ts'
import { asArray, asObject, asText, parseJson, type JsonObject, type WantedJson } from '../json.ts'
import { emptyReading } from '../output.ts'

/** The members that are read where the edges do not say enough. */
export const embeddingsMembers: WantedJson = {
  names: new Set(['data', 'error', 'model', 'usage', ...usageMembers]),
}

export function readEmbeddings(value: unknown): AnswerReading {
  const answer = asObject(value)
  return answer === undefined ? { kind: 'not_the_format' } : readAnswer(answer)
}

/** Undefined where the edges do not have the count, or the answer's shape is another. */
export function readEmbeddingsEdges(edges: AnswerEdges): AnswerReading | undefined {
  const answer = readEdges(edges)
  return answer?.['usage'] === undefined ? undefined : readAnswer(answer)
}

function readAnswer(answer: JsonObject): AnswerReading {
  const data = asArray(answer['data'])
  if (data === undefined || asObject(answer['error']) !== undefined)
    return { kind: 'not_the_format' }
  const model = asText(answer['model'])
  const usage = readUsage(answer['usage'])
  return {
    kind: 'answer',
    reading: {
      ...emptyReading,
      usage: usage.toUsage(model, undefined),
      isImplausible: usage.isImplausible,
      hasOutput: data.length > 0,
      model,
    },
  }
}

/** Some servers give the total only; it is the same, because there is no output. */
function readUsage(value: unknown): ChatUsage {
  const usage = new ChatUsage()
  const given = asObject(value)
  if (given !== undefined)
    usage.apply({
      prompt_tokens: given['prompt_tokens'] ?? given['total_tokens'],
      prompt_tokens_details: given['prompt_tokens_details'],
    })
  return usage
}

/**
 * Returns the answer with one vector in place of all of them; undefined where its shape is another. The list
 * that begins at the first bracket is `data`, and it ends at the first bracket near the end behind which
 * nothing but whole members of the answer follow: text within the list or within a string cannot be read as
 * such members, because its brackets or quotes do not match.
 */
function readEdges({ beginning, end }: AnswerEdges): JsonObject | undefined {
  const head = /^[^[]*"data"\s*:\s*(?=\[\s*[^\]\s])/.exec(beginning.toString('utf8'))?.[0]
  if (head === undefined) return undefined
  const opened = asObject(parseJson(`${head}[0]}`))
  // The list of a field whose name ends in `"data` looks the same up to here.
  if (asArray(opened?.['data']) === undefined) return undefined
  const closed = readTail(end.toString('utf8'))
  return closed === undefined ? undefined : { ...opened, ...closed }
}

function readTail(tail: string): JsonObject | undefined {
  for (let end = tail.indexOf(']'); end >= 0; end = tail.indexOf(']', end + 1)) {
    const read = asObject(parseJson(`{${tail.slice(end + 1).replace(/^\s*,/, '')}`))
    if (read !== undefined) return read
  }
  return undefined
}
