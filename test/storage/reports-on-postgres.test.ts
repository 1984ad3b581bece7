/** Reports mean the same on PostgreSQL. */
import { after, before } from 'node:test'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { describeChannelTraffic } from './channel-traffic-conformance.ts'
import { describeLabels } from './labels-conformance.ts'
import { openPostgresHarness, type PostgresHarness } from './postgres-harness.ts'
import { describeReportHours } from './report-hours-conformance.ts'
import { describeReports } from './reports-conformance.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.close())

const open = async () => openPostgresHarness(await server.createDatabase())
describeReports('reports on PostgreSQL', open)
describeReportHours('hours in the overview on PostgreSQL', open)
describeChannelTraffic('traffic of channels on PostgreSQL', open)

let harness: PostgresHarness
const openLabels = async () => (harness = await open())
describeLabels('labels on PostgreSQL', openLabels, () => harness.openNode())
