/**
 * Top-up codes on PostgreSQL: the conformance suite, then fifty redeems of one code at once over two nodes,
 * and connections that break at each moment of a commit. Goal: each code is one credit, and a client that
 * tries again learns so.
 */
/* oxlint-disable typescript/no-floating-promises -- the test runner waits for its tests by itself */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createCodes } from '../../src/operations/codes/codes.ts'
import { redeemCode } from '../../src/operations/codes/redeem.ts'
import { contextOn } from '../../src/operations/context.ts'
import { valueOf, type OperationContext } from '../../src/operations/operation.ts'
import { parsePostgresUrl } from '../../src/storage/location.ts'
import { openPostgres } from '../../src/storage/postgres/postgres.ts'
import { describeCodes } from '../storage/codes-conformance.ts'
import { findDifferences } from '../storage/ledger-harness.ts'
import { openPostgresHarness, type PostgresHarness } from '../storage/postgres-harness.ts'
import { startFaultProxy, type FaultProxy, type Moment } from '../support/fault-proxy.ts'
import { createAccount } from '../support/operations.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.close())

describeCodes('top-up codes on PostgreSQL', async () =>
  openPostgresHarness(await server.createDatabase()),
)

interface Node {
  readonly context: OperationContext
  readonly proxy: FaultProxy
  close(): Promise<void>
}

describe('two nodes on one PostgreSQL', () => {
  let harness: PostgresHarness
  let nodes: readonly Node[]
  let accountId: string

  const openNode = async (storeUrl: string): Promise<Node> => {
    const proxy = await startFaultProxy(server)
    const url = new URL(storeUrl)
    url.port = String(proxy.port)
    const database = await openPostgres(parsePostgresUrl(url.href), { connectionsMax: 4 })
    const context = contextOn(database, { clock: harness.clock, actor: 'mem_1' })
    const close = async (): Promise<void> => {
      await database.close()
      await proxy.close()
    }
    return { context, proxy, close }
  }
  const makeCodes = async (count: number): Promise<readonly string[]> =>
    valueOf(await createCodes(nodeOf(0).context, { amount_usd: '2', count })).codes
  const nodeOf = (index: number): Node => {
    const node = nodes[index % nodes.length]
    assert.ok(node !== undefined)
    return node
  }
  const countCredits = async (): Promise<number> => {
    const sql = "SELECT COUNT(*) AS credits FROM entry WHERE reference LIKE 'code:%'"
    return Number((await harness.database.query(sql))[0]?.['credits'])
  }

  before(async () => {
    const storeUrl = await server.createDatabase()
    harness = await openPostgresHarness(storeUrl)
    nodes = [await openNode(storeUrl), await openNode(storeUrl)]
    accountId = (await createAccount(nodeOf(0).context, { name: 'acme' })).id
  })
  after(async () => {
    for (const node of nodes) await node.close()
    await harness.close()
  })

  test('fifty redeems at once of one code are one credit', async () => {
    const [code = ''] = await makeCodes(1)
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        redeemCode(nodeOf(index).context, { accountId, code }),
      ),
    )
    assert.equal(outcomes.filter((outcome) => !valueOf(outcome).repeated).length, 1)
    assert.equal(await countCredits(), 1)
    assert.deepEqual(await findDifferences(harness.database), [])
  })

  for (const pattern of ['UPDATE code', 'INSERT INTO entry', 'COMMIT'])
    for (const moment of ['before', 'after', 'answered'] as const satisfies readonly Moment[])
      test(`a node that loses its store at ${pattern}, ${moment}: the next try finds one credit`, async () => {
        const [code = ''] = await makeCodes(1)
        const before = await countCredits()
        const cut = nodeOf(0).proxy.cutNext({ direction: 'to_server', pattern, moment })
        // It may find out by itself that nothing was committed, and go on.
        await redeemCode(nodeOf(0).context, { accountId, code }).catch(() => undefined)
        await cut
        valueOf(await redeemCode(nodeOf(1).context, { accountId, code }))
        assert.ok(valueOf(await redeemCode(nodeOf(0).context, { accountId, code })).repeated)
        assert.equal(await countCredits(), before + 1)
        assert.deepEqual(await findDifferences(harness.database), [])
      })
})
