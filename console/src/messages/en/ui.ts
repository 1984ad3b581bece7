/** Words of the parts that both pages are made of. */
export const ui = {
  preferences: 'Theme and language',
  dismiss: 'Dismiss',
  themes: { system: 'Theme of the system', light: 'Light theme', dark: 'Dark theme' },
  close: 'Close',
  cancel: 'Cancel',
  signInWith: 'Sign in with {provider}',
  loss: {
    typed: 'Discard what you have typed?',
    typedText: 'It is not saved.',
    typedCancel: 'Keep editing',
    secret: 'Leave without the secret?',
    secretText: 'It is not shown again: copy or download it first.',
    secretCancel: 'Stay',
    discard: 'Discard',
  },
  others: {
    changed:
      'Another operator has changed this meanwhile. What you have typed is kept; look at both, then save again.',
    typed: '; you have typed',
    use: 'Use theirs',
  },
  ofLimit: 'of {limit}',
  budgetTip: '{used} of {limit}, {period}',
  units: {
    ms: '{value} ms',
    s: '{value} s',
    min: '{value} min',
    h: '{value} h',
    d: '{value} d',
  },
  age: { now: 'just now', past: '{time} ago', to: 'in {time}' },
  value: {
    exactly: '{amount} exactly',
    never: 'Never',
    unknown: 'Not known',
    unmeasured: 'Not measured',
  },
  copy: {
    copy: 'Copy',
    done: 'Copied',
    once: 'Copy it now. It is not shown again. Copy or download it to close this dialog.',
    download: 'Download .env',
    downloadCsv: 'Download CSV',
    finish: 'Done',
  },
  state: {
    loading: 'Loading…',
    requestId: 'Request id:',
    again: 'Try again',
    failed:
      'This page has failed. Load it again; if it fails again, look at the log of the gateway.',
    answered: 'The gateway answered {status}.',
    noAnswer: 'The gateway does not answer. Check that it runs and that this address is right.',
  },
  vendorError: {
    said: 'The vendor’s error:',
    type: 'type',
    code: 'code',
    param: 'parameter',
  },
} as const
