/**
 * A process that runs commands one after the other, with the program's modules loaded once; command-hosts.ts
 * starts it. Each command has its folder, its environment, its words and the real streams of this process.
 * It has ended when the process of a single command would have: when nothing keeps the event loop busy. What
 * would stay behind for the next command, such as a signal handler, ends this process in place of it.
 */
import { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { setImmediate as turn } from 'node:timers/promises'
import { runProgram } from '../../src/cli/program.ts'
import type { HostedCommand } from './command-hosts.ts'

/** The exit code of a process whose top level waits for what never comes. */
const unsettledExitCode = 13
/** In which what a command has closed goes away. */
const turnsMax = 10

const streams = [process.stdout, process.stderr]
const openAtRest = process.getActiveResourcesInfo().length
const orders = new Socket({ fd: 3 })
let running: { readonly mark: string; hasReturned: boolean } | undefined

createInterface({ input: orders }).on('line', (line) => {
  void start(JSON.parse(line) as HostedCommand)
})
process.on('beforeExit', () => {
  if (running?.hasReturned === false) process.exit(unsettledExitCode)
  end(Number(process.exitCode ?? 0))
})
const listenersAtRest = countListeners()

async function start({ words, cwd, environment, mark }: HostedCommand): Promise<void> {
  const run = { mark, hasReturned: false }
  running = run
  process.chdir(cwd)
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, environment)
  orders.unref()
  const exitCode = await runProgram(words)
  run.hasReturned = true
  if (exitCode !== undefined) await exit(exitCode)
}

/** The process of a single command would be gone now, whatever is still open. */
async function exit(exitCode: number): Promise<void> {
  for (let turns = 0; process.getActiveResourcesInfo().length > openAtRest; turns++) {
    if (turns === turnsMax) process.exit(exitCode)
    await turn()
  }
  end(exitCode)
}

/** Reports the end on both streams and waits for the next command. */
function end(exitCode: number): void {
  if (running === undefined) return
  for (const stream of streams) stream.removeAllListeners('error')
  if (countListeners() !== listenersAtRest) process.exit(exitCode)
  const { mark } = running
  running = undefined
  process.exitCode = undefined
  process.chdir('/')
  orders.ref()
  for (const stream of streams) stream.write(`${mark}${exitCode}\n`)
}

function countListeners(): number {
  return process.eventNames().reduce((count, name) => count + process.listenerCount(name), 0)
}
