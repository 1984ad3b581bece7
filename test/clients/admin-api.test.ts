/**
 * Schemathesis sends what the OpenAPI document allows and what it does not, and finds nothing. One of its
 * checks is left out: that every input which fits the schema is accepted. JSON Schema cannot say what a
 * catalogue, a cursor or a price list may contain.
 */
import assert from 'node:assert/strict'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createAdminToken } from '../support/operations.ts'
import { scenario, type Scenario } from '../support/scenario.ts'
import { openWorld } from '../api/world.ts'
import { runChild } from './support/child.ts'
import { preparePython } from './support/python.ts'

const environment = await preparePython('schemathesis')
if (environment.kind === 'ready')
  describe('schemathesis', () => describeProgram(environment.python))
else process.stdout.write(`not run: schemathesis, because ${environment.reason}\n`)

/** They wait for vendors, or read the whole store. */
const slowCalls = '/(check|audits|doctor|test)$'
/** A revoked token would end the run. */
const ownToken = '/admin-tokens/'

function describeProgram(python: string): void {
  let gateway: Scenario

  before(async () => {
    gateway = await scenario({
      settings: { max_failed_sign_ins: '0', api_credential_variables: 'ALPHA_MAIN_KEY' },
    })
    await openWorld(gateway)
  })
  after(() => gateway.close())

  test('finds nothing in the admin API', async () => {
    const { secret } = await createAdminToken(gateway.context, { name: 'schemathesis' })
    const { code, stdout, stderr } = await runChild({
      command: join(dirname(python), 'schemathesis'),
      args: [
        'run',
        `${gateway.adminUrl}/admin/v1/openapi.json`,
        '--header',
        `Authorization: Bearer ${secret}`,
        '--phases',
        'examples,coverage,fuzzing',
        '--max-examples',
        '8',
        '--checks',
        'all',
        '--exclude-checks',
        'positive_data_acceptance',
        '--exclude-path-regex',
        `${slowCalls}|${ownToken}`,
        '--continue-on-failure',
      ],
      env: { PATH: '/usr/bin:/bin', HOME: gateway.folder },
      cwd: gateway.folder,
      timeoutMs: 240_000,
    })
    assert.equal(code, 0, `${stdout}\n${stderr}`)
    const [, count] = /(\d+) generated, \1 passed/.exec(stdout) ?? []
    assert.ok(Number(count) > 500, stdout)
  })
}
