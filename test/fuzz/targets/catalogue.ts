/**
 * The catalogue file: every text is either refused, with the place of each mistake, or a catalogue that comes
 * back the same when it is written and read again, and that applies once. No text takes long, or reaches the
 * program's own objects.
 */
import assert from 'node:assert/strict'
import { isAlias, isMap, parseDocument, stringify } from 'yaml'
import { z } from 'zod'
import { printEntry } from '../../../src/channels/catalogue/field.ts'
import { applyCatalogue } from '../../../src/operations/catalogue/catalogue.ts'
import { entryFields } from '../../../src/operations/catalogue/entries.ts'
import { exportCatalogue } from '../../../src/operations/catalogue/export.ts'
import { readCatalogueFile } from '../../../src/operations/catalogue/file.ts'
import type { Catalogue } from '../../../src/operations/catalogue/review.ts'
import { insideTransaction } from '../../../src/operations/context.ts'
import {
  refusalOf,
  valueOf,
  type OperationContext,
  type OperationRefusal,
} from '../../../src/operations/operation.ts'
import { fuzzContext } from '../store.ts'
import type { FuzzTarget } from '../target.ts'

export const catalogueTarget: FuzzTarget = {
  name: 'catalogue',
  words: [
    'vendors:\n',
    'models:\n',
    'channels:\n',
    'revision: 1\n',
    '  alpha:\n',
    '    vendor: alpha\n',
    '- ',
    '&a ',
    '*a',
    '<<: *a\n',
    '<<: [*a, *a]\n',
    '? ',
    '!!binary ',
    '!!set ',
    '---\n',
    '...\n',
    '#',
    '|\n',
    '>\n',
    '{ ',
    ' }',
    '[',
    ']',
    ': ',
    '~',
    'null',
    'yes',
    '1e3',
    '0x10',
    '.inf',
    '.nan',
    '2026-11-01',
    '1_000',
    'format: messages',
    'format: chat',
    'credential: env:A',
    'credential: sealed:AA',
    'credential: file:/x',
    'price: { input: 1, output: 2 }',
    'valid_from: 2099-01-01',
    'also: [a, b]',
    'dated: true',
    'rank: 1',
    'url: https://a.example',
    'url: http://127.0.0.1:1',
    'headers: { x-a: b }',
    'proxy: http://p.example:1',
    '__proto__: { polluted: 1 }\n',
    'constructor',
    'toString',
    'large-1',
    '"large-1[1m]"',
    'weight: 0',
    'first_event_timeout: 10m',
    'max_output_tokens: 8192',
    'cost: { factor: 0.5 }',
    'thinks: true',
  ],
  testRuns: 100,
  async check(input, random) {
    const text = input.toString('utf8')
    const before = process.cpuUsage()
    const catalogue = await readValid(text)
    const { user } = process.cpuUsage(before)
    assert.ok(
      user < readingMicrosMax,
      `a catalogue of ${text.length} characters takes ${user} µs to read`,
    )
    assert.equal(Reflect.get({}, 'polluted'), undefined, 'a file changes no object of the program')
    if (catalogue === undefined) return
    checkSections(text)
    assert.deepEqual(withoutCleared(await readValid(print(catalogue))), withoutCleared(catalogue))
    if (random() < storedShare(text)) await checkStored(text)
  },
}

/** Far more than any file of this size takes: what is looked for takes minutes. */
const readingMicrosMax = 10_000_000

/** A file of an operator has few lines of a kind; a store for each of them would take most of the time. */
function storedShare(text: string): number {
  return text.length < 4_000 ? 0.2 : 0.02
}

/** A file that retires what it does not name says so plainly: its sections are mappings, and it has one. */
function checkSections(text: string): void {
  const document = parseDocument(text, { merge: true, logLevel: 'silent' })
  assert.ok(isMap(document.contents), 'a catalogue is a mapping')
  for (const { value } of document.contents.items) {
    const section = isAlias(value) ? value.resolve(document) : value
    if (isMap(section))
      assert.ok([undefined, 'tag:yaml.org,2002:map'].includes(section.tag), 'a set has no entries')
  }
}

/** The catalogue of a valid file; undefined where the file is refused as it should be. */
async function readValid(text: string): Promise<Catalogue | undefined> {
  try {
    const file = await readCatalogueFile(text)
    const error = file.refuse([])
    if (error !== undefined) throw error
    return file.catalogue
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal === undefined) throw error
    checkRefusal(refusal, text)
    return undefined
  }
}

const mistakes = z.array(
  z.strictObject({
    line: z.int().min(1),
    column: z.int().min(1),
    path: z.string(),
    message: z.string(),
  }),
)

function checkRefusal({ code, message, details }: OperationRefusal, text: string): void {
  assert.equal(code, 'operations.invalid')
  assert.match(message, /^Nothing was applied, because the file has mistakes:\nline /)
  const lines = text.split('\n').length
  for (const { line, message: reason } of mistakes.min(1).parse(details?.['mistakes'])) {
    assert.ok(line <= lines, `line ${line} of ${lines}: a mistake has its line`)
    assert.match(reason, /^\S.{3,}/su, 'a mistake says what is wrong')
    assert.doesNotMatch(reason, / $/, 'a mistake names the key that is wrong')
    assert.doesNotMatch(reason, /\[object|=> |is not a function|Cannot read|undefined \(/)
  }
}

function print(catalogue: Catalogue): string {
  const entries = {
    vendors: printed(catalogue.vendors, (entry) => printEntry(entryFields.vendors, entry)),
    models: printed(catalogue.models, (entry) => printEntry(entryFields.models, entry)),
    channels: printed(catalogue.channels, (entry) => printEntry(entryFields.channels, entry)),
  }
  return stringify(entries, { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' })
}

function printed<Entry>(
  entries: ReadonlyMap<string, Entry>,
  printOne: (entry: Entry) => object,
): object {
  return Object.fromEntries(Array.from(entries, ([name, entry]) => [name, printOne(entry)]))
}

/** Which fields a file removes is a fact of the file and not of the catalogue. */
function withoutCleared(catalogue: Catalogue | undefined): object | undefined {
  if (catalogue === undefined) return undefined
  const { cleared: _, ...entries } = catalogue
  return entries
}

class RolledBack extends Error {}

/** Applied and exported, the export changes nothing; then all of it is rolled back. */
async function checkStored(text: string): Promise<void> {
  const context = await fuzzContext()
  const work = async (inside: OperationContext): Promise<void> => {
    const applied = await applyCatalogue(inside, { text, force: true })
    if (applied.kind === 'refusal') {
      checkRefusal(applied, text)
      return
    }
    const exported = valueOf(await exportCatalogue(inside, {})).text
    assert.equal(valueOf(await applyCatalogue(inside, { text: exported })).kind, 'unchanged')
    assert.equal(valueOf(await exportCatalogue(inside, {})).text, exported)
  }
  try {
    await context.database.transact(async (transaction) => {
      await work(insideTransaction(context, transaction))
      throw new RolledBack('the next input finds an empty store')
    })
  } catch (error) {
    if (!(error instanceof RolledBack)) throw error
  }
}
