/** Configures and starts the other peers: our own lean relay, Envoy, Portkey and LiteLLM's proxy. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { formatPaths, models } from '../exchanges.ts'
import { forwarding } from './nginx.ts'
import { startPeer, type Bench, type Target } from './target.ts'

/** How near to the floor of its runtime a gateway is. */
export function startLean(bench: Bench): Promise<Target> {
  const key = 'lean-bench-key'
  const headers = { authorization: `Bearer ${key}` }
  const { chat, messages, responses } = formatPaths
  return startPeer(bench, 'lean', {
    title: 'lean relay, the yardstick',
    command: (port) => [
      process.execPath,
      join(bench.root, 'bench/programs/lean.ts'),
      String(port),
      String(bench.vendorPort),
      bench.workFolder,
      key,
    ],
    cases: {
      json: { path: chat, headers },
      streams: {
        chat: { path: chat, headers },
        messages: { path: messages, headers },
        responses: { path: responses, headers },
      },
    },
  })
}

const extensions = 'type.googleapis.com/envoy.extensions.filters'

/** It only forwards, with no filter but its router, and without limits on connections. */
const envoyConfiguration = (bench: Bench, port: number): object => {
  const most = 1_000_000
  const address = (at: number): object => ({
    socket_address: { address: '127.0.0.1', port_value: at },
  })
  const cluster = {
    name: 'vendor',
    type: 'STATIC',
    load_assignment: {
      cluster_name: 'vendor',
      endpoints: [{ lb_endpoints: [{ endpoint: { address: address(bench.vendorPort) } }] }],
    },
    circuit_breakers: {
      thresholds: [{ max_connections: most, max_pending_requests: most, max_requests: most }],
    },
  }
  const routes = [{ match: { prefix: '/' }, route: { cluster: 'vendor', timeout: '0s' } }]
  const manager = {
    '@type': `${extensions}.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: 'bench',
    route_config: { virtual_hosts: [{ name: 'all', domains: ['*'], routes }] },
    http_filters: [
      {
        name: 'envoy.filters.http.router',
        typed_config: { '@type': `${extensions}.http.router.v3.Router` },
      },
    ],
  }
  const filter = {
    name: 'envoy.filters.network.http_connection_manager',
    typed_config: manager,
  }
  return {
    static_resources: {
      listeners: [{ address: address(port), filter_chains: [{ filters: [filter] }] }],
      clusters: [cluster],
    },
  }
}

/** `program` is the path of Envoy's executable file. */
export function startEnvoy(bench: Bench, program: string): Promise<Target> {
  const options = '--concurrency 1 --disable-hot-restart --log-level error'.split(' ')
  return startPeer(bench, 'envoy', {
    title: 'Envoy, forwarding only',
    configuration: (port) => JSON.stringify(envoyConfiguration(bench, port)),
    command: (_port, path) => [program, '-c', path, ...options],
    cases: forwarding,
  })
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
export function startLitellm(bench: Bench, program: string): Promise<Target> {
  const key = 'sk-bench-litellm'
  const model = (name: string): object => ({
    model_name: name,
    litellm_params: {
      model: `openai/${name}`,
      api_base: `http://127.0.0.1:${bench.vendorPort}/v1`,
      api_key: 'bench-vendor-credential',
    },
  })
  const configuration = {
    model_list: [model(models.chat), model(models.chatStream)],
    general_settings: { master_key: key },
    litellm_settings: { telemetry: false },
  }
  const asked = { path: formatPaths.chat, headers: { authorization: `Bearer ${key}` } }
  return startPeer(bench, 'litellm', {
    title: 'LiteLLM proxy',
    configuration: () => JSON.stringify(configuration),
    command: (port, path) => [
      program,
      '--config',
      path,
      '--host',
      '127.0.0.1',
      '--port',
      String(port),
    ],
    environment: litellmEnvironment,
    cases: {
      json: asked,
      streams: { chat: asked },
      requestsPerSecondMax: 100,
      streamsPerSecondMax: 10,
    },
  })
}

export function startPortkey(bench: Bench): Promise<Target> {
  const program = join(
    bench.root,
    'bench/peers/node_modules/@portkey-ai/gateway/build/start-server.js',
  )
  if (!existsSync(program))
    throw new Error('The peers are not installed. Start the benchmark with npm run bench.')
  const headers = {
    authorization: 'Bearer bench-vendor-credential',
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `http://127.0.0.1:${bench.vendorPort}/v1`,
  }
  return startPeer(bench, 'portkey', {
    title: 'Portkey gateway',
    command: (port) => [process.execPath, program, `--port=${port}`, '--headless'],
    environment: { NODE_ENV: 'production' },
    cases: {
      json: { path: formatPaths.chat, headers },
      // It answers each stream with status 500 on this Node: "TypeError: immutable".
      streams: {},
      requestsPerSecondMax: 500,
    },
  })
}
