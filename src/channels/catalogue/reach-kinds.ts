/**
 * Kinds of the fields by which a channel says how its vendor is reached: paths, query, headers, a proxy,
 * betas that it does not know, and references to secrets. Pure. Invariant: no value of these can change the
 * method, the host, the length or the credential of a request.
 */
import { z } from 'zod'
import { mayBeFixed } from '../../formats/channel-headers.ts'
import type { Kind } from './field.ts'
import { anyText, visibleText } from './kinds.ts'
import { endsInEndpoint, proxyFault, proxyRule } from './channel-address.ts'

const environmentRule = /^env:[A-Za-z_][A-Za-z0-9_]*$/
const fileRule = /^file:\/./

/** How people write a reference to a variable in other programs, with the name in a group. */
const otherReferences: readonly RegExp[] = [
  /^env(?:ironment)?[.:=]{1,2}\/{0,2}([A-Za-z_]\w*)$/i,
  /^(?:process\.env|os\.environ)[./[('"]+([A-Za-z_]\w*)['")\]]*$/i,
  /^\$(?:env:)?([A-Za-z_]\w*)$/i,
  /^\$?\$?\{+\s*(?:env[.:]|secrets\.)?([A-Za-z_]\w*)\s*(?::?[-?][^}]*)?\}+$/i,
  /^\$\(([A-Za-z_]\w*)\)$/,
  /^%([A-Za-z_]\w*)%$/,
]

function isReferenceForm(given: string): boolean {
  return environmentRule.test(given) || fileRule.test(given)
}

/** Returns the mistake in a reference to a variable or a file; undefined for any other text. */
function referenceFault(given: string): string | undefined {
  if (isReferenceForm(given)) return undefined
  if (given.startsWith('file:'))
    return 'must name a file after file: by its whole path, beginning with /'
  if (/^file:/i.test(given))
    return 'looks like the name of a file; write file:/PATH in small letters'
  for (const form of otherReferences) {
    const name = form.exec(given)?.[1]
    if (name !== undefined) return `looks like the name of a variable; write env:${name}`
  }
  if (given.startsWith('env:'))
    return 'must name an environment variable after env:, in letters, digits and _'
  return undefined
}

const pathRule =
  'must be a path such as /v1 or /api/paas/v4, or empty: "" for no path before that of the endpoint'

/** Behind the address, before the path of the endpoint: with a slash in front and none behind, or empty. */
export const basePath = anyText(pathRule)
  .transform((given) => given.replace(/\/+$/, ''))
  .refine((given) => given === '' || /^(?:\/[\w.~:@+-]+)+$/.test(given), { error: pathRule })
  .refine((given) => given.length <= 256, { error: 'must have at most 256 characters' })
  .refine((given) => !given.split('/').some((one) => one === '.' || one === '..'), {
    error: 'must have no . or .. between slashes',
  })
  .refine((given) => !endsInEndpoint(given), {
    error: 'must end before the path of the endpoint, which the gateway appends itself',
  })

/** An address, or a reference to one with the user name and the password that the proxy asks for. */
export const proxyAddress = anyText(proxyRule).transform((given, context): string => {
  const reference = referenceFault(given)
  if (reference === undefined && isReferenceForm(given)) return given
  const fault = reference ?? proxyFault(given) ?? plainPassword(given)
  if (fault === undefined) return new URL(given).origin
  context.addIssue({ code: 'custom', message: fault })
  return z.NEVER
})

function plainPassword(address: string): string | undefined {
  const { username, password } = new URL(address)
  if (username === '' && password === '') return undefined
  return 'must hold no user name or password; write env:NAME or file:/PATH, and the whole address there'
}

type Texts = ReadonlyMap<string, string>

const namesMax = 32
const shownTexts = z.record(z.string(), z.string())

/** A mapping of names to texts; `read` returns the name and the value, or their mistake. */
function texts(
  error: string,
  read: (name: string, value: string) => readonly [string, string] | string,
): Kind<Texts, typeof shownTexts> {
  return {
    schema: z.record(z.string(), z.unknown(), { error }).transform((given, context): Texts => {
      const found = new Map<string, string>()
      const complain = (message: string, path: string[] = []): void =>
        context.addIssue({ code: 'custom', message, path, input: undefined })
      for (const [name, value] of Object.entries(given)) {
        const one = typeof value === 'string' ? read(name, value) : 'must be text; put it in quotes'
        if (typeof one === 'string') complain(one, [name])
        else if (found.has(one[0])) complain(`${one[0]} is there twice`, [name])
        else found.set(...one)
      }
      if (found.size > namesMax) complain(`must have at most ${namesMax} names`)
      return found
    }),
    store: (value) => JSON.stringify(Object.fromEntries(value)),
    read: (stored) => new Map(Object.entries(JSON.parse(String(stored)) as Record<string, string>)),
    print: (value) => Object.fromEntries(value),
    shown: shownTexts,
    control: 'mapping',
    fallback: 'required',
  }
}

const queryValueLengthMax = 256

export const queryParameters = texts(
  'must be a mapping such as { api-version: "2026-10-01" }',
  (name, value) => {
    if (!/^[\w.~-]{1,64}$/.test(name)) return 'must have a name of letters, digits and . _ ~ -'
    if (!/^[\x20-\x7e]*$/.test(value)) return 'must have no line breaks or characters outside ASCII'
    if (value.length > queryValueLengthMax)
      return `must have at most ${queryValueLengthMax} characters`
    return [name, value]
  },
)

const headerLengthMax = 1_024

export const fixedHeaders = texts(
  'must be a mapping such as { x-workspace: env:WORKSPACE }',
  (given, value) => {
    const name = given.toLowerCase()
    if (!/^[a-z0-9-]{1,64}$/.test(name)) return 'must have a name of letters, digits and -'
    if (!mayBeFixed(name))
      return 'must be another header: HTTP, the credential or the gateway uses this one'
    if (!/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value))
      return 'must be text without line breaks, characters outside ASCII, or spaces at its ends'
    if (value.length > headerLengthMax) return `must have at most ${headerLengthMax} characters`
    return referenceFault(value) ?? [name, value]
  },
)

const betaRule =
  'must be the name of a beta such as some-beta-2026-01-15, or its beginning with * behind it'

const betaNames = z
  .array(anyText(betaRule).regex(/^[\w.=-]{1,128}\*?$/, { error: betaRule }), {
    error: 'must be a list of betas such as [some-beta-2026-01-15, other-beta-*]',
  })
  .max(100, { error: 'must have at most 100 names' })
  .transform((given): readonly string[] => [...new Set(given)].sort())

const shownBetas = z.array(z.string())

export const betas: Kind<readonly string[], typeof shownBetas> = {
  schema: betaNames,
  store: (value) => value.join(','),
  read: (stored) =>
    String(stored)
      .split(',')
      .filter((name) => name !== ''),
  print: (value) => [...value],
  shown: shownBetas,
  control: 'list',
  fallback: 'required',
}

const credentialLengthMax = 8_192
const credentialRule = 'must be env:NAME, file:/PATH, or the secret itself (apply seals it)'

export const credentialText = anyText(credentialRule)
  .min(1, { error: credentialRule })
  .max(credentialLengthMax, { error: `must have at most ${credentialLengthMax} characters` })
  .transform((given, context): string => {
    const fault =
      referenceFault(given) ??
      (visibleText.test(given)
        ? undefined
        : 'must have no spaces, line breaks or characters outside ASCII')
    if (fault === undefined) return given
    context.addIssue({ code: 'custom', message: fault })
    return z.NEVER
  })
