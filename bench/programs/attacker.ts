/**
 * The attacker and its vendor, in a process of low priority: what it takes of the core that it shares with
 * the other clients delays them little. Gets the name of an attack and its target, then a message to stop.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { Target } from '../attacks/attack.ts'
import { attacks } from '../attacks/shapes.ts'
import { answerBodies, formatPaths } from '../exchanges.ts'

const streamStart =
  'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":5}}}\n\n'
const streamPiece =
  'event: content_block_delta\ndata: ' +
  `{"type":"content_block_delta","delta":{"type":"text_delta","text":"${'the '.repeat(16)}"}}\n\n`
const streamPieces = Buffer.from(streamPiece.repeat(400))

let wholeAnswer: Buffer | undefined
const answers: Record<number, number> = {}
let paceMs: number | undefined
let stop = (): void => undefined

/** Streams without end. */
function streamTo(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(streamStart)
  if (paceMs !== undefined) {
    const timer = setInterval(() => response.write(streamPiece), paceMs)
    response.on('close', () => clearInterval(timer))
    return
  }
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
    const isChat = received.url?.endsWith(formatPaths.chat) === true
    response.end(wholeAnswer ?? answerBodies[isChat ? 'chat' : 'messages'])
  })
})

async function begin(name: string, target: Target): Promise<void> {
  const attack = attacks.find((one) => one.name === name)
  if (attack === undefined) throw new Error('there is no such attack')
  if (attack.makeAnswer !== undefined) wholeAnswer = Buffer.from(attack.makeAnswer())
  paceMs = attack.paceMs
  stop = await attack.start(target, (status) => (answers[status] = (answers[status] ?? 0) + 1))
}

process.on('message', ({ name, target }: { name?: string; target?: Target }) => {
  const isBeginning = name !== undefined && target !== undefined
  void (isBeginning ? begin(name, target) : Promise.resolve(stop())).then(() =>
    process.send?.(answers),
  )
})
process.on('disconnect', () => process.exit(0))
vendor.listen(Number(process.argv[2]), '127.0.0.1')
