/** The errors of operating a gateway: a group of error-catalogue.ts. */
export const operatingErrors = {
  'payments.unavailable': {
    status: 502,
    origin: 'upstream',
    meaning: 'Stripe does not answer, or refuses the request of the gateway.',
    advice: 'Try again. Operators: the log has the reason.',
  },
  'payments.signature_invalid': {
    status: 400,
    origin: 'client',
    meaning: 'The signature of an event of Stripe is missing, wrong or older than five minutes.',
    advice: 'Operators: check the setting `stripe_webhook_secret`, and the clock of this machine.',
  },
  'operations.invalid': {
    status: 400,
    origin: 'client',
    meaning: 'The input of a command is wrong, or the master key cannot be used.',
    advice: 'The message lists every mistake with its field.',
  },
  'operations.not_found': {
    status: 404,
    origin: 'client',
    meaning: 'There is no account, key or channel of that name, or no store in that place.',
    advice: 'The matching `list` command shows what exists.',
  },
  'operations.conflict': {
    status: 409,
    origin: 'client',
    meaning: 'The input contradicts what exists: a name or reference in use, a newer store.',
    advice: 'Read the message; nothing has changed.',
  },
  'operations.precondition_failed': {
    status: 412,
    origin: 'client',
    meaning: 'The thing has changed since it was read (`If-Match`, `revision`).',
    advice: 'Read it again, and decide again.',
  },
  'operations.credential_refused': {
    status: 409,
    origin: 'client',
    meaning: 'A new credential of a channel did not serve a request.',
    advice: 'Nothing has changed. Give another credential, or use `force`.',
  },
  'operations.confirmation_required': {
    status: 409,
    origin: 'client',
    meaning:
      'The amount is probably a mistake: it makes the balance negative, or is more than 100 times the largest credit so far.',
    advice: 'Check the amount. If it is right, add `--yes`, in the API `"confirm": true`.',
  },
  'gateway.internal': {
    status: 500,
    origin: 'gateway',
    meaning: 'The gateway has a fault. No more than the recorded charge is taken.',
    advice: 'Report it with the request id. Operators: the log line with that id has the cause.',
  },
} as const
