/**
 * A process that replaces the credential of a channel and kills itself at a step of the save, for crash
 * tests. The steps are the statements that write, the commit, and the moment after it.
 */
import { systemClock } from '../../src/base/clock.ts'
import { Secret } from '../../src/base/secret.ts'
import { contextOn } from '../../src/operations/context.ts'
import { replaceCredential } from '../../src/operations/channels/replace-credential.ts'
import { valueOf } from '../../src/operations/operation.ts'
import type { Database, Transaction } from '../../src/storage/database.ts'
import { openStore } from '../../src/storage/open.ts'

const [url, channel, credential, killedAt] = process.argv.slice(2)
if (url === undefined || channel === undefined) throw new Error('usage: STORE CHANNEL SECRET STEP')

let stepsDone = 0
function step(): void {
  if (++stepsDone === Number(killedAt)) process.kill(process.pid, 'SIGKILL')
}

const database = await openStore(url)
const stepwise: Database = {
  dialect: database.dialect,
  query: (sql, parameters) => database.query(sql, parameters),
  snapshot: (work) => database.snapshot(work),
  close: () => database.close(),
  async transact(work) {
    const result = await database.transact(async (transaction) => {
      const counted: Transaction = {
        isTransaction: true,
        script: (sql) => transaction.script(sql),
        query(sql, parameters) {
          if (!sql.trimStart().startsWith('SELECT')) step()
          return transaction.query(sql, parameters)
        },
      }
      const done = await work(counted)
      step()
      return done
    })
    step()
    return result
  },
}
const context = contextOn(stepwise, {
  actor: 'test',
  clock: systemClock,
  masterKey: () => new Secret('5'.repeat(64)),
})
valueOf(await replaceCredential(context, { channel, credential, force: true }))
await database.close()
