/**
 * The console and the account page of a gateway in this process, with the data of a small business, in a
 * browser. Every page is opened as a person opens it: with the cookie of a session, over a real socket.
 */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'
import type { OperatorRole } from '../../../src/access/key.ts'
import { openAll } from '../../../src/base/opening.ts'
import { scenario, type Scenario, type ScenarioOptions } from '../scenario.ts'
import { startBrowser, type PageOptions, type TestBrowser } from './browser.ts'
import { fillSmallStore, type SmallStore } from './small-store.ts'

type Look = Omit<PageOptions, 'origin'>

export interface OpenConsole {
  readonly gateway: Scenario
  readonly browser: TestBrowser
  /** Admin tokens by role. */
  readonly tokens: SmallStore['tokens']
  /** Opens `/console` + `path` in a session of this role. */
  withConsole<Result>(
    visit: Look & { readonly role?: OperatorRole; readonly path: string },
    work: (page: Page) => Promise<Result>,
  ): Promise<Result>
  /** Opens `/account`, which knows no token yet. */
  withAccountPage<Result>(look: Look, work: (page: Page) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

export interface ConsoleOptions extends Pick<
  ScenarioOptions,
  'clock' | 'settings' | 'storeUrl' | 'sandbox' | 'onLogLine'
> {
  /** Requests in the past; see `fillSmallStore`. */
  readonly requests?: number
}

export function openConsole(options: ConsoleOptions = {}): Promise<OpenConsole> {
  const { requests, ...ofScenario } = options
  const build = join(import.meta.dirname, '../../../console/built/index.html')
  assert.ok(existsSync(build), 'the console is not built: npm run console')
  return openAll(async (opened) => {
    let tokens: SmallStore['tokens'] | undefined
    const gateway = await scenario({
      ...ofScenario,
      async fill(context, vendorUrl) {
        const store = await fillSmallStore(context, {
          vendorUrl,
          ...(requests !== undefined && { requests }),
        })
        tokens = store.tokens
        return store.holder
      },
    })
    opened.defer(() => gateway.close())
    const browser = await startBrowser()
    opened.defer(() => browser.close())
    assert.ok(tokens !== undefined, 'the store was not filled')
    return view(gateway, browser, tokens, () => opened.disposeAsync())
  })
}

function view(
  gateway: Scenario,
  browser: TestBrowser,
  tokens: SmallStore['tokens'],
  close: () => Promise<void>,
): OpenConsole {
  return {
    gateway,
    browser,
    tokens,
    withConsole: ({ role = 'owner', path, ...look }, work) =>
      browser.withPage({ ...look, origin: gateway.adminUrl }, async (page) => {
        const at = { origin: gateway.adminUrl, token: tokens[role] }
        await beginSession(page.context(), at)
        await page.goto(`${gateway.adminUrl}/console${path}`)
        return work(page)
      }),
    withAccountPage: (look, work) =>
      browser.withPage({ ...look, origin: gateway.url }, async (page) => {
        await page.goto(`${gateway.url}/account/`)
        return work(page)
      }),
    close,
  }
}

/** Gives all pages of the context the cookie of a new session. */
export async function beginSession(
  context: BrowserContext,
  { origin, token }: { readonly origin: string; readonly token: string },
): Promise<void> {
  const answer = await context.request.post(`${origin}/admin/v1/session`, {
    headers: { origin, 'x-turnpike-console': 'user' },
    data: { token },
  })
  assert.equal(answer.status(), 200, await answer.text())
}
