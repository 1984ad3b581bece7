/**
 * Finds images, files and sound in a chat request and bounds their tokens. Only parts where the
 * vendor looks for such data count: a long string elsewhere is text, whatever its field is called.
 */
import { audioTokens, BlobSum, documentTokens, remoteDocumentTokens } from '../blobs.ts'
import { asArray, asObject, type JsonObject } from '../json.ts'
import type { BlobEstimate } from '../fields.ts'

const imageTokens = 1500

export function estimateChatBlobs(body: JsonObject): BlobEstimate {
  const sum = new BlobSum()
  for (const message of asArray(body['messages']) ?? []) {
    for (const part of asArray(asObject(message)?.['content']) ?? []) {
      addPart(sum, asObject(part) ?? {})
    }
  }
  return sum
}

function addPart(sum: BlobSum, part: JsonObject): void {
  switch (part['type']) {
    case 'image_url': {
      const image = part['image_url']
      sum.add(dataUrlLength(asObject(image)?.['url'] ?? image), imageTokens)
      return
    }
    case 'input_audio': {
      const data = asObject(part['input_audio'])?.['data']
      const length = typeof data === 'string' ? data.length : 0
      sum.add(length, audioTokens(length))
      return
    }
    case 'file': {
      const file = asObject(part['file'])
      const data = file?.['file_data']
      if (typeof file?.['file_id'] === 'string') sum.isInAccount = true
      const length = typeof data === 'string' ? data.length : 0
      sum.add(length, length === 0 ? remoteDocumentTokens : documentTokens(length))
      return
    }
    default:
  }
}

/** An image behind an address has no bytes in the body. */
function dataUrlLength(url: unknown): number {
  return typeof url === 'string' && url.startsWith('data:') ? url.length : 0
}
