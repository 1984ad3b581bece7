/**
 * Preloaded into the gateway by `npm run trace`: inserts a call at the start of each function of src/ and
 * records the file of each call. The parent process starts and ends the recording by a message. Records the
 * main thread only, and nothing that follows from a timer that was set before the recording.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { readFileSync } from 'node:fs'
import { registerHooks, stripTypeScriptTypes } from 'node:module'
import { fileURLToPath } from 'node:url'
import { isMainThread } from 'node:worker_threads'
import { parse } from 'acorn'

const sourceFolder = `${process.env.TRACE_ROOT}/src/`
const files = []
let path = []
let isRecording = false
const background = new AsyncLocalStorage()

globalThis.__trace = (file) => {
  if (isRecording && background.getStore() !== true) path.push(file)
}

/** Returns the source with a call at the start of each function body. */
function instrument(source, file) {
  const insertions = []
  visit(parse(source, { ecmaVersion: 'latest', sourceType: 'module' }), (node) => {
    if (!/Function/.test(node.type)) return
    const { body } = node
    if (body.type === 'BlockStatement') {
      insertions.push({ at: body.start + 1, text: `__trace(${file});` })
    } else {
      insertions.push({ at: body.start, text: `(__trace(${file}),` }, { at: body.end, text: ')' })
    }
  })
  let result = source
  for (const { at, text } of insertions.toSorted((a, b) => b.at - a.at))
    result = result.slice(0, at) + text + result.slice(at)
  return result
}

function visit(node, see) {
  if (Array.isArray(node)) for (const part of node) visit(part, see)
  else if (typeof node?.type === 'string') {
    see(node)
    for (const part of Object.values(node)) if (typeof part === 'object') visit(part, see)
  }
}

function load(url, context, nextLoad) {
  const filePath = url.startsWith('file:') ? fileURLToPath(url) : ''
  const name = filePath.slice(sourceFolder.length)
  if (!filePath.startsWith(sourceFolder) || name.startsWith('sandbox/'))
    return nextLoad(url, context)
  const source = stripTypeScriptTypes(readFileSync(filePath, 'utf8'))
  return {
    format: 'module',
    source: instrument(source, files.push(name) - 1),
    shortCircuit: true,
  }
}

/** Marks what follows from timers that were set before the recording: it is not part of the exchange. */
function markEarlierTimers(name) {
  const original = globalThis[name]
  globalThis[name] = (action, ...rest) =>
    original(isRecording ? action : () => background.run(true, action), ...rest)
}

if (isMainThread) {
  registerHooks({ load })
  markEarlierTimers('setTimeout')
  markEarlierTimers('setInterval')
  process.on('message', (command) => {
    isRecording = command === 'start'
    if (isRecording) path = []
    else process.send(path.map((file) => files[file]))
  })
  process.channel.unref()
}
