/**
 * Schemathesis sends every endpoint what the OpenAPI document allows and what it does not, with all of its
 * checks, and finds nothing. JSON Schema cannot say everything about valid input, such as what a catalogue
 * contains: python/admin_api_hooks.py completes it. Only the token of the run itself is never revoked.
 */
import assert from 'node:assert/strict'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createAdminToken } from '../support/operations.ts'
import { scenario, type Scenario } from '../support/scenario.ts'
import { openWorld, type World } from '../api/world.ts'
import { allEndpoints } from '../../src/operations/all-endpoints.ts'
import { catalogueEndpoints } from '../../src/operations/catalogue/endpoints.ts'
import { runChild } from './support/child.ts'
import { preparePython } from './support/python.ts'

const environment = await preparePython('schemathesis')
if (environment.kind === 'ready')
  describe('schemathesis', () => describeProgram(environment.python))
else process.stdout.write(`not run: schemathesis, because ${environment.reason}\n`)

function describeProgram(python: string): void {
  let gateway: Scenario
  let world: World

  before(async () => {
    gateway = await scenario({
      settings: { max_failed_sign_ins: '0', api_credential_variables: 'ALPHA_MAIN_KEY' },
    })
    world = await openWorld(gateway)
  })
  after(() => gateway.close())

  test('finds nothing in the admin API', async () => {
    const { key, secret } = await createAdminToken(gateway.context, { name: 'schemathesis' })
    const existing = await realizeExamples(world)
    const { code, stdout, stderr } = await runChild({
      command: join(dirname(python), 'schemathesis'),
      args: [
        '--config-file',
        join(import.meta.dirname, 'python', 'schemathesis.toml'),
        'run',
        `${gateway.adminUrl}/admin/v1/openapi.json`,
        '--header',
        `Authorization: Bearer ${secret}`,
        '--phases',
        'examples,coverage,fuzzing',
        '--max-examples',
        '8',
        // Its answer never ends; test/api/events.test.ts reads it.
        '--exclude-path-regex',
        '/events$',
        '--checks',
        'all',
        '--seed',
        '1',
        '--generation-database',
        'none',
        '--continue-on-failure',
      ],
      env: {
        PATH: '/usr/bin:/bin',
        HOME: gateway.folder,
        SCHEMATHESIS_HOOKS: join(import.meta.dirname, 'python', 'admin_api_hooks.py'),
        OWN_TOKEN_ID: key.id,
        EXISTING: JSON.stringify(existing),
        CATALOGUE: String(catalogueEndpoints.apply.example['text']),
      },
      cwd: gateway.folder,
      timeoutMs: 900_000,
    })
    assert.equal(code, 0, `${stdout}\n${stderr}`)
    const [, count] = /(\d+) generated, \1 passed/.exec(stdout) ?? []
    assert.ok(Number(count) > 2_000, stdout)
  })
}

/** Returns the ids of examples, each with one that exists. */
async function realizeExamples(world: World): Promise<Record<string, string>> {
  const existing: Record<string, string> = {}
  for (const row of allEndpoints)
    for (const [field, value] of Object.entries(await world.realize(row)))
      if (row.path.includes(`{${field}}`)) existing[String(row.example[field])] = String(value)
  return existing
}
