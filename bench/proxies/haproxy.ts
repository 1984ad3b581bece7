/** haproxy as a second plain relay beside nginx: one thread, kept-alive connections. */
import { writeFileSync } from 'node:fs'
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
