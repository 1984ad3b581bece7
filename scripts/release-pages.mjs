/**
 * Builds the website of docs/ for a release: pages that a browser opens from the folder, without a server and
 * without a network. Their links are relative and name files. Scripts do not run there, so there is no search.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { root } from './runtime.mjs'

/** Returns the folder, with the pages in it. */
export function buildPages(folder) {
  const generator = join(root, 'site/node_modules/vitepress/bin/vitepress.js')
  const site = join(root, 'site')
  execFileSync(process.execPath, [generator, 'build', site, '--outDir', folder], { stdio: 'pipe' })
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  for (const path of paths.filter((one) => one.endsWith('.js'))) rmSync(join(folder, path))
  for (const path of paths.filter((one) => one.endsWith('.html'))) {
    const text = readFileSync(join(folder, path), 'utf8')
    writeFileSync(join(folder, path), withoutServer(text, folder, path))
  }
  for (const path of paths.filter((one) => one.endsWith('.css'))) {
    const text = readFileSync(join(folder, path), 'utf8')
    writeFileSync(join(folder, path), text.replaceAll('url(/assets/', 'url('))
  }
  return folder
}

function withoutServer(html, folder, page) {
  return html
    .replaceAll(
      /<script type="module".*?<\/script>|<link rel="(?:modulepreload|preload)"[^>]*>/gs,
      '',
    )
    .replaceAll(/(\s(?:href|src))="([^"#:]+)(#[^"]*)?"/g, (_all, name, target, heading = '') => {
      const place = target.startsWith('/') ? target.slice(1) : join(dirname(page), target)
      return `${name}="${relative(dirname(page), fileOf(folder, place))}${heading}"`
    })
}

/** The file that a web server sends for the path. */
function fileOf(folder, target) {
  const paths = [`${target}.html`, join(target, 'index.html'), target]
  return paths.find((path) => existsSync(join(folder, path))) ?? target
}
