/** The messages of mails to account holders: the same keys and arguments in each language. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { IntlMessageFormat } from 'intl-messageformat'
import { languages } from '../../base/languages.ts'
import { holderKinds } from './account-rules.ts'
import { alertKinds } from './alert-kind.ts'
import { holderEmailOf, holderMessages } from './holder-mail.ts'

function textsOf(messages: object, path = ''): readonly (readonly [string, string])[] {
  return Object.entries(messages).flatMap(([name, value]) =>
    typeof value === 'string'
      ? [[path + name, value] as const]
      : textsOf(value as object, `${path}${name}/`),
  )
}

/** The names and kinds of a message's arguments, those within its choices too. */
function argumentsOf(message: string): readonly string[] {
  const named = (elements: Elements): readonly string[] =>
    elements.flatMap((element) => {
      const type: number = element.type
      if (type === literal || !('value' in element)) return []
      const inner = 'options' in element ? Object.values(element.options) : []
      return [`${element.value} ${type}`, ...inner.flatMap(({ value }) => named(value))]
    })
  return [...new Set(named(new IntlMessageFormat(message, 'en').getAst()))].toSorted()
}

type Elements = ReturnType<IntlMessageFormat['getAst']>
/** The parser's type of text between arguments. */
const literal = 0

test('each language has the same keys and arguments', () => {
  const form = (messages: object) =>
    textsOf(messages)
      .map(([key, text]) => [key, argumentsOf(text)] as const)
      .toSorted(([left], [right]) => left.localeCompare(right))
  assert.deepEqual(argumentsOf('{a} {b, select, x {{c}} other {}}'), ['a 1', 'b 5', 'c 1'])
  for (const language of languages)
    assert.deepEqual(form(holderMessages[language]), form(holderMessages.en), language)
})

test('each message is well-formed', () => {
  for (const language of languages)
    for (const [, text] of textsOf(holderMessages[language]))
      assert.doesNotThrow(() => new IntlMessageFormat(text, language), text)
})

test('the mail of each kind is in its language, and has the facts of its condition', async () => {
  const facts = {
    account: 'acme <b> {x}',
    balance_usd: '1.25',
    spend_24h_usd: '3.5',
    hours_left: 9,
    key_name: '',
    key_head: 'cr_4f7a',
    limit_usd: '20',
    used_usd: '19.999999999999',
    period: 'total',
    step: 80,
    limit_of: 'day',
  }
  for (const language of languages)
    for (const event of ['firing', 'resolved'] as const)
      for (const kind of holderKinds) {
        const condition = { kind, subject: 'acc_1', title: 'operator', text: 'operator', facts }
        const { subject, text } = await holderEmailOf({
          id: 'dlv_1',
          recipient: 'a@b.example',
          language,
          notice: {
            alertId: 'alr_1',
            event,
            type: kind,
            severity: alertKinds[kind],
            condition,
            includes: ['operator'],
            firedAtMs: Date.parse('2026-11-21T23:59:00Z'),
            atMs: 0,
          },
        })
        assert.ok(subject.includes('acme <b> {x}'), subject)
        assert.equal(/\p{Script=Han}/u.test(text), language === 'zh-CN', text)
        assert.doesNotMatch(text, /operator(?! can)|undefined|null|\{(?!x)/)
        assert.match(text, /23:59/)
        if (kind === 'key.limit_reached') assert.ok(subject.includes('cr_4f7a'), subject)
        if (kind === 'key.limit_reached' && event === 'firing')
          assert.ok(text.includes('19.999999999999'), text)
      }
})
