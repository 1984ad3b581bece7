/** What runs here: the program's version and commit, its Node, and the schema of the store. */
import { z } from 'zod'
import { thisBuild } from '../../base/build.ts'
import { schemaVersion } from '../../storage/migrate.ts'
import { operation } from '../operation.ts'

export const showVersion = operation(z.strictObject({}), async ({ database }) => ({
  ...thisBuild(),
  node: process.versions.node,
  schema_version: await schemaVersion(database, database.dialect),
}))
