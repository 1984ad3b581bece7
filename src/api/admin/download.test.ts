import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { headersOfDownload, sendDownload } from './download.ts'

function fail(error: unknown): never {
  throw error
}

const content = Buffer.from('all of the backup')

test('a download is sent once its last byte is, however late the file shows its end', async () => {
  const ended = Promise.withResolvers<boolean>()
  const pieces = [content.subarray(0, 7), content.subarray(7)]
  const download = {
    bytes: content.length,
    sha256: 'digest',
    takenAt: '2026-11-25T00:00:00.000Z',
    isClean: true,
    read: () => {
      const piece = pieces.shift()
      return piece === undefined ? new Promise<undefined>(() => undefined) : Promise.resolve(piece)
    },
    end: ({ isSent }: { readonly isSent: boolean }) => {
      ended.resolve(isSent)
      return Promise.resolve()
    },
  }
  const answer = async (response: ServerResponse): Promise<void> => {
    response.writeHead(200, headersOfDownload(download))
    for await (const piece of sendDownload(download, response, fail)) response.write(piece)
    response.end()
  }
  const server = createServer((_, response) => void answer(response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  // Without an agent the client closes the connection with the last byte.
  const asked = request({ host: '127.0.0.1', port, agent: false }).end()
  const [response] = (await once(asked, 'response')) as [AsyncIterable<Uint8Array>]
  assert.deepEqual(await buffer(response), content)
  assert.equal(await ended.promise, true)
  server.close()
})
