/**
 * Reads the settings: a YAML file and the environment in, one frozen `Config` out. It reports all
 * mistakes at once, each with its setting and place. It is the only file that reads the process
 * environment, and it opens no store. The invariant: printing a `Config` never prints a secret.
 */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { inspect } from 'node:util'
import { LineCounter, isMap, isScalar, parseDocument } from 'yaml'
import type { z } from 'zod'
import { formatDuration } from '../base/clock.ts'
import { nearestWord } from '../base/nearest.ts'
import { Secret } from '../base/secret.ts'
import { formatListenAddress, type ListenAddress } from './schemas.ts'
import { settings, type Config } from './list.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** The environment of this process. */
export function processEnvironment(): Environment {
  return process.env
}

export interface SettingMistake {
  /** The key as it is written there, such as `listen` or `TURNPIKE_LISTEN`. */
  readonly setting: string
  /** `turnpike.yaml, line 3` or `environment`. */
  readonly place: string
  readonly message: string
}

export type LoadedConfig =
  | { readonly kind: 'config'; readonly config: Config; readonly file: string | undefined }
  | { readonly kind: 'mistakes'; readonly list: readonly SettingMistake[] }

/** What the command line says. */
interface ConfigOptions {
  readonly config?: string | undefined
  /** Replaces the setting. */
  readonly processes?: string | undefined
}

/** A value as it is written, before it is parsed. */
interface Given {
  readonly text: string
  readonly setting: string
  readonly place: string
  /** The folder to which a relative path refers. */
  readonly folder: string
}

const variablePrefix = 'TURNPIKE_'
/** The place of values that a variable sets, and an option of `serve`. */
export const environmentPlace = 'environment'
export const commandLinePlace = 'command line'
const defaultFileName = 'turnpike.yaml'
/** The variable of all programs with OpenTelemetry, for `otlp_endpoint`. */
const standardCollector = 'OTEL_EXPORTER_OTLP_ENDPOINT'
const keys: readonly string[] = Object.values(settings).map((entry) => entry.key)

/**
 * Reads the settings. `options.config` names the file; without it `turnpike.yaml` in `cwd` is read, if
 * it exists. A relative path refers to the folder of its file, else to `cwd`.
 */
export function loadConfig(sources: {
  readonly options: ConfigOptions
  readonly env: Environment
  readonly cwd: string
}): LoadedConfig {
  const mistakes: SettingMistake[] = []
  const given = new Map<string, Given>()
  const file = findFile(sources, mistakes)
  if (file !== undefined) readFile(file, given, mistakes)
  readEnvironment(sources, given, mistakes)
  const { processes } = sources.options
  if (processes !== undefined)
    given.set('processes', {
      text: processes,
      setting: '--processes',
      place: commandLinePlace,
      folder: sources.cwd,
    })

  const values: Record<string, unknown> = {}
  for (const [name, entry] of Object.entries(settings)) {
    values[name] = parseValue(entry, given.get(entry.key), mistakes)
  }
  const config = resolvePaths(values as Config, given, sources.cwd)
  mistakes.push(...findConflicts(config, given))
  if (mistakes.length > 0) return { kind: 'mistakes', list: mistakes }
  placesOfConfigs.set(config, new Map([...given].map(([key, { place }]) => [key, place])))
  return { kind: 'config', config: redactedInPrint(config), file }
}

const placesOfConfigs = new WeakMap<Config, ReadonlyMap<string, string>>()

/** Returns where settings were given, by key: `environment`, or a file with the line. */
export function placesOf(config: Config): ReadonlyMap<string, string> {
  return placesOfConfigs.get(config) ?? new Map()
}

function parseValue(
  entry: { readonly schema: z.ZodType; readonly fallback: unknown },
  given: Given | undefined,
  mistakes: SettingMistake[],
): unknown {
  if (given === undefined) return entry.fallback
  const parsed = entry.schema.safeParse(given.text)
  if (parsed.success) return parsed.data
  for (const issue of parsed.error.issues) {
    mistakes.push({ setting: given.setting, place: given.place, message: issue.message })
  }
  return entry.fallback
}

function findFile(
  sources: { readonly options: { readonly config?: string | undefined }; readonly cwd: string },
  mistakes: SettingMistake[],
): string | undefined {
  if (sources.options.config === undefined) {
    const path = join(sources.cwd, defaultFileName)
    return existsSync(path) ? path : undefined
  }
  const path = resolve(sources.cwd, sources.options.config)
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) return path
  mistakes.push({ setting: '--config', place: path, message: 'names a file that does not exist' })
  return undefined
}

function readFile(file: string, given: Map<string, Given>, mistakes: SettingMistake[]): void {
  const lines = new LineCounter()
  const placeAt = (offset: number | undefined): string =>
    offset === undefined ? file : `${file}, line ${lines.linePos(offset).line}`
  const content = readContent(file, mistakes)
  if (content === undefined) return
  // The failsafe schema keeps every scalar as text, so that a value means the same in the file and in
  // the environment.
  const document = parseDocument(content, {
    schema: 'failsafe',
    lineCounter: lines,
    uniqueKeys: false,
  })
  for (const error of document.errors) {
    const message =
      error.code === 'MULTIPLE_DOCS'
        ? 'must have one document; remove this --- line'
        : (error.message.split(' at line ')[0] ?? error.message)
    mistakes.push({ setting: 'yaml', place: placeAt(error.pos[0]), message })
  }
  if (document.errors.length > 0 || document.contents === null) return
  if (!isMap(document.contents)) {
    if (isScalar(document.contents) && document.contents.value === '') return
    const message = 'must have `setting: value` lines'
    mistakes.push({ setting: 'yaml', place: file, message })
    return
  }
  const seen = new Set<string>()
  for (const pair of document.contents.items) {
    const key = isScalar(pair.key) ? String(pair.key.value) : String(pair.key)
    const place = placeAt(isScalar(pair.key) ? pair.key.range?.[0] : undefined)
    const value: unknown = isScalar(pair.value) ? pair.value.value : pair.value
    if (seen.has(key)) mistakes.push({ setting: key, place, message: 'is in the file twice' })
    seen.add(key)
    if (!keys.includes(key)) {
      mistakes.push({ setting: key, place, message: unknownMessage(key, keys) })
    } else if (typeof value !== 'string' || value === '') {
      mistakes.push({ setting: key, place, message: 'must have a single value' })
    } else {
      given.set(key, { text: value, setting: key, place, folder: dirname(file) })
    }
  }
}

function readContent(file: string, mistakes: SettingMistake[]): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    mistakes.push({ setting: '--config', place: file, message: `cannot be read: ${reason}` })
    return undefined
  }
}

/** An empty variable counts as absent: container tools pass variables without a value. */
function readEnvironment(
  sources: { readonly env: Environment; readonly cwd: string },
  given: Map<string, Given>,
  mistakes: SettingMistake[],
): void {
  const variables = keys.map(variableOf)
  for (const key of keys) {
    const variable = variableOf(key)
    const text = sources.env[variable]
    if (text === undefined || text === '') continue
    given.set(key, { text, setting: variable, place: environmentPlace, folder: sources.cwd })
  }
  const collector = sources.env[standardCollector]
  if (collector !== undefined && collector !== '' && !given.has('otlp_endpoint')) {
    const place = { setting: standardCollector, place: environmentPlace, folder: sources.cwd }
    given.set('otlp_endpoint', { text: collector, ...place })
  }
  for (const name of Object.keys(sources.env)) {
    if (!name.startsWith(variablePrefix) || variables.includes(name)) continue
    const message = unknownVariable(name, variables)
    if (message !== undefined) mistakes.push({ setting: name, place: environmentPlace, message })
  }
}

const fileSuffix = '_FILE'

/** Reports a variable only where its name is close to a setting: scripts use the prefix too. */
function unknownVariable(name: string, variables: readonly string[]): string | undefined {
  const setting = name.endsWith(fileSuffix) ? name.slice(0, -fileSuffix.length) : undefined
  if (setting !== undefined && variables.includes(setting))
    return `is not a setting; set ${setting} directly`
  return nearest(name, variables) === undefined ? undefined : unknownMessage(name, variables)
}

/** The environment variable of a setting. */
export function variableOf(key: string): string {
  return variablePrefix + key.toUpperCase()
}

function unknownMessage(name: string, known: readonly string[]): string {
  const suggestion = nearest(name.includes('TURNPIKE') ? name : name.toLowerCase(), known)
  return suggestion === undefined
    ? `is not a setting. Settings: ${known.join(', ')}`
    : `is not a setting; did you mean ${suggestion}?`
}

const sqlitePrefix = 'sqlite:'

function resolvePaths(values: Config, given: ReadonlyMap<string, Given>, cwd: string): Config {
  const folderOf = (key: string): string => given.get(key)?.folder ?? cwd
  const store = values.store.startsWith(sqlitePrefix)
    ? sqlitePrefix + resolve(folderOf('store'), values.store.slice(sqlitePrefix.length))
    : values.store
  const masterKeyFile =
    values.masterKeyFile === undefined
      ? defaultMasterKeyFile(store)
      : resolve(folderOf('master_key_file'), values.masterKeyFile)
  const resolved = (key: string, file: string | undefined): string | undefined =>
    file === undefined ? undefined : resolve(folderOf(key), file)
  return {
    ...values,
    store,
    masterKeyFile,
    smtpPasswordFile: resolved('smtp_password_file', values.smtpPasswordFile),
    stripeSecretKeyFile: resolved('stripe_secret_key_file', values.stripeSecretKeyFile),
    stripeWebhookSecretFile: resolved('stripe_webhook_secret_file', values.stripeWebhookSecretFile),
    oidcClientSecretFile: resolved('oidc_client_secret_file', values.oidcClientSecretFile),
    adminOidcClientSecretFile: resolved(
      'admin_oidc_client_secret_file',
      values.adminOidcClientSecretFile,
    ),
  }
}

/** Beside an embedded store. On PostgreSQL there is no default: all nodes need the same key. */
function defaultMasterKeyFile(store: string): string | undefined {
  if (!store.startsWith(sqlitePrefix)) return undefined
  return join(dirname(store.slice(sqlitePrefix.length)), 'master.key')
}

function findConflicts(
  config: Config,
  given: ReadonlyMap<string, Given>,
): readonly SettingMistake[] {
  const mistakes: SettingMistake[] = []
  for (const secret of keys) mistakes.push(...findDoubled(secret, given))
  mistakes.push(...findLacking(config, given), ...findBackupConflicts(config, given))
  mistakes.push(...findProcessConflicts(config, given))
  const { listen, adminListen } = config
  if (listen.port !== 0 && listen.port === adminListen.port && listen.host === adminListen.host) {
    const where = given.get('admin_listen') ?? given.get('listen')
    mistakes.push({
      setting: where?.setting ?? 'admin_listen',
      place: where?.place ?? 'default',
      message: `must differ from ${given.has('admin_listen') ? 'listen' : 'admin_listen'}`,
    })
  }
  return mistakes
}

/** Settings that do nothing without another one. */
const needs = [
  ['smtp', 'smtp_from', 'the address that e-mail comes from'],
  ['proxy_protocol', 'trusted_proxies', 'only their PROXY lines are believed'],
  ['sign_up', 'public_url', 'people sign up on the account page'],
  ['sign_up', 'smtp', 'people sign up by a link in a mail'],
  ['stripe_secret_key', 'stripe_webhook_secret', 'payments take both secrets'],
  ['stripe_webhook_secret', 'stripe_secret_key', 'payments take both secrets'],
  ['stripe_secret_key', 'public_url', 'customers return to the account page after they have paid'],
  ['oidc_issuer', 'oidc_client_id', 'your client at the provider'],
  ['oidc_issuer', 'public_url', 'members return to the account page'],
  ['admin_oidc_issuer', 'admin_oidc_client_id', 'your client at the provider'],
  ['admin_oidc_issuer', 'admin_oidc_role_claim', 'what decides the role of an operator'],
  ['admin_oidc_issuer', 'admin_oidc_roles', 'which values give which role'],
  ['admin_oidc_issuer', 'console_url', 'operators return to the console'],
] as const

function findLacking(
  { proxyProtocol, signUp }: Config,
  given: ReadonlyMap<string, Given>,
): readonly SettingMistake[] {
  const off: Readonly<Record<string, boolean>> = {
    proxy_protocol: proxyProtocol === 'off',
    sign_up: signUp === 'off',
  }
  const find = (key: string): Given | undefined => given.get(key) ?? given.get(`${key}_file`)
  return needs.flatMap(([key, needed, why]) => {
    const one = find(key)
    if (one === undefined || off[key] === true || find(needed) !== undefined) return []
    return [{ setting: one.setting, place: one.place, message: `needs ${needed}: ${why}` }]
  })
}

/** A secret stands in the settings or in a file. */
function findDoubled(secret: string, given: ReadonlyMap<string, Given>): readonly SettingMistake[] {
  const file = given.get(`${secret}_file`)
  if (file === undefined || !given.has(secret)) return []
  const message = `and ${secret} are both set; set only one of them`
  return [{ setting: file.setting, place: file.place, message }]
}

/** Without a record of backups the alert would fire for ever. */
function findBackupConflicts(
  { store }: Config,
  given: ReadonlyMap<string, Given>,
): readonly SettingMistake[] {
  const maxAge = given.get('backup_max_age')
  if (maxAge === undefined || store.startsWith(sqlitePrefix)) return []
  const message =
    'works only with a SQLite store: the gateway does not see backups of PostgreSQL. Remove it, and ' +
    'watch their age with the tool that makes them'
  return [{ setting: maxAge.setting, place: maxAge.place, message }]
}

/** `auto` means one process on SQLite. */
function findProcessConflicts(
  { store, processes }: Config,
  given: ReadonlyMap<string, Given>,
): readonly SettingMistake[] {
  const count = given.get('processes')
  if (count === undefined || !store.startsWith(sqlitePrefix)) return []
  if (processes === 'auto' || processes === 1) return []
  const message =
    'needs a store on PostgreSQL: only one process can use a SQLite file. Set store to ' +
    'postgres://USER:PASSWORD@HOST/DATABASE (turnpike store copy moves the data), or run one process'
  return [{ setting: count.setting, place: count.place, message }]
}

/** Freezes the settings. Logs, JSON and inspection show their redacted description. */
function redactedInPrint(config: Config): Config {
  const describe = { value: () => describeConfig(config) }
  return Object.freeze(
    Object.defineProperties(config, { toJSON: describe, [inspect.custom]: describe }),
  )
}

/** Returns every setting by its key, as text, with `***` for secrets and the password of a store's URL. */
export function describeConfig(config: Config): Readonly<Record<string, string>> {
  const described: Record<string, string> = {}
  for (const [name, entry] of Object.entries(settings)) {
    const value: unknown = config[name as keyof Config]
    if (value === undefined) continue
    described[entry.key] = describeValue(name, value)
  }
  return described
}

/** Returns the default of every setting that has one, by its key, as text. */
export function describeDefaults(): Readonly<Record<string, string>> {
  const described: Record<string, string> = {}
  for (const [name, { key, fallback }] of Object.entries(settings))
    if (fallback !== undefined) described[key] = describeValue(name, fallback)
  return described
}

function describeValue(name: string, value: unknown): string {
  if (typeof value === 'number') return name.endsWith('Ms') ? formatDuration(value) : String(value)
  if (typeof value === 'string') return redactUrl(value)
  if (value instanceof Secret) return value.toString()
  if (Array.isArray(value)) return value.join(', ')
  return formatListenAddress(value as ListenAddress)
}

function redactUrl(text: string): string {
  return text.replace(/(:\/\/[^:@/]*):[^@]*@/, '$1:***@').replace(/([?&]password=)[^&]*/, '$1***')
}

/** Formats one mistake per line. */
export function formatMistakes(list: readonly SettingMistake[]): string {
  return list.map((mistake) => `${mistake.place}: ${mistake.setting} ${mistake.message}`).join('\n')
}

/** Returns the known name that is probably meant. */
function nearest(written: string, known: readonly string[]): string | undefined {
  return nearestWord(written, known, Math.min(2, Math.ceil(written.length / 4)))
}
