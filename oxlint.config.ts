/**
 * The lint rules, and the table of rooms: which folder of src/ may import which. Rules of this project's own
 * are in scripts/lint-rules.mjs; test/lint-rules.test.ts proves that each of them finds its mistake.
 */
import { join } from 'node:path'
import { defineConfig } from 'oxlint'

interface Layer {
  readonly mayImport: readonly string[]
  /** Completes "… may not import …, because". */
  readonly because: string
}

const allRooms = [
  'base',
  'telemetry',
  'storage',
  'http',
  'metering',
  'formats',
  'ledger',
  'access',
  'channels',
  'settings',
  'operations',
  'relay',
  'api',
  'processes',
  'gateway',
  'sandbox',
  'cli',
  'root',
]

/** Which rooms each one may import besides itself and base; docs/architecture.md draws it. */
export const layers: Readonly<Record<string, Layer>> = {
  root: { mayImport: allRooms, because: 'a program starts what it needs' },
  gateway: {
    mayImport: allRooms.filter((name) => name !== 'cli' && name !== 'sandbox'),
    because: 'the gateway connects all rooms, and knows no command and no simulated vendor',
  },
  cli: {
    mayImport: allRooms.filter((name) => name !== 'relay' && name !== 'api'),
    because: 'commands only call operations and work without a running gateway',
  },
  base: { mayImport: [], because: 'every room shares base, and base depends on none' },
  telemetry: { mayImport: [], because: 'telemetry receives facts and looks nothing up' },
  storage: { mayImport: [], because: 'storage knows databases and files, not what they contain' },
  http: { mayImport: [], because: 'http knows no vendor and no money' },
  metering: {
    mayImport: ['storage'],
    because: 'metering is arithmetic on tokens and prices; it knows no account and no wire format',
  },
  formats: {
    mayImport: ['http', 'metering'],
    because: 'a wire format is pure: bytes and facts in, bytes and facts out',
  },
  ledger: {
    mayImport: ['storage', 'metering'],
    because: 'the ledger is the only writer of money and knows no HTTP, vendor or channel',
  },
  access: {
    mayImport: ['storage'],
    because: 'access answers who is calling and does not depend on the route',
  },
  channels: {
    mayImport: ['storage', 'http', 'formats', 'telemetry', 'metering'],
    because: 'channels reach vendors; they know no account, no balance and no client',
  },
  settings: {
    mayImport: ['access', 'http'],
    because: 'settings are read before anything is opened',
  },
  operations: {
    mayImport: ['storage', 'ledger', 'access', 'metering', 'channels', 'formats', 'settings'],
    because: 'commands, admin API and console share the operations, which know none of them',
  },
  relay: {
    mayImport: [
      'telemetry',
      'storage',
      'http',
      'metering',
      'formats',
      'ledger',
      'access',
      'channels',
    ],
    because: 'the path of an exchange serves clients, not operators',
  },
  api: {
    mayImport: ['access', 'ledger', 'operations', 'http', 'telemetry', 'channels', 'formats'],
    because: 'our own endpoints read and operate; they relay nothing',
  },
  processes: {
    mayImport: ['telemetry'],
    because: 'a supervisor knows no store and no request: it must outlive every gateway',
  },
  sandbox: {
    mayImport: [],
    because: 'simulated vendors are a separate program, so that they can check the gateway',
  },
}

/** Files with a function over 70 lines, each with its reason. */
const longFunctions = [
  'src/telemetry/metrics.ts', // A flat list of metrics.
]

/** Requests pass through these rooms and create many objects, so it matters how long each one lives. */
const busyFiles = [
  'http',
  'relay',
  'channels',
  'formats',
  'metering',
  'ledger',
  'access',
  'telemetry',
].map((room) => `src/${room}/**`)

/** Modules that open a store, or that exist for tests which open one. */
const storeOpeners =
  '((^|/)sqlite/(sqlite|thread)|(^[.]|storage)/(open|migrate)|test/storage/.*|test/support/(test-store|postgres|gateway))\\.ts$'

export default defineConfig({
  plugins: ['typescript', 'import', 'node', 'promise', 'unicorn'],
  jsPlugins: [join(import.meta.dirname, 'scripts/lint-rules.mjs')],
  ignorePatterns: [
    'node_modules',
    'test/clients/node_modules',
    'test/mutation/node_modules',
    'bench/peers',
    'examples',
    'site/node_modules',
    'site/.vitepress', // its types are known where the site's packages are installed
    'console/node_modules',
    'console/built',
    'console/src/api/schema.ts', // made from the document of the admin API
  ],
  categories: { correctness: 'error', suspicious: 'error' },
  rules: {
    'typescript/no-explicit-any': 'error',
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/switch-exhaustiveness-check': [
      'error',
      { considerDefaultExhaustiveForUnions: true },
    ],
    'typescript/no-unsafe-assignment': 'error',
    'typescript/no-unsafe-argument': 'error',
    'typescript/no-unsafe-call': 'error',
    'typescript/no-unsafe-member-access': 'error',
    'typescript/no-unsafe-return': 'error',
    'typescript/no-non-null-assertion': 'error',
    'typescript/ban-ts-comment': 'error',
    'typescript/consistent-type-imports': 'error',
    'typescript/no-unsafe-type-assertion': 'off',
    'typescript/consistent-return': 'off',
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'import/no-default-export': 'error',
    'import/no-unassigned-import': 'off',
    'import/no-named-as-default-member': 'off',
    'eslint/no-empty': ['error', { allowEmptyCatch: false }],
    'eslint/eqeqeq': 'error',
    'eslint/no-var': 'error',
    'eslint/prefer-const': 'error',
    'eslint/no-console': 'error',
    'eslint/no-underscore-dangle': 'off',
    'eslint/no-shadow': 'off',
    'eslint/no-await-in-loop': 'off',
    'eslint/max-depth': ['error', 4],
    'eslint/no-restricted-globals': [
      'error',
      { name: 'setTimeout', message: 'Take a Clock from base/clock.ts.' },
      { name: 'setInterval', message: 'Take a Clock from base/clock.ts.' },
      {
        name: 'fetch',
        message: 'The gateway speaks to vendors through http/client/upstream.ts.',
      },
    ],
    'eslint/no-restricted-properties': [
      'error',
      { object: 'Date', property: 'now', message: 'Take a Clock from base/clock.ts.' },
      { object: 'Math', property: 'random', message: 'Take a Random from base/random.ts.' },
      {
        object: 'process',
        property: 'env',
        message: 'Settings are read in settings/read.ts only.',
      },
    ],
    'unicorn/no-array-sort': 'off',
    'unicorn/no-array-reverse': 'off',
    'unicorn/consistent-function-scoping': 'off',
    'unicorn/require-module-specifiers': 'off',
    'unicorn/prefer-add-event-listener': 'off',
  },
  overrides: [
    {
      files: ['src/**', 'sandbox/**'],
      rules: {
        'eslint/max-lines-per-function': ['error', { max: 70 }],
        'turnpike/layers': ['error', layers],
        'turnpike/vocabulary': 'error',
      },
    },
    { files: ['src/**', 'console/src/**'], rules: { 'eslint/max-lines': ['error', { max: 400 }] } },
    {
      files: ['src/**', 'sandbox/**', 'test/**', 'bench/**'],
      rules: { 'turnpike/comment-width': 'error' },
    },
    { files: busyFiles, rules: { 'turnpike/no-assigned-function': 'error' } },
    { files: longFunctions, rules: { 'eslint/max-lines-per-function': 'off' } },
    {
      files: [
        'src/base/clock.ts',
        'src/base/random.ts',
        'src/settings/read.ts',
        'scripts/**',
        'bench/**',
        'test/**',
        '**/*.test.ts',
      ],
      rules: {
        'eslint/no-restricted-properties': 'off',
        'eslint/no-restricted-globals': 'off',
      },
    },
    { files: ['scripts/**', 'bench/**', 'test/support/**'], rules: { 'eslint/no-console': 'off' } },
    {
      files: ['**/*.test.ts', 'test/outside/*.ts'],
      rules: {
        'typescript/no-floating-promises': 'off',
        'eslint/max-lines': 'off',
        'eslint/max-lines-per-function': 'off',
        'turnpike/layers': 'off',
        'turnpike/no-assigned-function': 'off',
      },
    },
    {
      // `npm run check` runs these tests before each commit. With stores they would take twice as long.
      files: ['src/**/*.test.ts', 'sandbox/**/*.test.ts'],
      rules: {
        'eslint/no-restricted-imports': [
          'error',
          {
            patterns: [
              { regex: storeOpeners, message: 'Test what opens a store in test/storage instead.' },
            ],
          },
        ],
      },
    },
    {
      // Runs in a browser, where the clock is the person's and requests leave by fetch.
      files: ['console/**'],
      plugins: ['typescript', 'import', 'promise', 'unicorn', 'react'],
      rules: {
        'eslint/no-restricted-properties': 'off',
        'eslint/no-restricted-globals': 'off',
        'eslint/max-lines-per-function': ['error', { max: 80 }],
        'react/exhaustive-deps': 'error',
        'react/rules-of-hooks': 'error',
        'react/react-in-jsx-scope': 'off',
        // Columns of tables say how a cell is drawn.
        'react/no-unstable-nested-components': 'off',
        'react/no-danger': 'error',
        'turnpike/comment-width': 'error',
      },
    },
    {
      files: ['**/*.mjs'],
      rules: {
        'typescript/no-unsafe-assignment': 'off',
        'typescript/no-unsafe-argument': 'off',
        'typescript/no-unsafe-call': 'off',
        'typescript/no-unsafe-member-access': 'off',
        'typescript/no-unsafe-return': 'off',
        'typescript/restrict-template-expressions': 'off',
      },
    },
    {
      files: [
        'oxlint.config.ts',
        'scripts/lint-rules.mjs',
        'test/support/reporter.mjs',
        'console/vite.config.ts',
      ],
      rules: { 'import/no-default-export': 'off' },
    },
  ],
})
