/**
 * `npm run trace`: lists the files of src/ that one streamed messages exchange with one failover runs
 * through, in order of its function calls, and counts the files and the changes from one room to another,
 * all of them and those between different pairs of files. A room is the first folder below src/; files
 * directly in src/ are the room "root". It also counts the function calls of one `GET /admin/v1/overview`.
 *
 * The script starts the gateway and the sandbox with their commands, on a new SQLite store. The first
 * channel answers 502, the second one streams. A first exchange of this kind is not recorded, because it
 * opens connections and fills caches. The second one is recorded from its first byte until after its charge.
 * The overview is asked for in the same way; it has a row for each hour of yesterday and today (UTC).
 * Worker threads are not recorded, nor what follows from timers that were set before the exchange.
 *
 * `npm run trace -- --against PATH` traces another checkout, which must have its packages installed.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { childEnvironment, findRuntime, root } from './runtime.mjs'

const { values: options } = parseArgs({ options: { against: { type: 'string' } } })
const tracedRoot = resolve(options.against ?? root)
const folder = mkdtempSync(join(tmpdir(), 'turnpike-trace-'))
const children = []

const environment = childEnvironment({
  TRACE_ROOT: tracedRoot,
  TURNPIKE_STORE: `sqlite:${join(folder, 'turnpike.db')}`,
  TURNPIKE_MASTER_KEY_FILE: join(folder, 'master.key'),
  TURNPIKE_LISTEN: '127.0.0.1:0',
  TURNPIKE_ADMIN_LISTEN: '127.0.0.1:0',
})

/** Runs a command of the program to its end; returns its JSON. */
function runCommand(...words) {
  const result = spawnSync(findRuntime(), [join(tracedRoot, 'src/cli.ts'), ...words, '--json'], {
    env: environment,
    encoding: 'utf8',
  })
  if (result.status !== 0) throw new Error(`turnpike ${words[0]} failed: ${result.stderr}`)
  return JSON.parse(result.stdout)
}

/** Starts a program that runs until it is stopped; resolves with the JSON that it writes when it is ready. */
async function startProgram(nodeArguments, ...words) {
  const child = spawn(
    findRuntime(),
    [...nodeArguments, join(tracedRoot, 'src/cli.ts'), ...words, '--json'],
    { env: environment, stdio: ['ignore', 'pipe', 'ignore', 'ipc'] },
  )
  children.push(child)
  let text = ''
  for await (const piece of child.stdout) {
    text += piece
    if (text.trimEnd().endsWith('}')) return { child, ready: JSON.parse(text) }
  }
  throw new Error(`turnpike ${words[0]} ended too early`)
}

function catalogue(sandboxUrl) {
  const channel = (name, rank) => ({
    vendor: 'alpha',
    url: `${sandboxUrl}/${name}`,
    credential: 'trace-credential',
    models: ['large-1'],
    check: 'none',
    rank,
  })
  return {
    vendors: {
      alpha: { format: 'messages', version_header: 'anthropic-version', credential: 'x-api-key' },
    },
    models: { 'large-1': { vendor: 'alpha', price: { input: 3, output: 15 } } },
    channels: { main: channel('main', 0), reserve: channel('reserve', 1) },
  }
}

async function runExchange(address, key) {
  const answer = await fetch(`http://${address}/alpha/v1/messages`, {
    method: 'POST',
    headers: {
      'x-api-key': key,
      'anthropic-version': '2023-06-01',
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      model: 'large-1',
      max_tokens: 64,
      stream: true,
      messages: [{ role: 'user', content: 'hello' }],
    }),
  })
  const text = await answer.text()
  if (!text.includes('message_stop')) throw new Error(`the exchange failed: ${text}`)
  // What follows the last byte, such as the log line, takes a few turns of the event loop.
  await delay(300)
}

async function readOverview(address, token) {
  const answer = await fetch(`http://${address}/admin/v1/overview`, {
    headers: { authorization: `Bearer ${token}` },
  })
  if (!answer.ok) throw new Error(`the overview failed: ${await answer.text()}`)
  await answer.arrayBuffer()
  await delay(300)
}

async function record() {
  const { ready: sandbox } = await startProgram([], 'sandbox', '--listen', '127.0.0.1:0')
  await fetch(`${sandbox.url}/_sandbox/faults/main`, { method: 'PUT', body: 'status=502' })
  const cataloguePath = join(folder, 'catalogue.yaml')
  writeFileSync(cataloguePath, JSON.stringify(catalogue(sandbox.url)))
  runCommand('apply', '-f', cataloguePath)
  runCommand('account', 'create', 'trace', '--balance', '10')
  const { key } = runCommand('key', 'create', 'trace')
  const hook = join(root, 'scripts/trace-hook.mjs')
  const { token } = runCommand('admin-token', 'create')
  const { child, ready } = await startProgram(['--import', hook], 'serve')
  const trace = async (run) => {
    await run()
    child.send('start')
    await run()
    child.send('stop')
    const [path] = await once(child, 'message')
    return path
  }
  const path = await trace(() => runExchange(ready.address, key))
  const overview = await trace(() => readOverview(ready.admin_address, token))
  const log = await fetch(`${sandbox.url}/_sandbox/log`).then((answer) => answer.json())
  const served = log.map(({ channel }) => channel).join(' ')
  if (served !== 'main reserve main reserve') throw new Error(`attempts were: ${served}`)
  return { path, overview }
}

function roomOf(file) {
  return file.includes('/') ? file.slice(0, file.indexOf('/')) : 'root'
}

/** Consecutive runs of one room: `{ room, files }`, a file named once for each time it is entered. */
function stretchesOf(path) {
  const stretches = []
  for (const file of path) {
    const last = stretches.at(-1)
    if (last?.room !== roomOf(file)) stretches.push({ room: roomOf(file), files: [file] })
    else if (last.files.at(-1) !== file) last.files.push(file)
  }
  return stretches
}

/** `inAll` counts every change, `distinct` each pair of files once: a loop over events counts once. */
function countChanges(path) {
  const changes = path
    .map((file, index) => [path[index - 1] ?? file, file])
    .filter(([from, to]) => roomOf(from) !== roomOf(to))
  return { inAll: changes.length, distinct: new Set(changes.map(String)).size }
}

try {
  const { path, overview } = await record()
  const changes = countChanges(path)
  const beyondBase = countChanges(path.filter((file) => roomOf(file) !== 'base'))
  console.log(`files          ${new Set(path).size}`)
  console.log(`room changes   ${changes.inAll} (${beyondBase.inAll} without base)`)
  console.log(`between files  ${changes.distinct} (${beyondBase.distinct} without base)`)
  console.log(
    `function calls ${path.length} (${overview.length} of the overview, which the console asks for)\n`,
  )
  for (const { room, files } of stretchesOf(path))
    console.log(
      `${room.padEnd(11)} ${files.map((file) => file.replace(`${room}/`, '')).join(' → ')}`,
    )
} finally {
  for (const child of children) child.kill()
  rmSync(folder, { recursive: true, force: true })
}
