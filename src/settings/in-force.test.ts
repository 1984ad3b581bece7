/** The settings in force: each with its source, none with its secret. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadConfig } from './read.ts'
import { listSettings } from './in-force.ts'

test('say where each was given, and hide secrets', () => {
  const cwd = mkdtempSync(join(tmpdir(), 'turnpike-settings-'))
  try {
    const file = 'region: north\nlog_level: warn\n'
    writeFileSync(join(cwd, 'turnpike.yaml'), file)
    const loaded = loadConfig({
      options: {},
      env: { TURNPIKE_REGION: 'south', TURNPIKE_SMTP_PASSWORD: 'hunter2-hunter2' },
      cwd,
    })
    assert.ok(loaded.kind === 'config')
    const settings = listSettings(loaded.config)
    assert.ok(!JSON.stringify(settings).includes('hunter2'))
    const shown = (name: string) => {
      const found = settings.find((one) => one.name === name)
      return [found?.value, found?.source, found?.place, found?.default]
    }
    const place = `${join(cwd, 'turnpike.yaml')}, line 2`
    assert.deepEqual(shown('region'), ['south', 'environment', null, 'local'])
    assert.deepEqual(shown('log_level'), ['warn', 'file', place, 'info'])
    assert.deepEqual(shown('smtp_password'), ['***', 'environment', null, null])
    assert.deepEqual(shown('check_interval'), ['10m', 'default', null, '10m'])
    assert.deepEqual(shown('trusted_proxies').slice(0, 3), [null, 'default', null])
    assert.ok(settings.every(({ meaning, group }) => meaning !== '' && group !== ''))
  } finally {
    rmSync(cwd, { recursive: true })
  }
})
