/**
 * TLS between program and PostgreSQL, by the URL's sslmode, on a real server with certificates of the
 * test's own. Goal: what the mode promises is kept or the connection refused, at once and with the
 * reason; nothing falls back to plain text.
 */
import assert from 'node:assert/strict'
import { chown, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { parsePostgresUrl } from '../../src/storage/location.ts'
import { openPostgres } from '../../src/storage/postgres/postgres.ts'
import { makeCertificate } from '../support/certificate.ts'
import { unprivilegedAccount } from '../support/postgres-programs.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'

const notSigned = /self-signed certificate/

describe('TLS to PostgreSQL', () => {
  let server: PostgresServer
  let url: string
  /** Files of certificates: the server's own, and one of the same name that it has not. */
  let own: string
  let foreign: string
  before(async () => {
    server = await startPostgres()
    url = await server.createDatabase()
    own = await writeCertificate('own', 'localhost')
    foreign = await writeCertificate('foreign', 'localhost')
    await serveWith(own)
  })
  after(() => server.close())

  async function writeCertificate(name: string, hostname: string): Promise<string> {
    const { cert, key } = makeCertificate(hostname)
    const certPath = join(server.folder, `${name}.crt`)
    const keyPath = join(server.folder, `${name}.key`)
    await writeFile(certPath, cert)
    await writeFile(keyPath, key, { mode: 0o600 })
    const account = unprivilegedAccount()
    if (account !== undefined) await chown(keyPath, account.uid, account.gid)
    return certPath
  }

  const serveWith = (certPath: string): Promise<void> =>
    server.restart('fast', {
      ssl: 'on',
      ssl_cert_file: certPath,
      ssl_key_file: certPath.replace('.crt', '.key'),
    })

  interface Way {
    readonly host?: string
    readonly sslmode: string
    readonly sslrootcert?: string
  }

  function through({ host = 'localhost', ...parameters }: Way): string {
    const store = new URL(url)
    store.hostname = host
    for (const [name, value] of Object.entries(parameters)) store.searchParams.set(name, value)
    return store.href
  }

  /** Connects; tells whether the server says that it is encrypted. */
  async function isEncrypted(way: Way): Promise<boolean> {
    const database = await openPostgres(parsePostgresUrl(through(way)), { connectionsMax: 1 })
    try {
      const [row] = await database.query('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()')
      return row?.['ssl'] === 1n
    } finally {
      await database.close()
    }
  }

  async function refusal(way: Way): Promise<string> {
    let message = ''
    await assert.rejects(isEncrypted(way), (error: Error) => {
      message = error.message
      return true
    })
    return message
  }

  it('encrypts when sslmode asks for it, and only then', async () => {
    assert.equal(await isEncrypted({ sslmode: 'disable' }), false)
    assert.equal(await isEncrypted({ sslmode: 'require' }), true)
    assert.equal(await isEncrypted({ sslmode: 'verify-ca', sslrootcert: own }), true)
    assert.equal(await isEncrypted({ sslmode: 'verify-full', sslrootcert: own }), true)
  })

  it('accepts a certificate for the address as well as for the name', async () => {
    const way = { host: '127.0.0.1', sslmode: 'verify-full', sslrootcert: own }
    assert.equal(await isEncrypted(way), true)
  })

  it('refuses a certificate from an untrusted authority', async () => {
    for (const sslmode of ['verify-ca', 'verify-full']) {
      assert.match(await refusal({ sslmode }), notSigned)
      assert.match(await refusal({ sslmode, sslrootcert: foreign }), notSigned)
    }
  })

  it('refuses a certificate for another name with verify-full', async () => {
    const other = await writeCertificate('other', 'db.example')
    await serveWith(other)
    assert.equal(await isEncrypted({ sslmode: 'verify-ca', sslrootcert: other }), true)
    assert.match(
      await refusal({ sslmode: 'verify-full', sslrootcert: other }),
      /does not match certificate's altnames[^]*localhost/,
    )
  })

  it('verifies the certificate with require when sslrootcert is set', async () => {
    assert.match(await refusal({ sslmode: 'require', sslrootcert: foreign }), notSigned)
  })

  it('fails when the file of sslrootcert is missing', async () => {
    const way = { sslmode: 'verify-full', sslrootcert: '/nowhere/ca.pem' }
    const told = /^(?!.*does not answer).*sslrootcert.*no such file[^]*\/nowhere\/ca\.pem/
    assert.match(await refusal(way), told)
  })

  it('fails on a server without TLS instead of continuing unencrypted', async () => {
    await server.restart('fast', {})
    for (const sslmode of ['require', 'verify-ca', 'verify-full'])
      assert.match(await refusal({ sslmode }), /server does not support SSL/)
  })

  it('gives up after connect_timeout when nothing answers', async () => {
    const sockets = new Set<Socket>()
    const silent = createServer((socket) => sockets.add(socket)).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    await Promise.all(
      ['disable', 'require'].map((sslmode) => {
        const parameters = `sslmode=${sslmode}&connect_timeout=1`
        const location = parsePostgresUrl(`postgres://u@127.0.0.1:${port}/db?${parameters}`)
        return assert.rejects(openPostgres(location), /timeout/)
      }),
    )
    for (const socket of sockets) socket.destroy()
    silent.close()
  })
})
