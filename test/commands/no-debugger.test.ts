/**
 * SIGUSR1 opens Node's debugger on loopback, where every user of the machine can connect and read
 * every key in memory. Goal: a gateway that gets the signal serves on, and no debugger listens. Node's own
 * options stay the operator's.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { it } from 'node:test'
import { send } from '../support/http-client.ts'
import { openProgram } from '../support/program.ts'

it('opens no debugger on SIGUSR1 and keeps serving', async (t) => {
  const port = await findFreePort()
  const program = await openProgram({ NODE_OPTIONS: `--inspect-port=127.0.0.1:${port}` })
  t.after(() => program.close())
  const serving = await program.serve()
  process.kill(serving.pid, 'SIGUSR1')
  // As many turns as a debugger needs to come up many times over.
  for (let count = 0; count < 200; count++) await send(`${serving.url}/health`)
  assert.equal(await reach(port), 'ECONNREFUSED')
  assert.equal(await serving.stop(), 0)
  assert.doesNotMatch(serving.errors(), /Debugger/)
})

it('opens no debugger under npm start', async () => {
  const runtime = join(import.meta.dirname, '../../scripts/runtime.mjs')
  const code = `import { runNode } from ${JSON.stringify(runtime)}
    await runNode(['-p', 'JSON.stringify(process.execArgv)'])`
  const out = await new Promise<string>((resolve, reject) => {
    execFile(process.execPath, ['--input-type=module', '-e', code], (fault, text) =>
      fault === null ? resolve(text) : reject(fault),
    )
  })
  assert.ok((JSON.parse(out) as string[]).includes('--disable-sigusr1'), out)
})

function reach(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve('connected')
    })
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
  })
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
