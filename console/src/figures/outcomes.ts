/** How a request ended, as a tone: for operators and for the account's holder. */
import type { Tone } from '../ui/card.tsx'

export const outcomeTones = {
  completed: 'good',
  client_left: 'warn',
  upstream_cut: 'bad',
  gateway_cut: 'bad',
  refused: 'warn',
  failed: 'bad',
  not_admitted: 'warn',
} as const satisfies Readonly<Record<string, Tone>>
