/** What operators and owners can do with the members of an account, on either store. */
/* oxlint-disable typescript/no-floating-promises -- the test runner waits for its tests by itself */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Mail } from '../../src/operations/alerts/mailer.ts'
import {
  editMember,
  inviteMember as invite,
  listMembers,
  removeMember,
} from '../../src/operations/members/members.ts'
import { memberSessions } from '../../src/access/session-store.ts'
import { addSession } from '../../src/access/session.ts'
import { contextOn } from '../../src/operations/context.ts'
import { valueOf, type OperationContext, type Outcome } from '../../src/operations/operation.ts'
import { createClientKey as create, rotateKey } from '../../src/operations/keys/keys.ts'
import type { LedgerHarness } from './ledger-harness.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { inviteMember, mailingInto } from '../support/members.ts'
import {
  createAccount,
  createClientKey,
  listAccountKeys,
  recentActions,
  revokeKey,
} from '../support/operations.ts'

/** Opens an empty store, migrated. */
type OpenStore = () => Promise<Pick<LedgerHarness, 'database' | 'close'>>

function assertRefused(outcome: Outcome<unknown>, message: RegExp): void {
  assert.equal(outcome.kind, 'refusal')
  assert.match(outcome.kind === 'refusal' ? outcome.message : '', message)
}

export function describeMembers(name: string, openStore: OpenStore): void {
  describe(name, () => {
    const clock = new ManualClock()
    let operator: OperationContext
    let close: () => Promise<void>
    let count = 0

    before(async () => {
      const opened = await openStore()
      operator = contextOn(opened.database, {
        actor: 'cli:ada',
        clock,
        mailing: mailingInto([]),
      })
      close = () => opened.close()
    })
    after(() => close())

    /** An account with an owner, and the context in which the owner acts. */
    async function open() {
      const account = `acme-${++count}`
      const { id: accountId } = await createAccount(operator, { name: account })
      const owner = await inviteMember(operator, { account, email: `owner-${count}@acme.example` })
      return { account, accountId, owner, asOwner: acting(owner.id, accountId, 'owner') }
    }

    function acting(id: string, accountId: string, role: 'owner' | 'member'): OperationContext {
      return { ...operator, actor: id, member: { id, accountId, role } }
    }

    async function addMember(account: string) {
      const email = `ann-${++count}@acme.example`
      return inviteMember(operator, { account, email, role: 'member' })
    }

    describe('an invitation', () => {
      it('is mailed in the language of the account, without a secret', async () => {
        const mails: Mail[] = []
        const context = { ...operator, mailing: mailingInto(mails) }
        for (const [language, words] of [
          ['en', 'You are invited to the account'],
          ['zh-CN', '您受邀加入 Acme AI 的账户'],
        ] as const) {
          const name = `in ${language}`
          await createAccount(operator, { name, language })
          const invited = valueOf(
            await invite(context, { account: name, email: ' Ann@ACME.example' }),
          )
          assert.deepEqual(
            [invited.email, invited.role, invited.state, invited.mail_problem],
            ['ann@acme.example', 'owner', 'invited', null],
          )
          const mail = mails.pop()
          assert.equal(mail?.to, 'ann@acme.example')
          assert.ok(mail.text.includes(words) && mail.text.includes(name))
          assert.ok(mail.text.includes('https://gateway.example/account/?view=sign-in\n'))
        }
      })

      it('is refused where the settings for mail are missing, and names them', async () => {
        const { account } = await open()
        const mailing = { kind: 'missing', settings: ['smtp', 'smtp_from'] } as const
        const refused = await invite(
          { ...operator, mailing },
          { account, email: 'new@acme.example', role: 'member' },
        )
        assertRefused(refused, /the settings smtp and smtp_from are missing/)
        assert.equal(valueOf(await listMembers(operator, { account })).items.length, 1)
      })

      it('that could not be mailed says why, and can be repeated', async () => {
        const { account } = await open()
        const failing = {
          ...mailingInto([]),
          send: () =>
            Promise.resolve({ kind: 'failed', reason: 'the mail server is away', isFinal: false }),
        } as unknown as OperationContext['mailing'] & object
        const input = { account, email: 'late@acme.example', role: 'member' } as const
        const first = valueOf(await invite({ ...operator, mailing: failing }, input))
        assert.equal(first.mail_problem, 'the mail server is away')
        const second = valueOf(await invite(operator, input))
        assert.deepEqual([second.id, second.mail_problem], [first.id, null])
      })

      it('by an owner is repeated once an hour, and reaches 50 people a day', async () => {
        const { account, asOwner } = await open()
        const email = 'again@acme.example'
        const repeat = () => invite(asOwner, { account, email, role: 'member' })
        valueOf(await repeat())
        assertRefused(await repeat(), /less than an hour ago/)
        clock.advance(3_600_000)
        valueOf(await repeat())
        for (let index = 0; index < 48; index++)
          valueOf(await invite(asOwner, { account, email: `p${index}@x.example`, role: 'member' }))
        const one = { account, email: 'one-more@x.example', role: 'member' }
        assertRefused(await invite(asOwner, one), /50 people were invited within a day/)
        clock.advance(86_400_000)
        valueOf(await invite(asOwner, one))
      })

      it('takes only what is an address, and no one twice', async () => {
        const { account, owner } = await open()
        for (const email of [
          '',
          'ann',
          'ann@',
          'a@b\nbcc: x@y.example',
          `${'a'.repeat(250)}@b.example`,
        ])
          assertRefused(await invite(operator, { account, email }), /must be an e-mail address/)
        const twice = await invite(operator, { account, email: owner.email, role: 'member' })
        assertRefused(twice, /has the role owner in this account already/)
        assertRefused(
          await invite(operator, { account: 'none', email: 'a@b.example' }),
          /no account/,
        )
      })
    })

    describe('removing', () => {
      it('ends the sessions, and revokes the keys or hands them over', async () => {
        const { account, accountId, owner, asOwner } = await open()
        for (const [keys, state, ownerOfKey] of [
          ['revoke', 'revoked', undefined],
          ['keep', 'active', owner.id],
        ] as const) {
          const { id } = await addMember(account)
          const asMember = acting(id, accountId, 'member')
          const { key } = await createClientKey(asMember, { account, name: keys })
          assert.equal(key.member_id, id)
          const { session } = await operator.database.transact((transaction) =>
            addSession(transaction, memberSessions, { ownerId: id, nowMs: clock.now() }),
          )
          const removed = valueOf(await removeMember(asOwner, { member: id, keys }))
          assert.equal(removed.keys_revoked + removed.keys_kept, 1)
          const listed = await listAccountKeys(operator, { account, kind: 'client' })
          const after = listed.find((one) => one.id === key.id)
          assert.deepEqual([after?.state, after?.member_id], [state, ownerOfKey ?? id])
          assert.equal(await memberSessions.find(operator.database, session.idHash), undefined)
          assertRefused(await removeMember(asOwner, { member: id }), /no member/)
          const actions = await recentActions(operator)
          const action = actions.find((one) => one.action === 'member.remove')
          assert.deepEqual([action?.actor, action?.subject], [owner.id, id])
        }
      })

      it('leaves an owner, but an operator may remove the last one', async () => {
        const { account, accountId, owner, asOwner } = await open()
        assertRefused(await removeMember(asOwner, { member: owner.id }), /last owner/)
        assertRefused(await editMember(asOwner, { member: owner.id, role: 'member' }), /last owner/)
        const { id } = await addMember(account)
        valueOf(await editMember(asOwner, { member: id, role: 'owner' }))
        valueOf(await removeMember(asOwner, { member: owner.id }))
        const asSecond = acting(id, accountId, 'owner')
        assertRefused(await removeMember(asSecond, { member: id }), /last owner/)
        const { key } = await createClientKey(asSecond, { account })
        valueOf(await removeMember(operator, { member: id, keys: 'keep' }))
        const [kept] = await listAccountKeys(operator, { account, kind: 'client' })
        assert.deepEqual([kept?.id, kept?.state, kept?.member_id], [key.id, 'active', null])
        valueOf(await invite(operator, { account, email: owner.email }))
      })

      it('reaches no member of another account', async () => {
        const { asOwner } = await open()
        const other = await open()
        for (const attempt of [
          removeMember(asOwner, { member: other.owner.id }),
          editMember(asOwner, { member: other.owner.id, role: 'member' }),
        ])
          assertRefused(await attempt, /^There is no member with the id/)
      })
    })

    describe('keys of members', () => {
      it('are at most 20 that may be used, whoever makes them at once', async () => {
        const { account, accountId, owner } = await open()
        const { id } = await addMember(account)
        const made = await Promise.all(
          Array.from({ length: 22 }, (_, index) => {
            const [who, role] =
              index % 2 === 0 ? ([owner.id, 'owner'] as const) : ([id, 'member'] as const)
            return create(acting(who, accountId, role), { account })
          }),
        )
        const done = made.filter((outcome) => outcome.kind === 'done')
        assert.equal(done.length, 20)
        for (const refused of made.filter((outcome) => outcome.kind === 'refusal'))
          assertRefused(refused, /have 20 keys already/)
        await createClientKey(operator, { account })
        await revokeKey(operator, { kind: 'client', id: done[0]?.value.key.id ?? '' })
        valueOf(await create(acting(id, accountId, 'member'), { account }))
      })

      it('have no limit that is wider than that of the account', async () => {
        const name = `narrow-${++count}`
        const limits = { daily_usd: '10', monthly_usd: '100', rpm: 60, tpm: 1_000 }
        const { id: accountId } = await createAccount(operator, { name, ...limits })
        const asOwner = acting('mem_any', accountId, 'owner')
        for (const wider of [
          { daily_usd: '10.01' },
          { monthly_usd: '101' },
          { rpm: 61 },
          { tpm: 1_001 },
        ])
          assertRefused(
            await create(asOwner, { account: name, ...wider }),
            /the limit of the account/,
          )
        valueOf(await create(asOwner, { account: name, ...limits }))
        valueOf(await create(operator, { account: name, rpm: 61 }))
      })

      it('are rotated in place: the id and the limits stay, the secret does not', async () => {
        const { account, asOwner } = await open()
        const { key, secret } = await createClientKey(asOwner, { account, total_usd: '5' })
        const rotated = valueOf(await rotateKey(asOwner, { id: key.id }))
        assert.notEqual(rotated.secret, secret)
        assert.deepEqual({ ...rotated.key, head: key.head }, key)
        await revokeKey(operator, { kind: 'client', id: key.id })
        assertRefused(await rotateKey(asOwner, { id: key.id }), /is revoked/)
      })
    })
  })
}
