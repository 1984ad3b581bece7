/**
 * A backup of a server's store, saved on this machine. Invariants: the file gets its name when all of its
 * bytes are there, have the server's digest and have been checked here; a part of it is deleted.
 */
import { createHash, type Hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { commandClock, sleep } from '../../base/clock.ts'
import { readDigest, takenAtHeader } from '../../operations/store/backup-headers.ts'
import { storeEndpoints, storeFiles } from '../../operations/store/endpoints.ts'
import type { ActionView } from '../../operations/actions.ts'
import { refusalOfInput, type Outcome } from '../../operations/operation.ts'
import {
  backupAction,
  backupStore,
  keepReceived,
  type BackupView,
  type ReceivedCopy,
} from '../../operations/store/backup.ts'
import { writeCopy } from '../../storage/backup.ts'
import { describeFailure, ServerError } from './server-error.ts'
import { callServer, openAnswer, type ServerPlace } from './server.ts'

/** Makes a backup through a server. Rejects with a `ServerError` where the copy does not come whole. */
export async function backupFrom(
  place: ServerPlace,
  given: { readonly file: string },
): Promise<Outcome<BackupView>> {
  return (
    refusalOfInput(backupStore.input, given) ?? keepReceived(given, (path) => receive(place, path))
  )
}

async function receive(place: ServerPlace, path: string): Promise<Outcome<ReceivedCopy>> {
  const opened = await openAnswer(place, storeFiles.backup, {})
  if (opened.kind === 'refusal') return opened
  const { headers, body } = opened.value
  const { origin } = place.url
  const digest = readDigest(String(headers['repr-digest']))
  const takenAt = headers[takenAtHeader]
  if (digest === undefined || typeof takenAt !== 'string') {
    body.destroy()
    throw new ServerError(
      `${origin} sends a file without its digest or its time, so it cannot be checked. Check that this is the address of Turnpike's admin listener.`,
    )
  }
  const sum = createHash('sha256')
  await writeCopy(piecesOf(body, place.url, sum), path)
  if (sum.digest('base64') !== digest)
    throw new ServerError(
      `The backup from ${origin} has changed on its way: its digest is another one. The file was deleted. Try again.`,
    )
  const isRecorded = (): Promise<boolean> => isInLog(place, digest)
  return { kind: 'done', value: { takenAt, isRecorded } }
}

async function* piecesOf(body: IncomingMessage, url: URL, sum: Hash): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of body as AsyncIterable<Buffer>) {
      sum.update(piece)
      yield piece
    }
  } catch (error) {
    throw describeFailure(error, url, false)
  }
}

/** Together ten seconds: a server under load may take long for the line. */
const looksMax = 50
const pauseMs = 200

/** The server writes the line after the last byte, so it may come a little later. */
async function isInLog(place: ServerPlace, digest: string): Promise<boolean> {
  for (let look = 1; look <= looksMax; look++) {
    const actions = await readActions(place)
    if (
      actions.some(({ action, detail }) => action === backupAction && detail['sha256'] === digest)
    )
      return true
    if (look < looksMax) await sleep(commandClock, pauseMs)
  }
  return false
}

/** The file is good also where the server cannot be asked any more. */
async function readActions(place: ServerPlace): Promise<readonly ActionView[]> {
  try {
    const outcome = await callServer(place, storeEndpoints.actions, {})
    return outcome.kind === 'done' ? outcome.value.items : []
  } catch (error) {
    if (error instanceof ServerError) return []
    throw error
  }
}
