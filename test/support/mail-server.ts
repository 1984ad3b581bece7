/**
 * A real mail server, Debian's exim4, on loopback. It puts every mail into a folder, refuses mail for
 * `refused@…`, offers STARTTLS, and lets the user `alerts` sign in with the password `secret`. It runs as the
 * user that its package makes, which takes root.
 */
import { spawn } from 'node:child_process'
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface MailServer {
  /** The texts of the mails that it has taken. */
  mails(): readonly string[]
  log(): string
  close(): Promise<void>
}

const program = '/usr/sbin/exim4'

function configuration(folder: string): string {
  return `
primary_hostname = mail.test
spool_directory = ${folder}/spool
log_file_path = ${folder}/log/%slog
pid_file_path = ${folder}/exim.pid
local_interfaces = 127.0.0.1
deliver_drop_privilege = true
keep_environment =
acl_smtp_rcpt = rcpt
acl_smtp_data = data
begin acl
rcpt:
  deny local_parts = refused
  accept
data:
  accept
begin routers
all:
  driver = accept
  transport = folder
begin transports
folder:
  driver = appendfile
  directory = ${folder}/mail
  maildir_format
  create_directory
begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_condition = \${if and{{eq{$auth2}{alerts}}{eq{$auth3}{secret}}}}
  server_set_id = $auth2
`
}

function eximAccount(): { readonly uid: number; readonly gid: number } {
  const lines = existsSync(program) ? readFileSync('/etc/passwd', 'utf8').split('\n') : []
  const fields = lines.map((line) => line.split(':')).find(([name]) => name === 'Debian-exim')
  if (fields === undefined || process.getuid?.() !== 0)
    throw new Error('exim4 must be installed and run as root; npm test installs it on Debian')
  return { uid: Number(fields[2]), gid: Number(fields[3]) }
}

/** Resolves when the server takes mail on the port. */
export async function startMailServer(port: number): Promise<MailServer> {
  const account = eximAccount()
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-mail-'))
  chownSync(folder, account.uid, account.gid)
  for (const name of ['spool', 'log', 'mail']) {
    mkdirSync(join(folder, name))
    chownSync(join(folder, name), account.uid, account.gid)
  }
  writeFileSync(join(folder, 'exim.conf'), configuration(folder), { mode: 0o644 })
  const words = ['-C', join(folder, 'exim.conf'), '-bdf', '-oX', String(port)]
  const child = spawn(program, words, { ...account, cwd: '/', stdio: 'ignore' })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  while (!(await accepts(port))) if (child.exitCode !== null) throw new Error('exim4 has ended')
  const inbox = join(folder, 'mail', 'new')
  const taken = new Map<string, string>()
  const read = (name: string): string => {
    const mail = taken.get(name) ?? readFileSync(join(inbox, name), 'utf8')
    taken.set(name, mail)
    return mail
  }
  return {
    mails: () => (existsSync(inbox) ? readdirSync(inbox).map(read) : []),
    log: () => readFileSync(join(folder, 'log', 'mainlog'), 'utf8'),
    async close() {
      child.kill('SIGTERM')
      await ended
      // A process of exim4 that delivers may still write a file.
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('data', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
