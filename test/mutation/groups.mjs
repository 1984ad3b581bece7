/** What `npm run test:mutation` changes, and the unit tests that must see each change, quickest first. */

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
}
