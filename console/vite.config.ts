/**
 * Builds the console and the account page into `built/`, which the gateway serves: the console at
 * /console on the admin listener, the account page at /account on the public one. Both share one
 * folder of assets. `npm run dev` serves the console with hot reload; TURNPIKE_ADMIN is the address of
 * a running admin listener.
 */
import react from '@vitejs/plugin-react'
import { join } from 'node:path'
import { defineConfig } from 'vite'

const admin = process.env['TURNPIKE_ADMIN'] ?? 'http://127.0.0.1:8081'
const gateway = process.env['TURNPIKE_GATEWAY'] ?? 'http://127.0.0.1:8080'

interface Graph {
  getModuleInfo(id: string): {
    readonly importedIds: readonly string[]
  } | null
}

/** Returns these modules and all that they load before they run. */
function loadedWith(starts: readonly string[], graph: Graph): ReadonlySet<string> {
  const found = new Set<string>()
  const waiting = [...starts]
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (found.has(id)) continue
    found.add(id)
    waiting.push(...(graph.getModuleInfo(id)?.importedIds ?? []))
  }
  return found
}

const source = (path: string): string => join(import.meta.dirname, 'src', path)
const languages = ['en', 'zh-cn']
const wordsOf = (page: string): readonly string[] =>
  languages.map((language) => source(`messages/${language}/${page}-words.ts`))
/** Each begins a script with its own name. */
const starts = {
  first: [source('main.tsx'), source('console-app.tsx'), ...wordsOf('console')],
  account: [source('account/main.tsx'), source('account/account-app.tsx'), ...wordsOf('account')],
  pages: [source('pages/later.ts'), ...wordsOf('page')],
  views: [source('account/views.ts')],
  said: [source('messages/zh-cn/said/said.ts')],
}
let parts: Readonly<Record<keyof typeof starts, ReadonlySet<string>>> | undefined

/**
 * Names the script that a module is in. The console's first screen is `console` with `shared`, which the
 * account page has too and which has nothing of the operators' side. All other pages are `pages`, one
 * script that loads a moment later; `common` is what the account page has of it, and `lists` what its own
 * later views have. A page loads the words of one language: its own, and `words`, which both pages have.
 * The sentences of the gateway load a moment later than the console, but those of the account page.
 */
function scriptOf(id: string, graph: Graph): string | null {
  parts ??= {
    first: loadedWith(starts.first, graph),
    account: loadedWith(starts.account, graph),
    pages: loadedWith(starts.pages, graph),
    views: loadedWith(starts.views, graph),
    said: loadedWith(starts.said, graph),
  }
  const { first, account, pages, views, said } = parts
  const isHolders = account.has(id) || views.has(id)
  if (Object.values(starts).flat().includes(id)) return null
  const language = languageOf(id)
  if (language !== undefined) {
    if (!account.has(id)) return null
    if (first.has(id)) return `words-${language}`
    return said.has(id) ? `sentences-${language}` : null
  }
  if (first.has(id)) return isHolders ? 'shared' : 'console'
  if (pages.has(id)) return account.has(id) ? 'common' : isHolders ? 'lists' : 'pages'
  return account.has(id) ? 'holder' : null
}

/** The language of a file of words. */
function languageOf(id: string): string | undefined {
  return languages.find((language) => id.startsWith(source(`messages/${language}/`)))
}

export default defineConfig({
  plugins: [react()],
  base: '/console/',
  server: {
    proxy: { '/admin': admin, '/v1': gateway, '/account/operator.json': gateway },
    // The account page has lines of docs/clients.
    fs: { allow: ['..'] },
  },
  experimental: {
    // Scripts load each other by relative addresses, so that both listeners can serve the same files.
    renderBuiltUrl(path, { hostId, hostType }) {
      if (hostType !== 'html') return { relative: true }
      // One page answers every path of the console: a relative address would depend on it.
      return `${hostId === 'account.html' ? '/account/' : '/console/'}${path}`
    },
  },
  build: {
    outDir: 'built',
    manifest: true,
    license: { fileName: 'licences.md' },
    // The content security policy allows no data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      input: ['index.html', 'account.html'],
      output: {
        // A browser asks whether a file has changed, so that a name need not change with its content.
        entryFileNames: 'assets/[name].js',
        chunkFileNames({ facadeModuleId }) {
          const language = languageOf(facadeModuleId ?? '')
          return language === undefined ? 'assets/[name].js' : `assets/[name]-${language}.js`
        },
        assetFileNames: 'assets/[name].[ext]',
        minifyInternalExports: false,
        codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: scriptOf }] },
      },
    },
  },
})
