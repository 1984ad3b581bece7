/**
 * The website of docs/. It builds without a network, loads nothing from other origins, and fails on a link that
 * leads nowhere. `sidebar` is the list of pages; test/site/ compares it with the files.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { defineConfig, type DefaultTheme, type MarkdownEnv, type MarkdownRenderer } from 'vitepress'

const docs = join(import.meta.dirname, '..', '..', 'docs')

/** A page by its path without `.md`; its name in the list is its title. */
function page(path: string): DefaultTheme.SidebarItem {
  const title = /^# (.+)$/m.exec(readFileSync(join(docs, `${path}.md`), 'utf8'))?.[1]
  if (title === undefined) throw new Error(`docs/${path}.md has no title.`)
  return { text: title, link: `/${path}` }
}

/** The pages of a folder whose file name matches, by name. */
function pagesIn(folder: string, names = /^(?!readme)/): DefaultTheme.SidebarItem[] {
  return readdirSync(join(docs, folder))
    .filter((name) => name.endsWith('.md') && names.test(name))
    .toSorted()
    .map((name) => page(join(folder, name.slice(0, -'.md'.length))))
}

/** In the order of their list. */
function listedTasks(): DefaultTheme.SidebarItem[] {
  const list = readFileSync(join(docs, 'tasks', 'readme.md'), 'utf8')
  return [...list.matchAll(/^\d+\. \[.+\]\((.+)\.md\)$/gm)].map(([, name]) => page(`tasks/${name}`))
}

/** As code hosts make them, so that a link to a heading works in both places. */
function headingId(title: string): string {
  const kept = title.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
  return kept.trim().replaceAll(/\s/g, '-')
}

/** Pages link to files of the repository too; the site does not have these. */
function showOutsideLinksAsText(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('outside-links', ({ tokens, env }) => {
    const { relativePath } = env as MarkdownEnv
    for (const { children } of tokens)
      for (const [index, token] of (children ?? []).entries()) {
        const target = token.attrGet('href')
        if (token.type !== 'link_open' || target === null || target.includes(':')) continue
        if (!join(dirname(relativePath), target).startsWith('..')) continue
        const end = children?.slice(index).find(({ type }) => type === 'link_close')
        token.tag = 'span'
        token.attrs = null
        if (end !== undefined) end.tag = 'span'
      }
  })
}

const sidebar: DefaultTheme.SidebarItem[] = [
  { text: 'Begin', items: ['start', 'first-hour', 'concepts', 'money', 'comparison'].map(page) },
  {
    text: 'Clients',
    collapsed: true,
    items: [page('clients/readme'), page('browsers'), ...pagesIn('clients')],
  },
  { text: 'Tasks', items: [page('tasks/readme'), ...listedTasks()] },
  {
    text: 'Operate',
    items: [
      'console',
      'account-page',
      'members',
      'payments',
      'operating',
      'releases',
      'upgrading',
      'observability',
      'alerts',
      'requests',
      'reports',
      'usage-api',
    ].map(page),
  },
  {
    text: 'Reference',
    items: [
      'configuration',
      'catalogue',
      'commands',
      'cli',
      'errors',
      'metrics',
      'admin-api',
      'glossary',
    ].map(page),
  },
  { text: 'Deploy', items: pagesIn('.', /^deploy-/) },
  {
    text: 'Trust',
    items: ['ledger', 'verify', 'reliability', 'performance', 'security'].map(page),
  },
  {
    text: 'Develop',
    items: [
      ...['architecture', 'testing', 'mutation', 'outside-suites', 'terms'].map(page),
      { ...page('adr/readme'), collapsed: true, items: pagesIn('adr') },
    ],
  },
]

export default defineConfig({
  title: 'Turnpike',
  description: 'A metered model gateway, exact to the pico-dollar.',
  srcDir: '../docs',
  outDir: './dist',
  cleanUrls: true,
  vite: {
    plugins: [
      {
        // The pages are outside of this package, so their imports are looked up from here.
        name: 'packages-of-the-site',
        enforce: 'pre',
        resolveId(id) {
          if (id !== 'vue' && !id.startsWith('vue/')) return null
          return this.resolve(id, import.meta.filename, { skipSelf: true })
        },
      },
    ],
  },
  markdown: { anchor: { slugify: headingId }, config: showOutsideLinksAsText },
  themeConfig: {
    sidebar,
    outline: [2, 3],
    search: { provider: 'local' },
    nav: [
      { text: 'Start', link: '/start' },
      { text: 'Tasks', link: '/tasks/readme' },
      { text: 'Reference', link: '/configuration' },
    ],
  },
})
