/**
 * Starts the proxies of Debian with the samples in deploy/proxies. A sample keeps every line; only
 * addresses and the certificate are replaced by those of the test, and each of them must be there.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { Agent } from 'node:https'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { makeCertificate } from '../support/certificate.ts'
import { eventually } from '../support/eventually.ts'
import { gather } from '../support/gather.ts'
import { findFreePort } from '../support/postgres.ts'

const samples = join(import.meta.dirname, '..', '..', 'deploy', 'proxies')
const hostname = 'gateway.example.com'
/** An address of the loopback network that is not a trusted proxy. */
export const clientAddress = '127.0.0.9'

export const proxyNames = ['nginx', 'haproxy', 'caddy'] as const
type ProxyName = (typeof proxyNames)[number] | 'balancer'

/** In the proxy's folder. */
const requestLog = 'requests.log'

interface Upstream {
  readonly port: number
  readonly adminPort: number
  /** Of the balancer. */
  readonly second?: Omit<Upstream, 'second'>
  /** nginx writes a line for each request; HAProxy does it by its sample. */
  readonly logsRequests?: boolean
}

interface Place extends Upstream {
  readonly folder: string
  readonly listenPort: number
}

interface Kind {
  readonly file: string
  /** Text of the sample → the test's own text. */
  replacements(place: Place): Readonly<Record<string, string>>
  /** The whole configuration around the sample. */
  wrap(sample: string, place: Place): string
  command(configuration: string): readonly [string, ...string[]]
}

const kinds: Readonly<Record<ProxyName, Kind>> = {
  nginx: {
    file: 'nginx.conf',
    replacements: ({ folder, port, listenPort }) => ({
      '127.0.0.1:8080': `127.0.0.1:${port}`,
      'listen 443 ssl': `listen 127.0.0.1:${listenPort} ssl`,
      '/etc/ssl/turnpike/fullchain.pem': join(folder, 'cert.pem'),
      '/etc/ssl/turnpike/privkey.pem': join(folder, 'key.pem'),
    }),
    wrap: (sample, { folder, logsRequests }) => `
      daemon off;
      user root;
      pid ${folder}/nginx.pid;
      error_log stderr;
      events { }
      http {
        log_format hops '"$request" $status $upstream_addr';
        access_log ${logsRequests === true ? `${folder}/${requestLog} hops` : 'off'};
        client_body_temp_path ${folder}/body;
        proxy_temp_path ${folder}/proxy;
        fastcgi_temp_path ${folder}/fastcgi;
        uwsgi_temp_path ${folder}/uwsgi;
        scgi_temp_path ${folder}/scgi;
        ${sample}
      }`,
    command: (file) => ['/usr/sbin/nginx', '-e', 'stderr', '-c', file],
  },
  haproxy: {
    file: 'haproxy.cfg',
    replacements: ({ folder, port, adminPort, listenPort }) => ({
      'bind :443': `bind 127.0.0.1:${listenPort}`,
      '/etc/haproxy/turnpike.pem': join(folder, 'both.pem'),
      'gateway-1 10.0.0.11:8080 check port 8081': `gateway-1 127.0.0.1:${port} check port ${adminPort}`,
      'gateway-2 10.0.0.12:8080 check port 8081': `gateway-2 127.0.0.1:${port} check port ${adminPort}`,
    }),
    wrap: (sample) => sample,
    command: (file) => ['/usr/sbin/haproxy', '-db', '-f', file],
  },
  caddy: {
    file: 'Caddyfile',
    replacements: ({ folder, port, listenPort }) => ({
      '127.0.0.1:8080': `127.0.0.1:${port}`,
      [`${hostname} {`]: `${hostname}:${listenPort} {\n\tbind 127.0.0.1\n\ttls ${folder}/cert.pem ${folder}/key.pem`,
    }),
    wrap: (sample) => `{\n\tadmin off\n\tauto_https off\n}\n${sample}`,
    command: (file) => ['/usr/bin/caddy', 'run', '--adapter', 'caddyfile', '--config', file],
  },
  balancer: {
    file: '../compose/haproxy.cfg',
    replacements: balancerReplacements,
    wrap: (sample) => sample,
    command: (file) => ['/usr/sbin/haproxy', '-db', '-f', file],
  },
}

/** The balancer of compose.postgres.yaml, without TLS. */
function balancerReplacements({ listenPort, second, ...first }: Place): Record<string, string> {
  const own = ({ port, adminPort }: Upstream): string => `127.0.0.1:${port} check port ${adminPort}`
  return {
    'bind :8080': `bind 127.0.0.1:${listenPort}`,
    'gateway-1:8080 check port 8081': own(first),
    'gateway-2:8080 check port 8081': own(second ?? first),
  }
}

export interface RunningProxy {
  readonly url: string
  readonly headers: { readonly host: string }
  /** Connections from `clientAddress` that trust the test's certificate. */
  readonly agent: Agent
  /** The certificate that `agent` trusts. */
  readonly certificate: string
  /** What the proxy has written so far. */
  output(): string
  close(): Promise<void>
}

/** Starts the proxy in front of a gateway; resolves when it accepts connections. */
export async function startProxy(name: ProxyName, upstream: Upstream): Promise<RunningProxy> {
  const kind = kinds[name]
  const folder = await mkdtemp(join(tmpdir(), `turnpike-${name}-`))
  const place = { ...upstream, folder, listenPort: await findFreePort() }
  const { cert, key } = makeCertificate(hostname)
  await Promise.all([
    writeFile(join(folder, 'cert.pem'), cert),
    writeFile(join(folder, 'key.pem'), key),
    writeFile(join(folder, 'both.pem'), cert + key),
  ])
  const sample = await readFile(join(samples, kind.file), 'utf8')
  const file = join(folder, basename(kind.file))
  await writeFile(file, kind.wrap(replaceEach(sample, kind.replacements(place)), place))
  const [command, ...words] = kind.command(file)
  const child = spawn(command, words, {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const outputs = [gather(child.stdout), gather(child.stderr)]
  const log = join(folder, requestLog)
  const output = (): string =>
    outputs.map((each) => each.text()).join('') + (existsSync(log) ? readFileSync(log, 'utf8') : '')
  const ended = once(child, 'close')
  const accepts = async (): Promise<boolean> => {
    if (child.exitCode !== null) throw new Error(`${name} has ended:\n${output()}`)
    return isAccepting(place.listenPort)
  }
  await eventually(`${name} accepts`, accepts, (answer) => answer)
  return {
    url: `${name === 'balancer' ? 'http' : 'https'}://127.0.0.1:${place.listenPort}`,
    headers: { host: `${hostname}:${place.listenPort}` },
    certificate: cert,
    output,
    agent: new Agent({ ca: cert, servername: hostname, localAddress: clientAddress }),
    async close() {
      child.kill('SIGTERM')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function replaceEach(sample: string, replacements: Readonly<Record<string, string>>): string {
  let text = sample
  for (const [written, own] of Object.entries(replacements)) {
    assert.ok(text.includes(written), `the sample has no ${written}`)
    text = text.replaceAll(written, own)
  }
  return text
}

function isAccepting(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
