/**
 * Where a command works: on the store of the settings, or through the admin API of a server. Options come
 * before the environment. The invariant: the token goes in plain text only to this machine.
 */
import { InvalidArgumentError } from 'commander'
import { isAdminToken } from '../access/key.ts'
import { Secret } from '../base/secret.ts'
import { processEnvironment } from '../settings/read.ts'
import type { ServerPlace } from './remote/server.ts'

type Options = Readonly<Record<string, unknown>>

/** Returns the server; undefined = the store. Throws where options contradict each other. */
export function findServer(options: Options): ServerPlace | undefined {
  const named = findNamed(options)
  if (named === undefined) return undefined
  const url = parseServer(named.address)
  const token = processEnvironment()['TURNPIKE_TOKEN'] ?? ''
  if (token === '')
    throw new InvalidArgumentError('Set TURNPIKE_TOKEN to an admin token (ad_…) of this server.')
  if (!isAdminToken(token))
    throw new InvalidArgumentError(
      'TURNPIKE_TOKEN must be an admin token: ad_ and 16 to 200 letters, digits, - or _.',
    )
  return { url, token: new Secret(token) }
}

/** Refuses a server: for commands that work only on this host. */
export function requireThisHost(options: Options): void {
  const named = findNamed(options)
  if (named !== undefined)
    throw new InvalidArgumentError(
      `This command works on this host only, and ${named.by} names a server. Run it on the host of the gateway, with --local.`,
    )
}

/** Refuses `--server`: for programs that a set-up environment may surround. */
export function refuseServer(options: Options): void {
  if (options['server'] !== undefined)
    throw new InvalidArgumentError('This command works on this host only. Leave out --server.')
}

interface Named {
  readonly by: '--server' | 'TURNPIKE_SERVER'
  readonly address: string
}

function findNamed(options: Options): Named | undefined {
  const { server } = options
  const local = ['local', 'config'].find((name) => options[name] !== undefined)
  if (local !== undefined && server !== undefined)
    throw new InvalidArgumentError(
      `--${local} means the store of this host, and --server a server. Give only one of them.`,
    )
  if (local !== undefined) return undefined
  if (typeof server === 'string') return { by: '--server', address: server }
  const variable = processEnvironment()['TURNPIKE_SERVER'] ?? ''
  return variable === '' ? undefined : { by: 'TURNPIKE_SERVER', address: variable }
}

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/** Checks the address of a server. Plain http is for this machine only: others could read the token. */
function parseServer(text: string): URL {
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
