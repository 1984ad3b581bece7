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
  count,
  collectorUrl,
  duration,
  listenAddress,
  mailDomains,
  mailSender,
  mailServer,
  masterKey,
  origins,
  pageAddress,
  password,
  path,
  percentage,
  processCount,
  ratio,
  region,
  serviceSecret,
  setting,
  shortText,
  standIn,
  storeText,
  text,
} from './schemas.ts'
import { exchangeSettings } from './exchange-settings.ts'
import { oidcSettings } from './oidc-settings.ts'

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
  ...exchangeSettings,
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
    publicUrl: setting(
      'public_url',
      pageAddress,
      undefined,
      'The address at which account holders reach `listen`, such as `https://gateway.example`: https, or http on a loopback address, without a path. It turns on [members](members.md), who sign in by mail, which needs `smtp` and `smtp_from`, or by OpenID Connect.',
    ),
    signUp: setting(
      'sign_up',
      choice(['off', 'invite', 'open']),
      'off',
      'Whether people [make accounts](members.md#sign-up) on the account page: `off`; `invite`: with a top-up code; `open`: without one, too. It needs `public_url`, `smtp` and `smtp_from`.',
    ),
    signUpDomains: setting(
      'sign_up_domains',
      mailDomains,
      undefined,
      'The domains of the e-mail addresses that may sign up, with commas between them: `customer.example, example.org`. A subdomain is another domain.',
      'any',
    ),
    operatorName: setting(
      'operator_name',
      shortText,
      undefined,
      'Your name, as account holders see it on the account page (`/account`). Everyone who reaches `listen` can read it, and the next one.',
    ),
    operatorContact: setting(
      'operator_contact',
      shortText,
      undefined,
      'Where account holders reach you: `mailto:help@example.com`, `https://example.com/help`, or plain text.',
    ),
    operatorAddress: setting(
      'operator_address',
      shortText,
      undefined,
      'Your address on receipts, in one line.',
    ),
    taxPercent: setting(
      'tax_percent',
      percentage,
      undefined,
      'The tax that the amounts of credits include, such as `19` or `7.7`. Receipts show it.',
    ),
    taxNote: setting(
      'tax_note',
      shortText,
      undefined,
      'The words of the tax on receipts: its name and your number, such as `VAT, DE123456789`.',
    ),
  },
  ...oidcSettings,
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
  },
  Payments: {
    stripeSecretKey: setting(
      'stripe_secret_key',
      serviceSecret,
      undefined,
      'The secret key of your Stripe account, best a restricted one that may write Checkout sessions only. It turns on [payments](payments.md).',
    ),
    stripeSecretKeyFile: setting(
      'stripe_secret_key_file',
      path,
      undefined,
      'A file with that key, in place of `stripe_secret_key`.',
    ),
    stripeWebhookSecret: setting(
      'stripe_webhook_secret',
      serviceSecret,
      undefined,
      'The signing secret of the webhook at Stripe (`whsec_…`). Payments need both secrets.',
    ),
    stripeWebhookSecretFile: setting(
      'stripe_webhook_secret_file',
      path,
      undefined,
      'A file with that secret, in place of `stripe_webhook_secret`.',
    ),
    paymentMinUsd: setting(
      'payment_min_usd',
      count({ min: 1, max: 100_000 }),
      5,
      'The least that an account holder can pay at once, in whole USD.',
    ),
    paymentMaxUsd: setting(
      'payment_max_usd',
      count({ min: 1, max: 100_000 }),
      1_000,
      'The most that an account holder can pay at once, in whole USD.',
    ),
    stripeUrl: setting(
      'stripe_url',
      standIn,
      undefined,
      'A stand-in for Stripe on this machine, for tests: `http://127.0.0.1:12111`.',
      'Stripe',
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
  ...settingGroups['Sign-in by OpenID Connect'],
  ...settingGroups['Traces'],
  ...settingGroups['Payments'],
  ...settingGroups['Alerts'],
} as const

type Settings = typeof settings

export type Config = {
  readonly [Name in keyof Settings]:
    | z.output<Settings[Name]['schema']>
    | (undefined extends Settings[Name]['fallback'] ? undefined : never)
}
