/**
 * `turnpike start` and `npm start`: serves, and on an empty store sets up a demo: simulated vendors, a
 * catalogue for them, an account with some money. A store with another catalogue is served as it is. The
 * invariant: a start that fails writes nothing of the demo.
 */
import type { App } from '../gateway/app.ts'
import { readCatalogue } from '../channels/channel-store.ts'
import { allowsSignIn, consoleUrl, listenerUrl, signInUrl } from '../gateway/console-link.ts'
import { showAccount } from '../operations/accounts/account-list.ts'
import { createAccount } from '../operations/accounts/accounts.ts'
import { applyCatalogue } from '../operations/catalogue/catalogue.ts'
import { exportCatalogue } from '../operations/catalogue/export.ts'
import { demoPort, firstStartActor } from '../operations/catalogue/demo.ts'
import type { FirstAdminToken } from '../operations/keys/first-admin-token.ts'
import { createClientKey, createReaderToken, listAccountKeys } from '../operations/keys/keys.ts'
import { valueOf, type OperationContext } from '../operations/operation.ts'
import { contextOn } from '../operations/context.ts'
import { createSignInCode } from '../operations/sessions/sessions.ts'
import { serve } from '../gateway/serve.ts'
import { demoCatalogueText, demoCredentials } from '../../sandbox/demo.ts'
import { startSandbox, type Sandbox } from '../../sandbox/sandbox.ts'
import { formatListenAddress, type ListenAddress } from '../settings/schemas.ts'
import type { Config } from '../settings/list.ts'
import type { Database } from '../storage/database.ts'
import { loadMasterKey } from '../storage/master-key.ts'
import { formatJson } from './output.ts'

/** The port of the simulated vendors, if it is free. */
const usualSandboxPort = 9_100
/** One Ctrl-C reaches the gateway three times: from the terminal, npm and the script that npm runs. */
const signalEchoMs = 2_000
const demoAccount = 'demo'
const demoBalanceUsd = '10'

interface DemoSecrets {
  readonly key: string
  readonly token: string
}

/**
 * Serves until a signal; resolves with the exit code. `isJson`: the secrets as a document, the log on stderr.
 */
export async function serveWithDemo(
  config: Config,
  { isJson = false }: { readonly isJson?: boolean } = {},
): Promise<number> {
  await using opened = new AsyncDisposableStack()
  let vendors: DemoVendors | undefined
  return await serve(config, {
    signalEchoMs,
    logDescriptor: isJson ? 2 : 1,
    async onStoreOpen(database) {
      vendors = await openVendors(database)
      opened.defer(async () => vendors?.sandbox.close())
    },
    async onReady({ app, adminToken }) {
      const demo = vendors && (await setUpDemo(app, vendors, config))
      const { address, adminAddress } = app
      const signInCode = await makeSignInCode(app, config)
      const shown = { address, adminAddress, adminToken, demo, signInCode }
      process.stdout.write(isJson ? formatJson(documentOf(shown)) : banner(shown))
    },
  })
}

function startContext(database: Database, config: Config): OperationContext {
  return contextOn(database, {
    actor: firstStartActor,
    masterKey: () => loadMasterKey({ key: config.masterKey, filePath: config.masterKeyFile }),
  })
}

/** Undefined where no link would sign in. */
async function makeSignInCode(app: App, config: Config): Promise<string | undefined> {
  if (!allowsSignIn(listenerUrl(app.adminAddress))) return undefined
  const made = await createSignInCode(startContext(app.database, config), {})
  return made.kind === 'done' ? made.value.code : undefined
}

interface DemoVendors {
  readonly sandbox: Sandbox
  /** Their port in the catalogue; undefined where the catalogue is empty. */
  readonly knownPort: number | undefined
}

/** Starts the vendors where the catalogue is empty or the demo's; undefined for another catalogue. */
async function openVendors(database: Database): Promise<DemoVendors | undefined> {
  const { vendors, channels } = await database.snapshot(readCatalogue)
  const knownPort = demoPort(channels.map((channel) => channel.url))
  if (vendors.length > 0 && knownPort === undefined) return undefined
  return { sandbox: await openSandbox(knownPort ?? usualSandboxPort), knownPort }
}

async function setUpDemo(app: App, vendors: DemoVendors, config: Config): Promise<Demo> {
  const context = startContext(app.database, config)
  const catalogue = await newCatalogue(context, vendors)
  if (catalogue !== undefined) {
    valueOf(await applyCatalogue(context, { text: catalogue }))
    await app.refresh()
  }
  return { sandbox: vendors.sandbox, secrets: await makeFirstSecrets(context) }
}

/** Returns the catalogue to apply, if any. Where the vendors had to take another port, the URLs change. */
async function newCatalogue(
  context: OperationContext,
  { sandbox, knownPort }: DemoVendors,
): Promise<string | undefined> {
  if (knownPort === undefined) return demoCatalogueText(sandbox.url)
  if (knownPort === sandbox.port) return undefined
  const { text } = valueOf(await exportCatalogue(context, {}))
  return text.replaceAll(`http://127.0.0.1:${knownPort}/`, `${sandbox.url}/`)
}

/** Starts the vendors on this port, or on a free one where it is in use. */
async function openSandbox(port: number): Promise<Sandbox> {
  const options = { credentials: demoCredentials, keepRecords: false }
  try {
    return await startSandbox({ ...options, port })
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'EADDRINUSE') throw error
    return startSandbox({ ...options, port: 0 })
  }
}

/** Creates the demo's account, key and token. Undefined where an earlier start has created them. */
async function makeFirstSecrets(context: OperationContext): Promise<DemoSecrets | undefined> {
  const account = demoAccount
  const known = await showAccount(context, { account })
  if (known.kind === 'refusal')
    valueOf(
      await createAccount(context, {
        name: account,
        balance_usd: demoBalanceUsd,
        daily_usd: '5',
        rpm: 600,
      }),
    )
  else if (valueOf(await listAccountKeys(context, { account, kind: 'client' })).items.length > 0)
    return undefined
  const key = valueOf(await createClientKey(context, { account, name: 'demo' }))
  const token = valueOf(await createReaderToken(context, { account, name: 'demo' }))
  return { key: key.secret, token: token.secret }
}

interface Demo {
  readonly sandbox: Sandbox
  readonly secrets: DemoSecrets | undefined
}

interface Shown {
  readonly address: ListenAddress
  readonly adminAddress: ListenAddress
  readonly adminToken: FirstAdminToken | undefined
  readonly demo: Demo | undefined
  /** Undefined where the store has no owner's token, or a browser needs https. */
  readonly signInCode: string | undefined
}

/** What a script needs. Secrets are null where an earlier start has shown them. */
function documentOf({ address, adminAddress, adminToken, demo, signInCode }: Shown): object {
  return {
    address: formatListenAddress(address),
    admin_address: formatListenAddress(adminAddress),
    admin_token: adminToken?.kind === 'shown' ? adminToken.secret : null,
    admin_token_file: adminToken?.kind === 'saved' ? adminToken.path : null,
    console_url: signInCode === undefined ? null : signInUrl(listenerUrl(adminAddress), signInCode),
    vendors_url: demo?.sandbox.url ?? null,
    key: demo?.secrets?.key ?? null,
    token: demo?.secrets?.token ?? null,
  }
}

function banner({ address, adminAddress, adminToken, demo, signInCode }: Shown): string {
  const base = listenerUrl(address)
  const lines = ['', `Turnpike is running at ${base}`]
  lines.push(
    `  admin address       ${listenerUrl(adminAddress)}   (/admin/v1/docs, /metrics, /livez, /readyz)`,
  )
  if (adminToken !== undefined) lines.push(`  admin token         ${adminTokenText(adminToken)}`)
  if (demo !== undefined) lines.push(...demoLines(base, demo))
  lines.push('', consoleLine(listenerUrl(adminAddress), signInCode))
  lines.push('', 'Press Ctrl-C to stop. Running requests finish first.', '')
  return lines.join('\n') + '\n'
}

function consoleLine(adminUrl: string, code: string | undefined): string {
  if (code !== undefined)
    return `Console: ${signInUrl(adminUrl, code)}   (signs in once, within five minutes; another: ./bin/turnpike console)`
  const how = allowsSignIn(adminUrl)
    ? 'sign in with an admin token'
    : 'sign in over https, or through an SSH tunnel'
  return `Console: ${consoleUrl(adminUrl)}   (${how})`
}

function adminTokenText(token: FirstAdminToken): string {
  return token.kind === 'shown'
    ? `${token.secret}   (shown only once)`
    : `in ${token.path}   (only you can read it)`
}

function demoLines(base: string, demo: Demo): string[] {
  const lines = [
    `  messages clients    ${base}/alpha        models large-1, small-1`,
    `  chat clients        ${base}/beta/v1      models chat-1, chat-mini-1, embed-1`,
    `  simulated vendors   ${demo.sandbox.url}`,
  ]
  if (demo.secrets === undefined) {
    lines.push(
      '',
      'The demo key was shown on the first start. Create another one: ./bin/turnpike key create demo',
    )
    return lines
  }
  const { key, token } = demo.secrets
  return [
    ...lines,
    `  demo key            ${key}   (shown only once)`,
    `  read-only token     ${token}   (shown only once)`,
    '',
    'Try it:',
    '',
    `curl ${base}/alpha/v1/messages -H 'x-api-key: ${key}' -H 'alpha-version: 2023-06-01' -H 'content-type: application/json' -d '{"model":"large-1","max_tokens":64,"messages":[{"role":"user","content":"Hello"}]}'`,
    '',
    `curl ${base}/v1/usage -H 'Authorization: Bearer ${token}'`,
  ]
}
