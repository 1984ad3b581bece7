/**
 * What a chat request asks the vendor to do beyond answering with text: speak, run tools of its
 * own, go on from what it has said aloud. What it came to the answer tells.
 */
import { isAsked, type AskedWork } from '../fields.ts'
import { asArray, asObject, asText, type JsonObject } from '../json.ts'
import { isCompressedSound } from './estimate.ts'

const clientTools: ReadonlySet<string> = new Set(['function', 'custom'])

export function findChatWork(body: JsonObject): AskedWork | undefined {
  const asksAudioOutput = asArray(body['modalities'])?.includes('audio') === true
  const hasServerTools =
    isAsked(body['web_search_options']) || (asArray(body['tools']) ?? []).some(isServerTool)
  const hasStoredPrompt = (asArray(body['messages']) ?? []).some(isKeptSpeech)
  if (!asksAudioOutput && !hasServerTools && !hasStoredPrompt) return undefined
  return {
    asksAudioOutput,
    isSpeechCompressed: asksAudioOutput && isCompressedSound(asObject(body['audio'])?.['format']),
    hasServerTools,
    hasStoredPrompt,
    webSearchesMax: 0,
    otherModels: [],
  }
}

function isServerTool(tool: unknown): boolean {
  const type = asText(asObject(tool)?.['type'])
  return type !== undefined && !clientTools.has(type)
}

/** An earlier spoken answer, of which the conversation has the vendor's id and no sound. */
function isKeptSpeech(message: unknown): boolean {
  return asText(asObject(asObject(message)?.['audio'])?.['id']) !== undefined
}
