/**
 * What a messages request asks the vendor to do beyond answering with text: run tools of its own, have
 * other models answer or advise, go on from what it keeps. Only names and limits are read; what it
 * came to the answer tells.
 */
import { isAsked, type AskedWork } from '../fields.ts'
import { asArray, asObject, asText, type JsonObject } from '../json.ts'

/** Tools with a `type` that the client runs all the same; every other type is the vendor's to run. */
const clientTools = /^(custom$|bash_|computer_|memory_|text_editor_)/
/** For a search tool without a limit of its own. */
const usualSearchesMax = 10
/** No answer is believed to have made more; a larger limit sets no more money aside. */
const searchesMax = 200

export function findMessagesWork(body: JsonObject): AskedWork | undefined {
  const tools = asArray(body['tools'])?.map((tool) => asObject(tool) ?? {}) ?? []
  const serverTools = tools.filter(isServerTool)
  const otherModels = [
    ...(asArray(body['fallbacks']) ?? []).map((entry) => asObject(entry)?.['model'] ?? entry),
    ...serverTools.map((tool) => tool['model']),
  ].filter((model) => typeof model === 'string')
  const hasServerTools = serverTools.length > 0 || (asArray(body['mcp_servers'])?.length ?? 0) > 0
  const hasStoredPrompt = isAsked(body['thread']) || isAsked(body['container'])
  if (!hasServerTools && !hasStoredPrompt && otherModels.length === 0) return undefined
  return {
    asksAudioOutput: false,
    isSpeechCompressed: false,
    hasServerTools,
    hasStoredPrompt,
    webSearchesMax: serverTools.reduce((sum, tool) => sum + searchesOf(tool), 0),
    otherModels,
  }
}

function isServerTool(tool: JsonObject): boolean {
  const type = asText(tool['type'])
  return type !== undefined && !clientTools.test(type)
}

function searchesOf(tool: JsonObject): number {
  if (asText(tool['type'])?.startsWith('web_search') !== true) return 0
  const given = tool['max_uses']
  const wanted = typeof given === 'number' && given >= 0 ? Math.ceil(given) : usualSearchesMax
  return Math.min(wanted, searchesMax)
}
