/**
 * Bounds for prompt data that is not text. Its bytes say little about its tokens, and counting
 * base64 as text would make a hold of many times the cost. Bounds only: the charge follows the
 * vendor's count.
 */
import { heardTokensMax, heardTokensUsual } from '../metering/sound-estimate.ts'
import type { BlobEstimate } from './fields.ts'

const pdfTokensPerPage = 3000
/** Decoded bytes. Pages of plain text are smaller, scanned ones larger. */
const pdfBytesPerPage = 20_000
const pdfPagesMax = 600
/** For a document of which only an address is known. */
const remoteDocumentTokens = 30_000

/** No page of any model's, and no image, has come to more. */
const documentTokensMax = pdfPagesMax * pdfTokensPerPage
const imageTokensMax = 50_000

function documentTokens(base64Length: number): number {
  const pages = Math.ceil(decodedBytes(base64Length) / pdfBytesPerPage)
  return Math.min(Math.max(pages, 1), pdfPagesMax) * pdfTokensPerPage
}

function decodedBytes(base64Length: number): number {
  return Math.ceil((base64Length * 3) / 4)
}

/** Adds up what the blobs of one body come to. */
export class BlobSum implements BlobEstimate {
  bytes = 0
  tokens = 0
  tokensMax = 0
  audioTokens = 0
  audioTokensUsual = 0
  isInAccount = false

  /** `tokens` is what this vendor's models usually make of one. */
  addImage(bytes: number, tokens: number): void {
    this.bytes += bytes
    this.tokens += tokens
    this.tokensMax += imageTokensMax
  }

  /** `base64Length` is zero where only an address is given. */
  addDocument(base64Length: number): void {
    this.bytes += base64Length
    this.tokens += base64Length === 0 ? remoteDocumentTokens : documentTokens(base64Length)
    this.tokensMax += documentTokensMax
  }

  addSound(base64Length: number, isCompressed: boolean): void {
    const tokens = heardTokensMax(base64Length)
    this.bytes += base64Length
    this.tokens += tokens
    this.audioTokens += tokens
    this.audioTokensUsual += heardTokensUsual(base64Length, isCompressed)
  }
}
