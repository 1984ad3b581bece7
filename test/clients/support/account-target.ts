/**
 * What the holder of an account calls, as schemathesis calls it: the figures with a read-only token, the
 * member API as owner and as member, and both as those who have no right to them.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createCodes } from '../../../src/operations/codes/codes.ts'
import { exampleNames } from '../../../src/operations/endpoint.ts'
import { ownCalls } from '../../../src/operations/members/own-endpoints.ts'
import { valueOf } from '../../../src/operations/operation.ts'
import { post } from '../../support/http-client.ts'
import { publicUrl } from '../../support/member-browser.ts'
import { inviteMember, openMemberSession } from '../../support/members.ts'
import { createAdminToken, createClientKey, createReaderToken } from '../../support/operations.ts'
import { messagesRequest } from '../../support/requests.ts'
import { scenario, type Scenario } from '../../support/scenario.ts'
import { startStripeStandIn } from '../../support/stripe-stand-in.ts'
import { accountDocument } from './account-document.ts'
import { bearer, type OpenTarget } from './admin-target.ts'
import type { Caller, SchemathesisTarget } from './schemathesis.ts'

/** They end sessions: the run goes on with its own. */
const ending: readonly string[] = [ownCalls.end.id, 'own.endSessions']

export async function openAccountTarget(accounts: number): Promise<OpenTarget> {
  const stripe = await startStripeStandIn()
  const gateway = await scenario({
    settings: {
      max_failed_sign_ins: '0',
      public_url: publicUrl,
      sign_up: 'open',
      // No server is there: an invitation says so, and the member is made.
      smtp: 'smtp://127.0.0.1:9',
      smtp_from: 'turnpike@example.com',
      stripe_secret_key: 'sk_test_of_this_test',
      stripe_webhook_secret: 'whsec_of_this_test',
      stripe_url: stripe.url,
    },
  })
  const close = async (): Promise<void> => {
    await gateway.close()
    stripe.close()
  }
  try {
    return { target: await describeTarget(gateway, accounts), close }
  } catch (error) {
    await close()
    throw error
  }
}

async function describeTarget(gateway: Scenario, accounts: number): Promise<SchemathesisTarget> {
  const { context, folder, url } = gateway
  const groups = await Promise.all(Array.from({ length: accounts }, () => openGroup(gateway)))
  const leaver = await addPerson(gateway, gateway.account.name, 'owner')
  const admin = await createAdminToken(context, { role: 'owner' })
  const { codes } = valueOf(await createCodes(context, { amount_usd: '1', count: 200 }))
  const described = accountDocument(exampleNames.request)
  const file = join(folder, 'account-api.json')
  await writeFile(file, JSON.stringify(described.document))
  const { forAll, forMembers, forOwners, usage } = described
  const caller = (headers: Caller['headers'], may: readonly string[]): Caller => ({
    headers,
    may,
    skips: may.filter((id) => ending.includes(id)),
  })
  return {
    document: file,
    url,
    hooks: 'account_api_hooks',
    headers: {},
    callers: groups.map(({ owner, member, reader, key }) => ({
      owner: caller(owner.headers, [...forAll, ...forMembers, ...forOwners]),
      member: caller(member.headers, [...forAll, ...forMembers]),
      reader: caller(bearer(reader), usage),
      key: caller(bearer(key.secret), []),
      'admin token': caller(bearer(admin.secret), []),
      'no credential': caller({}, forAll),
    })),
    env: {
      PROTECTED: JSON.stringify([
        leaver.id,
        ...groups.flatMap((one) => [one.owner.id, one.member.id]),
      ]),
      EXISTING: JSON.stringify(
        groups.map(({ key, anotherId, request }) => ({
          [exampleNames.request]: request,
          [exampleNames.key]: key.id,
          [exampleNames.member]: anotherId,
        })),
      ),
      CODES: JSON.stringify(codes),
      LEAVER: JSON.stringify(leaver.headers),
    },
    folder,
  }
}

/** The callers of one account. */
async function openGroup(gateway: Scenario) {
  const { context } = gateway
  const { name } = await gateway.createAccount()
  const { key, secret } = await createClientKey(context, { account: name })
  const email = `another@${name}.example`
  await gateway.app.refresh()
  const answer = await post(`${gateway.url}/alpha/v1/messages`, secret, messagesRequest())
  return {
    request: String(answer.headers['x-turnpike-request-id']),
    owner: await addPerson(gateway, name, 'owner'),
    member: await addPerson(gateway, name, 'member'),
    reader: (await createReaderToken(context, { account: name })).secret,
    key: { id: key.id, secret },
    anotherId: (await inviteMember(context, { account: name, email })).id,
  }
}

interface Person {
  readonly id: string
  readonly headers: Caller['headers']
}

async function addPerson(
  { context, url }: Scenario,
  account: string,
  role: 'owner' | 'member',
): Promise<Person> {
  const { id } = await inviteMember(context, { account, email: `${role}@${account}.example`, role })
  const { cookies } = await openMemberSession(context, url, id)
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  return {
    id,
    headers: {
      Cookie: cookie,
      Origin: publicUrl,
      'Content-Type': 'application/json',
      'Sec-Fetch-Site': 'same-origin',
      'X-Turnpike-Account': 'user',
    },
  }
}
