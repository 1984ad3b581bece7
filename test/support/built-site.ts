/** A small build of console and account page, as the build of console/ lays it out. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Larger than what a connection keeps of an answer. */
export const accountScript = Array.from(
  { length: 20_000 },
  (_, index) => `export const v${index} = ${index}`,
).join('\n')
export const sharedScript = 'export const shared = 1'
export const consoleScript = '/* for operators only */'

const pageOf = (script: string): string =>
  `<!doctype html><html><head><link rel="stylesheet" href="./assets/theme-1.css">` +
  `<script type="module" crossorigin src="./assets/${script}"></script></head></html>`

const manifest = {
  'index.html': { file: 'assets/console-1.js', isEntry: true, imports: ['_shared-1.js'] },
  'account.html': {
    file: 'assets/account-1.js',
    isEntry: true,
    imports: ['_shared-1.js'],
    dynamicImports: ['src/account/chart.ts'],
    css: ['assets/theme-1.css'],
  },
  '_shared-1.js': { file: 'assets/shared-1.js', imports: ['account.html'] },
  'src/account/chart.ts': { file: 'assets/chart-1.js', assets: ['assets/mark-1.svg'] },
}

const files: Readonly<Record<string, string>> = {
  'index.html': pageOf('console-1.js'),
  'account.html': pageOf('account-1.js'),
  'assets/console-1.js': consoleScript,
  'assets/account-1.js': accountScript,
  'assets/shared-1.js': sharedScript,
  'assets/chart-1.js': 'export const chart = 1',
  'assets/mark-1.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'assets/theme-1.css': 'body { margin: 0 }',
  '.vite/manifest.json': JSON.stringify(manifest),
}

export async function writeBuiltSite(folder: string): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, path, '..'), { recursive: true })
    await writeFile(join(folder, path), text)
  }
}
