/**
 * Configures and starts nginx in two roles: as the vendor of the request measurements, which answers
 * fixed JSON from memory, and as the proxy that all others are compared with: one worker, keep-alive, no
 * buffering of streams, bodies in memory.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  answerBodies,
  formatPaths,
  freeAnswerBody,
  freePath,
  type StreamFormatName,
} from '../exchanges.ts'
import { findFreePort, type ProcessGroup, type Running } from '../processes.ts'
import type { Bench, Proxy, SlowCases } from './proxy.ts'

export interface JsonUpstream {
  readonly port: number
  readonly process: Running
}

const upstreamServer = (port: number): string => `
  server {
    listen 127.0.0.1:${port} backlog=4096;
    default_type application/json;
    location = ${formatPaths.chat} { return 200 '${answerBodies.chat}'; }
    location = ${formatPaths.messages} { return 200 '${answerBodies.messages}'; }
    location = ${freePath} { return 200 '${freeAnswerBody}'; }
    location = /served { stub_status; }
  }`

const proxyServer = (bench: Bench, port: number): string => `
  upstream json { server 127.0.0.1:${bench.jsonPort}; keepalive 4096; keepalive_requests 100000000; }
  upstream stream { server 127.0.0.1:${bench.streamPort}; keepalive 4096; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    client_max_body_size 8m;
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    location = /health { return 200 '{"status":"ok"}'; }
    location / { proxy_pass http://json; }
    location /stream/ { proxy_buffering off; proxy_pass http://stream/; }
  }`

const configuration = (name: string, folder: string, server: string): string => `
daemon off;
worker_processes 1;
pid ${join(folder, `${name}.pid`)};
error_log stderr error;
events { worker_connections 32768; }
http {
  access_log off;
  keepalive_requests 100000000;
  keepalive_timeout 600s;
  client_body_buffer_size 2m;
  client_body_temp_path ${join(folder, `${name}-body`)};
  proxy_temp_path ${join(folder, `${name}-proxy`)};
  fastcgi_temp_path ${join(folder, `${name}-fastcgi`)};
  uwsgi_temp_path ${join(folder, `${name}-uwsgi`)};
  scgi_temp_path ${join(folder, `${name}-scgi`)};
  ${server}
}
`

interface NginxOptions {
  readonly name: string
  readonly core: number
  readonly port: number
  readonly server: string
}

async function startNginx(
  group: ProcessGroup,
  folder: string,
  options: NginxOptions,
): Promise<Running> {
  const path = join(folder, `${options.name}.conf`)
  writeFileSync(path, configuration(options.name, folder, options.server))
  const running = group.start({
    name: options.name,
    command: ['nginx', '-c', path],
    core: options.core,
    output: 'log',
  })
  await group.waitForPort(running, options.port)
  return running
}

export async function startJsonUpstream(
  group: ProcessGroup,
  folder: string,
  core: number,
): Promise<JsonUpstream> {
  const port = await findFreePort()
  const server = upstreamServer(port)
  return {
    port,
    process: await startNginx(group, folder, { name: 'upstream', core, port, server }),
  }
}

/** Returns how many requests the JSON upstream has served, this one included. */
export async function readServedCount(port: number): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${port}/served`)
  const match = /^ \d+ \d+ (\d+) $/m.exec(await answer.text())
  if (match === null) throw new Error('the upstream did not report how many requests it served')
  return Number(match[1])
}

export async function startNginxProxy(bench: Bench): Promise<Proxy> {
  const port = await findFreePort()
  const server = proxyServer(bench, port)
  const options = { name: 'nginx', core: bench.cores.proxy, port, server }
  return {
    name: 'nginx',
    port,
    process: await startNginx(bench.group, bench.workFolder, options),
    requests: [{ name: 'nginx proxy_pass', format: 'chat', path: formatPaths.chat, headers: {} }],
    stream: { path: `/stream${formatPaths.messages}`, headers: {} },
    healthPath: '/health',
    slow: { title: 'nginx proxy_pass', ...plainCases('/stream') },
  }
}

/** The cases of a proxy that needs no credential; `prefix` marks the paths of streams. */
export function plainCases(prefix = ''): Pick<SlowCases, 'json' | 'streams'> {
  const stream = (format: StreamFormatName) => ({
    path: `${prefix}${formatPaths[format]}`,
    headers: {},
  })
  return {
    json: { path: formatPaths.chat, headers: {} },
    streams: {
      messages: stream('messages'),
      chat: stream('chat'),
      responses: stream('responses'),
    },
  }
}
