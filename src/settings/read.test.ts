import { describe, it } from 'node:test'
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { describeConfig, formatMistakes, loadConfig, type Environment } from './read.ts'
import type { Config } from './list.ts'

/** Loads from a new folder that holds `files`. */
function load(given: {
  readonly files?: Readonly<Record<string, string>>
  readonly env?: Environment
  readonly config?: string
}) {
  const cwd = mkdtempSync(join(tmpdir(), 'turnpike-config-'))
  try {
    for (const [name, content] of Object.entries(given.files ?? {})) {
      writeFileSync(join(cwd, name), content)
    }
    const loaded = loadConfig({ options: { config: given.config }, env: given.env ?? {}, cwd })
    return { loaded, cwd }
  } finally {
    rmSync(cwd, { recursive: true })
  }
}

function expectConfig(given: Parameters<typeof load>[0]): { config: Config; cwd: string } {
  const { loaded, cwd } = load(given)
  assert.equal(loaded.kind, 'config', loaded.kind === 'mistakes' ? formatMistakes(loaded.list) : '')
  assert.ok(loaded.kind === 'config')
  return { config: loaded.config, cwd }
}

function expectMistakes(given: Parameters<typeof load>[0]) {
  const { loaded } = load(given)
  assert.ok(loaded.kind === 'mistakes')
  return loaded.list
}

describe('settings', () => {
  it('has a default for everything', () => {
    const { config, cwd } = expectConfig({})
    assert.deepEqual(config.listen, { host: '127.0.0.1', port: 8080 })
    assert.deepEqual(config.adminListen, { host: '127.0.0.1', port: 8081 })
    assert.equal(config.store, `sqlite:${cwd}/data/turnpike.db`)
    assert.equal(config.masterKeyFile, `${cwd}/data/master.key`)
    assert.equal(config.checkIntervalMs, 600_000)
    assert.equal(config.bodyBytesMax, 33_554_432)
    assert.ok(Object.isFrozen(config))
  })

  it('reports a duplicate key by its name, with all other mistakes', () => {
    const file = 'region: north\nlog_level: loud\nregion: south\n'
    const list = expectMistakes({ files: { 'turnpike.yaml': file } })
    assert.deepEqual(
      list.map(({ setting, place }) => [setting, place.replace(/.*\//, '')]),
      [
        ['region', 'turnpike.yaml, line 3'],
        ['log_level', 'turnpike.yaml, line 2'],
      ],
    )
  })

  it('takes the file, and the environment before the file', () => {
    const { config } = expectConfig({
      files: { 'turnpike.yaml': 'region: north\nmax_attempts: 5\nlisten: "[::1]:9000"\n' },
      env: { TURNPIKE_REGION: 'south', TURNPIKE_LOG_LEVEL: '' },
    })
    assert.equal(config.region, 'south')
    assert.equal(config.attemptsMax, 5)
    assert.equal(config.logLevel, 'info')
    assert.deepEqual(config.listen, { host: '::1', port: 9000 })
  })

  it('reads the file that --config names, with paths relative to it', () => {
    const folder = mkdtempSync(join(tmpdir(), 'turnpike-config-other-'))
    try {
      writeFileSync(join(folder, 'other.yaml'), 'store: sqlite:./x/y.db\nmaster_key_file: keys/k\n')
      const { config } = expectConfig({
        config: join(folder, 'other.yaml'),
        files: { 'turnpike.yaml': 'region: ignored\n' },
      })
      assert.equal(config.store, `sqlite:${folder}/x/y.db`)
      assert.equal(config.masterKeyFile, `${folder}/keys/k`)
      assert.equal(config.region, 'local')
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('reports a _FILE variable of a setting without one, and ignores other variables', () => {
    const env = {
      TURNPIKE_ADMIN_TOKEN_FILE: '/run/secrets/admin',
      TURNPIKE_STORE_FILE: '/var/lib/store.db',
      TURNPIKE_MASTER_KEY_FILE: '/run/secrets/master',
      TURNPIKE_BACKUP_FILE: '/backups/one.db',
      TURNPIKE_REGION_FILE: '',
    }
    const list = expectMistakes({ env })
    assert.deepEqual(
      list.map(({ setting }) => setting),
      ['TURNPIKE_ADMIN_TOKEN_FILE', 'TURNPIKE_STORE_FILE', 'TURNPIKE_REGION_FILE'],
    )
    assert.match(list[0]?.message ?? '', /^is not a setting; set TURNPIKE_ADMIN_TOKEN directly/)
  })

  it('takes the collector from the standard variable where its setting is absent', () => {
    const standard = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }
    assert.equal(expectConfig({ env: standard }).config.otlpEndpoint, 'http://127.0.0.1:4318')
    const both = { ...standard, TURNPIKE_OTLP_ENDPOINT: 'https://traces.example/otlp' }
    assert.equal(expectConfig({ env: both }).config.otlpEndpoint, 'https://traces.example/otlp')
    assert.equal(expectConfig({ env: {} }).config.otlpEndpoint, undefined)
    const wrong = { OTEL_EXPORTER_OTLP_ENDPOINT: '127.0.0.1:4317', TURNPIKE_OTLP_SAMPLE_RATIO: '2' }
    assert.deepEqual(
      expectMistakes({ env: wrong }).map(({ setting }) => setting),
      ['OTEL_EXPORTER_OTLP_ENDPOINT', 'TURNPIKE_OTLP_SAMPLE_RATIO'],
    )
  })

  it('requires a single document', () => {
    const [mistake] = expectMistakes({ files: { 'turnpike.yaml': 'region: a\n---\nregion: b\n' } })
    assert.match(mistake?.message ?? '', /^must have one document; remove this --- line$/)
    assert.match(mistake?.place ?? '', /line 2$/)
  })

  it('reports every mistake at once, with the name and the place of each', () => {
    const list = expectMistakes({
      files: {
        'turnpike.yaml':
          'listn: 127.0.0.1:1\ncheck_interval: 10\nmax_attempts: [1]\nregion:\nqwertyuiop: 1\n',
      },
      env: {
        TURNPIKE_STORE: 'mysql://x',
        TURNPIKE_LISTEN: '127.0.0.1:99999',
        TURNPIKE_MASTER_KEY: 'tooshort',
        TURNPIKE_ADMIN_TOKEN: 'ad_no',
        TURNPIKE_DRAIN_TIMEOUTS: '1s',
        TURNPIKE_KEY: 'cr_of_a_script',
      },
    })
    const found = list.map((mistake) => mistake.setting).sort()
    assert.deepEqual(found, [
      'TURNPIKE_ADMIN_TOKEN',
      'TURNPIKE_DRAIN_TIMEOUTS',
      'TURNPIKE_LISTEN',
      'TURNPIKE_MASTER_KEY',
      'TURNPIKE_STORE',
      'check_interval',
      'listn',
      'max_attempts',
      'qwertyuiop',
      'region',
    ])
    const text = formatMistakes(list)
    assert.match(text, /turnpike\.yaml, line 1: listn is not a setting; did you mean listen\?/)
    assert.match(text, /turnpike\.yaml, line 2: check_interval must be a duration such as/)
    assert.match(text, /TURNPIKE_DRAIN_TIMEOUTS is not a setting; did you mean TURNPIKE_DRAIN_TIME/)
  })

  it('takes a check interval from 100 ms', () => {
    const { config } = expectConfig({ env: { TURNPIKE_CHECK_INTERVAL: '100ms' } })
    assert.equal(config.checkIntervalMs, 100)
    expectMistakes({ env: { TURNPIKE_CHECK_INTERVAL: '99ms' } })
  })

  it('takes an admin token with at least 16 characters after its prefix', () => {
    expectConfig({ env: { TURNPIKE_ADMIN_TOKEN: `ad_${'x'.repeat(16)}` } })
    expectMistakes({ env: { TURNPIKE_ADMIN_TOKEN: `ad_${'x'.repeat(15)}` } })
    expectMistakes({ env: { TURNPIKE_ADMIN_TOKEN: 'x'.repeat(40) } })
  })

  it('takes origins as browsers send them, and no others', () => {
    const origins = [
      'https://app.example',
      'http://localhost:5173',
      'http://[::1]:8080',
      'https://xn--bcher-kva.example:8443',
      'chrome-extension://abcdefghijklmnop',
      'tauri://localhost',
    ]
    const given = origins.join(' , ')
    const { config } = expectConfig({ env: { TURNPIKE_CORS_ORIGINS: given } })
    assert.deepEqual(config.corsOrigins, origins)
    assert.equal(describeConfig(config)['cors_origins'], origins.join(', '))
    const any = expectConfig({ files: { 'turnpike.yaml': "cors_origins: '*'\n" } })
    assert.deepEqual(any.config.corsOrigins, ['*'])
    for (const mistake of [
      'app.example',
      'https://app.example/',
      'https://app.example/page',
      'https://App.example',
      'https://app.example:443',
      'http://app.example:80',
      'http://app.example:99999',
      'https://user@app.example',
      'https://*.app.example',
      'https://bücher.example',
      'https://app.example,',
      'https://app.example https://other.example',
      'null',
    ]) {
      const [found] = expectMistakes({ env: { TURNPIKE_CORS_ORIGINS: mistake } })
      assert.match(found?.message ?? '', /^must be origins such as /, mistake)
    }
  })

  it('refuses misleading store locations', () => {
    for (const store of ['sqlite:', 'sqlite://data/x.db', 'sqlite::memory:', 'data/x.db']) {
      const [mistake] = expectMistakes({ env: { TURNPIKE_STORE: store } })
      assert.equal(mistake?.message, 'must be sqlite:PATH or postgres://user@host/db', store)
    }
  })

  it('never repeats a secret in a mistake', () => {
    const list = expectMistakes({
      env: { TURNPIKE_MASTER_KEY: 'canary-one', TURNPIKE_ADMIN_TOKEN: 'canary-two' },
    })
    assert.equal(list.length, 2)
    assert.doesNotMatch(formatMistakes(list), /canary/)
  })

  it('refuses settings that conflict', () => {
    const list = expectMistakes({
      files: { 'turnpike.yaml': `master_key: ${'ab'.repeat(32)}\nmaster_key_file: k\n` },
      env: { TURNPIKE_LISTEN: '127.0.0.1:8081' },
    })
    assert.deepEqual(
      list.map((mistake) => mistake.setting),
      ['master_key_file', 'TURNPIKE_LISTEN'],
    )
  })

  it('refuses to watch backups of PostgreSQL, which the gateway does not make', () => {
    const maxAge = { TURNPIKE_BACKUP_MAX_AGE: '26h' }
    const postgres = { TURNPIKE_STORE: 'postgres://gateway@db/turnpike', ...maxAge }
    const [mistake, ...more] = expectMistakes({ env: postgres })
    assert.deepEqual(more, [])
    assert.equal(mistake?.setting, 'TURNPIKE_BACKUP_MAX_AGE')
    assert.match(mistake.message, /works only with a SQLite store.* Remove it/)
    expectConfig({ env: { TURNPIKE_STORE: 'sqlite:turnpike.db', ...maxAge } })
  })

  it('says where a file is not YAML or missing', () => {
    const broken = expectMistakes({ files: { 'turnpike.yaml': 'region: a\nlisten: [\n' } })
    assert.match(formatMistakes(broken), /turnpike.yaml, line 3: yaml Flow sequence/)
    const list = expectMistakes({ files: { 'turnpike.yaml': '- a\n' } })
    assert.match(formatMistakes(list), /must have `setting: value` lines/)
    assert.match(
      formatMistakes(expectMistakes({ config: 'none.yaml' })),
      /names a file that does not exist/,
    )
  })

  it('lets people sign up only where they get mail at a page', () => {
    const signUp = { TURNPIKE_SIGN_UP: 'open', TURNPIKE_SIGN_UP_DOMAINS: 'a.example, b.example' }
    const alone = loadConfig({ options: {}, env: signUp, cwd: tmpdir() })
    assert.equal(
      alone.kind === 'mistakes' && formatMistakes(alone.list),
      'environment: TURNPIKE_SIGN_UP needs public_url: people sign up on the account page\n' +
        'environment: TURNPIKE_SIGN_UP needs smtp: people sign up by a link in a mail',
    )
    const { config } = expectConfig({
      env: {
        ...signUp,
        TURNPIKE_PUBLIC_URL: 'https://gateway.example',
        TURNPIKE_SMTP: 'smtps://mail.example',
        TURNPIKE_SMTP_FROM: 'turnpike@example.com',
      },
    })
    assert.deepEqual(config.signUpDomains, ['a.example', 'b.example'])
  })

  it('accepts a file without any setting', () => {
    expectConfig({ files: { 'turnpike.yaml': '# nothing yet\n' } })
    expectConfig({ files: { 'turnpike.yaml': '' } })
  })

  it('prints itself without secrets', () => {
    const { config } = expectConfig({
      env: {
        TURNPIKE_MASTER_KEY: 'ca'.repeat(32),
        TURNPIKE_ADMIN_TOKEN: `ad_${'canary'.repeat(8)}`,
        TURNPIKE_STORE: 'postgres://user:canary@host/db?password=canary',
      },
    })
    for (const printed of [
      inspect(config),
      JSON.stringify(config),
      JSON.stringify(describeConfig(config)),
    ]) {
      assert.doesNotMatch(printed, /canary|caca/)
      assert.match(printed, /user:\*\*\*@host/)
    }
    assert.equal(describeConfig(config)['check_interval'], '10m')
    assert.equal(describeConfig(config)['listen'], '127.0.0.1:8080')
  })
})
