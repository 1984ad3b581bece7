/** `turnpike context …`: saved servers with their admin tokens, and which one commands use. */
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { InvalidArgumentError } from 'commander'
import { headOf } from '../../access/key.ts'
import { describeConfig } from '../../settings/read.ts'
import { allLinesOf, tableOf } from '../columns.ts'
import type { Answer } from '../command.ts'
import { findContext, readContexts, writeContexts, type Contexts } from '../contexts.ts'
import { findPlace, parseServer, parseToken } from '../place.ts'
import { plainRow, type CommandRow } from '../row.ts'
import { readConfig, type Given } from '../store-run.ts'

const named = { '<context>': 'name of the context' }

export const contextCommands: readonly CommandRow[] = [
  plainRow({
    words: 'context add',
    text: 'save a server; asks for the admin token, or reads it from standard input',
    more: { '<name>': 'a name of letters, digits, - and _' },
    help: `The token is never an argument, because other users of this machine could see it.
The first context becomes the current one.

Examples:
  turnpike context add prod --server https://ops.example:8081
  turnpike context add prod --server https://ops.example:8081 < token.txt`,
    work: addContext,
  }),
  plainRow({
    words: 'context list',
    text: 'list the saved contexts',
    work: async () => showList(readContexts()),
  }),
  plainRow({
    words: 'context use',
    text: 'make a context the current one',
    more: named,
    work: async ({ arguments: [name = ''] }) => {
      const contexts = readContexts()
      const { server } = findContext(contexts, name)
      writeContexts({ ...contexts, current: name })
      return { json: { name, server }, text: `Commands now work through ${server}.` }
    },
  }),
  plainRow({
    words: 'context remove',
    text: 'remove a context and its token from this machine; the token stays valid',
    more: named,
    work: async ({ arguments: [name = ''] }) => removeContext(name),
  }),
  plainRow({
    words: 'context show',
    text: 'show where commands work, and why',
    work: async ({ options }) => showPlace(options),
  }),
]

async function addContext({ arguments: [name = ''], options }: Given): Promise<Answer> {
  const { server } = options
  if (typeof server !== 'string')
    throw new InvalidArgumentError('Name the server: --server https://HOST:PORT.')
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name))
    throw new InvalidArgumentError('The name of a context has letters, digits, - and _ only.')
  const { href } = parseServer(server)
  const contexts = readContexts()
  const token = parseToken((await readToken()).trim(), 'The token')
  const isReplaced = Object.hasOwn(contexts.contexts, name)
  const current = contexts.current ?? name
  const path = writeContexts({
    current,
    contexts: { ...contexts.contexts, [name]: { server: href, token: token.reveal() } },
  })
  const advice =
    current === name
      ? 'Commands now work through it.'
      : `Use it now and then with --context ${name}, or always: turnpike context use ${name}`
  return {
    json: { name, server: href, token: headOf(token.reveal()), current: current === name },
    text: `${isReplaced ? 'Replaced' : 'Saved'} ${name} in ${path}. ${advice}`,
  }
}

/** At a terminal what is typed does not show. */
async function readToken(): Promise<string> {
  if (!process.stdin.isTTY) return text(process.stdin)
  const { createInterface } = await import('node:readline/promises')
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true })
  process.stderr.write('Admin token (ad_…): ')
  try {
    return await terminal.question('')
  } finally {
    terminal.close()
    process.stderr.write('\n')
  }
}

function removeContext(name: string): Answer {
  const contexts = readContexts()
  findContext(contexts, name)
  const { [name]: removed, ...others } = contexts.contexts
  const isCurrent = contexts.current === name
  writeContexts({ current: isCurrent ? null : contexts.current, contexts: others })
  const note = isCurrent ? ' No context is current now: commands work on the store.' : ''
  return { json: { name, server: removed?.server }, text: `Removed ${name}.${note}` }
}

function showList({ current, contexts }: Contexts): Answer {
  const list = Object.entries(contexts).map(([name, { server, token }]) => ({
    name,
    server,
    token: headOf(token),
    current: name === current,
  }))
  const text = tableOf(
    list,
    ['name', ['current', ({ current: is }) => (is ? 'yes' : '')], 'server', 'token'],
    'There are no contexts. Save a server: turnpike context add NAME --server https://HOST:PORT',
  )
  return { json: list, text }
}

function showPlace(options: Given['options']): Answer {
  const place = findPlace(options)
  const facts =
    place.kind === 'server'
      ? { server: place.url.href, token: headOf(place.token.reveal()) }
      : { store: describeConfig(readConfig(options))['store'] ?? '' }
  const shown = { ...facts, because: place.because }
  return { json: shown, text: allLinesOf(shown) }
}
