/** A whole statement in memory, for tests that look at its parts. */
import type { OperationContext } from '../../src/operations/operation.ts'
import type {
  StatementEnd,
  StatementHead,
  StatementLine,
} from '../../src/operations/reports/statement-form.ts'
import { writeStatement } from './operations.ts'

export interface Statement {
  readonly head: StatementHead
  readonly lines: readonly StatementLine[]
  readonly end: StatementEnd
}

export async function readStatement(context: OperationContext, input: unknown): Promise<Statement> {
  let head: StatementHead | undefined
  let end: StatementEnd | undefined
  const lines: StatementLine[] = []
  await writeStatement(context, input, {
    begin: (given) => void (head = given),
    line: (given) => void lines.push(given),
    end: (given) => void (end = given),
  })
  if (head === undefined || end === undefined) throw new Error('the statement is not whole')
  return { head, lines, end }
}
