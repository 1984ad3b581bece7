/**
 * Attacks of slowhttptest (Debian) on a gateway in its own process: during each of them an honest client is
 * served on new connections, and afterwards the gateway has as many descriptors open as before.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, readlink } from 'node:fs/promises'
import { Agent } from 'node:http'
import { after, test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { gather } from '../support/gather.ts'
import { send } from '../support/http-client.ts'
import { messagesPath, messagesRequest } from '../support/requests.ts'
import { scenario } from '../support/scenario.ts'
import { reportFigures } from './report.ts'

const scene = await scenario({ process: 'own' })
after(() => scene.close())
const gateway = await scene.start({
  head_timeout: '5s',
  body_timeout: '5s',
  keep_alive_timeout: '5s',
  write_stall_timeout: '5s',
})

const connectionCount = 400
/** The gateway itself opens some more meanwhile, to its store and to vendors. */
const fewDescriptors = 12

interface Attack {
  readonly name: string
  readonly path: string
  readonly words: readonly string[]
}

const attacks: readonly Attack[] = [
  { name: 'slow head', path: messagesPath, words: ['-H', '-i', '2', '-x', '24'] },
  { name: 'slow body', path: messagesPath, words: ['-B', '-i', '2', '-s', '8192', '-x', '10'] },
  { name: 'ranges', path: '/account/assets/shared.js', words: ['-R', '-a', '1', '-b', '2000'] },
  {
    name: 'slow read',
    path: '/account/assets/shared.js',
    words: ['-X', '-w', '256', '-y', '512', '-n', '2', '-z', '32'],
  },
]

/** Another address than that of the attack. */
const agent = new Agent({ localAddress: '127.0.0.9', keepAlive: false })

function askOnce(): Promise<{ readonly status: number }> {
  return send(gateway.url + messagesPath, {
    agent,
    headers: { 'content-type': 'application/json', 'x-api-key': scene.account.key },
    body: JSON.stringify(messagesRequest()),
  })
}

interface Held {
  readonly descriptors: number
  /** Of these, connections of clients. */
  readonly connections: number
}

async function readHeld(): Promise<Held> {
  const folder = `/proc/${gateway.pid}`
  const names = await readdir(`${folder}/fd`)
  const links = await Promise.all(
    names.map((name) => readlink(`${folder}/fd/${name}`).catch(() => '')),
  )
  const own = new Set(links.map((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1]))
  const port = Number(new URL(gateway.url).port).toString(16).toUpperCase().padStart(4, '0')
  const sockets = (await readFile(`${folder}/net/tcp`, 'utf8')).trim().split('\n').slice(1)
  const held = sockets.filter((line) => {
    const [, local, remote, , , , , , , inode] = line.trim().split(/\s+/)
    return local?.endsWith(`:${port}`) && !remote?.endsWith(':0000') && own.has(inode)
  })
  return { descriptors: names.length, connections: held.length }
}

interface Served {
  readonly asked: number
  readonly slowestMs: number
  /** Connections that clients held at one moment. */
  readonly most: number
}

/** Serves one honest request after the other until the attack has ended. */
async function serveMeanwhile(attack: Promise<unknown>): Promise<Served> {
  const state = { isOver: false }
  void attack.then(() => (state.isOver = true))
  let asked = 0
  let slowestMs = 0
  let most = 0
  while (!state.isOver) {
    const startedMs = performance.now()
    assert.equal((await askOnce()).status, 200)
    slowestMs = Math.max(slowestMs, performance.now() - startedMs)
    asked++
    assert.equal(
      (await send(`${gateway.url}/health`)).status,
      200,
      'from the address of the attack',
    )
    most = Math.max(most, (await readHeld()).connections)
  }
  return { asked, slowestMs, most }
}

await askOnce()

for (const { name, path, words } of attacks)
  test(`${name}: an honest client is served meanwhile, and all descriptors come back`, async () => {
    const before = await readHeld()
    const url = gateway.url + path
    const child = spawn(
      'slowhttptest',
      [...words, '-u', url, '-c', String(connectionCount), '-r', '200', '-l', '20'],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    const output = gather(child.stdout)
    const { asked, slowestMs, most } = await serveMeanwhile(once(child, 'close'))
    assert.match(output.text(), /Exit status:.*(Hit test time limit|No open connections left)/)
    assert.ok(asked > 0 && openedIn(output.text()) > 0, output.text())

    const endedMs = performance.now()
    const { descriptors } = await eventually(
      'the attack has no connection left',
      readHeld,
      ({ connections }) => connections === 0,
    )
    assert.ok(descriptors <= before.descriptors + fewDescriptors, `${descriptors} descriptors`)
    const backMs = performance.now() - endedMs
    reportFigures({
      set: 'slowhttptest',
      part: name,
      cases: connectionCount,
      exceptions: 0,
      figures:
        `at most ${most} connections held; ${asked} honest requests served, the slowest in ` +
        `${Math.ceil(slowestMs)} ms; no connection left ${(backMs / 1_000).toFixed(1)} s after the end`,
    })
  })

/** Connections that the attack has opened, by the last status that the tool has printed. */
function openedIn(output: string): number {
  const counts = ['connected', 'closed'].map((state) => {
    const printed = [...output.matchAll(new RegExp(`${state}: .*?m +(\\d+)`, 'g'))]
    return Number(printed.at(-1)?.[1])
  })
  return counts.reduce((sum, count) => sum + count, 0)
}
