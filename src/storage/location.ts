/**
 * Parses the setting `store`: `sqlite:PATH` or `postgres://…`. A PostgreSQL URL is read as libpq
 * reads it, as far as this program supports it: several hosts, a socket's folder, TLS. Unknown
 * parameters are refused: a mistyped sslmode must not end in an unencrypted connection.
 */
import { GatewayError } from '../base/errors.ts'
import { Secret } from '../base/secret.ts'

export interface SqliteLocation {
  readonly kind: 'sqlite'
  /** As written: relative paths belong to the working directory. */
  readonly path: string
}

export type StoreLocation = SqliteLocation | PostgresLocation

export function parseStoreLocation(text: string): StoreLocation {
  if (/^postgres(ql)?:\/\//.test(text)) return parsePostgresUrl(text)
  const match = /^sqlite:(?!\/\/)(.+)$/s.exec(text)
  const path = match?.[1]
  if (path === undefined || path.includes('\0') || path === ':memory:')
    throw new GatewayError(
      'operations.invalid',
      'The store is written as sqlite:PATH, for example sqlite:./data/turnpike.db, ' +
        'or as postgres://USER:PASSWORD@HOST/DATABASE.',
    )
  return { kind: 'sqlite', path }
}

export interface PostgresHost {
  /** A name, an address, or the folder of a Unix socket. */
  readonly host: string
  readonly port: number
}

export interface PostgresLocation {
  readonly kind: 'postgres'
  /** Tried in this order; the first that will do is taken. Never empty. */
  readonly hosts: readonly PostgresHost[]
  readonly database: string
  /** Undefined = as libpq finds them: PGUSER, PGPASSWORD, the password file. */
  readonly user: string | undefined
  readonly password: Secret | undefined
  readonly tls: TlsMode
  /** A file of certificates to trust instead of the system's. */
  readonly tlsRootPath: string | undefined
  readonly applicationName: string
  readonly connectTimeoutMs: number
}

/** As libpq names them; `require` encrypts without asking who is there. */
const tlsModes = ['disable', 'require', 'verify-ca', 'verify-full'] as const
type TlsMode = (typeof tlsModes)[number]

const defaultPort = 5432
const defaultConnectTimeoutMs = 5_000
const form = /^postgres(?:ql)?:\/\/(?:([^@/?]*)@)?([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/s
const example = 'postgres://turnpike:PASSWORD@db.example/turnpike?sslmode=verify-full'

export function parsePostgresUrl(text: string): PostgresLocation {
  const match = form.exec(text)
  if (match === null) throw invalidUrl('it is not a URL')
  const [, credentials = '', hostList = '', path = '', query = ''] = match
  const parameters = readParameters(query)
  const colon = credentials.indexOf(':')
  const userText = colon === -1 ? credentials : credentials.slice(0, colon)
  const passwordText = colon === -1 ? '' : credentials.slice(colon + 1)
  const password = decode(passwordText) || parameters.password
  const database = decode(path) || parameters.dbname
  if (database === undefined || database === '') throw invalidUrl('it names no database')
  return {
    kind: 'postgres',
    hosts: readHosts(hostList || parameters.host || 'localhost', parameters.port),
    database,
    user: decode(userText) || parameters.user,
    password: password === undefined || password === '' ? undefined : new Secret(password),
    tls: readTls(parameters),
    tlsRootPath: parameters.sslrootcert,
    applicationName: parameters.application_name ?? 'turnpike',
    connectTimeoutMs: readTimeout(parameters.connect_timeout),
  }
}

const known = [
  'application_name',
  'connect_timeout',
  'dbname',
  'host',
  'password',
  'port',
  'sslmode',
  'sslrootcert',
  'target_session_attrs',
  'user',
] as const

type Parameters = Partial<Record<(typeof known)[number], string>>

function readParameters(query: string): Parameters {
  const parameters: Parameters = {}
  for (const [name, value] of new URLSearchParams(query)) {
    const key = known.find((one) => one === name)
    if (key === undefined)
      throw invalidUrl(`it has the parameter ${name}; known are ${known.join(', ')}`)
    parameters[key] = value
  }
  // The ledger writes through every connection, so no other server would do anyway.
  const attributes = parameters.target_session_attrs ?? 'read-write'
  if (attributes !== 'read-write' && attributes !== 'primary')
    throw invalidUrl('target_session_attrs must be read-write or primary: the store is written to')
  return parameters
}

function readHosts(list: string, ports: string | undefined): readonly PostgresHost[] {
  const givenPorts = ports?.split(',') ?? []
  return list.split(',').map((item, index) => {
    const match = /^(\[[0-9A-Fa-f:.]+\]|[^:]*)(?::(\d{1,5}))?$/.exec(decode(item))
    const given = match?.[2] ?? givenPorts[index] ?? givenPorts[0]
    const port = given === undefined ? defaultPort : Number(given)
    if (match === null || !(port >= 1 && port <= 65_535))
      throw invalidUrl('each host is written as NAME or NAME:PORT, with commas between')
    const host = (match[1] ?? '').replace(/^\[(.*)\]$/, '$1')
    return { host: host === '' ? 'localhost' : host, port }
  })
}

function readTls({ sslmode, sslrootcert }: Parameters): TlsMode {
  if (sslmode === undefined) return 'disable'
  const mode = tlsModes.find((one) => one === sslmode)
  if (mode === undefined) throw invalidUrl(`sslmode must be one of ${tlsModes.join(', ')}`)
  // As in libpq: with root certificates, the server's certificate is checked.
  return mode === 'require' && sslrootcert !== undefined ? 'verify-ca' : mode
}

function readTimeout(given: string | undefined): number {
  if (given === undefined) return defaultConnectTimeoutMs
  const seconds = Number(given)
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > 600)
    throw invalidUrl('connect_timeout must be a number of seconds from 1 to 600')
  return seconds * 1_000
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    throw invalidUrl('a % in it is not followed by two hexadecimal digits', error)
  }
}

/** The message never repeats the URL: it may contain a password. */
function invalidUrl(reason: string, cause?: unknown): GatewayError {
  return new GatewayError(
    'operations.invalid',
    `The PostgreSQL URL of the store cannot be used: ${reason}. An example: ${example}`,
    { cause },
  )
}
