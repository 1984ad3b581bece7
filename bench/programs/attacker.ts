/**
 * The attacker and its vendor, in a process of low priority: what it takes of the core that it shares with
 * the other clients delays them little. Gets the number of an attack and its target, then a message to stop.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { Target } from '../attacks/attack.ts'
import { attacks } from '../attacks/shapes.ts'

const streamStart =
  'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":5}}}\n\n'
const streamPiece =
  'event: content_block_delta\ndata: ' +
  `{"type":"content_block_delta","delta":{"type":"text_delta","text":"${'the '.repeat(16)}"}}\n\n`
const streamPieces = Buffer.from(streamPiece.repeat(400))

let wholeAnswer = Buffer.from('{}')
const answers: Record<number, number> = {}
let stop = (): void => undefined

/** Streams without end, as fast as it is read. */
function streamTo(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(streamStart)
  const go = (): void => {
    while (!response.destroyed && response.write(streamPieces));
  }
  response.on('drain', go)
  go()
}

const vendor = createServer((received, response) => {
  const pieces: Buffer[] = []
  received.on('data', (piece: Buffer) => pieces.push(piece))
  received.on('end', () => {
    if (Buffer.concat(pieces).includes('"stream":true')) {
      streamTo(response)
      return
    }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(wholeAnswer)
  })
})

process.on('message', ({ number, target }: { number?: number; target?: Target }) => {
  const attack = number === undefined ? undefined : attacks[number]
  if (attack !== undefined && target !== undefined) {
    const { makeAnswer } = attack
    if (makeAnswer !== undefined) wholeAnswer = Buffer.from(makeAnswer())
    stop = attack.start(target, (status) => (answers[status] = (answers[status] ?? 0) + 1))
  } else stop()
  process.send?.(answers)
})
process.on('disconnect', () => process.exit(0))
vendor.listen(Number(process.argv[2]), '127.0.0.1')
