/** Configures and starts the other peers, haproxy and the Portkey gateway. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatPaths } from '../exchanges.ts'
import { findFreePort } from '../processes.ts'
import type { Bench, Proxy } from './proxy.ts'

const configuration = (bench: Bench, port: number): string => `
global
  maxconn 8192
  nbthread 1
defaults
  mode http
  timeout connect 5s
  timeout client 600s
  timeout server 600s
  http-reuse always
  option http-no-delay
frontend clients
  bind 127.0.0.1:${port} backlog 4096
  use_backend streams if { path_beg /stream/ }
  default_backend json
backend json
  server json 127.0.0.1:${bench.jsonPort}
backend streams
  http-request replace-path /stream(/.*) \\1
  server streams 127.0.0.1:${bench.streamPort}
`

export async function startHaproxy(bench: Bench): Promise<Proxy> {
  const port = await findFreePort()
  const path = join(bench.workFolder, 'haproxy.cfg')
  writeFileSync(path, configuration(bench, port))
  const running = bench.group.start({
    name: 'haproxy',
    command: ['haproxy', '-q', '-db', '-f', path],
    core: bench.cores.proxy,
    output: 'log',
  })
  await bench.group.waitForPort(running, port)
  return {
    name: 'haproxy',
    port,
    process: running,
    requests: [{ name: 'haproxy', format: 'chat', path: formatPaths.chat, headers: {} }],
    stream: { path: `/stream${formatPaths.messages}`, headers: {} },
  }
}

const program = 'bench/peers/node_modules/@portkey-ai/gateway/build/start-server.js'

export async function startPortkey(bench: Bench): Promise<Proxy> {
  const path = join(bench.root, program)
  if (!existsSync(path))
    throw new Error('The peers are not installed. Start the benchmark with npm run bench.')
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
