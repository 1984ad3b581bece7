/**
 * The list of settings: key, schema of its text, default. It reads no file. Every value is parsed from
 * text, so that it means the same in a file and in the environment.
 */
import { isAbsolute } from 'node:path'
import { z } from 'zod'
import { isAdminToken } from './access/key.ts'
import { formatDuration, parseDuration } from './base/clock.ts'
import { isIpRange } from './base/ip-address.ts'
import { Secret } from './base/secret.ts'
import { forwardingHeaders } from './http/wire/forwarding-header.ts'

/** The address of a listener. */
export interface ListenAddress {
  readonly host: string
  readonly port: number
}

const minuteMs = 60_000
const dayMs = 1_440 * minuteMs
const mebibyte = 1_048_576

/** One setting: its key in the file, its schema, its default. */
function setting<Schema extends z.ZodType, Fallback extends z.output<Schema> | undefined>(
  key: string,
  schema: Schema,
  fallback: Fallback,
): { key: string; schema: Schema; fallback: Fallback } {
  return { key, schema, fallback }
}

/** Makes a schema from `read`, which returns undefined for text that does not fit. */
function text<Value>(expected: string, read: (text: string) => Value | undefined) {
  return z.string().transform((given, context): Value => {
    const value = read(given.trim())
    if (value !== undefined) return value
    context.addIssue({ code: 'custom', message: `must be ${expected}` })
    return z.NEVER
  })
}

function duration(range: { readonly min: number; readonly max: number }) {
  const expected = `a duration such as 250ms, 30s or 10m, from ${formatDuration(range.min)} to ${formatDuration(range.max)}`
  return text(expected, (given) => {
    const durationMs = parseDuration(given)
    const fits = durationMs !== undefined && durationMs >= range.min && durationMs <= range.max
    return fits ? durationMs : undefined
  })
}

function count(range: { readonly min: number; readonly max: number }) {
  return text(`a whole number from ${range.min} to ${range.max}`, (given) => {
    const number = /^\d{1,15}$/.test(given) ? Number(given) : undefined
    return number !== undefined && number >= range.min && number <= range.max ? number : undefined
  })
}

function choice<const Choice extends string>(choices: readonly Choice[]) {
  return text(`one of ${choices.join(', ')}`, (given) => choices.find((one) => one === given))
}

/** The inverse of `parseListenAddress`. */
export function formatListenAddress({ host, port }: ListenAddress): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/** Reads `host:port`; an IPv6 host is in brackets. Undefined for any other text. */
export function parseListenAddress(given: string): ListenAddress | undefined {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([0-9A-Za-z.-]+)):(\d{1,5})$/.exec(given)
  const port = Number(match?.[3])
  const host = match?.[1] ?? match?.[2]
  return host === undefined || port > 65_535 ? undefined : { host, port }
}

const listenAddress = text('an address such as 127.0.0.1:8080 or [::1]:8080', parseListenAddress)

const storeText = text('sqlite:PATH or postgres://user@host/db', (given) =>
  /^(sqlite:(?!\/\/|:memory:$).|postgres(ql)?:\/\/.)/.test(given) ? given : undefined,
)

/** The master key: 32 bytes for AES-256. */
const masterKey = text('32 bytes in hexadecimal (64 digits) or base64 (44 characters)', (given) =>
  /^[0-9a-fA-F]{64}$|^[0-9A-Za-z+/_-]{43}=?$/.test(given) ? new Secret(given) : undefined,
)

/** Wider than the gateway's own tokens, so that an operator can bring one from another tool. */
const adminToken = text('`ad_` followed by 16 to 200 letters, digits, - or _', (given) =>
  isAdminToken(given) ? new Secret(given) : undefined,
)

const path = text('the path of a file', (given) => (given === '' ? undefined : given))

/** Reads a list with commas; undefined where an item does not fit. */
function listOf(given: string, fits: (item: string) => boolean): readonly string[] | undefined {
  const items = given.split(',').map((one) => one.trim())
  return items.every(fits) ? items : undefined
}

const variableNames = text(
  'names of environment variables such as ALPHA_KEY, with commas between them',
  (given) => listOf(given, (one) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(one)),
)

const folderPaths = text('absolute paths of folders, with commas between them', (given) =>
  listOf(given, isAbsolute),
)

/** Undefined = none. */
const addressRanges = text(
  'addresses or networks such as 10.0.0.0/8, 2001:db8::7, with commas between them',
  (given): readonly string[] | undefined => {
    const ranges = given.split(',').map((one) => one.trim())
    return ranges.every(isIpRange) ? ranges : undefined
  },
)

/** A scheme, a host and perhaps a port, as a browser writes them: Chrome extensions have origins too. */
const originPattern =
  /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9._-]+(?::\d{1,5})?$|^https?:\/\/\[[0-9a-f:.]+\](?::\d{1,5})?$/

/** Returns true for an origin in the one form in which browsers send it. */
function isOrigin(given: string): boolean {
  if (!originPattern.test(given)) return false
  return !/^https?:/.test(given) || (URL.canParse(given) && new URL(given).origin === given)
}

/** Undefined = none. */
const origins = text(
  'origins such as https://app.example or http://localhost:5173 with commas between them, each in lower case and without a path or a default port, or * for any',
  (given): readonly string[] | undefined => {
    const list = given.split(',').map((one) => one.trim())
    return list.every((one) => one === '*' || isOrigin(one)) ? list : undefined
  },
)

/** The address of a mail server; its user name may be in it, the password is a separate setting. */
const mailServer = text(
  'the address of a mail server such as smtp://user@mail.example:587 or smtps://user@mail.example',
  (given) => {
    if (!/^smtps?:\/\/[^\s/?#]+\/?$/.test(given) || !URL.canParse(given)) return undefined
    const { hostname, password } = new URL(given)
    return hostname === '' || password !== '' ? undefined : given
  },
)

/** The sender of e-mail. */
const mailSender = text('an e-mail address such as turnpike@example.com', (given) =>
  z.regexes.html5Email.test(given) ? given : undefined,
)

const password = text('a password', (given) => (given === '' ? undefined : new Secret(given)))

const region = text('1 to 64 printable characters', (given) =>
  /^[\x20-\x7e]{1,64}$/.test(given) ? given : undefined,
)

/** All settings. A test checks that docs/configuration.md documents each. */
export const settings = {
  /** Model routes, `/v1/usage`, `/health`. */
  listen: setting('listen', listenAddress, { host: '127.0.0.1', port: 8080 }),
  /** `/metrics`, `/livez`, `/readyz`. */
  adminListen: setting('admin_listen', listenAddress, { host: '127.0.0.1', port: 8081 }),
  /** `sqlite:` with an absolute path, or a PostgreSQL URL. */
  store: setting('store', storeText, 'sqlite:./data/turnpike.db'),
  /** Proxies whose word about a client's address is believed. */
  trustedProxies: setting('trusted_proxies', addressRanges, undefined),
  /** The one header in which they give it. */
  clientAddressHeader: setting(
    'client_address_header',
    text(`one of ${forwardingHeaders.join(', ')}`, (given) =>
      forwardingHeaders.find((name) => name === given.toLowerCase()),
    ),
    'x-forwarded-for',
  ),
  /** `on`: connections of trusted proxies to `listen` begin with a PROXY line. */
  proxyProtocol: setting('proxy_protocol', choice(['off', 'on']), 'off'),
  /** Pages of these origins may call the gateway from a browser. */
  corsOrigins: setting('cors_origins', origins, undefined),
  region: setting('region', region, 'local'),
  /** The name of this node on a PostgreSQL store; the host's name by default. */
  nodeName: setting('node_name', region, undefined),
  /** The time after which the holds of a dead node are released (PostgreSQL). */
  nodeLeaseMs: setting('node_lease', duration({ min: 1_000, max: 10 * minuteMs }), 30_000),
  /** How long the end of an answer waits for its charge to be stored (PostgreSQL). */
  settleTimeoutMs: setting('settle_timeout', duration({ min: 100, max: 10 * minuteMs }), 30_000),
  masterKey: setting('master_key', masterKey, undefined),
  /** Absolute; by default `master.key` beside an embedded store. */
  masterKeyFile: setting('master_key_file', path, undefined),
  adminToken: setting('admin_token', adminToken, undefined),
  /** Variables that a catalogue over the admin API may name as credentials. */
  apiCredentialVariables: setting('api_credential_variables', variableNames, []),
  /** Folders whose files it may name. */
  apiCredentialFileFolders: setting('api_credential_file_folders', folderPaths, []),
  checkIntervalMs: setting(
    'check_interval',
    duration({ min: 100, max: 1_440 * minuteMs }),
    10 * minuteMs,
  ),
  drainTimeoutMs: setting(
    'drain_timeout',
    duration({ min: 0, max: 1_440 * minuteMs }),
    10 * minuteMs,
  ),
  logLevel: setting(
    'log_level',
    choice(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    'info',
  ),

  /** Limits of the client side. */
  bodyBytesMax: setting(
    'body_max_bytes',
    count({ min: 1_024, max: 1_024 * mebibyte }),
    32 * mebibyte,
  ),
  /** Of all bodies under way; a quarter of the memory by default. */
  bodiesBytesMax: setting(
    'bodies_max_bytes',
    count({ min: mebibyte, max: 1_024 * 1_024 * mebibyte }),
    undefined,
  ),
  headTimeoutMs: setting('head_timeout', duration({ min: 10, max: 10 * minuteMs }), 10_000),
  bodyTimeoutMs: setting('body_timeout', duration({ min: 10, max: 60 * minuteMs }), minuteMs),
  keepAliveTimeoutMs: setting(
    'keep_alive_timeout',
    duration({ min: 10, max: 60 * minuteMs }),
    75_000,
  ),
  writeStallTimeoutMs: setting(
    'write_stall_timeout',
    duration({ min: 10, max: 60 * minuteMs }),
    minuteMs,
  ),
  /** Those that have shown no valid key; 0 = no limit. */
  connectionsPerAddressMax: setting(
    'max_connections_per_address',
    count({ min: 0, max: 1_000_000 }),
    256,
  ),
  connectionsMax: setting('max_connections', count({ min: 1, max: 1_000_000 }), 10_000),
  /** Requests without a valid credential, per address and minute; 0 = no limit. */
  failedSignInsMax: setting('max_failed_sign_ins', count({ min: 0, max: 1_000_000 }), 300),
  /** Concurrency limits; 0 = no limit. */
  runningPerKeyMax: setting('max_running_per_key', count({ min: 0, max: 1_000_000 }), 2_000),
  runningPerAccountMax: setting(
    'max_running_per_account',
    count({ min: 0, max: 1_000_000 }),
    4_000,
  ),

  /** Limits of the vendor side: of one attempt and of one exchange. */
  answerBytesMax: setting(
    'answer_max_bytes',
    count({ min: 1_024, max: 1_024 * mebibyte }),
    64 * mebibyte,
  ),
  connectTimeoutMs: setting('connect_timeout', duration({ min: 10, max: 10 * minuteMs }), 5_000),
  /** Streams: time to the first event that is neither ping nor error. */
  firstEventTimeoutMs: setting(
    'first_event_timeout',
    duration({ min: 10, max: 60 * minuteMs }),
    2 * minuteMs,
  ),
  /** A channel's own limit is this factor times the 99th percentile of its first events … */
  firstEventFactor: setting('first_event_factor', count({ min: 1, max: 1_000 }), 4),
  /** … and never below this. */
  firstEventTimeoutMinMs: setting(
    'first_event_timeout_min',
    duration({ min: 10, max: 60 * minuteMs }),
    10_000,
  ),
  /** What must have arrived before the client gets the first byte. */
  commitPoint: setting('commit_point', choice(['first_event', 'first_content']), 'first_event'),
  /** Answers that are not streamed: time to the complete answer. */
  answerTimeoutMs: setting(
    'answer_timeout',
    duration({ min: 10, max: 60 * minuteMs }),
    10 * minuteMs,
  ),
  /** Time between two pieces of an answer. */
  idleTimeoutMs: setting('idle_timeout', duration({ min: 10, max: 60 * minuteMs }), 2 * minuteMs),
  /** Streams: how long pings alone keep an answer alive. */
  pingTimeoutMs: setting('ping_timeout', duration({ min: 10, max: 60 * minuteMs }), 10 * minuteMs),
  requestDeadlineMs: setting(
    'request_deadline',
    duration({ min: 100, max: 1_440 * minuteMs }),
    60 * minuteMs,
  ),
  attemptsMax: setting('max_attempts', count({ min: 1, max: 20 }), 3),
  /** Size of each channel's failover token bucket; failover to it needs more than half. */
  failoverTokensMax: setting('failover_tokens', count({ min: 2, max: 1_000_000 }), 100),

  /** Interval of the background ledger audit, ± 10 %. */
  auditIntervalMs: setting(
    'audit_interval',
    duration({ min: minuteMs, max: 7 * dayMs }),
    60 * minuteMs,
  ),

  /** How long the record of a request is kept after its end. */
  requestRetentionMs: setting(
    'request_retention',
    duration({ min: 2 * dayMs, max: 36_500 * dayMs }),
    30 * dayMs,
  ),
  /** How much of a client's address its record keeps. */
  recordAddresses: setting(
    'record_addresses',
    choice(['none', 'family', 'network', 'full']),
    'family',
  ),

  /** The mail server for alerts; without one no e-mail is sent. */
  smtp: setting('smtp', mailServer, undefined),
  smtpPassword: setting('smtp_password', password, undefined),
  /** Absolute. */
  smtpPasswordFile: setting('smtp_password_file', path, undefined),
  smtpFrom: setting('smtp_from', mailSender, undefined),
  /** Networks to which alerts may be sent although they are not public. */
  alertNetworks: setting('alert_networks', addressRanges, undefined),
  /** An alert is raised where a balance lasts shorter at the spend of the last 24 h; 0 = none. */
  alertRunOutMs: setting('alert_run_out', duration({ min: 0, max: 30 * dayMs }), dayMs),
  /** An alert is raised where the last backup is older; by default backups are not watched. */
  backupMaxAgeMs: setting(
    'backup_max_age',
    duration({ min: 60 * minuteMs, max: 366 * dayMs }),
    undefined,
  ),

  /** How long the gateway reads on for the vendor's final count after the client left; 0 = not at all. */
  clientLeftGraceMs: setting('client_left_grace', duration({ min: 0, max: 5 * minuteMs }), 5_000),
  /** How many requests an account may leave in an hour before their first byte without paying … */
  freeLeavesMax: setting('free_leaves', count({ min: 0, max: 1_000_000 }), 20),
  /** … or this percentage of its requests, if that is more. */
  freeLeavesPercent: setting('free_leaves_percent', count({ min: 0, max: 100 }), 2),
  /** What is charged when the vendor cuts an answer. */
  upstreamCut: setting('upstream_cut', choice(['nothing', 'delivered']), 'nothing'),
} as const

type Settings = typeof settings

export type Config = {
  readonly [Name in keyof Settings]:
    | z.output<Settings[Name]['schema']>
    | (undefined extends Settings[Name]['fallback'] ? undefined : never)
}
