/**
 * What a chat request asks the vendor to do beyond answering with text: speak, or run tools of its
 * own. What it came to the answer tells.
 */
import { isAsked, type AskedWork } from '../fields.ts'
import { asArray, asObject, asText, type JsonObject } from '../json.ts'

const clientTools: ReadonlySet<string> = new Set(['function', 'custom'])

export function findChatWork(body: JsonObject): AskedWork | undefined {
  const asksAudioOutput = asArray(body['modalities'])?.includes('audio') === true
  const hasServerTools =
    isAsked(body['web_search_options']) || (asArray(body['tools']) ?? []).some(isServerTool)
  if (!asksAudioOutput && !hasServerTools) return undefined
  return { asksAudioOutput, hasServerTools, webSearchesMax: 0, otherModels: [] }
}

function isServerTool(tool: unknown): boolean {
  const type = asText(asObject(tool)?.['type'])
  return type !== undefined && !clientTools.has(type)
}
