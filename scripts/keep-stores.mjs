/**
 * `node scripts/run.mjs keep-stores`: writes the stores of this version to test/upgrade/stores, which the
 * tests of later versions migrate. Once, for a release: docs/releases.md says when.
 */
import { keepStores } from '../test/upgrade/keep-stores.ts'

for (const path of await keepStores()) process.stdout.write(`${path}\n`)
