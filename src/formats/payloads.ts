/**
 * Estimates for prompt data: text, images, documents and audio. The size of base64 says little about its
 * tokens, and counting it as text would make a hold of many times the cost. Bounds only: the charge follows
 * the vendor's count.
 */
import { audioInputTokensMax, audioInputTokensUsual } from '../metering/token-estimate.ts'
import type { PayloadEstimate } from './fields.ts'
import { TextLength } from './json-reader.ts'

const pdfTokensPerPage = 3000
/** Decoded bytes. Pages of plain text are smaller, scanned ones larger. */
const pdfBytesPerPage = 20_000
const pdfPagesMax = 600
/** For a document of which only an address is known. */
const remoteDocumentTokens = 30_000

/** No page and no image has come to more with any model. */
const documentTokensMax = pdfPagesMax * pdfTokensPerPage
const imageTokensMax = 50_000

/** Adds up the payloads of one body. */
export class PayloadSum implements PayloadEstimate {
  textBytes = 0
  bytes = 0
  tokens = 0
  tokensMax = 0
  audioTokens = 0
  audioTokensUsual = 0
  hasRemoteDocuments = false
  isInAccount = false

  /** Adds a text, or what was counted of an object or a list: the input of a tool, for example. */
  addText(value: unknown): void {
    if (typeof value === 'string') this.textBytes += value.length
    else if (value instanceof TextLength) this.textBytes += value.bytes
  }

  /** Adds tokens that are given as such, in so many bytes. */
  addTokens(bytes: number, tokens: number): void {
    this.bytes += bytes
    this.tokens += tokens
  }

  /** `tokens` is what this vendor's models usually make of one image. */
  addImage(bytes: number, tokens: number): void {
    this.bytes += bytes
    this.tokens += tokens
    this.tokensMax += imageTokensMax
  }

  /** `base64Length` is zero where only an address is given. */
  addDocument(base64Length: number): void {
    if (base64Length === 0) this.hasRemoteDocuments = true
    this.bytes += base64Length
    this.tokens += base64Length === 0 ? remoteDocumentTokens : documentTokens(base64Length)
    this.tokensMax += documentTokensMax
  }

  addAudio(base64Length: number, isCompressed: boolean): void {
    const tokens = audioInputTokensMax(base64Length)
    this.bytes += base64Length
    this.tokens += tokens
    this.audioTokens += tokens
    this.audioTokensUsual += audioInputTokensUsual(base64Length, isCompressed)
  }
}

function documentTokens(base64Length: number): number {
  const decodedBytes = Math.ceil((base64Length * 3) / 4)
  const pages = Math.ceil(decodedBytes / pdfBytesPerPage)
  return Math.min(Math.max(pages, 1), pdfPagesMax) * pdfTokensPerPage
}
