/**
 * `npm run test:fuzz`: fuzzes for `--minutes=N` of processor time, 10 without it, divided among the targets,
 * or `--only=NAME` one of them. The seed is new each time and printed; `SEED=N` takes that one.
 */
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { explore, runCorpus } from './engine.ts'
import { closeFuzzStore } from './store.ts'
import { targets } from './targets.ts'

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, only: { type: 'string' } },
})
const asked = process.env['SEED']
const seed = asked === undefined || asked === '' ? randomInt(2 ** 31) : Number(asked)
const chosen = targets.filter(({ name }) => values.only === undefined || name === values.only)
const microsEach = (Number(values.minutes) * 60_000_000) / chosen.length

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

function processorMicros(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

if (chosen.length === 0 || !(microsEach > 0)) {
  print(`--only takes one of: ${targets.map(({ name }) => name).join(', ')}; --minutes a number`)
  process.exit(2)
}
print(`the seed is ${seed}`)
for (const target of chosen) {
  const endMicros = processorMicros() + microsEach
  try {
    await runCorpus(target)
    const { runs, kept } = await explore(target, seed, () => processorMicros() < endMicros)
    print(`${target.name}: ${runs} inputs; ${kept} of them reached new code; no promise is broken`)
  } catch (error) {
    print(error instanceof Error ? error.message : String(error))
    process.exitCode = 1
  }
}
await closeFuzzStore()
