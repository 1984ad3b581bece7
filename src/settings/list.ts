/**
 * The list of settings: key, schema of its text, default, and its meaning as Markdown. `npm run docs:write`
 * writes the tables of docs/configuration.md from here. It reads no file.
 */
import type { z } from 'zod'
import { dayMs, minuteMs } from '../base/clock.ts'
import { forwardingHeaders } from '../http/wire/forwarding-header.ts'
import {
  addressRanges,
  adminToken,
  choice,
  collectorUrl,
  count,
  duration,
  folderPaths,
  imagePath,
  listenAddress,
  mailSender,
  mailServer,
  masterKey,
  mebibyte,
  origins,
  password,
  path,
  processCount,
  ratio,
  region,
  setting,
  shortText,
  storeText,
  text,
  variableNames,
} from './schemas.ts'

const upToTenMinutes = duration({ min: 10, max: 10 * minuteMs })
const upToHour = duration({ min: 10, max: 60 * minuteMs })
/** 0 = no limit. */
const countOrNone = count({ min: 0, max: 1_000_000 })

/** By subject, in the order of the page. */
export const settingGroups = {
  'Addresses and identity': {
    listen: setting(
      'listen',
      listenAddress,
      { host: '127.0.0.1', port: 8080 },
      'Where clients connect: model routes, `/v1/usage`, the account page at `/account`, `/health`. Port `0` picks a free one. IPv6 in brackets: `[::]:8080`.',
    ),
    adminListen: setting(
      'admin_listen',
      listenAddress,
      { host: '127.0.0.1', port: 8081 },
      'Where operators connect: the console at `/console`, the [admin API](admin-api.md), `/metrics` (with an `ad_` token), `/livez`, `/readyz`. Keep it away from the public.',
    ),
    trustedProxies: setting(
      'trusted_proxies',
      addressRanges,
      undefined,
      "The addresses and networks of your proxies, with commas between them: `10.0.0.0/8, 2001:db8::7`. Only their word about a client's address is believed.",
    ),
    clientAddressHeader: setting(
      'client_address_header',
      text(`one of ${forwardingHeaders.join(', ')}`, (given) =>
        forwardingHeaders.find((name) => name === given.toLowerCase()),
      ),
      'x-forwarded-for',
      'The one header in which trusted proxies name the client: `x-forwarded-for`, `forwarded` or `x-real-ip`.',
    ),
    proxyProtocol: setting(
      'proxy_protocol',
      choice(['off', 'on']),
      'off',
      '`on`: each connection of a trusted proxy to `listen` begins with the PROXY protocol, version 1 or 2.',
    ),
    corsOrigins: setting(
      'cors_origins',
      origins,
      undefined,
      "Pages of these origins may call `listen` from a browser: `https://app.example, http://localhost:5173`, or `'*'` for any. See [pages in a browser](browsers.md).",
    ),
    region: setting('region', region, 'local', 'The name of this installation in `/health`.'),
    logLevel: setting(
      'log_level',
      choice(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
      'info',
      '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`. No level logs bodies or secrets.',
    ),
    logFormat: setting(
      'log_format',
      choice(['auto', 'json', 'text']),
      'auto',
      'The form of log lines: `json`, `text` for people, or `auto`: text on a terminal, JSON elsewhere.',
    ),
  },
  'Store and secrets': {
    store: setting(
      'store',
      storeText,
      'sqlite:./data/turnpike.db',
      'The database: `sqlite:PATH` for one gateway, or `postgres://USER:PASSWORD@HOST/DATABASE` for any number.',
    ),
    masterKey: setting(
      'master_key',
      masterKey,
      undefined,
      '32 random bytes as 64 hexadecimal digits or as base64 (`openssl rand -base64 32`). It encrypts vendor credentials in the store. Give it here or in a file, not both.',
    ),
    masterKeyFile: setting(
      'master_key_file',
      path,
      undefined,
      'A file with the key in the same form, readable by its owner only.',
      '`master.key` beside a SQLite store, none with PostgreSQL',
    ),
    adminToken: setting(
      'admin_token',
      adminToken,
      undefined,
      'An `ad_` token that the gateway accepts: `ad_` and 16 to 200 letters, digits, `-` or `_`, best 32 random bytes. A new value revokes the old one at the next start.',
      'made on first start, in a file',
    ),
  },
  'A store on PostgreSQL': {
    nodeName: setting(
      'node_name',
      region,
      undefined,
      'The name of this process among the nodes of the store. It is for people; two nodes may have the same name. Of several `processes` the names are `NAME-1`, `NAME-2` and so on.',
      "the host's name",
    ),
    processes: setting(
      'processes',
      processCount,
      1,
      'How many gateways `turnpike serve` runs on the same addresses: a number, or `auto` for one on each core. `--processes` replaces it. See [several processes](operating.md#use-all-cores).',
    ),
    nodeLeaseMs: setting(
      'node_lease',
      duration({ min: 1_000, max: 10 * minuteMs }),
      30_000,
      'When a node dies, another node evicts it and frees its holds after at most this time. If no other node runs, the time counts from its restart. Set the same value on all nodes.',
    ),
    settleTimeoutMs: setting(
      'settle_timeout',
      duration({ min: 100, max: 10 * minuteMs }),
      30_000,
      'How long the end of an answer waits for its charge while the database is unavailable. After that the gateway cuts the answer and does not charge it.',
    ),
  },
  "The client's side": {
    bodyBytesMax: setting(
      'body_max_bytes',
      count({ min: 1_024, max: 1_024 * mebibyte }),
      32 * mebibyte,
      'The largest request body, in bytes. A larger one is refused with 413.',
    ),
    bodiesBytesMax: setting(
      'bodies_max_bytes',
      count({ min: mebibyte, max: 1_024 * 1_024 * mebibyte }),
      undefined,
      'The most bytes of all request bodies under way, by default a quarter of the memory. An account may use half, a key a quarter of them. Over it: 503, or 429.',
      'a quarter',
    ),
    headTimeoutMs: setting(
      'head_timeout',
      upToTenMinutes,
      10_000,
      'The longest time for a client to send the head of a request.',
    ),
    bodyTimeoutMs: setting(
      'body_timeout',
      upToHour,
      minuteMs,
      'The longest time for a client to send the whole request.',
    ),
    keepAliveTimeoutMs: setting(
      'keep_alive_timeout',
      upToHour,
      75_000,
      'How long an idle connection stays open. Set it above the idle time of a proxy in front of the gateway.',
    ),
    writeStallTimeoutMs: setting(
      'write_stall_timeout',
      upToHour,
      minuteMs,
      'How long a client may read nothing of an answer before the gateway closes its connection. The delivered part is charged, also where the vendor gives up on such a client before.',
    ),
    connectionsMax: setting(
      'max_connections',
      count({ min: 1, max: 1_000_000 }),
      10_000,
      "The most open client connections. Keep it below the process's limit of open files.",
    ),
    connectionsPerAddressMax: setting(
      'max_connections_per_address',
      countOrNone,
      256,
      'The most open connections of one address that have shown no valid key; `0` = no limit. An IPv6 network /64 counts as one address. Connections that have shown a valid key, and those of `trusted_proxies`, do not count.',
    ),
    failedSignInsMax: setting(
      'max_failed_sign_ins',
      countOrNone,
      300,
      'The most requests without a valid credential that one address may send per minute; `0` = no limit. Over it: 429. An IPv6 network /64 counts as one address. Known keys are not affected.',
    ),
    runningPerKeyMax: setting(
      'max_running_per_key',
      countOrNone,
      2_000,
      'Concurrency limit of one key; `0` = none. Over it: 429.',
    ),
    runningPerAccountMax: setting(
      'max_running_per_account',
      countOrNone,
      4_000,
      'Concurrency limit of all keys of an account together; `0` = none.',
    ),
  },
  "The vendor's side": {
    apiCredentialVariables: setting(
      'api_credential_variables',
      variableNames,
      [],
      'Environment variables that a catalogue over the admin API may name as credentials (`env:NAME`), with commas between them.',
    ),
    apiCredentialFileFolders: setting(
      'api_credential_file_folders',
      folderPaths,
      [],
      'Folders whose files it may name (`file:/path`): absolute paths with commas between them.',
    ),
    checkIntervalMs: setting(
      'check_interval',
      duration({ min: 100, max: 1_440 * minuteMs }),
      10 * minuteMs,
      "How often each channel gets a health check, from one of the gateways on the store. A check is a tiny paid request unless the channel's `check` says otherwise.",
    ),
    connectTimeoutMs: setting(
      'connect_timeout',
      upToTenMinutes,
      5_000,
      'The longest time to connect to a channel, with TLS.',
    ),
    firstEventTimeoutMs: setting(
      'first_event_timeout',
      upToHour,
      2 * minuteMs,
      'Streams: the longest time to the first event that is neither a ping nor an error. The catalogue can set another limit for a model.',
    ),
    firstEventFactor: setting(
      'first_event_factor',
      count({ min: 1, max: 1_000 }),
      4,
      'Where another channel is left, a channel has this many times the p99 of its times to the first event …',
    ),
    firstEventTimeoutMinMs: setting(
      'first_event_timeout_min',
      upToHour,
      10_000,
      '… but never less than this.',
    ),
    commitPoint: setting(
      'commit_point',
      choice(['first_event', 'first_content']),
      'first_event',
      "When a stream's first bytes go to the client, after which no other channel can serve it: with its `first_event`, or with its `first_content`. The second hides more failures from clients, but the first event waits for the content.",
    ),
    answerTimeoutMs: setting(
      'answer_timeout',
      upToHour,
      10 * minuteMs,
      'Answers that are not streamed: the longest time to the whole answer.',
    ),
    idleTimeoutMs: setting(
      'idle_timeout',
      upToHour,
      2 * minuteMs,
      'The longest silence in the middle of an answer.',
    ),
    pingTimeoutMs: setting(
      'ping_timeout',
      upToHour,
      10 * minuteMs,
      'How long pings alone keep a begun stream alive. The catalogue can set another limit for a model.',
    ),
    requestDeadlineMs: setting(
      'request_deadline',
      duration({ min: 100, max: 1_440 * minuteMs }),
      60 * minuteMs,
      'The longest time for one request, with all attempts and the whole stream.',
    ),
    attemptsMax: setting(
      'max_attempts',
      count({ min: 1, max: 20 }),
      3,
      'The most attempts for one request before the client gets an error.',
    ),
    failoverTokensMax: setting(
      'failover_tokens',
      count({ min: 2, max: 1_000_000 }),
      100,
      'The token bucket of a channel that takes over traffic: a failure there takes one token, a success gives a tenth back, and failover to it needs more than half. See [reliability](reliability.md).',
    ),
    answerBytesMax: setting(
      'answer_max_bytes',
      count({ min: 1_024, max: 1_024 * mebibyte }),
      64 * mebibyte,
      'The largest answer that is not streamed, errors included, in bytes. Of streams only those that the vendor compresses have this limit, decoded. 2,048 embeddings of 3,072 numbers have 34 MB as base64, which most SDKs ask for, and 60 to 150 MB as text.',
    ),
  },
  Endings: {
    clientLeftGraceMs: setting(
      'client_left_grace',
      duration({ min: 0, max: 5 * minuteMs }),
      5_000,
      "When a client leaves in the middle of an answer: how long the gateway reads on for the vendor's final count, for 2 MiB at most. `0s` = not at all.",
    ),
    freeLeavesMax: setting(
      'free_leaves',
      countOrNone,
      20,
      'How many requests an account may leave in an hour before the first byte of their answer without paying for them. Beyond that the gateway reads the answer to its end and charges what the vendor counts; where the vendor fails, nothing. Each gateway counts for itself.',
    ),
    freeLeavesPercent: setting(
      'free_leaves_percent',
      count({ min: 0, max: 100 }),
      2,
      "The same as a percentage of the account's requests in the hour, if that is more.",
    ),
    upstreamCut: setting(
      'upstream_cut',
      choice(['nothing', 'delivered']),
      'nothing',
      'When the vendor breaks off in the middle of an answer: charge `nothing`, or the part that was `delivered`.',
    ),
    drainTimeoutMs: setting(
      'drain_timeout',
      duration({ min: 0, max: 1_440 * minuteMs }),
      10 * minuteMs,
      'How long running answers may continue after SIGTERM. Then the gateway ends them with an error and charges the delivered part. Give your supervisor a longer limit.',
    ),
  },
  'Audit and retention': {
    auditIntervalMs: setting(
      'audit_interval',
      duration({ min: minuteMs, max: 7 * dayMs }),
      60 * minuteMs,
      'How often a running gateway audits the ledger from the last checkpoint on, with a jitter of a tenth; first a few seconds after its start. `turnpike audit` checks everything.',
    ),
    requestRetentionMs: setting(
      'request_retention',
      duration({ min: 2 * dayMs, max: 36_500 * dayMs }),
      30 * dayMs,
      'How long the record of a request is kept after its end, which explains its charge, such as `400d`; at least `2d`, in whole UTC days. Entries, balances and figures are always kept.',
    ),
    recordAddresses: setting(
      'record_addresses',
      choice(['none', 'family', 'network', 'full']),
      'family',
      "How much of the client's address the record keeps: `none`, its `family` (`ipv4` or `ipv6`), its `network` (a /24, or a /64 of IPv6), or the `full` address.",
    ),
  },
  'Account page': {
    operatorName: setting(
      'operator_name',
      shortText,
      undefined,
      'Your name, as account holders see it on the account page (`/account`). Everyone who reaches `listen` can read it, and the next two.',
    ),
    operatorContact: setting(
      'operator_contact',
      shortText,
      undefined,
      'Where account holders reach you: `mailto:help@example.com`, `https://example.com/help`, or plain text.',
    ),
    operatorLogo: setting(
      'operator_logo',
      imagePath,
      undefined,
      'Your logo: a `.png`, `.svg`, `.webp` or `.jpg` file of at most 256 KiB. It is read at the start.',
    ),
  },
  Traces: {
    otlpEndpoint: setting(
      'otlp_endpoint',
      collectorUrl,
      undefined,
      'The address of an OpenTelemetry collector: `http://127.0.0.1:4318`. Traces go to `/v1/traces` below it. Without it there are none. Where it is not set, `OTEL_EXPORTER_OTLP_ENDPOINT` counts.',
    ),
    otlpSampleRatio: setting(
      'otlp_sample_ratio',
      ratio,
      1,
      'The share of requests that is traced, from `0` to `1`, where the client has not decided it.',
    ),
    otlpVendorHeaders: setting(
      'otlp_vendor_headers',
      choice(['client', 'gateway']),
      'client',
      "What a vendor gets as `traceparent` and `tracestate`: those of the `client`, unchanged, or those of the `gateway`'s attempt.",
    ),
  },
  Alerts: {
    smtp: setting(
      'smtp',
      mailServer,
      undefined,
      'The mail server for e-mail: `smtp://user@mail.example:587`, or `smtps://…` for TLS from the first byte. With `smtp://` the gateway insists on STARTTLS, unless the server is on this machine or in a private network.',
    ),
    smtpPassword: setting(
      'smtp_password',
      password,
      undefined,
      'The password of the user in `smtp`.',
    ),
    smtpPasswordFile: setting(
      'smtp_password_file',
      path,
      undefined,
      'A file with that password, in place of `smtp_password`.',
    ),
    smtpFrom: setting(
      'smtp_from',
      mailSender,
      undefined,
      'The address that e-mail comes from. `smtp` needs it.',
    ),
    alertNetworks: setting(
      'alert_networks',
      addressRanges,
      undefined,
      'Networks to which webhooks and Slack-compatible messages may be sent although they are not public, with commas between them: `10.0.0.0/8, 127.0.0.1`. `http://` is allowed there too.',
    ),
    alertRunOutMs: setting(
      'alert_run_out',
      duration({ min: 0, max: 30 * dayMs }),
      dayMs,
      'You are alerted when the balance of an account lasts shorter than this at the spend of the last 24 hours. `0s` turns it off.',
    ),
    backupMaxAgeMs: setting(
      'backup_max_age',
      duration({ min: 60 * minuteMs, max: 366 * dayMs }),
      undefined,
      'You are alerted when the last `turnpike backup` is older than this, such as `26h`. Only with a SQLite store; with PostgreSQL the gateway refuses to start, because it does not see those backups.',
    ),
  },
} as const

export const settings = {
  ...settingGroups['Addresses and identity'],
  ...settingGroups['Store and secrets'],
  ...settingGroups['A store on PostgreSQL'],
  ...settingGroups["The client's side"],
  ...settingGroups["The vendor's side"],
  ...settingGroups['Endings'],
  ...settingGroups['Audit and retention'],
  ...settingGroups['Account page'],
  ...settingGroups['Traces'],
  ...settingGroups['Alerts'],
} as const

type Settings = typeof settings

export type Config = {
  readonly [Name in keyof Settings]:
    | z.output<Settings[Name]['schema']>
    | (undefined extends Settings[Name]['fallback'] ? undefined : never)
}
