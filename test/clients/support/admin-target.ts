/** The admin API as schemathesis calls it: one caller for each role, and those who are no operators. */
import { adminRoles, type AdminRole } from '../../../src/access/key.ts'
import { allEndpoints, allRows } from '../../../src/operations/all-endpoints.ts'
import { catalogueEndpoints } from '../../../src/operations/catalogue/endpoints.ts'
import { openWorld, type World } from '../../api/world.ts'
import { createAdminToken } from '../../support/operations.ts'
import { scenario, type Scenario } from '../../support/scenario.ts'
import type { Caller, SchemathesisTarget } from './schemathesis.ts'

export interface OpenTarget {
  readonly target: SchemathesisTarget
  close(): Promise<void>
}

/** Whose tokens may call a row with this least role. */
const holders: Readonly<Record<'viewer' | 'operator' | 'owner', readonly AdminRole[]>> = {
  viewer: ['viewer', 'operator', 'owner'],
  operator: ['operator', 'owner'],
  owner: ['owner'],
}

export async function openAdminTarget(): Promise<OpenTarget> {
  const gateway = await scenario({
    settings: { max_failed_sign_ins: '0', api_credential_variables: 'ALPHA_MAIN_KEY' },
  })
  try {
    return { target: await describeTarget(gateway), close: () => gateway.close() }
  } catch (error) {
    await gateway.close()
    throw error
  }
}

async function describeTarget(gateway: Scenario): Promise<SchemathesisTarget> {
  const world = await openWorld(gateway)
  const tokens = new Map<AdminRole, { readonly id: string; readonly secret: string }>()
  for (const role of adminRoles) {
    const { key, secret } = await createAdminToken(gateway.context, { name: role, role })
    tokens.set(role, { id: key.id, secret })
  }
  const owner = bearer(tokens.get('owner')?.secret ?? '')
  const isOpen = (row: (typeof allRows)[number]): boolean =>
    'session' in row && (row.session === 'begins' || row.method === 'GET')
  const forAll = allRows.filter(isOpen).map(({ id }) => id)
  const rightsOf = (role: AdminRole): readonly string[] =>
    allRows
      .filter((row) =>
        role === 'credits' ? row.isForCredits === true : holders[row.role].includes(role),
      )
      .map(({ id }) => id)
  const caller = (headers: Caller['headers'], may: readonly string[]): Caller => ({
    headers,
    may: [...may, ...forAll],
    skips: [],
  })
  const roles = [...tokens].filter(([role]) => role !== 'owner')
  const { account } = gateway
  return {
    document: `${gateway.adminUrl}/admin/v1/openapi.json`,
    url: gateway.adminUrl,
    hooks: 'admin_api_hooks',
    headers: owner,
    callers: [
      {
        ...Object.fromEntries(
          roles.map(([role, { secret }]) => [role, caller(bearer(secret), rightsOf(role))]),
        ),
        'no credential': caller({}, []),
        key: caller(bearer(account.key), []),
        reader: caller(bearer(account.token), []),
      },
    ],
    // Its answer never ends; test/api/events.test.ts reads it.
    excludedPaths: '/events$',
    env: {
      PROTECTED: JSON.stringify([...tokens.values()].map(({ id }) => id)),
      EXISTING: JSON.stringify(await realizeExamples(world)),
      CATALOGUE: String(catalogueEndpoints.apply.example['text']),
    },
    folder: gateway.folder,
  }
}

export function bearer(secret: string): Record<string, string> {
  return { Authorization: `Bearer ${secret}` }
}

/** Returns the ids of examples, each with one that exists. */
async function realizeExamples(world: World): Promise<Record<string, string>> {
  const existing: Record<string, string> = {}
  for (const row of allEndpoints)
    for (const [field, value] of Object.entries(await world.realize(row)))
      if (row.path.includes(`{${field}}`)) existing[String(row.example[field])] = String(value)
  return existing
}
