/** The compose files: read by Docker's own library, and their balancer in front of two real gateways. */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { loadConfig } from '../../src/settings/read.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http-client.ts'
import { startPostgres } from '../support/postgres.ts'
import { sendAsk } from '../support/requests.ts'
import { scenario } from '../support/scenario.ts'
import { prepareChecker } from './checker.ts'
import { startProxy } from './proxy.ts'

const root = join(import.meta.dirname, '..', '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

interface Service {
  readonly image: string
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly stop_grace_period?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly ports?: readonly { readonly host_ip: string; readonly published: string }[]
  readonly volumes?: readonly { readonly type: string; readonly source: string }[]
}

type Services = Readonly<Record<string, Service>>

/** The variables that the commands of the page write into `.env`. */
function secretsOfThePage(): Record<string, string> {
  const page = read('docs/deploy-container.md')
  const [, block = ''] = /^```sh\n(umask 077\n.*?> \.env\n)/ms.exec(page) ?? []
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-compose-'))
  try {
    const { status } = spawnSync('sh', ['-c', block], { cwd: folder })
    assert.equal(status, 0)
    const lines = readFileSync(join(folder, '.env'), 'utf8').trim().split('\n')
    return Object.fromEntries(lines.map((line) => line.split('=') as [string, string]))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const checker = await prepareChecker('compose')
if (checker.kind === 'missing')
  process.stdout.write(
    `not run: Docker’s library on the compose files, because ${checker.reason}\n`,
  )
else {
  const secrets = secretsOfThePage()
  const load = async (file: string): Promise<Services> => {
    const text = await checker.run(['compose', join(root, file)], secrets)
    return (JSON.parse(text) as { readonly services: Services }).services
  }
  const files = {
    'compose.yaml': await load('compose.yaml'),
    'compose.postgres.yaml': await load('compose.postgres.yaml'),
  }
  const all = Object.values(files).flatMap((services) => Object.values(services))
  const gateways = all.filter(({ image }) => image === 'turnpike')
  describe('the compose files', () => {
    test('give no port to other machines', () => {
      const ports = all.flatMap((service) => service.ports ?? [])
      assert.equal(ports.length, 7)
      for (const port of ports) assert.equal(port.host_ip, '127.0.0.1')
    })

    test('run gateways without rights, with settings that the gateway accepts', () => {
      assert.equal(gateways.length, 3)
      for (const { read_only, cap_drop, environment = {} } of gateways) {
        assert.equal(read_only, true)
        assert.deepEqual(cap_drop, ['ALL'])
        const loaded = loadConfig({ options: {}, env: environment, cwd: '/var/lib/turnpike' })
        assert.ok(loaded.kind === 'config', JSON.stringify(loaded))
      }
    })

    test('let running answers finish', () => {
      for (const { stop_grace_period } of gateways) assert.equal(stop_grace_period, '11m0s')
      const loaded = loadConfig({ options: {}, env: {}, cwd: root })
      assert.ok(loaded.kind === 'config' && loaded.config.drainTimeoutMs < 660_000)
    })

    test('mount files and folders that exist', () => {
      const sources = all
        .flatMap((service) => service.volumes ?? [])
        .filter(({ type }) => type === 'bind')
        .map(({ source }) => source)
      assert.ok(sources.length >= 4)
      assert.deepEqual(
        sources.filter((source) => !existsSync(source)),
        [],
      )
    })

    test('say which secret is missing, and where to read of it', async () => {
      const { GRAFANA_PASSWORD: _, ...others } = secrets
      const words = ['compose', join(root, 'compose.postgres.yaml')]
      await assert.rejects(
        checker.run(words, others),
        /GRAFANA_PASSWORD is missing a value: make one as docs\/deploy-container\.md says/,
      )
    })
  })
}

test('Prometheus reads its configuration, and asks the gateways of the compose file', async () => {
  const path = join(root, 'deploy/compose/prometheus.yml')
  await promisify(execFile)('promtool', ['check', 'config', '--syntax-only', path])
  const { scrape_configs: jobs } = parse(read('deploy/compose/prometheus.yml')) as {
    readonly scrape_configs: readonly {
      readonly job_name: string
      readonly static_configs: readonly { readonly targets: readonly string[] }[]
    }[]
  }
  const targets = jobs.flatMap((job) => job.static_configs).flatMap((each) => each.targets)
  assert.deepEqual(targets, ['gateway-1:8081', 'gateway-2:8081'])
  // The alert rules ask for this job.
  assert.ok(read('deploy/prometheus/alerts.yml').includes(`job="${jobs[0]?.job_name}"`))
})

test('Grafana finds Prometheus and the dashboards where the compose file puts them', () => {
  const provisioned = 'deploy/grafana/provisioning'
  const { datasources } = parse(read(`${provisioned}/datasources/prometheus.yaml`)) as {
    readonly datasources: readonly { readonly url: string }[]
  }
  assert.equal(datasources[0]?.url, 'http://prometheus:9090')
  const { providers } = parse(read(`${provisioned}/dashboards/turnpike.yaml`)) as {
    readonly providers: readonly { readonly options: { readonly path: string } }[]
  }
  const mounted = `./deploy/grafana/dashboards:${providers[0]?.options.path}:ro`
  assert.ok(read('compose.postgres.yaml').includes(mounted))
})

test('the balancer sends requests to the gateway that is left when the other one stops', async (context) => {
  const server = await startPostgres()
  context.after(() => server.stop('fast'))
  const gateways = await scenario({ process: 'own', storeUrl: await server.createDatabase() })
  context.after(() => gateways.close())
  const settings = { trusted_proxies: '127.0.0.1' }
  const first = await gateways.start(settings)
  const second = await gateways.start(settings)
  const portsOf = ({ url, adminUrl }: typeof first): { port: number; adminPort: number } => ({
    port: Number(new URL(url).port),
    adminPort: Number(new URL(adminUrl).port),
  })
  const balancer = await startProxy('balancer', { ...portsOf(first), second: portsOf(second) })
  context.after(() => balancer.close())
  const ask = (): Promise<number> =>
    sendAsk(balancer.url, gateways.account.key, { format: 'chat', isStream: true }).then(
      ({ status }) => status,
    )
  for (let index = 0; index < 4; index++) assert.equal(await ask(), 200)
  assert.equal((await send(`${balancer.url}/admin/v1/docs`)).status, 404)
  first.signal('SIGTERM')
  assert.equal(await first.ended, 0)
  await eventually('the balancer has noticed', ask, (status) => status === 200)
  for (let index = 0; index < 4; index++) assert.equal(await ask(), 200)
  assert.equal((await gateways.audit()).differences.length, 0)
})
