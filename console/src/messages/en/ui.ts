/** Words of the parts that both pages are made of. */
export const ui = {
  rows: '{count, plural, one {# row} other {# rows}}',
  preferences: 'Theme and language',
  dismiss: 'Dismiss',
  themes: { system: 'Theme of the system', light: 'Light theme', dark: 'Dark theme' },
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
