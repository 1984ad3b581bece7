/**
 * Finds images, files and sound in a chat request and bounds their tokens. Only parts where the
 * vendor looks for such data count: a long string elsewhere is text, whatever its field is called.
 */
import { BlobSum } from '../blobs.ts'
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
      sum.addImage(dataUrlLength(asObject(image)?.['url'] ?? image), imageTokens)
      return
    }
    case 'input_audio': {
      const audio = asObject(part['input_audio'])
      const data = audio?.['data']
      sum.addSound(typeof data === 'string' ? data.length : 0, isCompressedSound(audio?.['format']))
      return
    }
    case 'file': {
      const file = asObject(part['file'])
      const data = file?.['file_data']
      if (typeof file?.['file_id'] === 'string') sum.isInAccount = true
      sum.addDocument(typeof data === 'string' ? data.length : 0)
      return
    }
    default:
  }
}

/** An image behind an address has no bytes in the body. */
function dataUrlLength(url: unknown): number {
  return typeof url === 'string' && url.startsWith('data:') ? url.length : 0
}

const uncompressedFormats: ReadonlySet<string> = new Set(['wav', 'pcm16'])

/** By the format that a request names for sound, in its prompt or for the answer. */
export function isCompressedSound(format: unknown): boolean {
  return typeof format === 'string' && !uncompressedFormats.has(format)
}
