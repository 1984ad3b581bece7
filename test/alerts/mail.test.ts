/** E-mail of alerts over a real mail server, Debian's exim4, on loopback. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { systemClock } from '../../src/base/clock.ts'
import { Secret } from '../../src/base/secret.ts'
import { accountEndpoints } from '../../src/operations/accounts/endpoints.ts'
import { alertEndpoints } from '../../src/operations/alerts/endpoints.ts'
import { alertDeliveries } from '../../src/operations/alerts/log.ts'
import { createMailer } from '../../src/operations/alerts/mailer.ts'
import { valueOf } from '../../src/operations/operation.ts'
import { eventually } from '../support/eventually.ts'
import { startMailServer, type MailServer } from '../support/mail-server.ts'
import { findFreePort } from '../support/postgres.ts'
import { openBench, type AlertBench } from './harness.ts'

let port: number
let server: MailServer
before(async () => {
  port = await findFreePort()
  server = await startMailServer(port)
})
after(() => server.close())

async function mails(count: number): Promise<readonly string[]> {
  const look = async (): Promise<readonly string[]> => {
    await setImmediate()
    return server.mails()
  }
  return eventually('mails', look, (all) => all.length >= count)
}

function mailer(url: string, password?: string) {
  return createMailer({
    url,
    password: password === undefined ? undefined : new Secret(password),
    from: 'turnpike@example.com',
  })
}

function nodeOf(bench: AlertBench, url: string) {
  return bench.node({
    sending: {
      clock: { ...systemClock, now: () => bench.clock.now() },
      masterKey: bench.context.masterKey,
      region: 'eu-1',
      post: () => Promise.reject(new Error('no post')),
      mail: mailer(url),
    },
  })
}

async function addEmail(bench: AlertBench, name: string, address: string): Promise<void> {
  const input = { name, format: 'email', address }
  valueOf(await alertEndpoints.create.operation(bench.context, input))
}

test('a mail tells what is wrong and since when, under the id of the message', async () => {
  const bench = await openBench()
  await addEmail(bench, 'ops', 'ops@example.com')
  const node = nodeOf(bench, `smtp://127.0.0.1:${port}`)
  await bench.observe('channel.off', ['main'])
  await bench.pass(2, [node])
  const [mail = ''] = await mails(1)
  assert.match(mail, /^Subject: \[Turnpike eu-1\] channel\.off of main$/m)
  assert.match(mail, /^To: ops@example\.com$/m)
  assert.match(mail, /^Message-ID: <dlv_[0-9a-z]{26}@turnpike>$/m)
  assert.match(mail, /\[warning\] channel\.off of main\s+Look at it\.\s+subject: main/)
  const [line] = valueOf(await alertDeliveries(bench.context, {})).items
  assert.equal(line?.state, 'delivered')
  assert.ok(mail.includes(line.id))
  await node.close()
  await bench.close()
})

test('the contact of an account gets mails in the language of the account', async () => {
  const bench = await openBench()
  await addEmail(bench, 'holders', 'contact')
  for (const [name, language] of [
    ['acme', undefined],
    ['globex', 'zh-CN'],
  ])
    await accountEndpoints.create.operation(bench.context, {
      name,
      balance_usd: '4.5',
      alert_below_usd: '5',
      contact: `${name}@example.com`,
      ...(language !== undefined && { language }),
    })
  const count = server.mails().length
  const node = nodeOf(bench, `smtp://127.0.0.1:${port}`)
  await bench.pass(20, [node])
  const sent = (await mails(count + 2)).map(readMail)
  const to = (address: string) => sent.filter((mail) => mail.to === address)
  assert.deepEqual(to('acme@example.com'), [
    {
      to: 'acme@example.com',
      subject: 'Balance of acme is low: 4.5 USD',
      text: [
        'Balance of acme is low: 4.5 USD',
        'The balance is 4.5 USD. Pay in soon, so that your requests are not refused.',
        'Since: Nov 21, 2026, 12:00 UTC',
      ],
    },
  ])
  assert.deepEqual(to('globex@example.com'), [
    {
      to: 'globex@example.com',
      subject: '账户 globex 余额不足：4.5 美元',
      text: [
        '账户 globex 余额不足：4.5 美元',
        '余额为 4.5 美元。请尽快充值，以免请求被拒绝。',
        '开始时间：2026年11月21日 UTC 12:00',
      ],
    },
  ])
  assert.deepEqual(bench.faults, [])
  await node.close()
  await bench.close()
})

test('a refused recipient ends a delivery; a server that is away does not', async () => {
  const bench = await openBench()
  await addEmail(bench, 'wrong', 'refused@example.com')
  const refused = nodeOf(bench, `smtp://127.0.0.1:${port}`)
  await bench.observe('channel.off', ['main'])
  await bench.pass(2, [refused])
  await refused.close()
  const [line] = valueOf(await alertDeliveries(bench.context, {})).items
  assert.deepEqual([line?.state, line?.outcome], ['failed', 'the mail server answered 550'])

  await addEmail(bench, 'late', 'late@example.com')
  const away = nodeOf(bench, 'smtp://127.0.0.1:1')
  await bench.observe('model.reserve_only', ['m'])
  await bench.pass(2, [away])
  await away.close()
  const count = server.mails().length
  const back = nodeOf(bench, `smtp://127.0.0.1:${port}`)
  await bench.pass(30, [back])
  const all = await mails(count + 1)
  assert.equal(all.filter((mail) => mail.includes('late@example.com')).length, 1)
  await back.close()
  await bench.close()
})

test('signs in over TLS, and reports a wrong password', async () => {
  const mail = { messageId: 'msg_1', to: 'tls@example.com', subject: 'ü', text: 'x\n' }
  const url = `smtp://alerts@127.0.0.1:${port}`
  assert.deepEqual(await mailer(url, 'secret')(mail), { kind: 'accepted' })
  assert.match(server.log(), /P=esmtpsa X=TLS.* A=plain:alerts/)
  const wrong = await mailer(url, 'wrong')(mail)
  assert.deepEqual(wrong, {
    kind: 'failed',
    reason: 'the mail server answered 535',
    isFinal: false,
  })
})

test('no header can be smuggled in by a name', async () => {
  const count = server.mails().length
  const subject = 'acme\r\nBcc: victim@example.com\r\n\r\nbody'
  await mailer(`smtp://127.0.0.1:${port}`)({
    messageId: 'msg_2',
    to: 'safe@example.com',
    subject,
    text: 'x\n',
  })
  const mail = (await mails(count + 1)).find((one) => one.includes('safe@example.com')) ?? ''
  assert.doesNotMatch(mail, /^Bcc:/m)
  assert.doesNotMatch(server.log(), /victim@example\.com/)
})

interface ReadMail {
  readonly to: string
  readonly subject: string
  /** Its paragraphs. */
  readonly text: readonly string[]
}

/** Undoes the encodings of headers and body. */
function readMail(mail: string): ReadMail {
  const [head = '', ...rest] = mail.split('\n\n')
  const headers = head.replaceAll(/\n[ \t]+/g, ' ')
  const header = (name: string): string =>
    new RegExp(`^${name}: (.*)$`, 'm').exec(headers)?.[1] ?? ''
  const body = rest.join('\n\n')
  const text =
    header('Content-Transfer-Encoding') === 'base64'
      ? Buffer.from(body, 'base64').toString()
      : readQuoted(body.replaceAll('=\n', ''))
  const subject = header('Subject')
    .replaceAll('?= =?', '?==?')
    .replaceAll(/=\?UTF-8\?([BQ])\?(.*?)\?=/gi, (_, form: string, word: string) =>
      form.toUpperCase() === 'B'
        ? Buffer.from(word, 'base64').toString()
        : readQuoted(word.replaceAll('_', ' ')),
    )
  return { to: header('To'), subject, text: text.replaceAll('\r', '').trim().split('\n\n') }
}

function readQuoted(text: string): string {
  const bytes = text.replaceAll(/=([\dA-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return Buffer.from(bytes, 'latin1').toString()
}
