/** `turnpike serve`, `start` and `sandbox`: the programs that run until a signal. */
import { InvalidArgumentError } from 'commander'
import { systemClock } from '../../base/clock.ts'
import { processEnvironment } from '../../settings/read.ts'
import type { Ready } from '../../gateway/serve.ts'
import { findSupervisor } from '../../processes/supervisor-link.ts'
import {
  formatListenAddress,
  parseListenAddress,
  processesMax,
  readProcessCount,
  type ListenAddress,
} from '../../settings/schemas.ts'
import type { Config } from '../../settings/list.ts'
import { endWithOutput } from '../command.ts'
import { formatJson } from '../output.ts'
import { refuseServer } from '../place.ts'
import { plainRow, type CommandRow } from '../row.ts'
import { readConfig } from '../store-run.ts'

export const gatewayCommands: readonly CommandRow[] = [
  plainRow({
    words: 'serve',
    text: 'run the gateway until SIGTERM or Ctrl-C',
    more: {
      '--processes <number|auto>': {
        text: 'gateways on the same addresses, on PostgreSQL; auto: one on each core',
        parse: readProcesses,
      },
    },
    help: `Signals: SIGTERM, SIGINT and SIGHUP let running answers finish, a second one ends at once. With several
processes SIGUSR2 replaces them one by one, also by a new version.`,
    work: async ({ options }) => {
      process.stdout.off('error', endWithOutput)
      refuseServer(options)
      const { processes } = options
      const config = readConfig(options, typeof processes === 'string' ? processes : undefined)
      process.exitCode = await serveHere(config, options['json'] === true)
      return undefined
    },
  }),
  plainRow({
    words: 'start',
    text: 'run the gateway, with a demo where there is no catalogue yet',
    help: `The demo: simulated vendors, a catalogue for them, an account with 10 USD, a key and a read-only token, which
are shown once. With a catalogue it serves as turnpike serve does. In a checkout npm start does the same.`,
    work: async ({ options }) => {
      process.stdout.off('error', endWithOutput)
      refuseServer(options)
      const { serveWithDemo } = await import('../start.ts')
      process.exitCode = await serveWithDemo(readConfig(options), {
        isJson: options['json'] === true,
      })
      return undefined
    },
  }),
  plainRow({
    words: 'sandbox',
    text: 'run simulated vendors, to try the gateway',
    more: {
      '--listen <address>': {
        text: 'address and port to listen on; default: 127.0.0.1:9100',
        parse: readListenAddress,
      },
    },
    work: async ({ options }) => {
      const { runSandbox } = await import('../../../sandbox/sandbox.ts')
      refuseServer(options)
      const listen = options['listen'] as ListenAddress | undefined
      await runSandbox(listen ?? sandboxAddress, (url) => {
        const text = `Simulated vendors listen on ${url}. URL of a channel: ${url}/NAME\n`
        process.stdout.write(options['json'] === true ? formatJson({ url }) : text)
      })
      return undefined
    },
  }),
]

const sandboxAddress: ListenAddress = { host: '127.0.0.1', port: 9100 }

/** Runs the one gateway, the supervisor of several, or one of those. */
async function serveHere(config: Config, isJson: boolean): Promise<number> {
  const supervisor = findSupervisor(processEnvironment(), systemClock)
  const logDescriptor = isJson ? 2 : 1
  if (supervisor === undefined) {
    const { countProcesses, becomeSupervisor } = await import('../../gateway/become-supervisor.ts')
    if (countProcesses(config) > 1) becomeSupervisor(config, logDescriptor)
  }
  const { serve } = await import('../../gateway/serve.ts')
  const onReady = isJson ? announceAsJson : announce
  const announces = supervisor?.announces ?? true
  return serve(config, { logDescriptor, supervisor, ...(announces ? { onReady } : {}) })
}

/** Shows the first admin token, or where it is. It goes to stderr, because the log goes to stdout. */
function announce({ adminToken }: Ready): void {
  if (adminToken === undefined) return
  const text =
    adminToken.kind === 'shown'
      ? `Admin token (shown only once): ${adminToken.secret}\n`
      : `The admin token is in ${adminToken.path}\n`
  process.stderr.write(text)
}

/** Prints what a script needs; the log goes to stderr then. */
function announceAsJson({ app, adminToken }: Ready): void {
  const ready = {
    address: formatListenAddress(app.address),
    admin_address: formatListenAddress(app.adminAddress),
    admin_token: adminToken?.kind === 'shown' ? adminToken.secret : null,
    admin_token_file: adminToken?.kind === 'saved' ? adminToken.path : null,
  }
  process.stdout.write(formatJson(ready))
}

/** The word as it is given: the settings take it in place of their own. */
function readProcesses(text: string): string {
  if (readProcessCount(text) !== undefined) return text
  throw new InvalidArgumentError(`Give a whole number from 1 to ${processesMax}, or auto.`)
}

function readListenAddress(text: string): ListenAddress {
  const address = parseListenAddress(text)
  if (address !== undefined) return address
  throw new InvalidArgumentError('Give an address and a port, such as 127.0.0.1:9100.')
}
