/**
 * The rules of the source tree as pure functions: text in, complaints out. Each complaint is a
 * sentence that names the place and says why the rule is there. Reading files is for the test.
 */
import { posix } from 'node:path'
import { viewSource } from './source-text.ts'

export interface SourceFile {
  /** From the project's root, with forward slashes: `src/base/money.ts`. */
  readonly path: string
  readonly text: string
}

// --- layers -------------------------------------------------------------------------------------

interface Layer {
  readonly mayImport: readonly string[]
  /** Completes "… may not import …, because". */
  readonly because: string
}

const everything = [
  'base',
  'telemetry',
  'storage',
  'http',
  'metering',
  'formats',
  'ledger',
  'access',
  'channels',
  'operations',
  'relay',
  'api',
  'sandbox',
  'cli',
  'root',
]

/** Who may import whom besides itself and base; docs/architecture.md draws it. */
export const layers: Readonly<Record<string, Layer>> = {
  root: { mayImport: everything, because: 'the composition root knows everyone' },
  cli: {
    mayImport: everything.filter((name) => name !== 'relay' && name !== 'api'),
    because: 'commands are a thin skin over operations and work without a running gateway',
  },
  base: { mayImport: [], because: 'base is what everyone shares and stands on nothing' },
  telemetry: { mayImport: [], because: 'telemetry is told facts; it looks nothing up' },
  storage: {
    mayImport: [],
    because: 'storage knows databases and files, not what is kept in them',
  },
  http: { mayImport: [], because: 'http knows no vendor and no money' },
  metering: {
    mayImport: ['storage'],
    because: 'metering is arithmetic on tokens and prices; it knows no account and no wire format',
  },
  formats: {
    mayImport: ['http', 'metering'],
    because: 'a wire format is pure: bytes and facts in, bytes and facts out',
  },
  ledger: {
    mayImport: ['storage', 'metering'],
    because: 'the ledger is the only writer of money and knows no HTTP, vendor or channel',
  },
  access: {
    mayImport: ['storage'],
    because: 'access answers who is calling, whatever they are calling for',
  },
  channels: {
    mayImport: ['storage', 'http', 'formats', 'telemetry', 'metering'],
    because: 'channels reach vendors; they know no account, no balance and no client',
  },
  operations: {
    mayImport: ['storage', 'ledger', 'access', 'metering', 'channels', 'formats'],
    because:
      'operations are written once for commands, admin API and console, and know none of them',
  },
  relay: {
    mayImport: [
      'telemetry',
      'storage',
      'http',
      'metering',
      'formats',
      'ledger',
      'access',
      'channels',
    ],
    because: 'the path of an exchange does what clients ask, never what operators do',
  },
  api: {
    mayImport: ['access', 'ledger', 'operations', 'http', 'telemetry', 'channels', 'formats'],
    because: 'our own endpoints read and operate; they relay nothing',
  },
  sandbox: {
    mayImport: ['formats', 'http'],
    because: 'simulated vendors are a separate program, so that they can judge the gateway',
  },
}

/** `src/relay/admit.ts` → `relay`; files directly under src are the root. */
export function moduleOf(path: string): string {
  const [, first = '', second] = path.split('/')
  return second === undefined ? 'root' : first
}

export interface ImportEdge {
  readonly from: string
  /** A path from the project's root, or the name of a package. */
  readonly to: string
  readonly isPackage: boolean
}

const importForms = [
  /\b(?:import|export)\s[^'"`;]*?\bfrom\s*'([^']+)'/g,
  // Not where the word itself stands in quotes.
  /(?<!['.])\bimport\s*'([^']+)'/g,
  /\bimport\s*\(\s*'([^']+)'/g,
  // Workers and programs are named by address.
  /\bnew URL\(\s*'([^']+)'\s*,\s*import\.meta\.url/g,
  /\bimport\.meta\.resolve\(\s*'([^']+)'/g,
  /\bjoin\(\s*import\.meta\.dirname\s*,\s*'([^']+\.[mc]?[jt]s)'/g,
]

export function importsOf(file: SourceFile): readonly ImportEdge[] {
  const text = viewSource(file.text).withoutComments
  const folder = posix.dirname(file.path)
  const edges = new Map<string, ImportEdge>()
  for (const form of importForms)
    for (const match of text.matchAll(form)) {
      const specifier = match[1] ?? ''
      const isRelative = specifier.startsWith('.') || form.source.includes('dirname')
      const to = isRelative ? posix.normalize(posix.join(folder, specifier)) : specifier
      edges.set(to, { from: file.path, to, isPackage: !isRelative })
    }
  return [...edges.values()]
}

export function isTest(path: string): boolean {
  return path.endsWith('.test.ts')
}

/** Imports that point up or sideways. Tests may reach for test/support and for what they compare with. */
export function findLayerBreaks(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter((file) => !isTest(file.path))
    .flatMap((file) => {
      const from = moduleOf(file.path)
      const layer = layers[from]
      if (layer === undefined)
        return [`${file.path}: there is no module ${from}; the layers of this test name them all`]
      return importsOf(file).flatMap(({ to, isPackage }) => {
        if (isPackage || to === 'package.json') return []
        if (!to.startsWith('src/'))
          return [`${file.path} imports ${to}: the program never depends on its tests or tools`]
        const target = moduleOf(to)
        const isAllowed = target === from || target === 'base' || layer.mayImport.includes(target)
        return isAllowed
          ? []
          : [`${file.path} may not import ${to} (${from} → ${target}), because ${layer.because}`]
      })
    })
}

/** Packages of the running program must be its declared dependencies; each one is a decision. */
export function findForeignPackages(
  files: readonly SourceFile[],
  dependencies: readonly string[],
): readonly string[] {
  return files
    .filter((file) => !isTest(file.path))
    .flatMap((file) =>
      importsOf(file)
        .filter(({ to, isPackage }) => isPackage && !to.startsWith('node:'))
        .filter(({ to }) => !dependencies.some((name) => to === name || to.startsWith(`${name}/`)))
        .map(({ to }) => `${file.path} imports ${to}, which is no run-time dependency`),
    )
}

// --- files --------------------------------------------------------------------------------------

/** Files that no other file of the program refers to and that nothing starts. */
export function findOrphans(
  files: readonly SourceFile[],
  entryPoints: readonly string[],
): readonly string[] {
  const program = files.filter((file) => !isTest(file.path))
  const reached = new Set(program.flatMap((file) => importsOf(file).map(({ to }) => to)))
  return program
    .filter(({ path }) => !reached.has(path) && !entryPoints.includes(path))
    .map(({ path }) => `${path} is used by nothing: what is not reached is deleted, not kept`)
}

const kebab = /^[a-z0-9]+(-[a-z0-9]+)*$/

/** `0001-some-title.md`, `channel-store.ts`, `seal.test.ts`, `001.do.initial.sql`; folders likewise. */
export function findBadNames(paths: readonly string[]): readonly string[] {
  return paths
    .filter((path) => !path.split('/').every((part) => part.split('.').every(isNamePart)))
    .map((path) => `${path}: files and folders are named in kebab-case`)
}

function isNamePart(part: string): boolean {
  return part === '' || kebab.test(part)
}

/** B3: a file that only passes on other files hides where things live. */
export function findBarrels(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter(({ text }) => {
      const code = viewSource(text).withoutComments
      const rest = code.replaceAll(/\bexport\s[^'"`;]*?\bfrom\s*'[^']+'/g, '')
      return rest.trim() === '' && code.trim() !== ''
    })
    .map(({ path }) => `${path} only re-exports: import from the file that has the thing`)
}

export function findMissingHeads(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter(({ path }) => !isTest(path))
    .filter(({ path, text }) => {
      const body = text.replace(/^#![^\n]*\n/, '')
      return !(path.endsWith('.sql') ? /^--\s/ : /^(\/\*\*|\/\/)\s/).test(body)
    })
    .map(({ path }) => `${path} does not begin with what it is responsible for`)
}

export function findLooseEnds(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap(({ path, text }) =>
    linesOf(text)
      .filter(({ line }) => /\b(TODO(?!\(#\d)|FIXME|XXX|HACK)\b/.test(line))
      .map(({ number }) => `${path}:${number} leaves a loose end; an open matter is an issue`),
  )
}

/** Wider than the code, which is formatted to 100: a table or an example may need a little more. */
const commentWidthMax = 110

/** The formatter leaves comments as they are, so nothing else keeps them readable. */
export function findWideComments(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap(({ path, text }) => {
    const code = viewSource(text).withoutComments.split('\n')
    return linesOf(text)
      .filter(({ line }) => line.length > commentWidthMax)
      .filter(({ line, number }) => {
        const [before = ''] = code.slice(number - 1)
        return before.trimEnd().length < line.trimEnd().length
      })
      .map(
        ({ number }) =>
          `${path}:${number} is wider than ${commentWidthMax} characters: wrap the comment`,
      )
  })
}

function linesOf(text: string): readonly { line: string; number: number }[] {
  return text.split('\n').map((line, index) => ({ line, number: index + 1 }))
}

// --- words --------------------------------------------------------------------------------------

/** Words of the vocabulary's last column that mean nothing else in code, and the word instead. */
export const forbiddenWords: Readonly<Record<string, string>> = {
  tenant: 'account',
  tenants: 'account',
  customer: 'account',
  customers: 'account',
  wallet: 'account',
  provider: 'vendor',
  providers: 'vendor',
  backend: 'channel',
  backends: 'channel',
  downstream: 'client',
  preconsume: 'hold',
  postconsume: 'settle',
  consumption: 'usage',
}

export function findForbiddenWords(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap(({ path, text }) =>
    linesOf(viewSource(text).codeOnly).flatMap(({ line, number }) =>
      [...line.matchAll(/[A-Za-z_$][\w$]*/g)].flatMap(([identifier]) =>
        wordsOf(identifier).flatMap((word) => {
          const better = Object.hasOwn(forbiddenWords, word) ? forbiddenWords[word] : undefined
          if (better === undefined) return []
          return [`${path}:${number} ${identifier}: the word here is ${better}, not ${word}`]
        }),
      ),
    ),
  )
}

function wordsOf(identifier: string): readonly string[] {
  return identifier
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .split(/[_$]+/)
    .map((word) => word.toLowerCase())
}

// --- functions ----------------------------------------------------------------------------------

const longFrom = 71
const longTo = 80

export interface FunctionSpan {
  readonly line: number
  readonly length: number
}

/**
 * Functions with a body in braces, found by the text before each brace; control statements are
 * told apart by their keyword. Good enough to measure lengths, which is all it is for.
 */
export function functionsOf(text: string): readonly FunctionSpan[] {
  const code = viewSource(text).codeOnly
  const spans: FunctionSpan[] = []
  const open: { readonly isFunction: boolean; readonly line: number }[] = []
  let line = 1
  for (let index = 0; index < code.length; index++) {
    const character = code[index]
    if (character === '\n') line++
    else if (character === '{') open.push({ isFunction: opensFunction(code, index), line })
    else if (character === '}') {
      const closed = open.pop()
      if (closed?.isFunction === true)
        spans.push({ line: closed.line, length: line - closed.line + 1 })
    }
  }
  return spans
}

const controlHead = /\b(if|for|while|switch|catch|with)\s*$/

function opensFunction(code: string, brace: number): boolean {
  const before = code.slice(Math.max(0, brace - 600), brace).trimEnd()
  if (before.endsWith('=>')) return true
  const close = before.lastIndexOf(')')
  if (close < 0) return false
  // Between the parameters and the body there is nothing, or a return type.
  const between = before.slice(close + 1).trim()
  if (between !== '' && !/^:\s*[^;={}]+$/.test(between)) return false
  return !controlHead.test(before.slice(0, matchingParenthesis(before, close)))
}

function matchingParenthesis(text: string, close: number): number {
  let depth = 0
  for (let index = close; index >= 0; index--) {
    if (text[index] === ')') depth++
    else if (text[index] === '(' && --depth === 0) return index
  }
  return 0
}

/**
 * Only the zone just above the guide complains: there a function is growing and can still be
 * parted. What is much longer is a table or the object graph, and was decided so.
 */
export function findGrowingFunctions(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter(({ path }) => !isTest(path))
    .flatMap(({ path, text }) =>
      functionsOf(text)
        .filter(({ length }) => length >= longFrom && length <= longTo)
        .map(
          ({ line, length }) =>
            `${path}:${line} a function of ${length} lines: part it before it grows`,
        ),
    )
}

// --- documents ----------------------------------------------------------------------------------

/** Codes with a heading or a table row of their own, and the status the page gives them. */
export function documentedCodes(page: string): ReadonlyMap<string, number> {
  const rows = [...page.matchAll(/^\|\s*`([a-z]+\.[a-z_]+)`\s*\|\s*(\d{3})\s*\|/gm)]
  return new Map(rows.map((row) => [row[1] ?? '', Number(row[2])]))
}

export function compareCodes(
  documented: ReadonlyMap<string, number>,
  catalogue: Readonly<Record<string, { readonly status: number }>>,
): readonly string[] {
  const complaints: string[] = []
  for (const [code, { status }] of Object.entries(catalogue)) {
    const shown = documented.get(code)
    if (shown === undefined) complaints.push(`docs/errors.md does not explain ${code}`)
    else if (shown !== status)
      complaints.push(`docs/errors.md gives ${code} the status ${shown}, the program ${status}`)
  }
  for (const code of documented.keys())
    if (!Object.hasOwn(catalogue, code))
      complaints.push(`docs/errors.md explains ${code}, which does not exist`)
  return complaints
}

/** Each key has to have a row of its own in a table of the page, by itself or within another. */
export function findUnexplainedPrices(page: string, keys: readonly string[]): readonly string[] {
  return keys
    .filter((key) => !new RegExp(`^\\| +\`(?:\\w+\\.)?${key}\` +\\|`, 'm').test(page))
    .map((key) => `docs/catalogue.md does not explain the price ${key}`)
}

/** Each key has to stand on the page as code, alone or as its variable. */
export function findUndocumentedKeys(page: string, keys: readonly string[]): readonly string[] {
  return keys
    .filter(
      (key) => !page.includes(`\`${key}\``) && !page.includes(`TURNPIKE_${key.toUpperCase()}`),
    )
    .map((key) => `docs/configuration.md does not explain the setting ${key}`)
}
