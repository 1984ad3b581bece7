/** Prints the OpenAPI document of the admin API: node scripts/print-openapi.mjs > docs/openapi.json */
import { buildDocument } from '../src/api/admin/openapi.ts'

process.stdout.write(`${JSON.stringify(buildDocument(), undefined, 2)}\n`)
