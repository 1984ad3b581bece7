/**
 * Finds images and documents in a messages request and bounds their tokens. Only blocks where the
 * vendor looks for such data count: a long string elsewhere is text, whatever its field is called.
 */
import { BlobSum } from '../blobs.ts'
import { asArray, asObject, type JsonObject } from '../json.ts'
import type { BlobEstimate } from '../fields.ts'

/** The most any current model of this format makes of one image. */
const imageTokens = 4784

export function estimateMessagesBlobs(body: JsonObject): BlobEstimate {
  const sum = new BlobSum()
  addContent(sum, body['system'])
  for (const message of asArray(body['messages']) ?? []) {
    addContent(sum, asObject(message)?.['content'])
  }
  return sum
}

/**
 * Tool results and documents hold content of their own, a list or (of the vendor's own tools) a single
 * block; the body's depth is bounded already.
 */
function addContent(sum: BlobSum, content: unknown): void {
  for (const item of asArray(content) ?? [content]) {
    const block = asObject(item)
    if (block === undefined) continue
    const source = asObject(block['source'])
    if (typeof (source ?? block)['file_id'] === 'string') sum.isInAccount = true
    if (block['type'] === 'image') addImage(sum, source)
    else if (block['type'] === 'document') addDocument(sum, source)
    else if (block['content'] !== undefined) addContent(sum, block['content'])
  }
}

function addImage(sum: BlobSum, source: JsonObject | undefined): void {
  sum.addImage(base64Length(source), imageTokens)
}

function addDocument(sum: BlobSum, source: JsonObject | undefined): void {
  if (source?.['type'] === 'text') return
  if (source?.['type'] === 'content') {
    addContent(sum, source['content'])
    return
  }
  sum.addDocument(base64Length(source))
}

function base64Length(source: JsonObject | undefined): number {
  const data = source?.['type'] === 'base64' ? source['data'] : undefined
  return typeof data === 'string' ? data.length : 0
}
