/**
 * Tokens of a text without a tokenizer: a ratio by kind of character, measured against o200k. One
 * linear pass and no memory, whatever the text; right within a fifth or so for ordinary text. Also
 * cuts text into the short slices that keep a real tokenizer's worst case linear.
 */

/** Characters per token, by kind of character. */
const charactersPerToken = {
  ascii: 4.2,
  digit: 2,
  denseAscii: 1.5,
  alphabetic: 2.5,
  ideographic: 1.4,
  other: 1,
}

/** A longer run of letters, digits and the signs of base64 is no word but data. */
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
/** How far back a break between words is looked for. */
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
