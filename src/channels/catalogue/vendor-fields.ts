/** The fields of a vendor in the catalogue. Two of them have a default that depends on its format. */
import { vendorFeatures } from '../../formats/format.ts'
import { credentialForms, mayCarryVersion } from '../../formats/headers.ts'
import { field } from './field.ts'
import { anyText, choice, flag, optional, text, usually, visibleText, words } from './kinds.ts'

const headerRule = 'must be the name of a header, such as anthropic-version'

const headerName = anyText(headerRule)
  .regex(/^[A-Za-z0-9-]{1,64}$/, { error: headerRule })
  .refine(mayCarryVersion, {
    error: 'must be a header of the vendor; the gateway or HTTP uses that name',
  })
  .toLowerCase()

const version = anyText('must be text, such as "2023-06-01"')
  .regex(visibleText, { error: 'must be text without spaces, such as "2023-06-01"' })
  .max(64, { error: 'must have at most 64 characters' })

export const vendorFields = {
  format: field(
    'format',
    choice(['messages', 'chat']),
    '`messages` or `chat`: the shape of bodies, stream events and errors.',
  ),
  credential: field(
    'credential',
    choice(credentialForms),
    'How the gateway presents its key to the vendor: in the header `x-api-key` or `api-key`, or as `bearer`.',
    { fallback: '`x-api-key` for messages, `bearer` for chat' },
  ),
  /** The vendor's own header for the API version (`anthropic-version`), where it has one. */
  versionHeader: field(
    'version_header',
    optional(text(headerName)),
    "The vendor's own header for its API version. It cannot be a header that HTTP, credentials or the gateway use.",
  ),
  defaultVersion: field(
    'default_version',
    optional(text(version)),
    'The value of that header when a client sends none. Put it in quotes: it is text.',
  ),
  requireMaxTokens: field(
    'require_max_tokens',
    flag(),
    "`false` lets requests leave out `max_tokens`; the gateway then holds for the model's `max_output_tokens`.",
    { fallback: '`true` for messages, `false` for chat' },
  ),
  /** What requests may use of the operator's own vendor account, and what none may use. */
  allowedFeatures: field(
    'allow',
    usually(new Set<never>(), words(vendorFeatures)),
    'What requests may use of your own account at this vendor; see below.',
    { column: 'allowed_features', fallback: 'none' },
  ),
  /** Whether requests may name stored answers of the vendor: those of their own account, or none. */
  storedResponses: field(
    'stored_responses',
    usually('own', choice(['own', 'refuse'])),
    '`own`: an account may use the responses that it has made and this vendor stores. `refuse`: none may; see below.',
  ),
}

/** The vendor of the chat format takes a body without `max_tokens`, and most clients never send it. */
const defaultsByFormat = {
  messages: { credential: 'x-api-key', require_max_tokens: true },
  chat: { credential: 'bearer', require_max_tokens: false },
} as const

/** Fills in what an entry leaves out and what depends on its format. */
export function withVendorDefaults(entry: unknown): unknown {
  if (typeof entry !== 'object' || entry === null) return entry
  const isMessages = 'format' in entry && entry.format === 'messages'
  return { ...defaultsByFormat[isMessages ? 'messages' : 'chat'], ...entry }
}
