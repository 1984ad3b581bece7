/** `turnpike serve` and `turnpike sandbox`: the programs that run until a signal. */
import { InvalidArgumentError, Option, type Command } from 'commander'
import type { Ready } from '../main.ts'
import { formatListenAddress, parseListenAddress, type ListenAddress } from '../setting-schemas.ts'
import { endWithOutput } from './command.ts'
import { formatJson } from './output.ts'
import { refuseServer } from './place.ts'
import { readConfig, type Given } from './store-run.ts'

export function addGatewayCommands(program: Command): void {
  program
    .command('serve')
    .description('run the gateway until SIGTERM or Ctrl-C')
    .action(async (_options: unknown, command: Command) => {
      const { serve } = await import('../main.ts')
      process.stdout.off('error', endWithOutput)
      const options: Given['options'] = command.optsWithGlobals()
      refuseServer(options)
      process.exitCode = await serve(
        readConfig(options),
        options['json'] === true
          ? { onReady: announceAsJson, logDescriptor: 2 }
          : { onReady: announce },
      )
    })
  program
    .command('sandbox')
    .description('run simulated vendors, to try the gateway')
    .addOption(
      new Option('--listen <address>', 'address and port to listen on')
        .argParser(readListenAddress)
        .default({ host: '127.0.0.1', port: 9100 }, '127.0.0.1:9100'),
    )
    .action(async (options: { readonly listen: ListenAddress }, command: Command) => {
      const { runSandbox } = await import('../../sandbox/sandbox.ts')
      const given = command.optsWithGlobals<Given['options']>()
      refuseServer(given)
      const isJson = given['json'] === true
      await runSandbox(options.listen, (url) => {
        const text = `Simulated vendors listen on ${url}. URL of a channel: ${url}/NAME\n`
        process.stdout.write(isJson ? formatJson({ url }) : text)
      })
    })
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

function readListenAddress(text: string): ListenAddress {
  const address = parseListenAddress(text)
  if (address !== undefined) return address
  throw new InvalidArgumentError('Give an address and a port, such as 127.0.0.1:9100.')
}
