/** What refusals say, by their code. The gateway itself says each in English. */
const detail = '{detail}'

export const problems = {
  access: {
    credential_invalid: detail,
    credential_wrong_kind: detail,
    session_invalid: detail,
    sign_in_code_invalid: detail,
    https_required: detail,
    cross_site_request: detail,
    address_not_allowed: detail,
    role_insufficient: detail,
    account_suspended: detail,
    account_closed: detail,
    rate_limited: detail,
    too_many_running: detail,
    too_many_failed_sign_ins: detail,
  },
  api: {
    request_invalid: detail,
  },
  http: {
    not_found: detail,
    body_too_large: detail,
    body_timeout: detail,
  },
  ledger: {
    insufficient_balance: detail,
    unavailable: detail,
  },
  operations: {
    invalid: detail,
    not_found: detail,
    conflict: detail,
    precondition_failed: detail,
    credential_refused: detail,
    confirmation_required: detail,
  },
  relay: {
    overloaded: detail,
    shutting_down: detail,
  },
  gateway: {
    internal: detail,
  },
} as const
