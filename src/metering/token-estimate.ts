/**
 * Estimates tokens where the vendor gives no count. Text: a ratio by kind of character, measured against
 * o200k; one linear pass, no memory, right within about a fifth for ordinary text. Audio: by the length
 * of its base64. Also cuts text into the short slices that keep a real tokenizer's worst case linear.
 */

/** Ordinary text, for an estimate that is not to be high. */
export const usualBytesPerToken = 4.2

/** Characters per token, by kind of character. */
const charactersPerToken = {
  ascii: usualBytesPerToken,
  digit: 2,
  denseAscii: 1.5,
  alphabetic: 2.5,
  ideographic: 1.4,
  other: 1,
}

/** A longer run of letters, digits and base64 signs is data, not a word. */
const wordCharactersMax = 48

export function estimateTokens(text: string): number {
  let tokens = 0
  let runLength = 0
  let runTokens = 0
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    const ratio = ratioOf(unit)
    if (isDataCharacter(unit)) {
      runLength++
      runTokens += 1 / ratio
      continue
    }
    tokens += tokensOfRun(runLength, runTokens) + 1 / ratio
    runLength = 0
    runTokens = 0
  }
  return Math.ceil(tokens + tokensOfRun(runLength, runTokens))
}

function tokensOfRun(length: number, wordTokens: number): number {
  return length > wordCharactersMax ? length / charactersPerToken.denseAscii : wordTokens
}

function isDataCharacter(unit: number): boolean {
  if (unit >= 0x61) return unit <= 0x7a
  if (unit >= 0x41) return unit <= 0x5a || unit === 0x5f
  return (unit >= 0x2f && unit <= 0x39) || unit === 0x2b || unit === 0x2d || unit === 0x3d
}

function ratioOf(unit: number): number {
  if (unit < 0x80)
    return unit >= 0x30 && unit <= 0x39 ? charactersPerToken.digit : charactersPerToken.ascii
  // Latin with accents, Greek, Cyrillic, Hebrew, Arabic, the scripts of India and South-East Asia.
  if (unit < 0x1100) return charactersPerToken.alphabetic
  // Kana, Han, Hangul and their punctuation.
  if (unit >= 0x2e80 && unit < 0xd800) return charactersPerToken.ideographic
  return charactersPerToken.other
}

export const sliceUnitsMax = 1_024
/** How far back the cut searches for a space. */
const lookBackUnits = 128

/**
 * Cuts text into slices of at most `sliceUnitsMax` UTF-16 units, before a space where one is near
 * (a word and the space before it are one token), and never inside a surrogate pair.
 */
export function cutSlices(text: string): readonly string[] {
  const slices: string[] = []
  let start = 0
  while (text.length - start > sliceUnitsMax) {
    const end = cutPosition(text, start + sliceUnitsMax)
    slices.push(text.slice(start, end))
    start = end
  }
  if (start < text.length) slices.push(text.slice(start))
  return slices
}

function cutPosition(text: string, latest: number): number {
  for (let position = latest; position > latest - lookBackUnits; position--)
    if (text.charCodeAt(position) === 0x20) return position
  const isHighSurrogate = (text.charCodeAt(latest - 1) & 0xfc00) === 0xd800
  return isHighSurrogate ? latest - 1 : latest
}

/**
 * Models count audio by its duration: ten tokens a second of input, twenty of output
 * (https://developers.openai.com/api/docs/guides/realtime-costs, read 2026-11-22).
 *
 *     audio                                                      bytes a second
 *     uncompressed (`pcm16`, `wav`): 24,000 samples of 16 bits           48,000
 *     compressed: usual for mp3; only a decoder could tell               16,000
 */
const uncompressedBytesPerSecond = 48_000
const compressedBytesPerSecond = 16_000

const inputTokensPerSecond = 10
const outputTokensPerSecond = 20

/** At most, for a hold: ten times as dense as usual samples; a compressed byte can be a token. */
const uncompressedBytesPerTokenMin = 100

/** Of this number of decoded bytes. */
export function audioInputTokensMax(bytes: number, isCompressed: boolean): number {
  return isCompressed ? bytes : Math.ceil(bytes / uncompressedBytesPerTokenMin)
}

/** Of this number of decoded bytes. */
export function audioInputTokensLikely(bytes: number, isCompressed: boolean): number {
  return Math.ceil((bytes * inputTokensPerSecond) / usualBytesPerSecond(isCompressed))
}

export function audioOutputTokens(base64Length: number, isCompressed: boolean): number {
  const bytes = (base64Length * 3) / 4
  return Math.ceil((bytes * outputTokensPerSecond) / usualBytesPerSecond(isCompressed))
}

function usualBytesPerSecond(isCompressed: boolean): number {
  return isCompressed ? compressedBytesPerSecond : uncompressedBytesPerSecond
}
