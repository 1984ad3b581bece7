/** A process that has a PostgreSQL and is killed, to see that its server does not outlive it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startPostgres } from './postgres.ts'

const { folder } = await startPostgres()
const [pid] = readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')
process.send?.({ folder, pid: Number(pid) })
