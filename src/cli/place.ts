/**
 * Where a command works: on the store of the settings, or through the admin API of a server. Options come
 * before the environment, and the environment before saved contexts. The invariant: a token goes only to
 * the server that it was given for, and in plain text only to this machine.
 */
import { InvalidArgumentError } from 'commander'
import { isAdminToken } from '../access/key.ts'
import { Secret } from '../base/secret.ts'
import { processEnvironment } from '../settings/read.ts'
import { findContext, readContexts } from './contexts.ts'
import type { ServerPlace } from './remote/server.ts'

export type Place =
  | { readonly kind: 'store'; readonly because: string }
  | ({ readonly kind: 'server'; readonly because: string } & ServerPlace)

type Options = Readonly<Record<string, unknown>>

/** Decides where a command works. Throws where the options contradict each other, or the token is missing. */
export function findPlace(options: Options): Place {
  const named = findNamed(options)
  switch (named.kind) {
    case 'store':
      return named
    case 'address':
      return serverPlace(named.text, named.because)
    case 'context':
      return contextPlace(named.name, named.because)
  }
}

/** Refuses a server: for commands that work only on this host. `advice` says what to do. */
export function requireThisHost(options: Options, advice: string): void {
  const { kind, because } = findNamed(options)
  if (kind !== 'store')
    throw new InvalidArgumentError(
      `This command works on this host only, and ${because} names a server. ${advice}`,
    )
}

/** Refuses `--server` and `--context`: for programs that a set-up environment may surround. */
export function refuseServer(options: Options): void {
  const named = ['server', 'context'].find((name) => options[name] !== undefined)
  if (named !== undefined)
    throw new InvalidArgumentError(`This command works on this host only. Leave out --${named}.`)
}

type Named =
  | { readonly kind: 'store'; readonly because: string }
  | { readonly kind: 'address'; readonly because: string; readonly text: string }
  | { readonly kind: 'context'; readonly because: string; readonly name: string }

function findNamed(options: Options): Named {
  const { server, context } = options
  const local = ['local', 'config'].find((name) => options[name] !== undefined)
  const remote = ['server', 'context'].filter((name) => options[name] !== undefined)
  if (remote.length === 2) throw new InvalidArgumentError('Give --server or --context, not both.')
  if (local !== undefined && remote[0] !== undefined)
    throw new InvalidArgumentError(
      `--${local} means the store of this host, and --${remote[0]} a server. Give only one of them.`,
    )
  if (local !== undefined) return { kind: 'store', because: `--${local}` }
  if (typeof server === 'string') return { kind: 'address', text: server, because: '--server' }
  const variable = processEnvironment()['TURNPIKE_SERVER'] ?? ''
  if (typeof context === 'string') return { kind: 'context', name: context, because: '--context' }
  if (variable !== '') return { kind: 'address', text: variable, because: 'TURNPIKE_SERVER' }
  const { current } = readContexts()
  return current === null
    ? { kind: 'store', because: 'no server is named' }
    : { kind: 'context', name: current, because: `the current context, ${current},` }
}

function contextPlace(name: string, because: string): Place {
  const found = findContext(readContexts(), name)
  const url = parseServer(found.server)
  return { kind: 'server', url, token: new Secret(found.token), because }
}

function serverPlace(text: string, because: string): Place {
  const url = parseServer(text)
  const given = processEnvironment()['TURNPIKE_TOKEN'] ?? ''
  const saved = Object.values(readContexts().contexts).find(({ server }) => server === url.href)
  const token = given === '' ? saved?.token : given
  if (token === undefined)
    throw new InvalidArgumentError(
      'Set TURNPIKE_TOKEN to an admin token (ad_…) of this server, or save the server with its token: ' +
        `turnpike context add NAME --server ${text}`,
    )
  return { kind: 'server', url, token: parseToken(token, 'TURNPIKE_TOKEN'), because }
}

/** Checks the form of an admin token. `what` begins the message. */
export function parseToken(text: string, what: string): Secret {
  if (isAdminToken(text)) return new Secret(text)
  throw new InvalidArgumentError(
    `${what} must be an admin token: ad_ and 16 to 200 letters, digits, - or _.`,
  )
}

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/** Checks the address of a server. Plain http is for this machine only: others could read the token. */
export function parseServer(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url?.protocol === 'http:'
  if (url === undefined || (!isPlain && url.protocol !== 'https:'))
    throw new InvalidArgumentError(
      `"${text}" is no address of a server. Write it as https://HOST:PORT.`,
    )
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new InvalidArgumentError(
      'The address of a server has no user, query or fragment. Write it as https://HOST:PORT.',
    )
  if (isPlain && !loopback.test(url.hostname))
    throw new InvalidArgumentError(
      `Use https for ${url.host}: over http others could read the token. Plain http is for this machine only.`,
    )
  return url
}
