/** The statement of an account for its holder, whole in memory and therefore bounded. */
import { z } from 'zod'
import { fromTime, untilTime } from '../input.ts'
import { invalid } from '../operation.ts'
import { readAccountStatement } from '../reports/statement.ts'
import { holderSink } from '../reports/statement-text.ts'
import { holderRead } from './holder-read.ts'

/** About a kilobyte each as JSON. */
const linesMax = 10_000

export interface HolderStatement {
  readonly format: 'json' | 'csv'
  readonly text: string
}

/** From the first day of the current month (UTC) on by default. */
export const holderStatement = holderRead(
  z.strictObject({
    from: fromTime.optional(),
    to: untilTime.optional(),
    format: z.enum(['json', 'csv'], 'must be json or csv').default('json'),
  }),
  async ({ snapshot, account, nowMs, input }): Promise<HolderStatement> => {
    const { format, to } = input
    const today = new Date(nowMs)
    const monthStartMs = Date.UTC(today.getUTCFullYear(), today.getUTCMonth())
    const from = input.from ?? Math.min(monthStartMs, (to ?? Infinity) - 1)
    const pieces: string[] = []
    let lines = 0
    const sink = holderSink(format, (text) => void pieces.push(text))
    await readAccountStatement(
      snapshot,
      { account, from, to, nowMs },
      {
        ...sink,
        line(line) {
          if (++lines > linesMax)
            throw invalid(
              `The statement has more than ${linesMax} lines. Ask for less with from and to, which take days or times.`,
            )
          return sink.line(line)
        },
      },
    )
    return { format, text: pieces.join('') }
  },
)
