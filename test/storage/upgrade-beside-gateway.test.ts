/**
 * A command of a new version beside a gateway of an earlier one, on an embedded store. The earlier gateway
 * would charge without the figures of the new schema, so the command changes nothing.
 */
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { migrate, schemaVersion } from '../../src/storage/migrate.ts'
import { bringUpToDate, openStore } from '../../src/storage/open.ts'
import { lockStore } from '../../src/storage/sqlite/lock.ts'
import { makeFolder } from './embedded-harness.ts'

const shipped = join(import.meta.dirname, '../../src/storage/migrations/sqlite')
const olderVersion = 17

test('a command leaves the schema to a gateway of an earlier version that runs', async (t) => {
  const folder = makeFolder()
  const path = join(folder.path, 'store.db')
  const database = await openStore(`sqlite:${path}`)
  t.after(async () => {
    await database.close()
    folder.remove()
  })
  mkdirSync(join(folder.path, 'sqlite'))
  for (const name of readdirSync(shipped))
    if (Number(name.slice(0, 3)) <= olderVersion)
      cpSync(join(shipped, name), join(folder.path, 'sqlite', name))
  await migrate(database, folder.path)

  const gateway = lockStore(path)
  await assert.rejects(bringUpToDate(`sqlite:${path}`, database), {
    code: 'operations.conflict',
    message: /gateway of an earlier version serves the store .*Nothing was changed/,
  })
  assert.equal(await schemaVersion(database, 'sqlite'), olderVersion)
  gateway.close()

  const { version } = await bringUpToDate(`sqlite:${path}`, database)
  assert.ok(version > olderVersion)
  // From now on a gateway may run beside commands, as it has this schema.
  const newGateway = lockStore(path)
  assert.deepEqual((await bringUpToDate(`sqlite:${path}`, database)).applied, [])
  newGateway.close()
})
