/**
 * The Helm chart, rendered by Helm's own engine and checked against the schemas of Kubernetes. No test
 * installs it: that takes a cluster.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { parse, parseAllDocuments, stringify } from 'yaml'
import { loadConfig } from '../../src/settings/read.ts'
import { preparePython } from '../clients/support/python.ts'
import { prepareChecker } from './checker.ts'

const root = join(import.meta.dirname, '..', '..')
const chart = join(root, 'deploy', 'helm', 'turnpike')
const folder = mkdtempSync(join(tmpdir(), 'turnpike-chart-'))
after(() => rmSync(folder, { recursive: true }))

/** The parts of a manifest that the tests look at. */
interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels: Record<string, string> }
  readonly stringData?: Readonly<Record<string, string>>
  readonly spec: {
    readonly replicas: number
    readonly strategy: { readonly type: string }
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> }
    readonly ports: readonly { readonly name: string; readonly targetPort: string }[]
    readonly jobLabel: string
    readonly endpoints: readonly { readonly port: string; readonly path: string }[]
    readonly template: { readonly spec: Pod }
  }
}

interface Pod {
  readonly terminationGracePeriodSeconds: number
  readonly securityContext: Readonly<Record<string, unknown>>
  readonly volumes: readonly object[]
  readonly containers: readonly {
    readonly image: string
    readonly securityContext: Readonly<Record<string, unknown>>
    readonly env?: readonly {
      readonly name: string
      readonly value?: string
      readonly valueFrom?: {
        readonly secretKeyRef: { readonly name: string; readonly key: string }
      }
    }[]
    readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
    readonly volumeMounts: readonly { readonly mountPath: string }[]
  }[]
}

const postgres = {
  store: { kind: 'postgres' },
  replicas: 3,
  secret: {
    TURNPIKE_STORE: 'postgres://turnpike:x@db/turnpike',
    TURNPIKE_MASTER_KEY: '5'.repeat(64),
  },
  settings: { trusted_proxies: '10.0.0.0/8', drain_timeout: '5m' },
  serviceMonitor: { enabled: true, tokenSecret: { name: 'metrics' } },
}

/** The jobs that the alert rules name. */
function jobsOfTheAlerts(): readonly (string | undefined)[] {
  const rules = readFileSync(join(root, 'deploy', 'prometheus', 'alerts.yml'), 'utf8')
  return [...new Set([...rules.matchAll(/job="(.*?)"/g)].map(([, name]) => name))]
}

const checker = await prepareChecker('helm')
const python = await preparePython('kubernetes')
if (checker.kind === 'missing' || python.kind === 'missing') {
  const reason = [checker, python].flatMap((one) => (one.kind === 'missing' ? [one.reason] : []))
  process.stdout.write(`not run: the Helm chart, because ${reason.join(', ')}\n`)
} else
  describe('the Helm chart', () => {
    const render = async (values: object): Promise<readonly Manifest[]> => {
      const file = join(folder, 'values.yaml')
      writeFileSync(file, stringify(values))
      const text = await checker.run(['chart', chart, file])
      return parseAllDocuments(text)
        .map((document) => document.toJS() as Manifest | null)
        .filter((manifest) => manifest !== null)
    }

    /** The lines in which Kubernetes' schemas find a mistake. */
    const mistakesIn = async (manifests: readonly unknown[]): Promise<string> => {
      const file = join(folder, 'manifests.yaml')
      writeFileSync(file, manifests.map((each) => `---\n${stringify(each)}`).join(''))
      const program = join(python.folder, 'bin', 'kubernetes-validate')
      const words = ['--strict', '--quiet', file]
      return promisify(execFile)(program, words).then(
        () => '',
        (error: unknown) => {
          const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string }
          return stdout + stderr
        },
      )
    }

    const kinds = (manifests: readonly Manifest[]): string[] =>
      manifests.map(({ kind }) => kind).sort()

    const find = (manifests: readonly Manifest[], kind: string): Manifest => {
      const found = manifests.find((each) => each.kind === kind)
      assert.ok(found !== undefined, kind)
      return found
    }

    test('with SQLite has one pod with a volume, which ends before the next one starts', async () => {
      const manifests = await render({})
      assert.deepEqual(kinds(manifests), [
        'Deployment',
        'PersistentVolumeClaim',
        'Service',
        'Service',
      ])
      assert.equal(await mistakesIn(manifests), '')
      const { spec } = find(manifests, 'Deployment')
      assert.equal(spec.replicas, 1)
      assert.equal(spec.strategy.type, 'Recreate')
    })

    test('with PostgreSQL has several pods, a disruption budget and a service monitor', async () => {
      const manifests = await render(postgres)
      assert.deepEqual(kinds(manifests), [
        'Deployment',
        'PodDisruptionBudget',
        'Secret',
        'Service',
        'Service',
        'ServiceMonitor',
      ])
      // The operator's own kinds are not among Kubernetes' schemas.
      assert.equal(await mistakesIn(manifests.filter(({ kind }) => kind !== 'ServiceMonitor')), '')
      const { spec } = find(manifests, 'Deployment')
      assert.equal(spec.replicas, 3)
      assert.equal(spec.strategy.type, 'RollingUpdate')
      const monitor = find(manifests, 'ServiceMonitor')
      const watched = manifests.filter(
        ({ kind, metadata }) =>
          kind === 'Service' &&
          Object.entries(monitor.spec.selector.matchLabels).every(
            ([name, value]) => metadata.labels[name] === value,
          ),
      )
      assert.deepEqual(
        watched.map(({ metadata }) => metadata.name),
        ['turnpike-admin'],
      )
      assert.deepEqual(
        watched[0]?.spec.ports.map(({ name }) => name),
        monitor.spec.endpoints.map(({ port }) => port),
      )
      const job = watched[0]?.metadata.labels[monitor.spec.jobLabel]
      assert.deepEqual(jobsOfTheAlerts(), [job])
    })

    test('gives pods no rights, and the paths and ports of the image', async () => {
      for (const values of [{}, postgres]) {
        const { spec } = find(await render(values), 'Deployment').spec.template
        const [gateway] = spec.containers
        assert.deepEqual(
          [spec.securityContext['runAsNonRoot'], spec.securityContext['runAsUser']],
          [true, 10001],
        )
        assert.deepEqual(gateway?.securityContext, {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
        const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8')
        assert.match(dockerfile, /^USER 10001:10001$/m)
        assert.match(dockerfile, new RegExp(`^VOLUME ${gateway.volumeMounts[0]?.mountPath}$`, 'm'))
        const ports = gateway.ports.map(({ containerPort }) => containerPort)
        assert.match(dockerfile, new RegExp(`^EXPOSE ${ports.join(' ')}$`, 'm'))
      }
    })

    test('passes settings that the gateway accepts, and lets running answers finish', async () => {
      const manifests = await render(postgres)
      const { spec } = find(manifests, 'Deployment').spec.template
      const written = spec.containers[0]?.env ?? []
      const env = {
        ...Object.fromEntries(written.map(({ name, value }) => [name, value])),
        ...find(manifests, 'Secret').stringData,
      }
      const loaded = loadConfig({ options: {}, env, cwd: folder })
      assert.ok(loaded.kind === 'config', JSON.stringify(loaded))
      assert.equal(loaded.config.drainTimeoutMs, 300_000)
      const byDefault = loadConfig({ options: {}, env: {}, cwd: folder })
      assert.ok(byDefault.kind === 'config')
      assert.ok(spec.terminationGracePeriodSeconds * 1_000 > byDefault.config.drainTimeoutMs)
    })

    test('starts no pod on PostgreSQL whose secret lacks the store or the master key', async () => {
      const store = { kind: 'postgres' }
      const manifests = await render({ replicas: 2, store, existingSecret: 'made-elsewhere' })
      const [gateway] = find(manifests, 'Deployment').spec.template.spec.containers
      const needed = (gateway?.env ?? []).map(({ valueFrom }) => valueFrom?.secretKeyRef)
      assert.deepEqual(needed, [
        { name: 'made-elsewhere', key: 'TURNPIKE_STORE' },
        { name: 'made-elsewhere', key: 'TURNPIKE_MASTER_KEY' },
      ])
    })

    test('renders the values that the page shows', async () => {
      const page = readFileSync(join(root, 'docs', 'deploy-kubernetes.md'), 'utf8')
      const [, values = ''] = /^```yaml\n(.*?)^```/ms.exec(page) ?? []
      const manifests = await render(parse(values) as object)
      assert.equal(find(manifests, 'Deployment').spec.replicas, 3)
      assert.ok(kinds(manifests).includes('ServiceMonitor'))
    })

    test('refuses values that cannot work', async () => {
      for (const [values, reason] of [
        [{ replicas: 2 }, /replicas.*value must be 1/],
        [{ store: { kind: 'postgres' } }, /anyOf/],
        [{ settings: { store: 'sqlite:x' } }, /'not' failed/],
        [{ settings: { drain_timeout: 5 } }, /drain_timeout.*want string/],
        [{ serviceMonitor: { enabled: true } }, /tokenSecret\/name/],
        [{ replica: 1 }, /'replica' not allowed/],
      ] as const)
        await assert.rejects(render(values), reason)
    })

    test('is checked by schemas that find a mistake', async () => {
      const [first] = await render({})
      const { metadata: _, ...rest } = first as Manifest
      assert.match(await mistakesIn([{ ...rest, metadate: {} }]), /metadate/)
    })

    test('has the version of the program', () => {
      const { appVersion } = parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8')) as {
        readonly appVersion: string
      }
      const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
        readonly version: string
      }
      assert.equal(appVersion, version)
    })
  })
