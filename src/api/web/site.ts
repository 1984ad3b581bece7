/**
 * The built pages of console/, read once at the start and kept in memory: the console of operators and the
 * page of account holders. Invariant: the account page has only files that `account.html` needs, so nothing
 * of the operators' side is on the public listener.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { z } from 'zod'
import { siteFile, type Content, type SiteFile } from './site-file.ts'

/** Files by their path below the page, such as `assets/index.js`. The page itself is `index.html`. */
export type Page = ReadonlyMap<string, SiteFile>

export interface Site {
  readonly console: Page
  readonly account: Page
}

const manifestPath = '.vite/manifest.json'
const accountEntry = 'account.html'
const entryName = 'index.html'

const names = z.array(z.string()).default([])
/** What the build writes about each file that it made. */
const manifestForm = z.record(
  z.string(),
  z.object({ file: z.string(), imports: names, dynamicImports: names, css: names, assets: names }),
)
type Manifest = z.output<typeof manifestForm>

/** Reads the folder of the build. A page that is not there has no files. Rejects on an unreadable file. */
export async function loadSite(folder: string): Promise<Site> {
  const bytes = await readFolder(folder)
  const manifest = bytes.get(manifestPath)
  const known =
    manifest === undefined ? {} : manifestForm.parse(JSON.parse(manifest.toString('utf8')))
  const console = new Map<string, SiteFile>()
  for (const [path, content] of bytes)
    if (path !== accountEntry && !path.startsWith('.')) console.set(path, siteFile(path, content))
  const account = new Map<string, SiteFile>()
  const page = bytes.get(accountEntry)
  if (page !== undefined && known[accountEntry] !== undefined) {
    account.set(entryName, siteFile(entryName, page))
    for (const path of reachable(known, accountEntry)) {
      const file = console.get(path)
      if (file !== undefined) account.set(path, file)
    }
  }
  return { console: console.has(entryName) ? console : new Map(), account }
}

/** Returns the files that an entry loads, now or later. */
function reachable(manifest: Manifest, entry: string): ReadonlySet<string> {
  const files = new Set<string>()
  const seen = new Set<string>()
  const waiting = [entry]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const chunk = manifest[name]
    if (chunk === undefined || seen.has(name)) continue
    seen.add(name)
    for (const file of [chunk.file, ...chunk.css, ...chunk.assets]) files.add(file)
    waiting.push(...chunk.imports, ...chunk.dynamicImports)
  }
  return files
}

/** Returns the files by their path with slashes; none where the folder does not exist. */
async function readFolder(folder: string): Promise<ReadonlyMap<string, Content>> {
  const files = new Map<string, Content>()
  try {
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue
      const path = join(entry.parentPath, entry.name)
      files.set(relative(folder, path).replaceAll(sep, '/'), await readFile(path))
    }
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'ENOENT') throw error
  }
  return files
}
