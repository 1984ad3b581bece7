/**
 * `node test/clients/transcripts.ts [NAME…]` plays each client through the seven scenes and writes what
 * its screen says to `test/clients/transcripts/NAME.md`. Run by hand, after a version of a client or a
 * message of ours has changed: the scenes take their real time, some minutes for all clients.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../../src/base/clock.ts'
import type { Client } from './support/transcripts/client.ts'
import { clients } from './support/transcripts/clients.ts'
import {
  sceneNames,
  transcriptFolder,
  writeTranscript,
  type Played,
  type SceneName,
} from './support/transcripts/form.ts'
import { listedClients, type ClientName, type ListedClient } from './support/transcripts/list.ts'
import { startScene } from './support/transcripts/scenes.ts'
import { readScreen } from './support/transcripts/screen.ts'

const all = Object.keys(listedClients) as readonly ClientName[]
const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !all.some((known) => known === name))
if (unknown.length > 0)
  throw new Error(`No client ${unknown.join(', ')}. Clients: ${all.join(', ')}`)

/** Scenes in which a client mostly waits run beside many others; the others keep the processor busy. */
const places = { busy: 2, waiting: 8 }
const waitingScenes: readonly SceneName[] = [
  '429: requests per minute',
  '529: every channel is overloaded',
  'a model that thinks for 130 s',
]

await mkdir(transcriptFolder, { recursive: true })
const jobs = { busy: [] as Job[], waiting: [] as Job[] }
type Job = () => Promise<void>
for (const name of all.filter((known) => asked.length === 0 || asked.includes(known)))
  await plan(name)
await Promise.all([...inPlaces(jobs.busy, places.busy), ...inPlaces(jobs.waiting, places.waiting)])

async function plan(name: ClientName): Promise<void> {
  const client = await clients[name]()
  const played = new Map<string, Played>()
  for (const scene of sceneNames) {
    const kind = waitingScenes.includes(scene) ? 'waiting' : 'busy'
    jobs[kind].push(async () => {
      try {
        played.set(scene, await playScene(client, scene))
      } catch (error) {
        // The other clients go on; this one keeps the transcript that it has.
        process.stderr.write(`${name}: ${scene}: ${String(error)}\n`)
        process.exitCode = 1
        return
      }
      process.stdout.write(`${name}: ${scene}\n`)
      if (played.size === sceneNames.length) await write(name, client, played)
    })
  }
}

async function playScene(client: Client, scene: SceneName): Promise<Played> {
  const stage = await startScene(scene, client.settings)
  try {
    const ran = await client.run(stage)
    const endedMs = systemClock.monotonic()
    return {
      answers: stage.requests.map(({ status }) => String(status ?? 'cut')),
      exit: ran.code === null ? 'killed' : String(ran.code),
      seconds: Math.round((endedMs - (stage.requests[0]?.atMs ?? endedMs)) / 1000),
      screen: readScreen(ran, stage, client.drop),
    }
  } finally {
    await stage.close()
  }
}

async function write(
  name: ClientName,
  { command }: Client,
  played: ReadonlyMap<string, Played>,
): Promise<void> {
  const listed: ListedClient = listedClients[name]
  const text = writeTranscript({
    ...listed,
    command,
    date: new Date(systemClock.now()).toISOString().slice(0, 10),
    scenes: new Map(sceneNames.map((scene) => [scene, played.get(scene) as Played])),
  })
  await writeFile(join(transcriptFolder, `${name}.md`), text)
}

/** Carries out jobs in order, at most `count` at a time. */
function inPlaces(waiting: Job[], count: number): readonly Promise<void>[] {
  return Array.from({ length: count }, async () => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) await job()
  })
}
