/** The running program: its version and commit, its Node, and the schema of the store. */
import { z } from 'zod'
import { thisBuild } from '../../base/build.ts'
import { schemaVersion } from '../../storage/migrate.ts'
import { noInput, operation } from '../operation.ts'

const versionForm = z.strictObject({
  version: z.string(),
  commit: z.string().nullable().meta({ description: 'Null = not known.' }),
  date: z.string().nullable().meta({ description: 'Day of the commit.' }),
  node: z.string().meta({ description: 'Version of Node.' }),
  schema_version: z.int().meta({
    description: 'Version of the schema: of its newest migration, or 1 where it has none.',
  }),
})

export const showVersion = operation(
  { input: noInput, answer: versionForm },
  async ({ database }) => ({
    ...thisBuild(),
    node: process.versions.node,
    schema_version: await schemaVersion(database, database.dialect),
  }),
)
