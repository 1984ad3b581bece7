/** The words of both pages: in message files only, in each language, and well-formed. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createRequire } from 'node:module'
import * as english from '../../console/src/messages/en/console-words.ts'
import * as englishAccount from '../../console/src/messages/en/account-words.ts'
import * as englishPages from '../../console/src/messages/en/page-words.ts'
import { languages } from '../../console/src/messages/language.ts'
import * as chinese from '../../console/src/messages/zh-cn/console-words.ts'
import * as chinesePages from '../../console/src/messages/zh-cn/page-words.ts'
import * as chineseAccount from '../../console/src/messages/zh-cn/account-words.ts'
import { said } from '../../console/src/messages/zh-cn/said/said.ts'
import { errorCatalogue, errorGroups } from '../../src/base/error-catalogue.ts'
import { outcomes } from '../../src/channels/outcomes.ts'
import { alertKindNames } from '../../src/operations/alerts/alert-kind.ts'
import { countKinds } from '../../src/operations/alerts/count-rules.ts'
import { limitCodes } from '../../src/operations/catalogue/missing-limits.ts'
import { steps } from '../../src/operations/reports/attention.ts'
import { vendorErrorMeanings } from '../../src/operations/requests/explain-vendor-error.ts'
import { chargeReasons } from '../../src/operations/requests/explain.ts'
import { doctorSentences } from '../../src/operations/store/doctor-findings.ts'
import { settingGroups, settings } from '../../src/settings/list.ts'
import type { AnySetting } from '../../src/settings/schemas.ts'
import { inChinese, isKnownInChinese } from '../support/console/chinese.ts'
import { findRefusals } from '../support/console/refusals.ts'
import { findLooseWords } from '../support/console/loose-words.ts'

const consoleFolder = join(import.meta.dirname, '../../console')

/** The parser that formats the messages in the browser. */
const parser = createRequire(join(consoleFolder, 'package.json'))(
  '@formatjs/icu-messageformat-parser',
) as {
  parse(message: string): readonly Element[]
  readonly TYPE: Readonly<Record<string, number>>
}

interface Element {
  readonly type: number
  readonly value?: string
  readonly children?: readonly Element[]
  readonly options?: Readonly<Record<string, { readonly value: readonly Element[] }>>
}

type Texts = ReadonlyMap<string, string>

function textsOf(words: object, path = ''): Texts {
  return new Map(
    Object.entries(words).flatMap(([name, value]): [string, string][] =>
      typeof value === 'string'
        ? [[path + name, value]]
        : [...textsOf(value as object, `${path}${name}.`)],
    ),
  )
}

/** English has no sentences of the gateway: the gateway writes it. */
const { said: _said, ...chineseAccountWords } = chineseAccount.words

const pages = [
  [
    'console',
    { ...english.words, ...englishPages.words },
    { ...chinese.words, ...chinesePages.words },
  ],
  ['account page', englishAccount.words, chineseAccountWords],
] as const

const anyFinding = { kind: 'alert.test', subject: '', title: '', text: '', facts: {} } as const

/** Codes of sentences of the gateway, from its own lists. test/alerts/kinds says alerts with their facts. */
const codes: Readonly<Record<keyof typeof said, readonly string[]>> = {
  alerts: [
    ...alertKindNames.flatMap((kind) => [`${kind}.title`, `${kind}.text`]),
    ...Object.entries(steps)
      .filter(([, stepOf]) => !stepOf(anyFinding).startsWith('turnpike '))
      .map(([kind]) => `${kind}.step`),
    'channel.not_on.title',
    'account.short.title',
    'node.unclean_stop.title',
  ],
  attempts: [...Object.keys(outcomes), 'doubtful'],
  chargeReasons: Object.keys(chargeReasons),
  doctor: [...Object.keys(doctorSentences), ...limitCodes, ...countKinds],
  errors: Object.keys(errorCatalogue).flatMap((code) => [`${code}.meaning`, `${code}.advice`]),
  // Refusals of model routes are in no page.
  problems: [...textsOf(said.problems).keys(), ...Object.keys(errorGroups.Operating)].filter(
    (code) => code in errorCatalogue,
  ),
  settings: [
    ...Object.keys(settingGroups).map((group) => `groups.${group}`),
    ...Object.values(settings).map(({ key }) => `meanings.${key}`),
    ...Object.values<AnySetting>(settings)
      .filter(({ fallbackInWords }) => fallbackInWords !== undefined)
      .map(({ key }) => `defaults.${key}`),
  ],
  vendorErrors: [
    ...Object.keys(vendorErrorMeanings).map((word) => `words.${word}`),
    'other',
    'field',
  ],
}

/** Names of arguments and tags, each with its kind; forms of a plural differ by language. */
function placesOf(elements: readonly Element[]): readonly string[] {
  return elements
    .flatMap((element): readonly string[] => {
      const { type, value = '', children = [], options = {} } = element
      if (type === parser.TYPE['literal'] || type === parser.TYPE['pound']) return []
      // A language without plurals may name the number alone.
      const kind =
        type === parser.TYPE['tag'] ? '<>' : type === parser.TYPE['select'] ? 'select' : ''
      return [
        value + kind,
        ...placesOf(children),
        ...Object.values(options).flatMap((option) => placesOf(option.value)),
      ]
    })
    .toSorted()
}

function distinct(message: string): readonly string[] {
  return [...new Set(placesOf(parser.parse(message)))]
}

describe('the words', () => {
  test('are in as many languages as a person can choose', () => {
    assert.deepEqual(
      readdirSync(join(consoleFolder, 'src/messages'))
        .filter((name) => !name.endsWith('.ts'))
        .toSorted(),
      languages.map((language) => language.toLowerCase()).toSorted(),
    )
  })

  for (const [page, one, other] of pages) {
    test(`of the ${page} have the same keys in both languages`, () => {
      assert.deepEqual([...textsOf(other).keys()].toSorted(), [...textsOf(one).keys()].toSorted())
    })

    test(`of the ${page} are messages with the same arguments in both languages`, () => {
      const others = textsOf(other)
      for (const [key, text] of textsOf(one))
        assert.deepEqual(distinct(others.get(key) ?? ''), distinct(text), key)
    })

    test(`of the ${page} are Chinese in Chinese, but for names and forms`, () => {
      const left = [...textsOf(other)].filter(
        ([, text]) => /\p{Ll}{3}/u.test(text) && !/\p{Script=Han}/u.test(text),
      )
      const same = left.filter(
        ([key, text]) => textsOf(one).get(key) === text && /\p{L}+ \p{L}+/u.test(text),
      )
      assert.deepEqual(same, [])
    })
  }

  for (const [room, sentences] of Object.entries(said))
    test(`of the gateway (${room}) are Chinese for each of its codes`, () => {
      const texts = textsOf(sentences)
      const known = new Set(codes[room as keyof typeof codes])
      assert.deepEqual([...texts.keys()].toSorted(), [...known].toSorted())
      for (const [code, text] of texts) {
        if (room === 'alerts' || room === 'doctor') parser.parse(text)
        else inChinese(`${room}.${code}`, { detail: '', param: '' })
      }
    })

  test('of refusals are Chinese wherever an operation writes one', () => {
    const refusals = findRefusals()
    assert.ok(refusals.length > 150)
    assert.deepEqual(
      refusals.filter((sentence) => !isKnownInChinese(sentence)),
      [],
    )
  })

  test('of the doctor name no fact that its English sentence does not have', () => {
    const texts = textsOf(said.doctor)
    for (const [code, sentence] of Object.entries(doctorSentences)) {
      const facts = new Set([...distinct(sentence), 'rest'])
      const named = distinct(texts.get(code) ?? '').map((place) => place.replace(/select$/, ''))
      assert.deepEqual(
        named.filter((name) => !facts.has(name)),
        [],
        code,
      )
    }
  })

  test('are nowhere but in message files', () => {
    const sources = readdirSync(join(consoleFolder, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name) && !/^(?:messages\/|api\/schema\.ts)/.test(name))
      .toSorted()
    assert.ok(sources.length > 50)
    const loose = sources.flatMap((name) =>
      findLooseWords(`console/src/${name}`, readFileSync(join(consoleFolder, 'src', name), 'utf8')),
    )
    assert.deepEqual(
      loose.map(({ path, line, text }) => `${path}:${line} ${text}`),
      [],
    )
  })
})

describe('the search for words outside of message files', () => {
  const textsIn = (source: string): readonly string[] =>
    findLooseWords('page.tsx', source).map(({ text }) => text)

  test('finds what people read', () => {
    assert.deepEqual(textsIn('const a = <p>Some text {b ? "one" : `two ${c}`}</p>'), [
      'Some text',
      'one',
      'two',
    ])
    assert.deepEqual(textsIn('const a = <Card title="requests" hint={isOn ? "on" : "off"} />'), [
      'requests',
      'on',
      'off',
    ])
    assert.deepEqual(textsIn('announce(`Channel ${name} is on.`)'), ['Channel'])
    assert.deepEqual(textsIn('const a = { label: "name", value: "name" }'), ['name'])
  })

  test('leaves out what the program reads', () => {
    assert.deepEqual(
      textsIn(
        'import x from "./Some file"; const a = <p className="Some row" id="it">{t("a.b")}, {f("x y")}</p>; type A = "On"; throw new Error("No root.")',
      ),
      [],
    )
  })
})
