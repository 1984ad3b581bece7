/** Signing in to the console and out of it, by clicking, on the build that the gateway serves. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { BrowserContext, Cookie, Page } from 'playwright-core'
import { valueOf } from '../../src/operations/operation.ts'
import { createSignInCode } from '../../src/operations/sessions/sessions.ts'
import { beginSession, openConsole, type OpenConsole } from '../support/console/open-console.ts'
import { ManualClock } from '../support/manual-clock.ts'

/**
 * Chromium reports each refused request: a wrong proof, or a session that has ended, even when the request
 * was under way before its end.
 */
const refused = /console error: Failed to load resource: .* 401 /

function overview(page: Page): Promise<void> {
  return page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
}

function signInForm(page: Page): Promise<void> {
  return page.getByRole('heading', { level: 1, name: 'Sign in to Turnpike' }).waitFor()
}

async function fillToken(page: Page, token: string): Promise<void> {
  await page.getByLabel('Admin token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** In the menu of a session of the operator's token. */
async function choose(page: Page, item: string): Promise<void> {
  await page.getByRole('button', { name: 'on-call' }).click()
  await page.getByRole('menuitem', { name: item, exact: true }).click()
}

describe('a person', () => {
  let console: OpenConsole
  before(async () => {
    console = await openConsole({ requests: 100 })
  })
  after(() => console.close())

  function visit<Result>(
    work: (page: Page, context: BrowserContext) => Promise<Result>,
    allowed: readonly RegExp[] = [],
  ): Promise<Result> {
    const options = { origin: console.gateway.adminUrl, allowed }
    return console.browser.withPage(options, (page) => work(page, page.context()))
  }
  const at = (path: string): string => `${console.gateway.adminUrl}/console${path}`
  const makeCode = async (): Promise<string> =>
    valueOf(await createSignInCode(console.gateway.context, {})).code

  test('signs in by a link, which leaves no code in the address and works once', async () => {
    const link = at(`/sign-in#${await makeCode()}`)
    await visit(async (page, context) => {
      await page.goto(link)
      await overview(page)
      assert.equal(page.url(), at('/'))
      const [cookie, ...others] = await context.cookies()
      assert.deepEqual(others, [])
      assert.deepEqual([cookie?.httpOnly, cookie?.sameSite], [true, 'Strict'])
      assert.equal(await page.evaluate('document.cookie'), '')
      await page.goBack()
      assert.equal(page.url(), 'about:blank')
    })
    await visit(
      async (page) => {
        await page.goto(link)
        await page.getByText('Run turnpike console for a new link').waitFor()
        await page.goto(at('/accounts'))
        await signInForm(page)
      },
      [refused],
    )
  })

  test('signs in by a token and gets the page that was asked for', async () => {
    await visit(async (page) => {
      await page.goto(at('/accounts'))
      await signInForm(page)
      await fillToken(page, console.tokens.operator)
      await page.getByRole('heading', { level: 1, name: 'Accounts' }).waitFor()
      assert.equal(await page.evaluate('JSON.stringify([localStorage, sessionStorage])'), '[{},{}]')
    })
  })

  test('with a wrong token reads why and stays where it was', async () => {
    await visit(
      async (page) => {
        await page.goto(at('/'))
        await fillToken(page, `ad_${'x'.repeat(40)}`)
        await page.getByRole('alert').waitFor()
        await signInForm(page)
        await fillToken(page, console.tokens.viewer)
        await overview(page)
      },
      [refused],
    )
  })

  test('sees with which token and role it is signed in', async () => {
    for (const [role, name] of [
      ['owner', 'Ada (owner)'],
      ['operator', 'on-call'],
      ['viewer', 'finance'],
    ] as const)
      await console.withConsole({ role, path: '/' }, async (page) => {
        await page.getByRole('button', { name }).click()
        const menu = page.getByRole('menu')
        await menu.getByText(name, { exact: true }).waitFor()
        await menu.getByText(role, { exact: true }).waitFor()
      })
  })

  test('signs out here, or everywhere at once', async () => {
    const token = console.tokens.operator
    const { adminUrl: origin } = console.gateway
    const signOut = (item: string): Promise<readonly Cookie[]> =>
      visit(
        async (page, context) => {
          await beginSession(context, { origin, token })
          await page.goto(at('/'))
          await choose(page, item)
          await signInForm(page)
          const left = await context.cookies()
          await page.goto(at('/'))
          await signInForm(page)
          return left
        },
        [refused],
      )
    await visit(
      async (page, context) => {
        await beginSession(context, { origin, token })
        assert.deepEqual(await signOut('Sign out'), [])
        await page.goto(at('/'))
        await overview(page)
        await signOut('Sign out everywhere')
        await page.reload()
        await signInForm(page)
      },
      [refused],
    )
  })
})

test('a session that was idle for too long ends, and its page leads to the sign-in', async () => {
  const clock = new ManualClock()
  const console = await openConsole({ requests: 100, clock })
  try {
    const visit = { path: '/', role: 'operator', allowed: [refused] } as const
    await console.withConsole(visit, async (page) => {
      await overview(page)
      clock.advance(29 * 60_000)
      await page.reload()
      await overview(page)
      clock.advance(31 * 60_000)
      await page.reload()
      await signInForm(page)
    })
  } finally {
    await console.close()
  }
})
