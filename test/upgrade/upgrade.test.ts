/** Upgrades of stores on SQLite. */
import { join } from 'node:path'
import { loadSqlite } from './kept-store.ts'
import { describeUpgrades } from './upgrade-conformance.ts'

describeUpgrades('an embedded store of a released version', async (version, folder) => {
  const path = join(folder, 'turnpike.db')
  loadSqlite(version, path)
  return Promise.resolve(`sqlite:${path}`)
})
