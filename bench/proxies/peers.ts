/** Configures and starts the other peers: haproxy, Envoy, Portkey and LiteLLM's proxy. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatPaths, models } from '../exchanges.ts'
import { streamsMax } from '../machine.ts'
import { findFreePort } from '../processes.ts'
import { plainCases } from './nginx.ts'
import type { Bench, Proxy } from './proxy.ts'

const configuration = (bench: Bench, port: number): string => `
global
  maxconn ${streamsMax()}
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
    slow: { title: 'haproxy', ...plainCases('/stream') },
  }
}

const local = (port: number): object => ({
  socket_address: { address: '127.0.0.1', port_value: port },
})

/** It only forwards, with no filter but its router, and without limits on connections. */
const envoyConfiguration = (bench: Bench, port: number): object => {
  const most = 1_000_000
  const cluster = {
    name: 'vendor',
    type: 'STATIC',
    load_assignment: {
      cluster_name: 'vendor',
      endpoints: [{ lb_endpoints: [{ endpoint: { address: local(bench.jsonPort) } }] }],
    },
    circuit_breakers: {
      thresholds: [{ max_connections: most, max_pending_requests: most, max_requests: most }],
    },
  }
  const manager = {
    '@type':
      'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
    stat_prefix: 'bench',
    route_config: {
      virtual_hosts: [
        {
          name: 'all',
          domains: ['*'],
          routes: [{ match: { prefix: '/' }, route: { cluster: 'vendor', timeout: '0s' } }],
        },
      ],
    },
    http_filters: [
      {
        name: 'envoy.filters.http.router',
        typed_config: {
          '@type': 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router',
        },
      },
    ],
  }
  const filter = {
    name: 'envoy.filters.network.http_connection_manager',
    typed_config: manager,
  }
  return {
    static_resources: {
      listeners: [{ address: local(port), filter_chains: [{ filters: [filter] }] }],
      clusters: [cluster],
    },
  }
}

/** For the parts with one upstream only. `program` is the path of Envoy's executable file. */
export async function startEnvoy(bench: Bench, program: string): Promise<Proxy> {
  const port = await findFreePort()
  const path = join(bench.workFolder, 'envoy.json')
  writeFileSync(path, JSON.stringify(envoyConfiguration(bench, port)))
  const options = '--concurrency 1 --disable-hot-restart --log-level error'.split(' ')
  const running = bench.group.start({
    name: 'envoy',
    command: [program, '-c', path, ...options],
    core: bench.cores.proxy,
    output: 'log',
  })
  await bench.group.waitForPort(running, port)
  return {
    name: 'envoy',
    port,
    process: running,
    requests: [],
    slow: { title: 'Envoy, forwarding only', ...plainCases() },
  }
}

/** It would load lists of prices, headers and texts from the Internet. */
const litellmEnvironment = {
  LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS: 'True',
  LITELLM_LOCAL_AUTOROUTER_PRESETS: 'True',
  LITELLM_LOCAL_BLOG_POSTS: 'True',
  LITELLM_LOCAL_MODEL_COST_MAP: 'True',
  LITELLM_LOCAL_POLICY_TEMPLATES: 'True',
  LITELLM_LOG: 'ERROR',
  LITELLM_MODE: 'PRODUCTION',
  NO_DOCS: 'True',
}

/** Without its database, so it keeps no books. `program` is the path of its command. */
export async function startLitellm(bench: Bench, program: string): Promise<Proxy> {
  const port = await findFreePort()
  const path = join(bench.workFolder, 'litellm.json')
  const key = 'sk-bench-litellm'
  const model = (name: string): object => ({
    model_name: name,
    litellm_params: {
      model: `openai/${name}`,
      api_base: `http://127.0.0.1:${bench.jsonPort}/v1`,
      api_key: 'bench-vendor-credential',
    },
  })
  const configuration = {
    model_list: [model(models.chat), model(models.chatStream)],
    general_settings: { master_key: key },
    litellm_settings: { telemetry: false },
  }
  // JSON is YAML.
  writeFileSync(path, JSON.stringify(configuration))
  const running = bench.group.start({
    name: 'litellm',
    command: [program, '--config', path, '--host', '127.0.0.1', '--port', String(port)],
    core: bench.cores.proxy,
    environment: litellmEnvironment,
    output: 'log',
  })
  await bench.group.waitForPort(running, port)
  const chat = { path: formatPaths.chat, headers: { authorization: `Bearer ${key}` } }
  return {
    name: 'litellm',
    port,
    process: running,
    requests: [],
    slow: {
      title: 'LiteLLM proxy',
      json: chat,
      streams: { chat },
      requestsPerSecondMax: 100,
      streamsPerSecondMax: 10,
    },
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
    slow: {
      title: 'Portkey gateway',
      json: { path: formatPaths.chat, headers },
      // It answers each stream with status 500 on this Node: "TypeError: immutable".
      streams: {},
      requestsPerSecondMax: 500,
    },
  }
}
