/**
 * Every known error answer of the two vendors, by name: `messages.529`,
 * `chat.429_insufficient_quota`. Data only; plain-answers.ts turns a row into bytes. Several texts
 * name the operator's account on purpose: they must never reach a client of the gateway.
 */
/** Values of the simulated operator. They must never reach a client of the gateway. */
export const operatorIdentifiers = {
  organization: 'org-sandbox-operator-7f3a',
  organizationId: '5b1d7c52-0f7e-4a55-9a3e-sandboxorg01',
  workspace: 'wrkspc_sandbox_operator_01',
  project: 'proj_sandbox_operator_01',
  cookie: '__cf_bm=sandbox-operator-cookie',
} as const

export interface ErrorPreset {
  readonly status: number
  readonly type: string
  readonly message: string
  /** `error.details.error_code` in messages, `error.code` in chat. */
  readonly code?: string | null
  readonly param?: string
  readonly retryAfter?: string
  readonly shouldRetry?: string
  /** The answer of the network in front of the vendor: a page in place of the format's envelope. */
  readonly page?: string
}

const { organization, workspace, project } = operatorIdentifiers

function pages(statuses: readonly number[]): [string, ErrorPreset][] {
  return statuses.map((status) => [
    String(status),
    {
      status,
      type: 'api_error',
      message: `The edge answered ${status}.`,
      page: `<html><head><title>${status}</title></head><body><center><h1>${status}</h1></center><hr><center>cloudflare</center></body></html>\r\n`,
    },
  ])
}

/** Rows that differ only in their `details.error_code`, named `STATUS_CODE`. */
function coded(status: number, type: string, codes: readonly string[]): [string, ErrorPreset][] {
  return codes.map((code) => [
    `${status}_${code}`,
    { status, type, code, message: `Simulated: ${code.replaceAll('_', ' ')}.` },
  ])
}

/** Servers without the endpoint. */
const missingEndpoint: readonly [string, ErrorPreset][] = [
  ...pages([405, 501]),
  ['404_page', { status: 404, type: 'not_found_error', message: 'x', page: 'Not Found\n' }],
  ['404_path', { status: 404, type: 'not_found_error', message: 'Not Found' }],
]

const messagesRows: readonly [string, ErrorPreset][] = [
  ...missingEndpoint,
  ...pages([413, 502, 520, 521, 522, 523, 524, 530]),
  ...coded(400, 'invalid_request_error', [
    'available_tools_limit_exceeded',
    'claude_code_key_creator_not_member',
    'claude_code_version_too_old',
    'cmek_key_disabled',
    'cmek_key_network_blocked',
    'compaction_block_ambiguous',
    'compaction_block_misplaced',
    'compaction_content_mismatch',
    'compaction_incomplete_turn',
    'compaction_nothing_to_summarize',
    'compaction_signature_invalid',
    'compaction_too_many_tool_references',
    'compaction_tool_changes_mismatch',
    'request_body_encoding_invalid',
    'request_body_encoding_unsupported',
    'thread_state_invalid',
    'tool_name_conflict',
    'tool_reference_unresolved',
    'user_profile_required',
  ]),
  ...coded(402, 'billing_error', ['linked_organization_payment_required']),
  ...coded(403, 'permission_error', [
    'user_profile_billing_not_authorized',
    'user_profile_not_billable',
  ]),
  ...coded(404, 'not_found_error', ['thread_not_found']),
  ...coded(413, 'request_too_large', ['request_body_too_large_after_decoding']),
  ...coded(503, 'api_error', ['cmek_key_unreachable', 'cmek_context_unavailable']),
  ...coded(529, 'overloaded_error', ['compaction_unavailable']),
  ['400', { status: 400, type: 'invalid_request_error', message: 'messages.0: simulated fault' }],
  [
    '400_context',
    {
      status: 400,
      type: 'invalid_request_error',
      message: 'prompt is too long: 210000 tokens > 200000 maximum',
    },
  ],
  [
    '400_credit',
    {
      status: 400,
      type: 'invalid_request_error',
      message:
        'Your credit balance is too low to access the API. Please go to Plans & Billing to upgrade or purchase credits.',
    },
  ],
  [
    '400_usage_limits',
    {
      status: 400,
      type: 'invalid_request_error',
      message:
        'You have reached your specified API usage limits. You will regain access on 2026-12-01.',
    },
  ],
  [
    '400_workspace_limits',
    {
      status: 400,
      type: 'invalid_request_error',
      message: `You have reached your specified workspace API usage limits (${workspace}).`,
    },
  ],
  [
    '400_organization_on_hold',
    {
      status: 400,
      type: 'invalid_request_error',
      code: 'organization_on_hold',
      message: `Organization ${organization} is on hold.`,
    },
  ],
  ['401', { status: 401, type: 'authentication_error', message: 'invalid x-api-key' }],
  [
    '402',
    {
      status: 402,
      type: 'billing_error',
      message: `There is a payment problem with organization ${organization}.`,
    },
  ],
  [
    '403',
    {
      status: 403,
      type: 'permission_error',
      message: `Your API key does not have permission to use this model in ${workspace}.`,
    },
  ],
  ['404', { status: 404, type: 'not_found_error', message: 'model: simulated-missing' }],
  ['408', { status: 408, type: 'timeout_error', message: 'Request timed out.' }],
  ['409', { status: 409, type: 'conflict_error', message: 'Simulated conflict of state.' }],
  [
    '413_json',
    { status: 413, type: 'request_too_large', message: 'Request exceeds the maximum size' },
  ],
  ['422', { status: 422, type: 'invalid_request_error', message: 'Simulated unprocessable.' }],
  [
    '429',
    {
      status: 429,
      type: 'rate_limit_error',
      retryAfter: '7',
      message: `This request would exceed the rate limit for organization ${organization}.`,
    },
  ],
  [
    '429_ramp_limit_exceeded',
    {
      status: 429,
      type: 'rate_limit_error',
      code: 'ramp_limit_exceeded',
      retryAfter: '3',
      message: 'Traffic grew too fast.',
    },
  ],
  [
    '429_contract_spend_limit_reached',
    {
      status: 429,
      type: 'rate_limit_error',
      code: 'contract_spend_limit_reached',
      message: `Organization ${organization} has reached its contract spend limit.`,
    },
  ],
  [
    '429_enforced_spend_limit_reached',
    {
      status: 429,
      type: 'rate_limit_error',
      code: 'enforced_spend_limit_reached',
      shouldRetry: 'false',
      message: `Organization ${organization} has reached its monthly spend limit.`,
    },
  ],
  ['500', { status: 500, type: 'api_error', message: 'Internal server error' }],
  ['503', { status: 503, type: 'api_error', message: 'Service unavailable' }],
  [
    '503_overloaded',
    { status: 503, type: 'overloaded_error', retryAfter: '5', message: 'Overloaded' },
  ],
  ['504', { status: 504, type: 'timeout_error', message: 'The request took too long.' }],
  ['529', { status: 529, type: 'overloaded_error', message: 'Overloaded' }],
]

function quota(code: string, message: string): [string, ErrorPreset] {
  return [`429_${code}`, { status: 429, type: 'insufficient_quota', code, message }]
}

const chatRows: readonly [string, ErrorPreset][] = [
  ...missingEndpoint,
  ...pages([502, 520, 521, 522, 523, 524, 530]),
  quota('insufficient_quota', `You exceeded your current quota (${organization}).`),
  quota('credit_balance_exhausted', `The credit balance of ${organization} is exhausted.`),
  quota('organization_spend_limit_exceeded', `${organization} has reached its spend limit.`),
  quota('project_spend_limit_exceeded', `${project} has reached its spend limit.`),
  quota('organization_usage_limit_exceeded', `${organization} has reached its usage limit.`),
  quota('billing_hard_limit_reached', `${organization} has reached its hard limit.`),
  [
    '400',
    {
      status: 400,
      type: 'invalid_request_error',
      code: 'invalid_value',
      param: 'messages',
      message: 'Simulated invalid value.',
    },
  ],
  [
    '400_context_length_exceeded',
    {
      status: 400,
      type: 'invalid_request_error',
      code: 'context_length_exceeded',
      param: 'messages',
      message: "This model's maximum context length is 128000 tokens.",
    },
  ],
  [
    '400_service_tier',
    {
      status: 400,
      type: 'invalid_request_error',
      code: 'invalid_value',
      param: 'service_tier',
      message: 'Invalid service_tier argument',
    },
  ],
  [
    '401',
    {
      status: 401,
      type: 'invalid_request_error',
      code: 'invalid_api_key',
      message: 'Incorrect API key provided: sk-sandbox-op********7f3a.',
    },
  ],
  [
    '401_organization',
    {
      status: 401,
      type: 'invalid_request_error',
      code: 'mismatched_organization',
      message: `The header should match organization ${organization}.`,
    },
  ],
  [
    '401_address',
    {
      status: 401,
      type: 'invalid_request_error',
      code: 'ip_not_authorized',
      message: `Your address is not allowed for ${project}.`,
    },
  ],
  [
    '403_region',
    {
      status: 403,
      type: 'request_forbidden',
      code: 'unsupported_country_region_territory',
      message: 'Country, region, or territory not supported',
    },
  ],
  [
    '403',
    {
      status: 403,
      type: 'invalid_request_error',
      code: 'model_not_found',
      message: `Project ${project} does not have access to this model.`,
    },
  ],
  [
    '404',
    {
      status: 404,
      type: 'invalid_request_error',
      code: 'model_not_found',
      message: 'The model does not exist or you do not have access to it.',
    },
  ],
  ['408', { status: 408, type: 'invalid_request_error', message: 'Request timed out.' }],
  ['409', { status: 409, type: 'invalid_request_error', message: 'Simulated conflict.' }],
  ['413', { status: 413, type: 'invalid_request_error', message: 'Request too large.' }],
  ['422', { status: 422, type: 'invalid_request_error', message: 'Simulated unprocessable.' }],
  [
    '429',
    {
      status: 429,
      type: 'requests',
      code: 'rate_limit_exceeded',
      retryAfter: '7',
      message: `Rate limit reached in organization ${organization} on requests per min.`,
    },
  ],
  [
    '429_too_large',
    {
      status: 429,
      type: 'tokens',
      code: 'rate_limit_exceeded',
      message: `Request too large in organization ${organization} on tokens per min.`,
    },
  ],
  [
    '429_slow_down',
    {
      status: 429,
      type: 'rate_limit_error',
      code: 'slow_down',
      retryAfter: '3',
      message: 'Please slow down.',
    },
  ],
  ['500', { status: 500, type: 'server_error', message: 'The server had an error.' }],
  [
    '503',
    {
      status: 503,
      type: 'service_unavailable_error',
      code: 'server_is_overloaded',
      message: 'The server is overloaded.',
    },
  ],
  ['504', { status: 504, type: 'server_error', message: 'The request took too long.' }],
]

/** All rows by their full name. */
export const errorPresets: ReadonlyMap<string, ErrorPreset> = new Map([
  ...messagesRows.map(([name, row]): [string, ErrorPreset] => [`messages.${name}`, row]),
  ...chatRows.map(([name, row]): [string, ErrorPreset] => [`chat.${name}`, row]),
])
