/**
 * All public error codes: the status of each, who must act, what it means and what to do. Codes are stable.
 * `npm run docs:write` writes the tables of docs/errors.md from here; the texts are Markdown.
 */
import { operatingErrors } from './operating-errors.ts'

/** Who must act to solve the error. */
export type ErrorOrigin = 'client' | 'account' | 'gateway' | 'upstream'

export interface ErrorFact {
  readonly status: number
  readonly origin: ErrorOrigin
  readonly meaning: string
  readonly advice: string
}

/** By subject, in the order of the page. */
export const errorGroups = {
  'Credentials and limits': {
    'access.credential_invalid': {
      status: 401,
      origin: 'client',
      meaning:
        'The credential is missing, malformed, unknown, revoked or expired. The answer says only whether there was one, and carries `x-should-retry: false`.',
      advice:
        'Send the key as `Authorization: Bearer …`, `x-api-key: …` or `api-key: …`; if you send more than one, they must be equal. Or ask for a new key.',
    },
    'access.credential_wrong_kind': {
      status: 403,
      origin: 'client',
      meaning: 'The credential is valid, but not for this endpoint.',
      advice:
        'Model routes take `cr_` keys, `/v1/usage` takes `ro_` tokens, `/metrics` takes `ad_` tokens.',
    },
    'access.session_invalid': {
      status: 401,
      origin: 'client',
      meaning:
        'The session of the console or the account page has ended: after 30 minutes without use, after 12 hours, by signing out, or with its admin token or member.',
      advice: 'Sign in again.',
    },
    'access.sign_in_code_invalid': {
      status: 401,
      origin: 'client',
      meaning:
        'The link to the console has been used or has expired (after five minutes), or its admin token is no longer valid.',
      advice: 'Get a new link with `turnpike console`, or sign in with an admin token.',
    },
    'access.sign_in_link_invalid': {
      status: 401,
      origin: 'client',
      meaning:
        'The link to the account page has been used, has expired (after 15 minutes), was replaced by a newer one, or is open in another browser than the one that asked for it.',
      advice: 'Ask for a new link in this browser, and use the newest mail.',
    },
    'access.oidc_refused': {
      status: 403,
      origin: 'client',
      meaning:
        'A sign-in by OpenID Connect was refused: by the provider, because it was begun elsewhere or has been used, or because that person has no account or no role here. The message says which.',
      advice: 'Begin again in one browser, or ask for an invitation or a role.',
    },
    'access.oidc_unavailable': {
      status: 503,
      origin: 'gateway',
      meaning: 'The OpenID Connect provider does not answer in time, or not as it should.',
      advice: 'Try again later. Operators: the log of the gateway has the reason.',
    },
    'access.https_required': {
      status: 403,
      origin: 'client',
      meaning:
        'Signing in to the console over plain http works on a loopback address only (`127.0.0.1`, `[::1]`, `localhost`).',
      advice:
        'Use https through a proxy ([behind a proxy](deploy-proxy.md)), or an SSH tunnel: `ssh -L 8081:127.0.0.1:8081 HOST`, then `http://127.0.0.1:8081/console/`.',
    },
    'access.cross_site_request': {
      status: 403,
      origin: 'client',
      meaning:
        'A request with the cookie of the console or the account page, or a sign-in, does not come from that page itself.',
      advice:
        'Use the console, or send an admin token as `Authorization: Bearer …`. Operators: a proxy must pass the `Host` header on, and `public_url` must be the address of the account page.',
    },
    'access.address_not_allowed': {
      status: 403,
      origin: 'client',
      meaning: 'The key may be used from certain addresses only, and this is not one of them.',
      advice: 'Call from an allowed address, or ask the operator for a key without this limit.',
    },
    'access.role_insufficient': {
      status: 403,
      origin: 'client',
      meaning: 'The role of the admin token or of the member does not allow this.',
      advice: 'Use a token with another role; docs/admin-api.md has the table.',
    },
    'access.account_suspended': {
      status: 403,
      origin: 'account',
      meaning: 'The operator has suspended the account.',
      advice: 'Ask the operator. Operators: `turnpike account resume NAME`.',
    },
    'access.account_closed': {
      status: 403,
      origin: 'account',
      meaning: 'The operator has closed the account.',
      advice: 'Ask the operator. Operators: `turnpike account reopen NAME`.',
    },
    'access.model_not_allowed': {
      status: 403,
      origin: 'client',
      meaning:
        'The model exists, but this key may not use it. In the messages format the status is 400, after which clients ask for another model.',
      advice: '`GET {prefix}/v1/models` lists the models of this key.',
    },
    'access.rate_limited': {
      status: 429,
      origin: 'account',
      meaning:
        'The account or the key has reached its requests per minute; the message says which.',
      advice:
        'Wait for `retry-after` seconds. Operators: `turnpike account limits NAME --rpm N`, `turnpike key edit ID --rpm N`.',
    },
    'access.tokens_limited': {
      status: 429,
      origin: 'account',
      meaning:
        'The requests of the account or key that ended in the last 60 seconds have used its tokens per minute. Running requests do not count.',
      advice:
        'Wait for `retry-after` seconds. Operators: `turnpike account limits NAME --tpm N`, `turnpike key edit ID --tpm N`.',
    },
    'access.too_many_running': {
      status: 429,
      origin: 'account',
      meaning:
        'The key or the account has reached its concurrency limit, or the admin token its event streams.',
      advice:
        'Wait until one request ends. Operators: settings `max_running_per_key`, `max_running_per_account`.',
    },
    'access.too_many_bytes': {
      status: 429,
      origin: 'account',
      meaning: 'The bodies of the running requests of the key or account are too large.',
      advice: 'Wait until one request ends. Operators: setting `bodies_max_bytes`.',
    },
    'access.too_many_wrong_codes': {
      status: 429,
      origin: 'client',
      meaning:
        'The account, or the address of the client, has sent too many top-up codes that do not exist.',
      advice: 'Check the code, and wait for `retry-after` seconds.',
    },
    'access.too_many_failed_sign_ins': {
      status: 429,
      origin: 'client',
      meaning:
        'Too many requests from this address had no valid credential within a minute. A known key still works.',
      advice:
        'Correct the credential and wait for `retry-after` seconds. Operators: setting `max_failed_sign_ins`; behind a proxy, `trusted_proxies`.',
    },
  },
  Requests: {
    'http.malformed': {
      status: 400,
      origin: 'client',
      meaning: 'The request is not valid HTTP/1.1, or is ambiguous.',
      advice: 'Use a usual HTTP client; check proxies in between.',
    },
    'http.not_found': {
      status: 404,
      origin: 'client',
      meaning:
        'The endpoint does not exist. The message lists those that do, or names the right base address.',
      advice:
        "Check the base address. The usual reasons are a missing vendor and the other vendor's path. A missing or doubled `/v1`, `//` and a slash at the end are understood.",
    },
    'http.method_not_allowed': {
      status: 405,
      origin: 'client',
      meaning: 'The endpoint exists for another method, named in the header `allow`.',
      advice: 'Use that method.',
    },
    'http.body_timeout': {
      status: 408,
      origin: 'client',
      meaning: 'The body did not arrive in time.',
      advice: 'Send it faster. Operators: setting `body_timeout`.',
    },
    'http.body_too_large': {
      status: 413,
      origin: 'client',
      meaning: 'The body is too large.',
      advice: 'Send less. Operators: setting `body_max_bytes`.',
    },
    'http.unsupported_media_type': {
      status: 415,
      origin: 'client',
      meaning:
        'The body is not declared as JSON, has a `content-encoding` that is not decoded, or names a charset other than utf-8.',
      advice:
        'Send `content-type: application/json`, uncompressed or with one of gzip, deflate, br and zstd.',
    },
    'http.websocket_not_served': {
      status: 426,
      origin: 'client',
      meaning: 'The client asks for a WebSocket on the responses path, as Codex CLI does first.',
      advice: 'Send the request over HTTP; Codex CLI does so at once.',
    },
    'http.head_too_large': {
      status: 431,
      origin: 'client',
      meaning: 'The headers are larger than 64 KiB, or there are more than 256.',
      advice: 'Send fewer or shorter headers.',
    },
    'relay.request_invalid': {
      status: 400,
      origin: 'client',
      meaning:
        'The body is not valid JSON; or a field that the gateway reads is missing, wrong, given twice, or written in another letter case (`Model`); or a name contains U+0000.',
      advice: 'The message names the field.',
    },
    'relay.model_unknown': {
      status: 404,
      origin: 'client',
      meaning:
        'This prefix does not serve such a model. The message names the nearest one, or the base address of the vendor that has it.',
      advice:
        '`GET {prefix}/v1/models`. Operators: a model without a price is not served; `turnpike price list` shows prices.',
    },
    'relay.not_offered': {
      status: 404,
      origin: 'client',
      meaning:
        'No channel of this model offers this endpoint, such as `count_tokens`, or the catalogue says that the model does not.',
      advice:
        "Do without it. The model's other endpoints work all the same. Operators: `operations` and the `output` price of the model.",
    },
    'relay.response_unknown': {
      status: 404,
      origin: 'client',
      meaning: 'The account has no stored response with this id.',
      advice: 'Use an id of the last 30 days from an answer to the same account.',
    },
    'relay.previous_response_unknown': {
      status: 400,
      origin: 'client',
      meaning: '`previous_response_id` is no stored response of the account.',
      advice: 'The same, or send the whole input.',
    },
    'relay.item_unknown': {
      status: 404,
      origin: 'client',
      meaning: '`input` names an item or a container by an id that the account does not have.',
      advice: 'The same, or send the item in full.',
    },
    'relay.encrypted_content_unreadable': {
      status: 400,
      origin: 'client',
      meaning: '`input` has encrypted content that belongs to another account.',
      advice: 'Leave it out.',
    },
    'relay.state_unavailable': {
      status: 400,
      origin: 'client',
      meaning:
        'An earlier answer that the request names can no longer be reached, or no single vendor account can read all of them.',
      advice:
        'Start a new conversation: send the whole input without ids of earlier answers and without encrypted content.',
    },
    'api.request_invalid': {
      status: 400,
      origin: 'client',
      meaning: "The query or body of one of the gateway's own endpoints is wrong.",
      advice: 'The message names the wrong part.',
    },
  },
  Money: {
    'ledger.insufficient_balance': {
      status: 402,
      origin: 'account',
      meaning: 'The balance does not cover the highest plausible cost of the request.',
      advice:
        'Add credit, or ask for less output: the message says how much the balance covers. A retry of the same request does not help.',
    },
    'ledger.balance_held': {
      status: 402,
      origin: 'account',
      meaning:
        "The balance would be enough, but the account's own running requests hold parts of it.",
      advice: 'Wait for `retry-after` seconds and retry.',
    },
    'ledger.daily_limit_reached': {
      status: 429,
      origin: 'account',
      meaning:
        "With this request, today's charges could exceed the daily limit of the account or key.",
      advice:
        'The message says when the next day starts (00:00 UTC). Operators: `turnpike account limits NAME --daily USD`, `turnpike key edit ID --daily USD`.',
    },
    'ledger.monthly_limit_reached': {
      status: 429,
      origin: 'account',
      meaning:
        'With this request, the charges of this calendar month (UTC) could exceed the monthly limit of the key.',
      advice:
        'The message says when the next month starts. Operators: `turnpike key edit ID --monthly USD`.',
    },
    'ledger.total_limit_reached': {
      status: 429,
      origin: 'account',
      meaning: 'With this request, all charges of the key could exceed its total limit.',
      advice: 'It does not reset. Operators: `turnpike key edit ID --total USD`.',
    },
    'ledger.unavailable': {
      status: 503,
      origin: 'gateway',
      meaning:
        'The store cannot record charges, so the gateway admits no request and completes no answer. Answers that it could not complete are not charged. In a command: the store cannot be opened, read or written now.',
      advice:
        'Retry after `retry-after`. Operators: check the disk and the store; `turnpike doctor`. The message of a command names the problem.',
    },
  },
  'Vendors and channels': {
    'relay.no_channel_available': {
      status: 503,
      origin: 'gateway',
      meaning:
        'No channel of the model can be tried: none is configured, an operator has disabled all, or all have reached their concurrency limit.',
      advice: 'Retry soon. Operators: `turnpike channel list` shows which and why.',
    },
    'relay.overloaded': {
      status: 503,
      origin: 'gateway',
      meaning: 'The vendor, or the gateway, has no capacity right now.',
      advice: 'Retry after `retry-after`.',
    },
    'relay.shutting_down': {
      status: 503,
      origin: 'gateway',
      meaning:
        'This gateway is stopping: it accepts no new requests, and it has ended those that ran longer than `drain_timeout`.',
      advice: 'Retry: another node, or the restarted one, answers.',
    },
    'relay.upstream_failed': {
      status: 502,
      origin: 'upstream',
      meaning:
        "No channel gave a usable answer, or the answer broke off. Clients also see this when a vendor refuses the operator's own account.",
      advice:
        'Retry. Operators: `turnpike channel list`. A channel whose credential is refused stays off until it works again.',
    },
    'relay.answer_too_large': {
      status: 502,
      origin: 'gateway',
      meaning:
        "The vendor's answer, which is not streamed, is larger than the gateway keeps in memory. Nothing is charged, and no channel is blamed.",
      advice:
        'Ask for less: fewer texts, or embeddings as base64. Operators: setting `answer_max_bytes`.',
    },
    'relay.upstream_timeout': {
      status: 504,
      origin: 'upstream',
      meaning: 'The vendor did not answer in time on any channel.',
      advice:
        'Retry, or ask for less. Operators: settings `connect_timeout`, `first_event_timeout`, `answer_timeout`, `idle_timeout`, `ping_timeout`, `request_deadline`.',
    },
    'relay.upstream_throttled': {
      status: 429,
      origin: 'upstream',
      meaning: "The vendor's rate limit is reached on every channel.",
      advice:
        "Retry after `retry-after`: the vendor's, up to 60 seconds. Operators: add channels, or ask the vendor for a higher limit.",
    },
  },
  Operating: operatingErrors,
} as const satisfies Record<string, Record<string, ErrorFact>>

export const errorCatalogue = {
  ...errorGroups['Credentials and limits'],
  ...errorGroups['Requests'],
  ...errorGroups['Money'],
  ...errorGroups['Vendors and channels'],
  ...errorGroups['Operating'],
}
