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

const pageOf = (name: string): string =>
  `<!doctype html><html><head><link rel="stylesheet" href="/${name}/assets/theme.css">` +
  `<script type="module" crossorigin src="/${name}/assets/${name}.js"></script></head></html>`

const manifest = {
  'index.html': { file: 'assets/console.js', isEntry: true, imports: ['_shared.js'] },
  'account.html': {
    file: 'assets/account.js',
    isEntry: true,
    imports: ['_shared.js'],
    dynamicImports: ['src/account/chart.ts'],
    css: ['assets/theme.css'],
  },
  '_shared.js': { file: 'assets/shared.js', imports: ['account.html'] },
  'src/account/chart.ts': { file: 'assets/chart.js', assets: ['assets/mark.svg'] },
}

const files: Readonly<Record<string, string>> = {
  'index.html': pageOf('console'),
  'account.html': pageOf('account'),
  'assets/console.js': consoleScript,
  'assets/account.js': accountScript,
  'assets/shared.js': sharedScript,
  'assets/chart.js': 'export const chart = 1',
  'assets/mark.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'assets/theme.css': 'body { margin: 0 }',
  '.vite/manifest.json': JSON.stringify(manifest),
}

export async function writeBuiltSite(folder: string): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, path, '..'), { recursive: true })
    await writeFile(join(folder, path), text)
  }
}
