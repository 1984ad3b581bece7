/**
 * How many tokens sound comes to where nobody counts them, by the length of its base64. Models count
 * sound by its time: ten tokens a second of what they hear, twenty of what they say
 * (https://developers.openai.com/api/docs/guides/realtime-costs, read 2026-11-22).
 *
 *     sound                                                      bytes a second
 *     uncompressed (`pcm16`, `wav`): 24,000 samples of 16 bits           48,000
 *     compressed: what is usual for mp3; only a decoder could tell       16,000
 *     what a hold assumes: the leanest usual encoding                     4,000
 */
const uncompressedBytesPerSecond = 48_000
const compressedBytesPerSecond = 16_000
const leanestBytesPerSecond = 4_000

const heardTokensPerSecond = 10
const spokenTokensPerSecond = 20

/** An upper guess for any encoding, which holds are made with. */
export function heardTokensMax(base64Length: number): number {
  return tokensIn(base64Length, leanestBytesPerSecond / heardTokensPerSecond)
}

/** What an estimated charge takes. */
export function heardTokensUsual(base64Length: number, isCompressed: boolean): number {
  return tokensIn(base64Length, usualBytesPerSecond(isCompressed) / heardTokensPerSecond)
}

export function spokenTokens(base64Length: number, isCompressed: boolean): number {
  return tokensIn(base64Length, usualBytesPerSecond(isCompressed) / spokenTokensPerSecond)
}

function usualBytesPerSecond(isCompressed: boolean): number {
  return isCompressed ? compressedBytesPerSecond : uncompressedBytesPerSecond
}

function tokensIn(base64Length: number, bytesPerToken: number): number {
  return Math.ceil((base64Length * 3) / 4 / bytesPerToken)
}
