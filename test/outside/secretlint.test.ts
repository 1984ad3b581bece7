/**
 * secretlint's recommended rules, which know the forms of credentials of some 30 services, over each
 * tracked file and over what a busy gateway prints: its log, its metrics, its answers to operators. They
 * find nothing but the test values that are listed here.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { lintSource } from '@secretlint/core'
import { creator } from '@secretlint/secretlint-rule-preset-recommend'
import { replaceCredential } from '../../src/operations/channels/replace-credential.ts'
import { valueOf } from '../../src/operations/operation.ts'
import { post, send } from '../support/http-client.ts'
import { createAdminToken } from '../support/operations.ts'
import { chatPath, chatRequest, messagesPath, messagesRequest } from '../support/requests.ts'
import { scenario } from '../support/scenario.ts'
import { reportFigures } from './report.ts'

const root = join(import.meta.dirname, '..', '..')
const preset = '@secretlint/secretlint-rule-preset-recommend'
const rules = [{ id: preset, rule: creator }]

/** Where something was found, and what by its name in the rules: never the text itself. */
interface Finding {
  readonly path: string
  readonly id: string
}

async function lint(path: string, content: string): Promise<readonly Finding[]> {
  const source = { filePath: path, content, contentType: 'text' } as const
  const { messages } = await lintSource({ source, options: { config: { rules } } })
  return messages.map(({ messageId: id }) => ({ path, id }))
}

const binary = Buffer.alloc(1)

/** What may be found, in the order of the files, each with its reason. */
const exceptions: readonly (Finding & { readonly reason: string })[] = [
  {
    path: 'src/settings/read.test.ts',
    id: 'PostgreSQLConnection',
    reason: 'The test proves that the settings print themselves without this password.',
  },
  {
    path: 'src/storage/location.test.ts',
    id: 'PostgreSQLConnection',
    reason: 'The test proves that an address is read with the escapes of its password.',
  },
]

test('no tracked file has a credential', async () => {
  const listed = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
  const found: Finding[] = []
  let files = 0
  for (const path of listed.split('\0').filter(Boolean)) {
    // A change may have deleted a file that is still tracked.
    const bytes = existsSync(join(root, path)) ? readFileSync(join(root, path)) : binary
    if (bytes.includes(0)) continue
    files++
    found.push(...(await lint(path, bytes.toString())))
  }
  assert.ok(files > 1_500, `${files} files`)
  assert.deepEqual(
    found,
    exceptions.map(({ path, id }) => ({ path, id })),
  )
  reportFigures({
    set: 'secretlint',
    part: 'tracked files',
    cases: files,
    exceptions: exceptions.length,
    figures: '0 credentials',
  })
})

/** Of the forms that services give out. They are made here, so that no file has them. */
const planted = {
  vendor: `sk-ant-api03-${'Ab3'.repeat(31)}AA`,
  openai: `sk-proj-${'Qr5'.repeat(25).slice(0, 74)}T3BlbkFJ${'Qr5'.repeat(25).slice(0, 74)}`,
  github: `ghp_${'Xy7'.repeat(12)}`,
  store: ['postgres:', '', `gateway:${'pw8'.repeat(4)}@db.internal`, 'turnpike'].join('/'),
}

test('a busy gateway prints no credential', async () => {
  for (const [name, secret] of Object.entries(planted))
    assert.equal((await lint(name, `x ${secret} x`)).length, 1, name)
  const lines: string[] = []
  const gateway = await scenario({
    settings: { log_level: 'debug', max_failed_sign_ins: '0' },
    onLogLine: (line) => void lines.push(JSON.stringify(line)),
  })
  try {
    const { context, account } = gateway
    const { secret } = await createAdminToken(context, { role: 'owner' })
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    const operator = (path: string, body?: object) =>
      send(`${gateway.adminUrl}${path}`, {
        headers,
        ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      })
    for (const channel of ['alpha-main', 'beta-main'])
      valueOf(
        await replaceCredential(context, { channel, credential: planted.vendor, force: true }),
      )
    await gateway.app.refresh()
    const text = Object.values(planted).join(' ')
    const messages = [{ role: 'user', content: text }]
    for (const key of [account.key, planted.openai, planted.github]) {
      await post(`${gateway.url}${messagesPath}`, key, messagesRequest({ messages }))
      await post(`${gateway.url}${chatPath}`, key, chatRequest({ messages, stream: true }))
      await post(
        `${gateway.url}${chatPath}?key=${planted.github}`,
        key,
        chatRequest({ model: planted.openai }),
      )
      await post(`${gateway.url}/${planted.github}`, key, { text })
    }
    await operator('/admin/v1/accounts', { name: 'a', unknown: text })
    await operator(`/admin/v1/accounts/${planted.github}`)
    const printed = [
      ...(await Promise.all(
        ['accounts', 'actions', 'catalogue', 'channels', 'keys', 'overview', 'requests'].map(
          (name) => operator(`/admin/v1/${name}`),
        ),
      )),
      await operator('/admin/v1/doctor', {}),
      await operator('/metrics'),
    ]
    assert.deepEqual(new Set(printed.map(({ status }) => status)), new Set([200]))
    assert.ok(lines.length > 5, `${lines.length} lines`)
    const found = await lint(
      'what is printed',
      [...lines, ...printed.map((one) => one.text)].join('\n'),
    )
    assert.deepEqual(found, [])
    reportFigures({
      set: 'secretlint',
      part: 'log, metrics and answers of a busy gateway',
      cases: lines.length + printed.length,
      exceptions: 0,
      figures: `${Object.keys(planted).length} planted credentials, none printed`,
    })
  } finally {
    await gateway.close()
  }
})
