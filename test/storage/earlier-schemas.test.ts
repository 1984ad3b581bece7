/** Embedded stores of every earlier schema, opened by this program. */
import { join } from 'node:path'
import { openSqlite } from '../../src/storage/sqlite/sqlite.ts'
import { describeUpgrades } from './earlier-schemas.ts'
import { makeFolder } from './embedded-harness.ts'

describeUpgrades('an embedded store', async () => {
  const folder = makeFolder()
  const database = openSqlite(join(folder.path, 'store.db'))
  return {
    database,
    async close() {
      await database.close()
      folder.remove()
    },
  }
})
