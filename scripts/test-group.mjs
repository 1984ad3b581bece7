/**
 * Runs test files one after the other in this process: most of the time of a small file would be the start of a
 * process. The hooks of a file are its own, as if it ran alone. The reporter does not count the test around a file.
 */
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'

for (const file of process.argv.slice(2)) await test(file, () => import(pathToFileURL(file).href))
