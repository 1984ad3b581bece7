/**
 * The rules of `tidy.test.ts` about stores: who touches which table, and that the tests of `npm run
 * check` open none. Each returns complaints in words; none means the rule holds.
 */
import { viewSource } from './source-text.ts'
import { importsOf, isTest, type SourceFile } from './tidy-rules.ts'

export function tablesOf(migration: string): readonly string[] {
  return [...migration.matchAll(/^CREATE TABLE (?:IF NOT EXISTS )?"?(\w+)"?/gm)].map(
    (match) => match[1] ?? '',
  )
}

/** Table → files and folders (with a slash at the end) whose SQL may name it. */
export type TableOwners = Readonly<Record<string, readonly string[]>>

const sqlReference = /\b(?:FROM|INTO|UPDATE|JOIN|TABLE|DELETE FROM)\s+"?([a-z_]+)"?/g

export function findStrayTables(
  files: readonly SourceFile[],
  owners: TableOwners,
): readonly string[] {
  return files
    .filter((file) => !isTest(file.path))
    .flatMap(({ path, text }) => {
      const named = [...viewSource(text).withoutComments.matchAll(sqlReference)]
      return [...new Set(named.map((match) => match[1] ?? ''))].flatMap((table) => {
        const homes = Object.hasOwn(owners, table) ? owners[table] : undefined
        if (homes === undefined || homes.some((home) => isWithin(path, home))) return []
        return [`${path} touches table ${table}, which belongs to ${homes.join(', ')}`]
      })
    })
}

function isWithin(path: string, home: string): boolean {
  return home.endsWith('/') ? path.startsWith(home) : path === home
}

/** Modules that open a store, or are there for tests that do. */
const storeOpeners =
  /^(src\/storage\/(sqlite|sqlite-thread|open|migrate)\.ts|test\/storage\/|test\/support\/(test-store|postgres|gateway)\.ts)/

/** `npm run check` is run before each commit: its unit tests would take twice as long with stores. */
export function findStoresInUnitTests(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter(({ path }) => isTest(path))
    .flatMap(importsOf)
    .filter(({ to }) => storeOpeners.test(to))
    .map(({ from, to }) => `${from} imports ${to}: what opens a store is tested in test/storage`)
}
