/**
 * The rules of `test/tidy.test.ts` as pure functions: texts in, complaints out. Each complaint is a
 * sentence with the place and the reason. Knows no TypeScript: what needs a parser is a lint rule.
 */

export interface SourceFile {
  /** From the project's root, with forward slashes: `src/base/money.ts`. */
  readonly path: string
  readonly text: string
}

function isTest(path: string): boolean {
  return path.endsWith('.test.ts')
}

// --- files --------------------------------------------------------------------------------------

const kebab = /^[a-z0-9]+(-[a-z0-9]+)*$/

/**
 * `0001-some-title.md`, `channel-store.ts`, `seal.test.ts`, `001.do.initial.sql`; folders likewise. Java
 * requires that a file is named as its class.
 */
export function findBadNames(paths: readonly string[]): readonly string[] {
  return paths
    .filter((path) => !path.endsWith('.java'))
    .filter((path) => !path.split('/').every((part) => part.split('.').every(isNamePart)))
    .map((path) => `${path}: files and folders have names in kebab-case`)
}

function isNamePart(part: string): boolean {
  return part === '' || kebab.test(part)
}

/** A file that only re-exports hides where things are. */
export function findBarrels(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter(({ text }) => {
      const code = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
      const rest = code.replaceAll(/\bexport\s[^'"`;]*?\bfrom\s*'[^']+'/g, '')
      return rest.trim() === '' && code.trim() !== ''
    })
    .map(({ path }) => `${path} only re-exports: import from the file that has the code`)
}

export function findMissingHeads(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter(({ path }) => !isTest(path))
    .filter(({ path, text }) => {
      const body = text.replace(/^#![^\n]*\n/, '')
      return !(path.endsWith('.sql') ? /^--\s/ : /^(\/\*\*|\/\/)\s/).test(body)
    })
    .map(({ path }) => `${path} does not begin with a comment that says what it does`)
}

export function findLooseEnds(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap(({ path, text }) =>
    linesOf(text)
      .filter(({ line }) => /\b(TODO(?!\(#\d)|FIXME|XXX|HACK)\b/.test(line))
      .map(({ number }) => `${path}:${number} is unfinished: open an issue instead`),
  )
}

function linesOf(text: string): readonly { line: string; number: number }[] {
  return text.split('\n').map((line, index) => ({ line, number: index + 1 }))
}

// --- tables -------------------------------------------------------------------------------------

export function tablesOf(schema: string): readonly string[] {
  return [...schema.matchAll(/^CREATE TABLE (?:IF NOT EXISTS )?"?(\w+)"?/gm)].map(
    (match) => match[1] ?? '',
  )
}

/** Table → files and folders (with a slash at the end) whose SQL may name it. */
export type TableOwners = Readonly<Record<string, readonly string[]>>

const commentLine = /^\s*(?:\*|\/\/|\/\*).*$/gm
/** SQL, and the calls that make it. */
const sqlReference =
  /\b(?:(?:FROM|INTO|UPDATE|JOIN|TABLE|DELETE FROM)\s+"?|(?:insertRow|updateRow)\(\s*\w+,\s*')([a-z_]+)/g

export function findStrayTables(
  files: readonly SourceFile[],
  owners: TableOwners,
): readonly string[] {
  return files
    .filter((file) => !isTest(file.path))
    .flatMap(({ path, text }) => {
      const named = [...text.replaceAll(commentLine, '').matchAll(sqlReference)]
      return [...new Set(named.map((match) => match[1] ?? ''))].flatMap((table) => {
        const places = Object.hasOwn(owners, table) ? owners[table] : undefined
        if (places === undefined || places.some((place) => isWithin(path, place))) return []
        return [`${path} uses table ${table}, which belongs to ${places.join(', ')}`]
      })
    })
}

function isWithin(path: string, place: string): boolean {
  return place.endsWith('/') ? path.startsWith(place) : path === place
}

// --- documents ----------------------------------------------------------------------------------

/** Each key must have a row in a table of the page, by itself or within another. */
export function findUnexplainedPrices(page: string, keys: readonly string[]): readonly string[] {
  return keys
    .filter((key) => !new RegExp(`^\\| +\`(?:\\w+\\.)?${key}\` +\\|`, 'm').test(page))
    .map((key) => `docs/catalogue.md does not explain the price ${key}`)
}
