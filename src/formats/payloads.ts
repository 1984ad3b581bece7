/**
 * The tokens of the prompt of one body: likely, and at most. At most, a byte of text is a token. The size of
 * base64 says little, so images and audio have bounds of their own. A part that its bytes do not bound has no
 * bound here: 7 KB of a document can be 100 pages, and an address or an id can stand for anything.
 */
import { audioInputTokensLikely, audioInputTokensMax } from '../metering/token-estimate.ts'
import { asObject, asText, isAsked, type JsonObject } from './json.ts'
import { TextLength } from './json-reader.ts'

/** What most models make of a usual image. */
const imageTokensLikely = 1_500
const documentTokensLikely = 3_000
/** Decoded: a page or two. */
const documentBytes = 20_000
/** For an earlier answer of which only the id is known. */
const earlierAnswerTokens = 2_000

/** Adds up the prompt of one body. */
export class PayloadSum {
  textBytes = 0
  /** Of images and audio. */
  base64Bytes = 0
  /** Likely, of all that is neither text nor audio. */
  tokens = 0
  images = 0
  audioTokens = 0
  /** Infinite where bytes do not bound the audio. */
  audioTokensMax = 0
  /** Bytes do not bound the prompt. */
  isUnbounded = false
  /** Some of it is named by an id and is stored in the operator's account. */
  isInAccount = false

  /** Adds a text, or the count of an object or a list: the input of a tool, for example. */
  addText(value: unknown): void {
    if (typeof value === 'string') this.textBytes += value.length
    else if (value instanceof TextLength) this.textBytes += value.bytes
  }

  addImage(base64Length: number): void {
    this.base64Bytes += base64Length
    this.tokens += imageTokensLikely
    this.images++
  }

  /** `url` is data or an address; some servers read documents there. */
  addImageAt(url: unknown): void {
    const isData = typeof url === 'string' && /^data:image\//i.test(url)
    this.addImage(isData ? url.length : 0)
    if (!isData && (typeof url !== 'string' || !/^https?:/i.test(url))) this.addUnknown()
  }

  /** `data` is base64; anything else where only an address or an id is given. */
  addDocument(data: unknown): void {
    const bytes = typeof data === 'string' ? decodedLength(data.length) : 0
    this.tokens += documentTokensLikely * Math.max(Math.ceil(bytes / documentBytes), 1)
    this.isUnbounded = true
  }

  /** `data` should be base64; some servers take an address there. */
  addAudio(data: unknown, format: unknown): void {
    if (typeof data !== 'string' || isAddress(data)) return this.addUnknown()
    const isCompressed = !uncompressedFormats.has(format)
    this.base64Bytes += data.length
    this.audioTokens += audioInputTokensLikely(decodedLength(data.length), isCompressed)
    this.audioTokensMax += audioInputTokensMax(decodedLength(data.length), isCompressed)
  }

  /** Adds what the vendor keeps and puts before the model: an earlier answer, a stored prompt. */
  addEarlierAnswer(): void {
    this.tokens += earlierAnswerTokens
    this.addUnknown()
  }

  /** Adds a part of a chat message or of an item of a response: what it carries, under whatever type. */
  addPart(value: unknown): void {
    this.addText(value)
    const part = asObject(value)
    if (part === undefined) return
    const type = asText(part['type']) ?? ''
    if (isOnlyText(part) && (type === 'text' || type === 'input_text' || type === 'output_text'))
      return this.addText(part['text'])
    const { image_url: image, input_audio: audio, file, file_data: data } = part
    const isFile = fileParts.test(type)
    if (namesFile(part)) this.isInAccount = true
    for (const name of textsOfParts) this.addText(part[name])
    if (image !== undefined || imageParts.test(type))
      this.addImageAt(asObject(image)?.['url'] ?? image)
    if (audio !== undefined || type === 'input_audio')
      this.addAudio(asObject(audio)?.['data'], asObject(audio)?.['format'])
    if (isFile || file !== undefined) this.addDocument(asObject(file)?.['file_data'] ?? data)
    if (!knownParts.test(type)) this.addUnknown()
    this.addUnknownIn(part, isFile ? fileNames : noNames)
  }

  /** Adds a part that can be anything, audio as well. */
  addUnknown(): void {
    this.isUnbounded = true
    this.audioTokensMax = Infinity
  }

  /** Adds the fields of a part beside those of its type and those that are counted already. */
  addUnknownIn(part: JsonObject, counted: ReadonlySet<string> = noNames): void {
    for (const name of Object.keys(part))
      if (mediaNames.has(name) && !counted.has(name) && isAsked(part[name]))
        return this.addUnknown()
  }
}

/** Returns whether a part has a type, a text and nothing else, as most parts have. */
export function isOnlyText(part: JsonObject): boolean {
  if (typeof part['text'] !== 'string') return false
  for (const name in part) if (name !== 'type' && name !== 'text') return false
  return true
}

/** Returns whether a file of the vendor's account is named, in whatever kind of part or right within it. */
export function namesFile(part: JsonObject): boolean {
  if (isAsked(part['file_id'])) return true
  return Object.values(part).some((value) => isAsked(asObject(value)?.['file_id']))
}

/** The text of a list is one element, counted together. */
const textsOfParts = ['text', 'thinking', 'refusal', 'encrypted_content'] as const
const imageParts = /^(image_url|input_image|computer_screenshot)$/
const fileParts = /^(input_)?file$/
const fileNames: ReadonlySet<string> = new Set(['file', 'file_data', 'file_id', 'file_url'])
const noNames: ReadonlySet<string> = new Set()
const knownParts =
  /^((input_|output_|summary_|reasoning_)?text|thinking|refusal|encrypted_content|image_url|input_image|computer_screenshot|input_audio|(input_)?file)$/

/** Names under which vendors take media, some of them in any part. */
const mediaNames: ReadonlySet<string> = new Set([
  ...fileNames,
  'audio',
  'audio_url',
  'document',
  'document_url',
  'image',
  'input_video',
  'video',
  'video_url',
])

const uncompressedFormats: ReadonlySet<unknown> = new Set(['wav', 'pcm16', 'pcm'])

/** `format`: the one that a request names for the audio of its answer; without one it gets samples. */
export function isCompressedAudio(format: unknown): boolean {
  return typeof format === 'string' && !uncompressedFormats.has(format)
}

/** Longer than any name of a host. */
const addressStart = 300

/** No base64 has a colon or a dot; the data form begins with a colon. */
function isAddress(data: string): boolean {
  const start = data.slice(0, addressStart)
  return !/^data:/i.test(start) && /[.:]/.test(start)
}

function decodedLength(base64Length: number): number {
  return Math.ceil((base64Length * 3) / 4)
}
