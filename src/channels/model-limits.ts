/** How much a model reads and writes, and the tokens of an image, where the catalogue does not say it. */
export const unknownLimits = {
  /** For the hold. */
  inputTokensHeld: 200_000,
  /** For the vendor's counts, where bytes do not bound the input. */
  inputTokensBelieved: 2_000_000,
  /** The most that current models give. */
  outputTokens: 128_000,
  imageTokens: { messages: 5_000, chat: 50_000 },
} as const

/** 128000 → 128,000. */
export function tokensText(tokens: number): string {
  return tokens.toLocaleString('en-US')
}
