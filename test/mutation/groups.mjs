/**
 * What `npm run test:mutation` changes, and the unit tests that must see each change, quickest first. `slow`
 * has parts of the titles of tests that are left out: run for each change, they would take hours.
 */

const folder = (name, files) => files.map((file) => `${name}/${file}.ts`)
const tests = (name, files) => files.map((file) => `${name}/${file}.test.ts`)

export const groups = {
  metering: {
    sources: folder('src/metering', [
      'charge',
      'cost-prices',
      'delivered',
      'price-lines',
      'price-sets',
      'prices',
      'rates',
      'settlement',
      'usage',
    ]),
    tests: tests('src/metering', [
      'delivered',
      'rates',
      'prices',
      'usage',
      'price-lines',
      'cost-prices',
      'golden',
      'settlement',
      'charge',
      'price-form',
    ]),
  },
  verdict: {
    sources: folder('src/relay', ['verdict']),
    tests: tests('src/relay', ['verdict', 'attempt-outcome']),
  },
  health: {
    sources: folder('src/channels/health', [
      'evidence',
      'health-state',
      'in-use',
      'latency',
      'latency-baseline',
      'out-of-use',
      'rules',
      'timing',
    ]),
    tests: tests('src/channels/health', [
      'evidence',
      'health-state',
      'latency',
      'latency-baseline',
      'out-of-use',
      'in-use',
      'rules',
      'health-renewal',
      'health-book',
    ]),
  },
  meters: {
    sources: [
      ...folder('src/formats', ['counts', 'finish-reason', 'output', 'token-count']),
      ...folder('src/formats/chat', ['meter', 'usage']),
      ...folder('src/formats/embeddings', ['answer']),
      ...folder('src/formats/messages', ['meter', 'usage']),
      ...folder('src/formats/responses', ['answer', 'meter']),
    ],
    tests: [
      ...tests('src/formats', [
        'finish-reason',
        'counts',
        'output',
        'token-count',
        'chat/usage',
        'messages/usage',
        'chat/meter',
        'messages/meter',
        'completions/completions',
        'answer',
        'answer-edges',
        'stream',
        'embeddings/embeddings',
        'responses/answer',
        'responses/meter',
        'answer-members',
      ]),
      ...tests('test', ['formats/usage-cases', 'transcripts/transcripts']),
    ],
    slow: [
      'an answer of many megabytes › has its counts and its state',
      'an answer of many megabytes › has its end held',
      'an answer of many megabytes › is cut',
      'any answer is read as JSON.parse reads it',
      'any bytes are an answer where JSON.parse says so',
      'long texts, long lists and deep nesting',
      'reads the same cut in two anywhere',
      'so is any answer like one with each member',
    ],
  },
}
