/**
 * The Portkey gateway from npm, on the same Node as Turnpike and in production mode, which its
 * results depend on. It relays only: no balance, no metering, no durable record.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { formatPaths } from '../exchanges.ts'
import { findFreePort } from '../processes.ts'
import type { Bench, Proxy } from './proxy.ts'

const program = 'bench/peers/node_modules/@portkey-ai/gateway/build/start-server.js'

export async function startPortkey(bench: Bench): Promise<Proxy> {
  const path = join(bench.root, program)
  if (!existsSync(path)) throw new Error('the peers are not installed; start with npm run bench')
  const port = await findFreePort()
  const running = bench.group.start({
    name: 'portkey',
    command: [process.execPath, path, `--port=${port}`, '--headless'],
    core: bench.cores.proxy,
    environment: { NODE_ENV: 'production' },
    output: 'log',
  })
  await bench.group.waitForPort(running, port)
  const headers = {
    authorization: 'Bearer bench-vendor-credential',
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `http://127.0.0.1:${bench.jsonPort}/v1`,
  }
  return {
    name: 'portkey',
    port,
    process: running,
    requests: [{ name: 'Portkey gateway', format: 'chat', path: formatPaths.chat, headers }],
  }
}
