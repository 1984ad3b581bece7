/** `turnpike console`: a link that signs a browser in to the console once. */
import { InvalidArgumentError } from 'commander'
import { allowsSignIn, listenerUrl, signInUrl } from '../../gateway/console-link.ts'
import type { ListenAddress } from '../../settings/schemas.ts'
import { createSignInCode } from '../../operations/sessions/sessions.ts'
import { shown, storeWork } from '../command.ts'
import { plainRow } from '../row.ts'

export const consoleCommand = plainRow({
  words: 'console',
  text: 'print a link that signs in to the console once, within five minutes',
  more: {
    '--url <address>': {
      text: 'where the console is reached, such as https://admin.example.com',
      parse: readBase,
    },
  },
  help: `The link has the rights of the oldest valid admin token with the role owner.

Examples:
  turnpike console
  turnpike console --url https://admin.example.com`,
  work: storeWork('existing', async ({ context, config, options: { url } }) => {
    const base = typeof url === 'string' ? url : baseOf(config.adminListen)
    return shown(await createSignInCode(context, {}), ({ code, ...made }) => {
      const link = signInUrl(base, code)
      return {
        json: { url: link, ...made },
        text: `${link}\n\nIt signs in once, until ${made.expires_at}, with the rights of the admin token ${made.token_name || made.token_id}.`,
        ifLost: 'Run it again: each link is new.',
      }
    })
  }),
})

function baseOf(adminListen: ListenAddress): string {
  if (adminListen.port === 0)
    throw new InvalidArgumentError(
      'The setting admin_listen has port 0, so this command does not know the port of the gateway. Add --url http://127.0.0.1:PORT.',
    )
  const base = listenerUrl(adminListen)
  if (allowsSignIn(base)) return base
  throw new InvalidArgumentError(
    `Signing in at ${base} needs https. Add --url with the https address of your proxy, or --url http://127.0.0.1:PORT for an SSH tunnel.`,
  )
}

function readBase(text: string): string {
  const url = URL.parse(text)
  const isOrigin = url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`
  if (!isOrigin || !allowsSignIn(url.origin))
    throw new InvalidArgumentError(
      'It must be an https address without a path, or http on a loopback address.',
    )
  return url.origin
}
